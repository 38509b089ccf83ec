// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// all.c: every algorithm of algorithms/. Made by all.sh; not to be edited.

#include "aqm.h"

extern const struct aqm_algo aqm_afd;
extern const struct aqm_algo aqm_an_aqm;
extern const struct aqm_algo aqm_asqm;
extern const struct aqm_algo aqm_avq;
extern const struct aqm_algo aqm_blue;
extern const struct aqm_algo aqm_cfd;
extern const struct aqm_algo aqm_choke;
extern const struct aqm_algo aqm_cobalt;
extern const struct aqm_algo aqm_codel;
extern const struct aqm_algo aqm_dualpi2;
extern const struct aqm_algo aqm_duk;
extern const struct aqm_algo aqm_fifo;
extern const struct aqm_algo aqm_fq_codel;
extern const struct aqm_algo aqm_fq_pie;
extern const struct aqm_algo aqm_gchoke;
extern const struct aqm_algo aqm_lqd;
extern const struct aqm_algo aqm_pi;
extern const struct aqm_algo aqm_pie;
extern const struct aqm_algo aqm_pie_2013;
extern const struct aqm_algo aqm_red;
extern const struct aqm_algo aqm_rem;
extern const struct aqm_algo aqm_rio_ps;
extern const struct aqm_algo aqm_sfb;

/* clang-format off */
const struct aqm_algo *const aqm_all[] = {
	&aqm_afd,
	&aqm_an_aqm,
	&aqm_asqm,
	&aqm_avq,
	&aqm_blue,
	&aqm_cfd,
	&aqm_choke,
	&aqm_cobalt,
	&aqm_codel,
	&aqm_dualpi2,
	&aqm_duk,
	&aqm_fifo,
	&aqm_fq_codel,
	&aqm_fq_pie,
	&aqm_gchoke,
	&aqm_lqd,
	&aqm_pi,
	&aqm_pie,
	&aqm_pie_2013,
	&aqm_red,
	&aqm_rem,
	&aqm_rio_ps,
	&aqm_sfb,
	NULL,
};
