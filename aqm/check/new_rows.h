/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * new_rows.h: changes rows while packets come and go.
 */
#ifndef AQM_CHECK_NEW_ROWS_H
#define AQM_CHECK_NEW_ROWS_H

#include "senders.h"

#define ROW_CHANGES_MS 20000
#define ROW_SETTLES_MS 10000
#define ROW_ENDS_MS    40000

/* In the middle of most intervals. */
#define CALM_CHANGES_MS 4321
#define CALM_ENDS_MS    10000

/* Others that have to go with it: at their defaults, all at their least, all at their largest.
 */
#define OTHER_WAYS 3

static inline void other_rows(struct life *l, const struct aqm_field *but, u32 way)
{
	const struct aqm_field *row;

	for (row = l->b.algo->params; row && row->name; row++)
		if (row != but && !(row->flags & AQM_FIXED))
			value_of(l, row, !way ? row->def : way == 1 ? row->min : row->max);
}

static inline bool new_rows(struct life *l, const struct aqm_field *row, u64 value, u32 way)
{
	other_rows(l, row, way);
	value_of(l, row, value);
	turn_to(l);
	return l->b.q ? !bench_change(&l->b).sentence : life_start(l, 5);
}

/* From 30 to 40 s, where a row had this value for 20 s. False: no queue can have it. */
static inline bool senders_after(const struct aqm_algo *algo, const struct aqm_field *row,
                                 u64 value, struct period *seen)
{
	static struct senders s;
	struct period before;
	struct life l;
	u32 ms, way;

	for (way = 0; way < OTHER_WAYS; way++) {
		l = senders_life(algo, &s);
		if (new_rows(&l, row, value, way))
			break;
		life_end(&l);
	}
	if (way == OTHER_WAYS)
		return false;
	for (ms = 0; ms < ROW_ENDS_MS; ms++) {
		if (ms == ROW_CHANGES_MS && !new_rows(&l, row, row->def, 0))
			failed("rows at their defaults are refused under way");
		senders_step(&s, &l, ms, true,
		             ms < ROW_CHANGES_MS + ROW_SETTLES_MS ? &before : seen);
	}
	life_end(&l);
	return true;
}

/* Signals at 90 % of a link in even packets, after a change in its middle. -1: there are some
 * without the change, or no queue can have the value. */
static inline s64 calm_signals(const struct aqm_algo *algo, const struct aqm_field *row,
                               u64 from, u64 to)
{
	struct life l = life_new(algo, SLOTS, NS_PER_S);
	u64 before;
	u32 ms;

	set_row(&l.b, "bandwidth", 1250000);
	if (!new_rows(&l, row, from, 0)) {
		life_end(&l);
		return -1;
	}
	for (ms = 0, before = 0; ms < CALM_ENDS_MS; ms++) {
		if (ms == CALM_CHANGES_MS) {
			before = drops(&l.b) + marks(&l.b);
			if (before || !new_rows(&l, row, to, 0))
				break;
		}
		l.b.now += NS_PER_MS;
		if (ms % 10)
			life_arrive(&l, ms << 30, 1250, AQM_ECT0);
		life_leave(&l);
	}
	before = ms < CALM_ENDS_MS ? (u64)-1 : drops(&l.b) + marks(&l.b);
	life_end(&l);
	return (s64)before;
}

#endif
