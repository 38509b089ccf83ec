// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// value.c: a row's value as people write it, see value.h.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "value.h"

struct unit {
	const char *name;
	double size;
};

/* The first of each is the canonical one, and the others are its multiples. A rate has
 * no bare `bps`: tc's users read it as bytes, everyone else as bits. */
static const struct unit times[] = {{"ns", 1},  {"us", 1e3},   {"ms", 1e6},
                                    {"s", 1e9}, {"min", 60e9}, {NULL, 0}};
static const struct unit sizes[] = {{"b", 1}, {"kb", 1024}, {"mb", 1048576}, {NULL, 0}};
static const struct unit rates[] = {{"bit", 0.125},  {"kbit", 125}, {"mbit", 125e3},
                                    {"gbit", 125e6}, {"B/s", 1},    {"kB/s", 1e3},
                                    {"MB/s", 1e6},   {"GB/s", 1e9}, {NULL, 0}};
static const struct unit packets[] = {{"p", 1}, {"", 1}, {NULL, 0}};
static const struct unit shares[] = {{"", 1}, {"%", 0.01}, {NULL, 0}};
static const struct unit plain[] = {{"", 1}, {NULL, 0}};

static const struct {
	const struct unit *units;
	const char *wanted;
} kinds[] = {
        [AQM_COUNT] = {plain, "a whole number"},
        [AQM_NS] = {times, "a time, as in 5ms"},
        [AQM_PKTS] = {packets, "a number of packets, as in 1000p"},
        [AQM_BYTES] = {sizes, "a size, as in 1514b"},
        [AQM_BYTES_PER_S] = {rates, "a rate, as in 10mbit or 1.25MB/s"},
        [AQM_PROB] = {shares, "a probability, as in 0.02 or 2%"},
        [AQM_HZ_16] = {plain, "a whole number (sixteenths of a hertz)"},
        [AQM_LOG2] = {plain, "a whole number (exponent of two)"},
};

static const struct unit *unit_of(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcmp(units->name, name))
			return units;
	return NULL;
}

/* Whole numbers of the canonical unit are read without a detour through floats. */
static bool read_whole(const char *text, char **end, u64 *value)
{
	errno = 0;
	*value = strtoull(text, end, 10);
	return *end != text && !errno && text[0] >= '0' && text[0] <= '9';
}

static const char *read_share(double number, double size, u64 *value)
{
	double share = number * size;

	if (!(share >= 0 && share <= 1))
		return "a probability from 0 to 1";
	/* U32_MAX is "always". */
	*value = (u64)fmin(nearbyint(share * 4294967296.0), (double)U32_MAX);
	return NULL;
}

/* As a sentence has them: "ours or linux". */
static const char *words_of(const struct aqm_field *row)
{
	static char words[256];
	size_t at = 0;
	u64 i;

	for (i = 0; i <= row->max && at < sizeof(words); i++)
		at += (size_t)snprintf(words + at, sizeof(words) - at, "%s%s", i ? " or " : "",
		                       row->choices[i]);
	return words;
}

const char *value_read(const struct aqm_field *row, const char *text, u64 *value)
{
	const char *wanted = kinds[row->unit].wanted;
	const struct unit *unit;
	double number;
	char *end;
	u64 i;

	for (i = 0; row->type == AQM_CHOICE && i <= row->max; i++)
		if (!strcmp(row->choices[i], text)) {
			*value = i;
			return NULL;
		}
	if (row->type == AQM_CHOICE)
		return words_of(row);
	if (read_whole(text, &end, value)) {
		unit = unit_of(kinds[row->unit].units, end);
		if (unit && unit->size == 1 && row->unit != AQM_PROB)
			return NULL;
		if (!*end && row->unit == AQM_BYTES)
			return NULL;
	}
	number = strtod(text, &end);
	unit = unit_of(kinds[row->unit].units, end);
	if (end == text || !unit || !isfinite(number) || number < 0)
		return wanted;
	if (row->unit == AQM_PROB)
		return read_share(number, unit->size, value);
	number = nearbyint(number * unit->size);
	/* Beyond 2^53 a double is no longer exact; no such value needs a larger unit. */
	if (number > 9007199254740992.0)
		return wanted;
	*value = (u64)number;
	return NULL;
}

static void write_largest(const char *const *names, const u64 *sizes_down, u64 value,
                          char *text)
{
	while (*sizes_down > 1 && (!value || value % *sizes_down)) {
		names++;
		sizes_down++;
	}
	snprintf(text, VALUE_TEXT, "%llu%s", (unsigned long long)(value / *sizes_down), *names);
}

/* As few digits as name this very value; ten are always enough for 32 bits. */
static void write_share(u64 value, char *text)
{
	u64 again = 0;
	int digits;

	for (digits = 1; digits <= 10; digits++) {
		snprintf(text, VALUE_TEXT, "%.*g", digits, value_share(value));
		if (!read_share(strtod(text, NULL), 1, &again) && again == value)
			return;
	}
}

void value_write(const struct aqm_field *row, u64 value, char text[VALUE_TEXT])
{
	static const char *const time_names[] = {"s", "ms", "us", "ns"};
	static const char *const rate_names[] = {"gbit", "mbit", "kbit", "bit"};
	static const u64 thousands[] = {1000000000, 1000000, 1000, 1};

	if (row->type == AQM_CHOICE && value <= row->max)
		snprintf(text, VALUE_TEXT, "%s", row->choices[value]);
	else if (row->unit == AQM_NS)
		write_largest(time_names, thousands, value, text);
	else if (row->unit == AQM_BYTES_PER_S && value < 1ull << 60)
		write_largest(rate_names, thousands, value * 8, text);
	else if (row->unit == AQM_PROB)
		write_share(value, text);
	else
		snprintf(text, VALUE_TEXT, "%llu%s", (unsigned long long)value,
		         row->unit == AQM_PKTS          ? "p"
		         : row->unit == AQM_BYTES       ? "b"
		         : row->unit == AQM_BYTES_PER_S ? "B/s"
		                                        : "");
}

double value_share(u64 value)
{
	return value == U32_MAX ? 1 : (double)value / 4294967296.0;
}
