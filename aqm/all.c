// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// all.c: every algorithm of this folder. Made by all.sh; not to be edited.

#include "aqm.h"

extern const struct aqm_algo aqm_choke;
extern const struct aqm_algo aqm_codel;
extern const struct aqm_algo aqm_duk;
extern const struct aqm_algo aqm_fifo;
extern const struct aqm_algo aqm_pie;
extern const struct aqm_algo aqm_pie_2013;
extern const struct aqm_algo aqm_sfb;

/* clang-format off */
const struct aqm_algo *const aqm_all[] = {
	&aqm_choke,
	&aqm_codel,
	&aqm_duk,
	&aqm_fifo,
	&aqm_pie,
	&aqm_pie_2013,
	&aqm_sfb,
	NULL,
};
