// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// value.c: converts a row's value from and to text, and prints it, see value.h.

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "field.h"
#include "tc.h"
#include "value.h"

struct unit {
	const char *name;
	double size;
};

/* As multiples of the base that aqm_units[] names; tc's own words, in either case, and some
 * more. A rate has no bare `bps`: tc reads it as bytes, other programs as bits. */
static const struct unit times[] = {{"ns", 1},      {"nsec", 1},    {"nsecs", 1}, {"us", 1e3},
                                    {"usec", 1e3},  {"usecs", 1e3}, {"ms", 1e6},  {"msec", 1e6},
                                    {"msecs", 1e6}, {"s", 1e9},     {"sec", 1e9}, {"secs", 1e9},
                                    {"min", 60e9},  {NULL, 0}};
static const struct unit sizes[] = {
        {"b", 1},         {"k", 1024},         {"kb", 1024},       {"m", 1048576},
        {"mb", 1048576},  {"g", 1073741824},   {"gb", 1073741824}, {"kbit", 128},
        {"mbit", 131072}, {"gbit", 134217728}, {NULL, 0}};
static const struct unit rates[] = {{"bit", 1},
                                    {"kbit", 1e3},
                                    {"mbit", 1e6},
                                    {"gbit", 1e9},
                                    {"tbit", 1e12},
                                    {"kibit", 1024},
                                    {"mibit", 1048576},
                                    {"gibit", 1073741824},
                                    {"tibit", 1099511627776},
                                    {"B/s", 8},
                                    {"kB/s", 8e3},
                                    {"MB/s", 8e6},
                                    {"GB/s", 8e9},
                                    {NULL, 0}};
static const struct unit packets[] = {{"p", 1}, {"", 1}, {NULL, 0}};
static const struct unit shares[] = {{"", 1}, {"%", 0.01}, {NULL, 0}};
static const struct unit plain[] = {{"", 1}, {NULL, 0}};

static const struct kind {
	const char *base;
	const struct unit *units;
	const char *wanted;
} kinds[] = {
        {"time", times, "a time, as in 5ms"},
        {"packets", packets, "a number of packets, as in 1000p"},
        {"size", sizes, "a size, as in 1514b"},
        {"rate", rates, "a rate, as in 10mbit or 1.25MB/s"},
        {"share", shares, "a probability, as in 0.02 or 2%"},
        /* Anything else is written as it is stored. */
        {NULL, plain, "a whole number"},
};

static bool is_of(const struct aqm_field *row, const char *base)
{
	return !strcmp(aqm_units[row->unit].base, base);
}

static const struct kind *kind_of(const struct aqm_field *row)
{
	const struct kind *kind = kinds;

	while (kind->base && !is_of(row, kind->base))
		kind++;
	return kind;
}

/* Canonical numbers in one of a unit. */
static double canonical(const struct aqm_field *row, const struct unit *unit)
{
	const struct aqm_unit_info *info = &aqm_units[row->unit];

	if (!kind_of(row)->base)
		return 1;
	return unit->size * (double)info->multiply / (double)info->divide;
}

/* tc does not tell `Kbit` from `kbit`; of bytes a second, which it has not, the case counts. */
static bool is_called(const struct unit *unit, const char *name)
{
	return strchr(unit->name, '/') ? !strcmp(unit->name, name)
	                               : !strcasecmp(unit->name, name);
}

static const struct unit *unit_of(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (is_called(units, name))
			return units;
	return NULL;
}

/* Whole numbers of the canonical unit are read without conversion to floats. */
static bool read_whole(const char *text, char **end, u64 *value)
{
	errno = 0;
	*value = strtoull(text, end, 10);
	return *end != text && !errno && text[0] >= '0' && text[0] <= '9';
}

static const char *read_share(double number, double one, u64 *value)
{
	if (!(number >= 0 && number <= one))
		return "a probability from 0 to 1";
	/* U32_MAX is "always". */
	*value = (u64)fmin(nearbyint(number), (double)U32_MAX);
	return NULL;
}

static const char *read_address(const char *text, u64 *value)
{
	struct in_addr address;

	if (inet_pton(AF_INET, text, &address) != 1)
		return "an address, as in 192.0.2.1 or 2001:db8::1";
	*value = ntohl(address.s_addr);
	return NULL;
}

static void write_address(u64 value, char *text)
{
	struct in_addr address = {htonl((u32)value)};

	inet_ntop(AF_INET, &address, text, VALUE_TEXT);
}

/* The expected form of a value of this row. */
static const char *wanted_of(const struct aqm_field *row)
{
	static char sentence[128];
	const char *wanted = kind_of(row)->wanted, *note = aqm_units[row->unit].note;

	if (!note)
		return wanted;
	snprintf(sentence, sizeof(sentence), "%s (%s)", wanted, note);
	return sentence;
}

const char *value_words(const struct aqm_field *row, const char *between)
{
	static char words[256];
	size_t at = 0;
	u64 i;

	for (i = 0; i <= row->max && at < sizeof(words); i++)
		at += (size_t)snprintf(words + at, sizeof(words) - at, "%s%s", i ? between : "",
		                       row->choices[i]);
	return words;
}

const char *value_read(const struct aqm_field *row, const char *text, u64 *value)
{
	const struct unit *units = kind_of(row)->units, *unit;
	bool share = is_of(row, "share");
	double number;
	char *end;
	u64 i;

	for (i = 0; row->type == AQM_CHOICE && i <= row->max; i++)
		if (!strcmp(row->choices[i], text)) {
			*value = i;
			return NULL;
		}
	if (row->type == AQM_CHOICE)
		return value_words(row, " or ");
	if (is_of(row, "address"))
		return read_address(text, value);
	if (!share && read_whole(text, &end, value)) {
		unit = unit_of(units, end);
		if (unit && canonical(row, unit) == 1)
			return NULL;
		if (!*end && is_of(row, "size"))
			return NULL;
	}
	number = strtod(text, &end);
	unit = unit_of(units, end);
	if (end == text || !unit || !isfinite(number) || number < 0)
		return wanted_of(row);
	number *= canonical(row, unit);
	if (share)
		return read_share(number, (double)aqm_units[row->unit].multiply, value);
	number = nearbyint(number);
	/* Beyond 2^53 a double is no longer exact; no such value needs a larger unit. */
	if (number > 9007199254740992.0)
		return wanted_of(row);
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

double value_share(u64 value)
{
	return value == U32_MAX ? 1 : (double)value / 4294967296.0;
}

/* The fewest digits that give exactly this value; ten are always enough for 32 bits. */
static void write_share(const struct aqm_field *row, u64 value, char *text)
{
	u64 again = 0;
	int digits;

	for (digits = 1; digits <= 10; digits++) {
		snprintf(text, VALUE_TEXT, "%.*g", digits, value_share(value));
		if (!value_read(row, text, &again) && again == value)
			return;
	}
}

void value_write(const struct aqm_field *row, u64 value, char text[VALUE_TEXT])
{
	static const char *const time_names[] = {"s", "ms", "us", "ns"};
	static const char *const rate_names[] = {"gbit", "mbit", "kbit", "bit"};
	static const u64 thousands[] = {1000000000, 1000000, 1000, 1};
	const struct aqm_unit_info *info = &aqm_units[row->unit];
	/* Of time and rate; a rate beyond 2^60 is written in bytes. */
	u64 in_base = value * info->divide / info->multiply;

	if (row->type == AQM_CHOICE && value <= row->max)
		snprintf(text, VALUE_TEXT, "%s", row->choices[value]);
	else if (is_of(row, "time"))
		write_largest(time_names, thousands, in_base, text);
	else if (is_of(row, "rate") && value < 1ull << 60)
		write_largest(rate_names, thousands, in_base, text);
	else if (is_of(row, "share"))
		write_share(row, value, text);
	else if (is_of(row, "address"))
		write_address(value, text);
	else
		snprintf(text, VALUE_TEXT, "%llu%s", (unsigned long long)value,
		         is_of(row, "packets") ? "p"
		         : is_of(row, "size")  ? "b"
		         : is_of(row, "rate")  ? "B/s"
		                               : "");
}

void value_print(const struct aqm_field *row, u64 value)
{
	char text[VALUE_TEXT];

	value_write(row, value, text);
	if (row->type == AQM_BOOL) {
		print_color_bool(TC_JSON, TC_NO_COLOUR, row->name, NULL, value);
		print_color_string(TC_TEXT, TC_NO_COLOUR, NULL, value ? "%s " : "no%s ",
		                   row->name);
		return;
	}
	if (row->type == AQM_CHOICE)
		print_color_string(TC_JSON, TC_NO_COLOUR, row->name, NULL, text);
	else if (row->unit == AQM_PROB)
		print_color_float(TC_JSON, TC_NO_COLOUR, row->name, NULL, value_share(value));
	else
		print_color_u64(TC_JSON, TC_NO_COLOUR, row->name, NULL, value);
	print_color_string(TC_TEXT, TC_NO_COLOUR, NULL, "%s ", row->name);
	print_color_string(TC_TEXT, TC_NO_COLOUR, NULL, "%s ", text);
}
