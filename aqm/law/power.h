/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/power.h: computes powers of two with a fraction, in whole numbers.
 */
#ifndef AQM_LAW_POWER_H
#define AQM_LAW_POWER_H

#include "../fixed.h"

#define POWER_BITS 32

/* log2(1 + x) of a Q0.32 in Q0.48, bit by bit: where the square is 2 or more, the next bit
 * of the logarithm is 1. Each square loses less than 2^-62 of itself, and the n-th counts
 * 2^-n in the logarithm. */
static inline u64 log2_of_1_and(u32 x_q32)
{
	u64 y = ((u64)1 << 62) + ((u64)x_q32 << 30); /* Q2.62, from 1 to 2 */
	u64 bits = 0;
	u32 i;

	for (i = 0; i < 48; i++) {
		y = mulshift64(y, y, 62);
		bits <<= 1;
		if (y >> 63) {
			y >>= 1;
			bits |= 1;
		}
	}
	return bits;
}

/* 2^-x of a Q32.32 below 64, in Q0.63. Each of the 32 factors is off by 2^-63 and each product
 * cut by as much: 2^-57 in all. */
static inline u64 power_of_half(u64 x_q32)
{
	/* 2^-(2^-k) * 2^63, for k from 1 on: round(2^(63 - 2^-k)) */
	static const u64 roots[POWER_BITS] = {
	        0x5a827999fcef3242ull, 0x6ba27e656b4eb57aull, 0x75606373ee921c97ull,
	        0x7a92be8a92436616ull, 0x7d41d96db915019dull, 0x7e9f06067a4360baull,
	        0x7f4f08ae3dc7c426ull, 0x7fa765aca88f6453ull, 0x7fd3ab290e46d769ull,
	        0x7fe9d3a8e07bf086ull, 0x7ff4e9597bed93abull, 0x7ffa748dff8dc61full,
	        0x7ffd3a3f50020332ull, 0x7ffe9d1dbc0a75aaull, 0x7fff4e8e6306ed59ull,
	        0x7fffa74712c3cdfdull, 0x7fffd3a381b1fa29ull, 0x7fffe9d1beed018aull,
	        0x7ffff4e8defb81d7ull, 0x7ffffa746f5f012full, 0x7ffffd3a37a7d0a8ull,
	        0x7ffffe9d1bd1fc58ull, 0x7fffff4e8de8832dull, 0x7fffffa746f422d7ull,
	        0x7fffffd3a37a09bbull, 0x7fffffe9d1bd02f2ull, 0x7ffffff4e8de80feull,
	        0x7ffffffa746f4060ull, 0x7ffffffd3a37a028ull, 0x7ffffffe9d1bd012ull,
	        0x7fffffff4e8de809ull, 0x7fffffffa746f404ull,
	};
	u64 y = (u64)1 << 63;
	u32 i;

	for (i = 0; i < POWER_BITS; i++)
		if (x_q32 >> (POWER_BITS - 1 - i) & 1)
			y = mulshift64(y, roots[i], 63);
	return y >> (x_q32 >> POWER_BITS);
}

#endif
