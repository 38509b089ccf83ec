/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rng.h: draws random numbers from an algorithm's own state.
 *
 * PCG-XSH-RR with 64 bits of state and 32 of output: O'Neill, "PCG: A Family of
 * Simple Fast Space-Efficient Statistically Good Algorithms for Random Number
 * Generation", HMC-CS-2014-0905. Vectors of its author are in test/.
 */
#ifndef AQM_RNG_H
#define AQM_RNG_H

#include "deps.h"

struct aqm_rng {
	u64 state, stream; /* stream: odd */
};

static inline u32 rng_u32(struct aqm_rng *r)
{
	u64 x = r->state;
	u32 word = (u32)((x >> 18 ^ x) >> 27), turn = (u32)(x >> 59);

	r->state = x * 6364136223846793005ull + r->stream;
	return word >> turn | word << (-turn & 31);
}

static inline void rng_seed(struct aqm_rng *r, u64 seed, u64 stream)
{
	r->stream = stream << 1 | 1;
	r->state = 0;
	rng_u32(r);
	r->state += seed;
	rng_u32(r);
}

/* True with probability p; U32_MAX is always. One draw in either case. */
static inline bool rng_chance(struct aqm_rng *r, u32 p_q32)
{
	return rng_u32(r) < p_q32 || p_q32 == U32_MAX;
}

/* 0 .. n - 1 by the upper half of a product; bias below n / 2^32. */
static inline u32 rng_below(struct aqm_rng *r, u32 n)
{
	return (u32)(((u64)rng_u32(r) * n) >> 32);
}

/* Spread near seeds far apart: the finaliser of SplitMix64, Steele et al. 2014. */
static inline u64 rng_mix(u64 x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

#endif
