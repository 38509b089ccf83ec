// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// all.c: every algorithm of this folder. Made by all.sh; not to be edited.

#include "aqm.h"

extern const struct aqm_algo aqm_codel;
extern const struct aqm_algo aqm_fifo;

/* clang-format off */
const struct aqm_algo *const aqm_all[] = {
	&aqm_codel,
	&aqm_fifo,
	NULL,
};
