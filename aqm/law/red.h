/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/red.h: averages RED's queue and computes its probability, Floyd and Jacobson, "Random
 * Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN 1(4), 1993.
 *
 * The average is kept as avg * 2^36. With weight 2^-k an update rounds by less than one of
 * these, and rounding adds up to less than 2^k of them: with k <= 20 to less than 2^-16 of what
 * is counted. With q <= 2^27 it stays at or below 2^63.
 */
#ifndef AQM_LAW_RED_H
#define AQM_LAW_RED_H

#include "../aqm.h"
#include "../fixed.h"
#include "../rng.h"

#define RED_FRACTION 36 /* bits of the average below one */
/* Packets or bytes: 128 MiB. A longer queue counts as this one; thresholds stay below. */
#define RED_LONGEST (1u << 27)

/* For a link of unknown rate: 10 Mbit/s, as tc's red. */
#define RED_UNKNOWN_BYTES_S 1250000

/* A threshold or a queue as the average is kept. */
static inline u64 red_scaled(u32 threshold)
{
	return (u64)threshold << RED_FRACTION;
}

struct red_average {
	u64 scaled;   /* avg * 2^RED_FRACTION */
	u64 empty_ns; /* if the queue is empty: aged up to here */
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

/* Of the bytes that a link could have sent 20 bits are behind the point, of a part of a packet
 * 28: with packets below 2^16 bytes and a rate of at most 2^41 both fit into 64. */
#define RED_BYTE_BITS 20
#define RED_PART_BITS 28

/* The average for an arrival at `now` at an empty queue. m of figure 2 are the packets that the
 * link could have sent since: a linear function of the time, and no whole number. Within a
 * packet's time the power is taken along a straight line. A time so long that the product
 * saturates leaves nothing of the average. With k = 0 the average is the queue, at any time. */
static inline u64 red_aged(const struct red_average *a, u64 now, u32 k, u64 bytes_per_s,
                           u32 mean_bytes)
{
	u64 one = (u64)mean_bytes << RED_BYTE_BITS;
	u64 sent = muldiv64(now - a->empty_ns, bytes_per_s << RED_BYTE_BITS, NS_PER_S);
	u64 m = div64(sent, one), part = div64((sent - m * one) << RED_PART_BITS, one);
	u64 aged = decay_q32(a->scaled, (1ull << 32) - (1ull << (32 - k)), m);

	if (!k)
		return 0;
	/* Rounded, not cut: what is lost here adds up where the parts are small. */
	return aged - ((mulshift64(aged, part, RED_PART_BITS - 1 + k) + 1) >> 1);
}

/* avg += 2^-k (q - avg), rounded up: from below it comes to a queue that stands, and from
 * above, as the exact one, never quite. */
static inline void red_move(struct red_average *a, u64 q, u32 k)
{
	if (q > a->scaled)
		a->scaled += (q - a->scaled + (1ull << k) - 1) >> k;
	else
		a->scaled -= (a->scaled - q) >> k;
}

/* A packet arrives at a queue of q; figure 2 of the paper. While it was empty m packets
 * could have been sent: the average decays as if m arrivals had found it empty, and this
 * one is not counted again. If this packet is refused the queue stays empty, and its idle time
 * goes on from here. */
static inline void red_update(struct red_average *a, u64 now, u32 q, u32 k, u64 bytes_per_s,
                              u32 mean_bytes)
{
	if (!q) {
		a->scaled = red_aged(a, now, k, bytes_per_s, mean_bytes);
		a->empty_ns = now;
		return;
	}
	red_move(a, red_scaled(q < RED_LONGEST ? q : RED_LONGEST), k);
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
static inline u32 red_slope_q32(const struct red_average *a, u32 min, u32 max, u32 max_p_q32)
{
	u64 above = a->scaled - red_scaled(min), span = red_scaled(max - min);

	return (u32)min64(muldiv64(max_p_q32, above, span), U32_MAX);
}

#endif
