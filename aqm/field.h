/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * field.h: reads and writes rows by name.
 *
 * Every host uses these few functions for its parameters, so a limit and its sentence stand in
 * one place. A table is an array of struct aqm_field that ends with AQM_END; NULL is a table
 * without rows. The offsets of a table count from `base`.
 */
#ifndef AQM_FIELD_H
#define AQM_FIELD_H

#include "aqm.h"

/* The meaning of a unit's canonical number: a number of the base unit is stored as
 * number * multiply / divide. AQM_PROB ends one short of it: U32_MAX is "always". */
struct aqm_unit_info {
	const char *name;
	/* "number", "time" (ns), "packets", "size" (bytes), "rate" (bit/s), "share",
	 * "frequency" (Hz), "address" */
	const char *base;
	u64 multiply, divide;
	const char *note; /* for a number that its unit does not explain; or NULL */
};

extern const struct aqm_unit_info aqm_units[AQM_UNITS];

/* The layout that another language's mirror of these structs must have: sizes of
 * structs, offsets of members, lengths of enums. Ended by a NULL name. */
struct aqm_layout {
	const char *name; /* "aqm_field", "aqm_field.help", "aqm_why" */
	u32 value;
};

extern const struct aqm_layout aqm_layouts[];

const struct aqm_field *aqm_field_find(const struct aqm_field *rows, const char *name);

/* All rows at their defaults. `base` is zeroed by the caller. */
void aqm_field_defaults(const struct aqm_field *rows, void *base);

u64 aqm_field_get(const struct aqm_field *row, const void *base);

/* NULL when stored; else a sentence, and nothing was stored. */
const char *aqm_field_set(const struct aqm_field *row, void *base, u64 value);

/* The first FIXED row that differs between two sets of values, or NULL. */
const struct aqm_field *aqm_field_fixed(const struct aqm_field *rows, const void *old,
                                        const void *new_);

const struct aqm_algo *aqm_find(const char *name);

#endif
