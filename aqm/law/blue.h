/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/blue.h: moves BLUE's probability, at most once in a freeze time.
 *
 * An overflow raises it, an idle link lowers it. BLUE and COBALT share this.
 */
#ifndef AQM_LAW_BLUE_H
#define AQM_LAW_BLUE_H

#include "../fixed.h"

struct blue_law {
	u64 last_ns; /* when the probability was last changed */
	u64 idle_ns; /* since when the link idles */
	u32 prob;    /* Q0.32 */
	u32 idle;
};

static inline void blue_lower(struct blue_law *b, u32 decrement, u64 times)
{
	/* the probability is 0 after 2^32 steps of one at the latest */
	b->prob -= (u32)min64(b->prob, min64(times, (u64)1 << 32) * decrement);
}

static inline void blue_raise(struct blue_law *b, u32 increment, u64 freeze_ns, u64 now)
{
	if (now - b->last_ns <= freeze_ns)
		return;
	b->prob = (u32)min64((u64)b->prob + increment, U32_MAX);
	b->last_ns = now;
}

/* If the link has idled on: a step for each freeze time. */
static inline void blue_idle_on(struct blue_law *b, u32 decrement, u64 freeze_ns, u64 now)
{
	u64 from = max64(b->last_ns, b->idle_ns), times = div64(now - from, freeze_ns);

	if (!b->idle || !times)
		return;
	blue_lower(b, decrement, times);
	b->last_ns = from + times * freeze_ns;
}

/* A request found nothing. */
static inline void blue_empty(struct blue_law *b, u32 decrement, u64 freeze_ns, u64 now)
{
	blue_idle_on(b, decrement, freeze_ns, now);
	if (b->idle)
		return;
	b->idle = 1;
	b->idle_ns = now;
	if (now - b->last_ns > freeze_ns) {
		blue_lower(b, decrement, 1);
		b->last_ns = now;
	}
}

#endif
