/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fixed.h: computes with integers, alike on every target.
 *
 * No other file divides a u64: a 32-bit compiler would call a library for it.
 * Signed results are rounded toward zero, as C does. With AQM_NARROW it computes as a
 * 32-bit target does, and a test of that runs anywhere.
 */
#ifndef AQM_FIXED_H
#define AQM_FIXED_H

#include "deps.h"

#if defined(__KERNEL__) && !defined(__LP64__)
#include <linux/math64.h>
#endif

#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

/* Number of the highest bit set, from 1; 0 for 0. */
static inline u32 bits64(u64 x)
{
	u32 n = 0, step;

	for (step = 32; step; step >>= 1)
		if (x >> step) {
			x >>= step;
			n += step;
		}
	return n + (u32)x;
}

/* n / d; d is not 0. */
static inline u64 div64(u64 n, u64 d)
{
#if defined(__LP64__) && !defined(AQM_NARROW)
	return n / d;
#elif defined(__KERNEL__)
	return div64_u64(n, d);
#else
	u64 q = 0, rest = 0;
	u32 i;

	for (i = bits64(n); i--;) {
		bool carry = rest >> 63;

		rest = rest << 1 | (n >> i & 1);
		q <<= 1;
		if (carry || rest >= d) {
			rest -= d;
			q |= 1;
		}
	}
	return q;
#endif
}

/* n / d with the sign of n; |n| < 2^63, d > 0. */
static inline s64 sdiv64(s64 n, u64 d)
{
	return n < 0 ? -(s64)div64((u64)-n, d) : (s64)div64((u64)n, d);
}

static inline u64 min64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 max64(u64 a, u64 b)
{
	return a > b ? a : b;
}

struct u128 {
	u64 hi, lo;
};

static inline struct u128 mul64(u64 a, u64 b)
{
#if defined(__SIZEOF_INT128__) && !defined(AQM_NARROW)
	unsigned __int128 p = (unsigned __int128)a * b;

	return (struct u128){(u64)(p >> 64), (u64)p};
#else
	u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
	u64 low = a0 * b0, mid = a1 * b0 + (low >> 32), mid2 = a0 * b1 + (u32)mid;

	return (struct u128){a1 * b1 + (mid >> 32) + (mid2 >> 32), mid2 << 32 | (u32)low};
#endif
}

/* a * b / d without losing the upper half; saturates. d is not 0. */
static inline u64 muldiv64(u64 a, u64 b, u64 d)
{
	struct u128 p = mul64(a, b);
	u64 q = 0, rest = p.hi;
	u32 i;

	if (!p.hi)
		return div64(p.lo, d);
	if (p.hi >= d)
		return (u64)-1;
	/* One bit of the quotient at a time; callers are no hot path. */
	for (i = 64; i--;) {
		bool carry = rest >> 63;

		rest = rest << 1 | (p.lo >> i & 1);
		q <<= 1;
		if (carry || rest >= d) {
			rest -= d;
			q |= 1;
		}
	}
	return q;
}

/* a * b >> shift, for 0 < shift < 64, saturating. */
static inline u64 mulshift64(u64 a, u64 b, u32 shift)
{
	struct u128 p = mul64(a, b);

	return p.hi >> shift ? (u64)-1 : p.hi << (64 - shift) | p.lo >> shift;
}

/* The largest r with r * r <= x. */
static inline u32 isqrt64(u64 x)
{
	u64 root = 0, bit;

	for (bit = 1ull << 62; bit; bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (u32)root;
}

/* num / den as a probability: 0 if num <= 0, U32_MAX ("always") if num >= den. */
static inline u32 ratio_q32(s64 num, u64 den)
{
	if (num <= 0)
		return 0;
	if ((u64)num >= den)
		return U32_MAX;
	return (u32)min64(muldiv64((u64)num, 1ull << 32, den), U32_MAX);
}

/* The first point after `to` of the grid from + k * period. */
static inline u64 grid_after(u64 from, u64 to, u64 period)
{
	return from + (div64(to - from, period) + 1) * period;
}

#endif
