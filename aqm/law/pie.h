/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/pie.h: holds the law that the PIE of 2013 and that of RFC 8033 share.
 *
 * The controller: a proportional-integral step on the queuing delay whose gains
 * shrink with the probability they act on; the burst allowance; the cycle that
 * measures how fast the queue drains.
 *
 * Probability is Q8.56 in a u64: the smallest step, 1 ns at gain 1/16 Hz scaled by
 * 1/2048, is 2.2 units, and twice the largest sum of two steps fits an s64. It is at
 * most 1, except in Linux's form of PIE.
 */
#ifndef AQM_LAW_PIE_H
#define AQM_LAW_PIE_H

#include "../fixed.h"

#define PIE_ONE ((u64)1 << 56)

/* Updates of an empty queue that run one by one before the state is set to
 * rest. Default gains bring p from 1 to 0 in less than half as many. */
#define PIE_IDLE_TICKS 2048

struct pie_law {
	u64 prob; /* Q8.56 */
	u64 delay_ns, old_ns;
	u64 burst_ns;
	u32 idled;
};

/* Below `prob` the step is divided by 2^shift; rows from large to small. */
struct pie_tune {
	u64 prob;
	u32 shift;
};

struct pie_gains {
	u64 target_ns;
	u32 alpha, beta; /* sixteenths of a hertz */
	const struct pie_tune *tune;
	u32 tunes;
};

/* gain * ns as Q0.56, clamped to +-63: gain / 16 / 10^9 * 2^56. The sum of two is
 * below 2^63, and divided by 2048 still 3/100: no delay short of 50 s meets the clamp
 * at default gains. */
static inline s64 pie_term(u32 gain, u64 to_ns, u64 from_ns)
{
	u64 size_ns = min64(to_ns > from_ns ? to_ns - from_ns : from_ns - to_ns, (u64)1 << 40);
	/* 2^82 / 10^9, then 30 bits off: exact to 2^-52 of the term */
	u64 term = min64(mulshift64(gain * size_ns, 4835703278458517ull, 30), 63 * PIE_ONE);

	return to_ns > from_ns ? (s64)term : -(s64)term;
}

/* The step of one update, before any cap. */
static inline s64 pie_step(const struct pie_law *p, const struct pie_gains *g)
{
	s64 step = pie_term(g->alpha, p->delay_ns, g->target_ns) +
	           pie_term(g->beta, p->delay_ns, p->old_ns);
	u32 i, shift = 0;

	for (i = 0; i < g->tunes && p->prob < g->tune[i].prob; i++)
		shift = g->tune[i].shift;
	return step < 0 ? -(-step >> shift) : step >> shift;
}

static inline void pie_move(struct pie_law *p, s64 step)
{
	if (step < 0)
		p->prob -= min64(p->prob, (u64)-step);
	else
		p->prob = min64(p->prob + (u64)step, PIE_ONE);
}

static inline u32 pie_q32(u64 prob)
{
	return prob >= PIE_ONE ? U32_MAX : (u32)(prob >> 24);
}

static inline u32 pie_prob_q32(const struct pie_law *p)
{
	return pie_q32(p->prob);
}

/* No congestion any more: allow the next burst. */
static inline void pie_renew_burst(struct pie_law *p, u64 target_ns, u64 max_burst_ns)
{
	if (!p->prob && p->delay_ns < target_ns >> 1 && p->old_ns < target_ns >> 1)
		p->burst_ns = max_burst_ns;
}

/* What is allowed may have become less. */
static inline void pie_hold_burst(struct pie_law *p, u64 max_burst_ns)
{
	p->burst_ns = min64(p->burst_ns, max_burst_ns);
}

static inline void pie_spend_burst(struct pie_law *p, u64 tupdate_ns)
{
	p->burst_ns -= min64(p->burst_ns, tupdate_ns);
}

/* Called after AQM_TICKS_EMPTY updates of an empty queue: both delays are 0 by then. */
static inline bool pie_at_rest(const struct pie_law *p)
{
	return !p->prob;
}

static inline void pie_rest(struct pie_law *p, u64 burst_ns)
{
	p->prob = 0;
	p->burst_ns = burst_ns;
}

/* ---- how fast does the queue drain? ---- */

struct pie_drain {
	u64 start_ns;
	u32 bytes; /* sent since then */
	u32 measuring;
};

/* A packet leaves; true when a cycle of at least `threshold` bytes is complete.
 * `left` is the backlog behind it. The sample is d->bytes in now - d->start_ns. */
static inline bool pie_drained(struct pie_drain *d, u32 len, u32 threshold)
{
	if (!d->measuring)
		return false;
	d->bytes += len;
	if (d->bytes < threshold)
		return false;
	d->measuring = 0;
	return true;
}

static inline void pie_drain_again(struct pie_drain *d, u64 now, u32 left, u32 threshold)
{
	if (d->measuring || left < threshold)
		return;
	d->measuring = 1;
	d->start_ns = now;
	d->bytes = 0;
}

#endif
