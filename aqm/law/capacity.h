/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/capacity.h: estimates the rate of the link from departures alone.
 *
 * While the queue stays busy, the time between two departures is the service time of
 * the first: its length and that time are summed. Their ratio is the capacity, without
 * smoothing or knowledge of the link. Summing both sides over a busy stretch
 * averages out drivers that fetch packets in bursts. The first interval of a busy
 * period is left out: a shaper's saved-up credit sends it at line rate. This interval
 * counts only while there is no better estimate.
 *
 * Time in which the link is stopped is not service time: a gap longer than `longest_ns` is
 * left out, and a busy period begins after it. A shorter stop counts as one slow packet,
 * for one interval only.
 */
#ifndef AQM_LAW_CAPACITY_H
#define AQM_LAW_CAPACITY_H

#include "../fixed.h"

struct capacity_sum {
	u64 bytes, ns;
	u32 gaps;
};

struct capacity {
	struct capacity_sum known; /* gaps == 0: nothing is known yet */
	struct capacity_sum sum, first;
	u64 last_ns;
	u32 last_bytes;
	u32 busy;      /* packets were left behind the last departure */
	u32 fresh;     /* the busy period began in this interval */
	u64 most_sent; /* bytes in one interval: a lower bound while nothing is known */
};

static inline void capacity_departure(struct capacity *c, u64 now, u32 bytes, u32 left_pkts,
                                      u64 longest_ns)
{
	if (c->busy && now - c->last_ns <= longest_ns) {
		struct capacity_sum *sum = c->fresh ? &c->first : &c->sum;

		sum->bytes += c->last_bytes;
		sum->ns += now - c->last_ns;
		sum->gaps++;
	} else {
		c->fresh = 1;
	}
	c->busy = left_pkts != 0;
	c->last_ns = now;
	c->last_bytes = bytes;
}

/* The packets behind the last departure are gone: the link has nothing to serve. */
static inline void capacity_emptied(struct capacity *c)
{
	c->busy = 0;
}

static inline bool capacity_tells(const struct capacity_sum *sum)
{
	return sum->gaps >= 2 && sum->ns;
}

/* An interval ends. Sums that span little of it continue if the busy period does. */
static inline void capacity_interval(struct capacity *c, u64 interval_ns, u64 sent_bytes)
{
	c->most_sent = max64(c->most_sent, sent_bytes);
	if (capacity_tells(&c->sum) && !(c->busy && c->sum.ns < interval_ns >> 1)) {
		c->known = c->sum;
		c->sum = (struct capacity_sum){0, 0, 0};
	} else if (!c->busy) {
		c->sum = (struct capacity_sum){0, 0, 0};
	}
	if (!c->known.gaps && capacity_tells(&c->first))
		c->known = c->first;
	c->first = (struct capacity_sum){0, 0, 0};
	c->fresh = 0;
}

/* Bytes that the link could send in `ns`. */
static inline u64 capacity_bytes(const struct capacity *c, u64 ns)
{
	return c->known.gaps ? muldiv64(c->known.bytes, ns, c->known.ns) : c->most_sent;
}

/* Service time of a mean packet; 0 while nothing is known. */
static inline u64 capacity_packet_ns(const struct capacity *c)
{
	return c->known.gaps ? div64(c->known.ns, c->known.gaps) : 0;
}

#endif
