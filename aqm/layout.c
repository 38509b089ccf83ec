// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// layout.c: how the structs of the interface lie in memory, see field.h.
//
// A language that mirrors them compares its own sizes and offsets with these, so that a
// member or a reason that was added cannot shift what it reads.

#include "field.h"
#include "setup.h"

#define SIZE(type_)                                                                            \
	{                                                                                      \
		#type_, sizeof(struct type_)                                                   \
	}
#define PLACE(type_, name_)                                                                    \
	{                                                                                      \
		#type_ "." #name_, offsetof(struct type_, name_)                               \
	}

/* clang-format off */
const struct aqm_layout aqm_layouts[] = {
	{"aqm_abi", AQM_ABI},
	{"aqm_why", AQM_WHY_COUNT},
	{"aqm_bad", AQM_BAD_COUNT},
	{"aqm_unit", AQM_UNITS},
	SIZE(aqm_field),
	PLACE(aqm_field, name), PLACE(aqm_field, help), PLACE(aqm_field, choices),
	PLACE(aqm_field, def), PLACE(aqm_field, min), PLACE(aqm_field, max),
	PLACE(aqm_field, offset), PLACE(aqm_field, attr), PLACE(aqm_field, type),
	PLACE(aqm_field, unit), PLACE(aqm_field, flags),
	SIZE(aqm_unit_info),
	PLACE(aqm_unit_info, name), PLACE(aqm_unit_info, base),
	PLACE(aqm_unit_info, multiply), PLACE(aqm_unit_info, divide),
	PLACE(aqm_unit_info, note),
	SIZE(aqm_default),
	PLACE(aqm_default, row), PLACE(aqm_default, value),
	SIZE(aqm_algo),
	PLACE(aqm_algo, name), PLACE(aqm_algo, brief), PLACE(aqm_algo, source),
	PLACE(aqm_algo, abi), PLACE(aqm_algo, flags), PLACE(aqm_algo, queues),
	PLACE(aqm_algo, conf_bytes), PLACE(aqm_algo, state_bytes),
	PLACE(aqm_algo, params), PLACE(aqm_algo, stats), PLACE(aqm_algo, defaults),
	SIZE(aqm_setup),
	PLACE(aqm_setup, limit), PLACE(aqm_setup, limit_bytes), PLACE(aqm_setup, ecn),
	PLACE(aqm_setup, flows), PLACE(aqm_setup, quantum), PLACE(aqm_setup, memory_limit),
	PLACE(aqm_setup, bandwidth), PLACE(aqm_setup, drop_batch),
	SIZE(aqm_refusal),
	PLACE(aqm_refusal, row), PLACE(aqm_refusal, sentence),
	{NULL, 0},
};
