/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/codel.h: CoDel's control law, RFC 8289 section 5, one packet at a time.
 *
 * The RFC loops inside its dequeue routine. Here each turn of the loop is one
 * offer: the law answers whether this packet gets the signal, and `nth` tells
 * the first offer of a dequeue from the ones that follow a drop.
 */
#ifndef AQM_LAW_CODEL_H
#define AQM_LAW_CODEL_H

#include "../fixed.h"

/* Linux stops after as many drops in one dequeue, to bound its time; the RFC
 * has no bound. The schedule keeps its place and goes on at the next packet. */
#define CODEL_DROPS 256

struct codel_law {
	u64 first_above_ns; /* 0: the delay is below target */
	u64 drop_next_ns;
	u32 count, last_count;
	u32 dropping;
	u32 entered; /* the state was entered in the dequeue under way */
};

/* interval / sqrt(count). Exact to 2^-16: Linux approximates the root by a Newton
 * step per signal, which is 30 % short at count = 2. */
static inline u64 codel_step(u64 interval_ns, u32 count)
{
	/* interval < 2^40, so the dividend stays below 2^56 */
	return div64(interval_ns << 16, isqrt64((u64)count << 32));
}

/* Has the delay been above target for an interval? RFC 8289, dodequeue(). */
static inline bool codel_above(struct codel_law *c, u64 now, u64 sojourn_ns, u32 backlog_bytes,
                               u32 mtu_bytes, u64 target_ns, u64 interval_ns)
{
	if (sojourn_ns < target_ns || backlog_bytes <= mtu_bytes) {
		c->first_above_ns = 0;
		return false;
	}
	if (c->first_above_ns)
		return now >= c->first_above_ns;
	c->first_above_ns = now + interval_ns;
	return false;
}

static inline void codel_enter(struct codel_law *c, u64 now, u64 interval_ns)
{
	u32 delta = c->count - c->last_count;
	/* drop_next may lie ahead of now: a signed difference, and recent then */
	bool recent = (s64)(now - c->drop_next_ns) < (s64)(16 * interval_ns);

	c->count = delta > 1 && recent ? delta : 1;
	c->last_count = c->count;
	c->drop_next_ns = now + codel_step(interval_ns, c->count);
	c->dropping = 1;
	c->entered = 1;
}

/* Does this packet get the signal? `after_drop`: it follows a drop in the same
 * dequeue. The caller says what the signal was with codel_marked(). */
static inline bool codel_signals(struct codel_law *c, u64 now, bool above, u32 nth,
                                 u64 interval_ns)
{
	if (!nth)
		c->entered = 0;
	else if (c->entered)
		return false; /* the packet behind the first drop always passes */
	if (!c->dropping) {
		if (!above)
			return false;
		codel_enter(c, now, interval_ns);
		return true;
	}
	if (!above) {
		c->dropping = 0;
		return false;
	}
	if (nth)
		c->drop_next_ns += codel_step(interval_ns, c->count);
	if (now < c->drop_next_ns || nth >= CODEL_DROPS)
		return false;
	c->count += c->count != U32_MAX;
	return true;
}

/* The signal was a mark and the packet leaves: no next offer will move the
 * schedule on, so it moves here. Entering has moved it already. */
static inline void codel_marked(struct codel_law *c, u64 interval_ns)
{
	if (!c->entered)
		c->drop_next_ns += codel_step(interval_ns, c->count);
}

static inline void codel_empty(struct codel_law *c)
{
	c->first_above_ns = 0;
	c->dropping = 0;
}

#endif
