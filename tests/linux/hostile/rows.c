// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// rows.c: options of our qdisc, see rows.h.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

enum { TABLES = 3, NUMBER_MAX = 0x3fff };
/* Kernels before it do not know it. */
enum { RESPONDER6 = TCA_SOJOURN_ANEW + 1, HAS_RESPONDER6 = TCA_SOJOURN_END > RESPONDER6 };

bool likes_probes;

struct table {
	u16 nest;
	const struct aqm_field *rows;
	void *base;
};

static void tables_of(struct choice *c, struct table *t)
{
	t[0] = (struct table){TCA_SOJOURN_HOST, sojourn_rows, &c->host};
	t[1] = (struct table){TCA_SOJOURN_QUEUE, aqm_setup_rows, &c->setup};
	t[2] = (struct table){TCA_SOJOURN_PARAMS, c->algo->params, c->conf};
}

const struct aqm_algo *draw_algo(struct draw *d)
{
	u32 n = 0;

	while (aqm_all[n])
		n++;
	if (likes_probes && !one_in(d, 3))
		for (u32 i = 0; i < n; i++)
			if (aqm_all[i]->echo)
				return aqm_all[i];
	return aqm_all[below(d, n)];
}

void choice_begin(struct choice *c, const struct aqm_algo *algo)
{
	struct table t[TABLES];

	if (algo->conf_bytes > sizeof(c->conf)) {
		fprintf(stderr, "the rows of %s are longer than their room\n", algo->name);
		exit(2);
	}
	memset(c, 0, sizeof(*c));
	c->algo = algo;
	tables_of(c, t);
	for (u32 i = 0; i < TABLES; i++)
		aqm_field_defaults(t[i].rows, t[i].base);
	aqm_setup_defaults(algo, &c->setup);
}

static bool read_table(const struct table *t, const struct nlattr *nest)
{
	const struct nlattr *found[NUMBER_MAX + 1];

	if (!t->rows)
		return true;
	if (!nest)
		return false;
	sort_attributes(found, NUMBER_MAX + 1, payload(nest), payload_bytes(nest));
	for (const struct aqm_field *row = t->rows; row->name; row++)
		if (!found[row->attr] ||
		    aqm_field_set(row, t->base, as_number(found[row->attr])))
			return false;
	return true;
}

bool choice_read(struct choice *c, const void *options, size_t bytes)
{
	const struct nlattr *found[TCA_SOJOURN_END];
	const struct aqm_algo *algo;
	struct table t[TABLES];

	sort_attributes(found, TCA_SOJOURN_END, options, bytes);
	algo = found[TCA_SOJOURN_ALGO] ? aqm_find(payload(found[TCA_SOJOURN_ALGO])) : NULL;
	if (!algo)
		return false;
	choice_begin(c, algo);
	tables_of(c, t);
	for (u32 i = 0; i < TABLES; i++)
		if (!read_table(&t[i], found[t[i].nest]))
			return false;
	return true;
}

const char *choice_differs(const struct choice *a, const struct choice *b)
{
	struct choice mine = *a, other = *b;
	struct table s[TABLES], t[TABLES];

	if (a->algo != b->algo)
		return "algorithm";
	tables_of(&mine, s);
	tables_of(&other, t);
	for (u32 i = 0; i < TABLES; i++)
		for (const struct aqm_field *row = s[i].rows; row && row->name; row++)
			if (aqm_field_get(row, s[i].base) != aqm_field_get(row, t[i].base))
				return row->name;
	return NULL;
}

static void put_row(struct message *m, const struct aqm_field *row, u64 value)
{
	if (row->type == AQM_U64)
		put_u64(m, row->attr, value);
	else
		put_u32(m, row->attr, (u32)value);
}

/* Anywhere in its range, or where users have it: within 8 times its default. */
static u64 draw_value(struct draw *d, const struct aqm_field *row)
{
	u64 low = row->def / 8, high = row->def > row->max / 8 ? row->max : row->def * 8;

	if (one_in(d, 2) || row->max < 8)
		return between(d, row->min, row->max);
	return spread(d, low < row->min ? row->min : low, high);
}

/* Anybody that may be named: the next hop, the other end, one behind it, nobody. */
static u32 draw_responder(struct draw *d)
{
	static const u32 some[] = {0,          0x0a000002, 0x0a000001, 0x0a020009,
	                           0x0a050002, 0x0a00004d, 0xcb007101};

	if (one_in(d, 8))
		return 0x01000000u + below(d, 0x7e000000u);
	return some[below(d, sizeof(some) / sizeof(*some))];
}

void draw_responder6(struct draw *d, struct message *m)
{
	static const u8 some[][16] = {
	        {0},
	        {0xfd, [15] = 2},
	        {0xfd, [15] = 1},
	        {0xfd, 2, [15] = 9},
	        {0xfe, 0x80, [15] = 9},
	        {0xfd, 0x99, [15] = 1},
	};

	if (HAS_RESPONDER6 && one_in(d, 3))
		put(m, RESPONDER6, some[below(d, sizeof(some) / 16)], 16);
}

/* A value that a liking has for this row. */
static u64 draw_liked(struct draw *d, const struct aqm_field *row, u64 value)
{
	if (row->unit == AQM_IPV4)
		return draw_responder(d);
	if (!likes_probes)
		return value;
	if (!strcmp(row->name, "ratio"))
		return row->min + below(d, 3);
	if (!strcmp(row->name, "respond"))
		return below(d, 2);
	return value;
}

void draw_rows(struct draw *d, struct choice *c, struct message *m, u32 flows_most)
{
	const struct aqm_field *flows = aqm_field_find(aqm_setup_rows, "flows");
	const struct aqm_field *limit = aqm_field_find(aqm_setup_rows, "limit");
	u32 share = 1 + below(d, 4);
	struct table t[TABLES];

	tables_of(c, t);
	for (u32 i = 0; i < TABLES; i++) {
		u32 at = nest_begin(m, t[i].nest);

		for (const struct aqm_field *row = t[i].rows; row && row->name; row++) {
			u64 value = draw_liked(d, row, draw_value(d, row));
			bool rarely = row->type != AQM_BOOL && !one_in(d, share);

			rarely &= !likes_probes || strcmp(row->name, "ratio");

			if (row == flows && value > flows_most)
				value = flows_most;

			/* Often an arrival evicts all that is held. */
			if (row == limit && one_in(d, 6))
				value = 1 + below(d, 3);
			if (rarely || aqm_field_set(row, t[i].base, value))
				continue;
			put_row(m, row, value);
		}
		nest_end(m, at);
	}
}

/* ---- what must be refused ---- */

static u32 rows_in(const struct aqm_field *rows)
{
	u32 n = 0;

	while (rows && rows[n].name)
		n++;
	return n;
}

static void put_unknown_row(struct draw *d, struct message *m, const struct aqm_field *rows)
{
	const struct aqm_field *row;
	u16 number;

	do {
		number = (u16)spread(d, 1, NUMBER_MAX);
		for (row = rows; row->name && row->attr != number; row++)
			;
	} while (row->name);
	put_u32(m, number, (u32)draw_word(d));
}

static void put_beyond(struct draw *d, struct message *m, const struct aqm_field *row)
{
	u64 widest = row->type == AQM_U64 ? ~0ull : U32_MAX;

	if (row->max < widest && (!row->min || one_in(d, 2)))
		put_row(m, row, between(d, row->max + 1, widest));
	else if (row->min)
		put_row(m, row, between(d, 0, row->min - 1));
	else
		put_unknown_row(d, m, row);
}

static void put_wrong_width(struct draw *d, struct message *m, const struct aqm_field *row)
{
	static const u8 zeros[16];
	u32 right = row->type == AQM_U64 ? 8 : 4, bytes = below(d, sizeof(zeros));

	put(m, row->attr, zeros, bytes == right ? right + 1 : bytes);
}

static void put_wrong_row(struct draw *d, struct message *m, const struct table *t)
{
	u32 n = rows_in(t->rows);
	const struct aqm_field *row = t->rows + below(d, n);
	bool flat = false;
	u32 at = nest_begin(m, t->nest);

	switch (below(d, 6)) {
	case 0:
		put_wrong_width(d, m, row);
		break;
	case 1:
		put_row(m, row, aqm_field_get(row, t->base));
		put_row(m, row, aqm_field_get(row, t->base));
		break;
	case 2:
		/* The rows of the table from its begin, or a number of theirs would do. */
		put_unknown_row(d, m, t->rows);
		break;
	case 3:
		memcpy(m->bytes + m->used, "\1\0\0", 4);
		m->used += 1 + below(d, 3);
		break;
	case 4:
		flat = true;
		put_row(m, row, aqm_field_get(row, t->base));
		break;
	default:
		if (row->max < (row->type == AQM_U64 ? ~0ull : U32_MAX) || row->min)
			put_beyond(d, m, row);
		else
			put_unknown_row(d, m, t->rows);
	}
	nest_end(m, at);
	m->used = (u32)NLA_ALIGN(m->used);
	if (flat) {
		u16 type = t->nest;

		memcpy(m->bytes + at + 2, &type, sizeof(type));
	}
}

void draw_wrong(struct draw *d, const struct choice *old, struct message *m)
{
	struct choice c = *old;
	struct table t[TABLES];
	u32 which = below(d, TABLES);

	tables_of(&c, t);
	if (one_in(d, 8))
		put_u32(m, (u16)spread(d, TCA_SOJOURN_END, NUMBER_MAX), (u32)draw_word(d));
	else if (one_in(d, 8))
		put_text(m, TCA_SOJOURN_ALGO, one_in(d, 2) ? "" : "no such algorithm");
	else
		put_wrong_row(d, m, rows_in(t[which].rows) ? &t[which] : &t[1]);
}

void draw_noise(struct draw *d, struct message *m)
{
	for (u32 i = 1 + below(d, 4); i; i--) {
		u16 nest = (u16)(below(d, TCA_SOJOURN_END + 1) |
		                 (one_in(d, 4) ? 0 : NLA_F_NESTED));
		u32 at = m->used;

		put(m, nest, NULL, 0);
		for (u32 j = below(d, 4); j; j--) {
			u64 value = draw_word(d) >> below(d, 64);

			put(m, (u16)below(d, 12), &value, one_in(d, 2) ? 4 : 8);
		}
		nest_end(m, at);
	}
}
