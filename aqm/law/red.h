/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/red.h: RED's average queue and its probability, Floyd and Jacobson, "Random
 * Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN 1(4), 1993.
 *
 * The average has weight 2^-k and is kept as avg * 2^(k + 16): an update rounds by
 * less than 2^-16 of what is counted, and rounding adds up to no more than that.
 * With q <= 2^27 and k <= 20 it stays at or below 2^63.
 */
#ifndef AQM_LAW_RED_H
#define AQM_LAW_RED_H

#include "../aqm.h"
#include "../fixed.h"
#include "../rng.h"

#define RED_FRACTION 16 /* bits of the average below one */
/* Packets or bytes: 128 MiB. A longer queue counts as this one; thresholds stay below. */
#define RED_LONGEST (1u << 27)

/* For a link of unknown rate: 10 Mbit/s, as tc's red. */
#define RED_UNKNOWN_BYTES_S 1250000

struct red_average {
	u64 scaled;   /* avg * 2^(k + RED_FRACTION) */
	u64 empty_ns; /* if the queue is empty: aged up to here, in whole packet times */
};

/* x * base^m in Q0.32, by squaring; each step rounds down by less than 2^-32. */
static inline u64 decay_q32(u64 x, u64 base_q32, u64 m)
{
	u64 power = base_q32;

	for (; m && x; m >>= 1) {
		if (m & 1)
			x = mulshift64(x, power, 32);
		power = power * power >> 32;
	}
	return x;
}

static inline u64 red_rate(u64 known_bytes_s)
{
	return known_bytes_s ? known_bytes_s : RED_UNKNOWN_BYTES_S;
}

/* m of figure 2: packets that the link could have sent while the queue was empty. */
static inline u64 red_idle_pkts(const struct red_average *a, u64 now, u64 bytes_per_s,
                                u32 mean_bytes)
{
	return muldiv64(now - a->empty_ns, bytes_per_s, (u64)mean_bytes * NS_PER_S);
}

/* The average for an arrival at `now` at an empty queue. */
static inline u64 red_aged(const struct red_average *a, u64 now, u32 k, u64 bytes_per_s,
                           u32 mean_bytes)
{
	return decay_q32(a->scaled, (1ull << 32) - (1ull << (32 - k)),
	                 red_idle_pkts(a, now, bytes_per_s, mean_bytes));
}

/* A packet arrives at a queue of q; figure 2 of the paper. While it was empty m packets
 * could have been sent: the average decays as if m arrivals had found it empty, and this
 * one is not counted again. If this packet is refused the queue stays empty. Only whole
 * packet times are used up, so that many refused packets age the average as one does. */
static inline void red_update(struct red_average *a, u64 now, u32 q, u32 k, u64 bytes_per_s,
                              u32 mean_bytes)
{
	if (!q) {
		u64 m = red_idle_pkts(a, now, bytes_per_s, mean_bytes);

		a->scaled = red_aged(a, now, k, bytes_per_s, mean_bytes);
		a->empty_ns += min64(now - a->empty_ns,
		                     muldiv64(m, (u64)mean_bytes * NS_PER_S, bytes_per_s));
		return;
	}
	q = q < RED_LONGEST ? q : RED_LONGEST;
	a->scaled += ((u64)q << RED_FRACTION) - (a->scaled >> k);
}

/* A threshold as the average is kept. */
static inline u64 red_scaled(u32 threshold, u32 k)
{
	return (u64)threshold << (k + RED_FRACTION);
}

/* The same average, kept for another weight. */
static inline void red_rescale(struct red_average *a, u32 from, u32 to)
{
	u32 less = (u32)min64(from, to);

	a->scaled = a->scaled >> (from - less) << (to - less);
}

static inline void red_emptied(struct red_average *a, u64 now)
{
	a->empty_ns = now;
}

/* The calls for a packet that has left, of any algorithm whose state begins with its
 * average: from here on the queue may be empty. */
static inline void red_gone(void *st, const void *conf, u64 now, const struct aqm_view *view,
                            const struct aqm_pkt *pkt, u8 why)
{
	(void)conf, (void)pkt, (void)why;
	if (!view->pkts)
		red_emptied(st, now);
}

static inline struct aqm_verdict red_dequeue(void *st, const void *conf, u64 now,
                                             const struct aqm_view *view,
                                             const struct aqm_pkt *pkt)
{
	red_gone(st, conf, now, view, pkt, 0);
	return aqm_pass();
}

/* Does the packet get the signal, between the thresholds? `count` packets have come
 * there since the last signal; the chance p / (1 - count p) spaces signals evenly. */
static inline bool red_signals(struct aqm_rng *rng, u32 p_q32, u32 count)
{
	u64 left = 1ull << 32, used = (u64)p_q32 * count;
	/* Drawn also where the signal is certain, so that the last bit of p moves no later
	 * draw. */
	u32 draw = rng_u32(rng);

	return used >= left - p_q32 ||
	       draw < min64(div64((u64)p_q32 << 32, left - used), U32_MAX);
}

/* max_p * (avg - min) / (max - min), for min <= avg <= max. */
static inline u32 red_slope_q32(const struct red_average *a, u32 k, u32 min, u32 max,
                                u32 max_p_q32)
{
	u64 above = a->scaled - red_scaled(min, k), span = red_scaled(max - min, k);

	return (u32)min64(muldiv64(max_p_q32, above, span), U32_MAX);
}

#endif
