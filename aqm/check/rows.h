/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rows.h: tests an algorithm's tables, before a host reads them.
 *
 * Hosts trust the tables: they store values at their offsets, print their texts, and use
 * their defaults without a test of the range. Nothing here calls the algorithm.
 */
#ifndef AQM_CHECK_ROWS_H
#define AQM_CHECK_ROWS_H

#include "sizes.h"

/* More rows than any table has, so that the search of one without AQM_END stops. */
#define ROWS_MAX  64
#define WORDS_MAX 32
/* A state is kept for each of 65,536 flows, so a megabyte is a slip. */
#define BYTES_MAX (1u << 20)

static bool plain_text(const char *s)
{
	if (!s || !*s)
		return false;
	for (; *s; s++)
		if (*s < ' ' || *s > '~')
			return false;
	return true;
}

static bool plain_name(const char *s)
{
	if (!plain_text(s))
		return false;
	for (; *s; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || *s == '_'))
			return false;
	return true;
}

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static const struct aqm_field *row_of(const struct aqm_field *rows, const char *name)
{
	for (; rows && rows->name; rows++)
		if (equal(rows->name, name))
			return rows;
	return NULL;
}

static u32 width(const struct aqm_field *row)
{
	return row->type == AQM_U64 ? 8 : 4;
}

static const char *place_fault(const struct aqm_field *row, u32 bytes)
{
	if (row->offset > bytes || bytes - row->offset < width(row))
		return "reaches beyond its struct: is the member as wide as the type?";
	if (row->offset % (width(row) == 8 ? __alignof__(u64) : 4))
		return "lies where no member of its type can begin";
	return NULL;
}

static const char *words_fault(const struct aqm_field *row)
{
	u64 i;

	if (!row->choices || row->max >= WORDS_MAX)
		return "has no list of words for its choices";
	for (i = 0; i <= row->max; i++)
		if (!plain_text(row->choices[i]))
			return "has a choice without a word";
	return NULL;
}

static const char *range_fault(const struct aqm_field *row)
{
	if (row->min > row->max)
		return "has a least value above its largest";
	if (row->type == AQM_BOOL && row->max > 1)
		return "is a bool, and its largest value is not 1";
	if (row->flags & AQM_PERIOD && (row->unit != AQM_NS || !row->min))
		return "is a period, and no time in ns above 0";
	if (width(row) == 4 && row->max > U32_MAX)
		return "has 32 bits, and a largest value that needs more";
	if (row->def < row->min || row->def > row->max)
		return "has a default outside its own range";
	return row->type == AQM_CHOICE ? words_fault(row) : NULL;
}

/* Words with another meaning in scenarios. */
static bool reserved(const char *name)
{
	return equal(name, "algorithm") || equal(name, "rows");
}

static const char *name_fault(const struct aqm_field *rows, u32 i,
                              const struct aqm_field *queue_rows)
{
	u32 k;

	if (!plain_name(rows[i].name))
		return "a name is made of a-z, 0-9 and _";
	if (queue_rows && (reserved(rows[i].name) || row_of(queue_rows, rows[i].name)))
		return "the queue has a row of this name already";
	if (!plain_text(rows[i].help))
		return "has no help, or one that is not plain ASCII";
	if (!rows[i].attr)
		return "has no number (attr); the first is 1";
	for (k = 0; k < i; k++) {
		if (equal(rows[k].name, rows[i].name))
			return "is there twice";
		if (rows[k].attr == rows[i].attr)
			return "has another row's number (attr), or no AQM_END ends its table";
	}
	return NULL;
}

/* Two statistics may show one member; two parameters may not. */
static const char *overlap_fault(const struct aqm_field *rows, u32 i, bool params)
{
	u32 k;

	for (k = 0; k < i; k++) {
		u32 a = rows[i].offset, b = rows[k].offset;
		bool same = !params && a == b && width(&rows[i]) == width(&rows[k]);

		if (!same && a < b + width(&rows[k]) && b < a + width(&rows[i]))
			return "overlaps another row: is the member as wide as the type?";
	}
	return NULL;
}

static struct aqm_fault table_fault(const struct aqm_field *rows, u32 bytes, bool params,
                                    const struct aqm_field *queue_rows)
{
	const char *s = NULL;
	u32 i;

	for (i = 0; rows && rows[i].name; i++) {
		if (i == ROWS_MAX)
			return (struct aqm_fault){NULL, "a table of rows has no AQM_END"};
		s = name_fault(rows, i, params ? queue_rows : NULL);
		if (!s && (rows[i].type > AQM_CHOICE || rows[i].unit >= AQM_UNITS))
			s = "has a type or a unit that there is not";
		if (!s)
			s = place_fault(&rows[i], bytes);
		if (!s)
			s = overlap_fault(rows, i, params);
		if (!s && params)
			s = range_fault(&rows[i]);
		if (s)
			return (struct aqm_fault){plain_text(rows[i].name) ? rows[i].name : "?",
			                          s};
	}
	return (struct aqm_fault){NULL, NULL};
}

static const char *algo_fault(const struct aqm_algo *a)
{
	if (!plain_name(a->name))
		return "its name is made of a-z, 0-9 and _";
	if (!plain_text(a->brief) || !plain_text(a->source))
		return "it needs a brief and a source, in plain ASCII";
	/* a verdict names a queue in 8 bits */
	if (!a->queues || a->queues > 255)
		return "it has 1 to 255 queues";
	if (a->queues > 1 && !a->pick)
		return "with several queues it needs pick";
	if (a->conf_bytes > BYTES_MAX || a->state_bytes > BYTES_MAX)
		return "conf and state have a megabyte at most";
	if (a->flags & ~(u32)(AQM_SAMPLES | AQM_MARKS | AQM_AT_TAIL | AQM_AT_HEAD |
	                      AQM_NEEDS_RATE | AQM_COMPARES))
		return "it has a flag that there is not";
	if (!a->tick != !a->idle)
		return "tick and idle come together";
	if (a->tick && !a->start)
		return "without start nobody asks for its first tick";
	return NULL;
}

/* Of the queue's rows, by name: a host that makes a queue does not ask again. */
static struct aqm_fault defaults_fault(const struct aqm_default *own,
                                       const struct aqm_field *queue_rows)
{
	const struct aqm_field *row;
	const char *s = NULL;
	u32 i, k;

	for (i = 0; own && own[i].row; i++) {
		if (i == ROWS_MAX)
			return (struct aqm_fault){NULL, "the table of defaults has no end"};
		row = row_of(queue_rows, own[i].row);
		if (!row)
			s = "is in its defaults, and is no row of the queue";
		else if (own[i].value < row->min || own[i].value > row->max)
			s = "has a default outside the range of the queue's row";
		for (k = 0; k < i; k++)
			if (equal(own[k].row, own[i].row))
				s = "is twice in its defaults";
		if (s)
			return (struct aqm_fault){plain_text(own[i].row) ? own[i].row : "?", s};
	}
	return (struct aqm_fault){NULL, NULL};
}

static struct aqm_fault tables_fault(const struct aqm_algo *a,
                                     const struct aqm_field *queue_rows)
{
	struct aqm_fault fault = {NULL, algo_fault(a)};

	if (!fault.sentence)
		fault = table_fault(a->params, a->conf_bytes, true, queue_rows);
	if (!fault.sentence)
		fault = table_fault(a->stats, a->state_bytes, false, queue_rows);
	if (!fault.sentence)
		fault = defaults_fault(a->defaults, queue_rows);
	return fault;
}

#endif
