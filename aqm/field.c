// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// field.c: rows by name, see field.h; and the names of reasons.

#include "field.h"

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct aqm_field *aqm_field_find(const struct aqm_field *rows, const char *name)
{
	for (; rows && rows->name; rows++)
		if (same(rows->name, name))
			return rows;
	return NULL;
}

u64 aqm_field_get(const struct aqm_field *row, const void *base)
{
	const char *at = (const char *)base + row->offset;

	return row->type == AQM_U64 ? *(const u64 *)(const void *)at
	                            : *(const u32 *)(const void *)at;
}

static void store(const struct aqm_field *row, void *base, u64 value)
{
	char *at = (char *)base + row->offset;

	if (row->type == AQM_U64)
		*(u64 *)(void *)at = value;
	else
		*(u32 *)(void *)at = (u32)value;
}

void aqm_field_defaults(const struct aqm_field *rows, void *base)
{
	for (; rows && rows->name; rows++)
		store(rows, base, rows->def);
}

const char *aqm_field_set(const struct aqm_field *row, void *base, u64 value)
{
	if (value < row->min)
		return "value is below the smallest that is allowed";
	if (value > row->max)
		return "value is above the largest that is allowed";
	store(row, base, value);
	return NULL;
}

const struct aqm_field *aqm_field_fixed(const struct aqm_field *rows, const void *old,
                                        const void *new_)
{
	for (; rows && rows->name; rows++)
		if ((rows->flags & AQM_FIXED) &&
		    aqm_field_get(rows, old) != aqm_field_get(rows, new_))
			return rows;
	return NULL;
}

const struct aqm_algo *aqm_find(const char *name)
{
	const struct aqm_algo *const *a;

	for (a = aqm_all; *a; a++)
		if (same((*a)->name, name))
			return *a;
	return NULL;
}

const char *aqm_why_name(u32 why)
{
	static const char *const names[AQM_WHY_COUNT] = {
	        [AQM_WHY_NONE] = "none",       [AQM_WHY_EARLY] = "early",
	        [AQM_WHY_DELAY] = "delay",     [AQM_WHY_THRESHOLD] = "threshold",
	        [AQM_WHY_MATCH] = "match",     [AQM_WHY_RATE] = "rate",
	        [AQM_WHY_LIMIT] = "limit",     [AQM_WHY_FAT] = "fat",
	        [AQM_WHY_LOWERED] = "lowered", [AQM_WHY_RESET] = "reset",
	};

	return why < AQM_WHY_COUNT ? names[why] : "unknown";
}

const char *aqm_bad_name(u32 bad)
{
	static const char *const names[AQM_BAD_COUNT] = {
	        [AQM_BAD_ACT] = "act",       [AQM_BAD_MARK] = "mark",
	        [AQM_BAD_QUEUE] = "queue",   [AQM_BAD_VICTIM] = "victim",
	        [AQM_BAD_OVERFLOW] = "room", [AQM_BAD_TICK] = "tick",
	        [AQM_BAD_DROPS] = "drops",   [AQM_BAD_PROBE] = "probe",
	};

	return bad < AQM_BAD_COUNT ? names[bad] : "unknown";
}
