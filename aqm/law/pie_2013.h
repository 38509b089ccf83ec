/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/pie_2013.h: estimates the delay of PIE as first published, and scales its gains.
 *
 * By Little's law the delay is the backlog over an average of the rate at which the queue
 * drains.
 */
#ifndef AQM_LAW_PIE_2013_H
#define AQM_LAW_PIE_2013_H

#include "pie.h"

struct pie_2013_rate {
	struct pie_drain drain;
	u64 rate_x8; /* average of bytes/s, times 8 */
	u64 rate;
};

/* The gains of the paper hold from p = 0.1 up. */
static const struct pie_tune pie_2013_tune[] = {
        {PIE_ONE / 10, 1},
        {PIE_ONE / 100, 3},
};

static inline void pie_2013_average(struct pie_2013_rate *r, u64 spent_ns)
{
	/* bytes < 2^32, so the product fits */
	u64 rate = div64(r->drain.bytes * NS_PER_S, spent_ns);

	if (r->rate_x8)
		r->rate_x8 += rate - (r->rate_x8 >> 3);
	else
		r->rate_x8 = rate << 3;
	r->rate = r->rate_x8 >> 3;
}

/* A packet of `len` bytes leaves, and `left` stay. */
static inline void pie_2013_leaves(struct pie_2013_rate *r, u64 now, u32 len, u32 left,
                                   u32 threshold)
{
	if (pie_drained(&r->drain, len, threshold) && now > r->drain.start_ns)
		pie_2013_average(r, now - r->drain.start_ns);
	pie_drain_again(&r->drain, now, left, threshold);
}

/* No rate yet, so no delay. */
static inline u64 pie_2013_delay_ns(const struct pie_2013_rate *r, u32 backlog)
{
	return r->rate ? div64(backlog * NS_PER_S, r->rate) : 0;
}

#endif
