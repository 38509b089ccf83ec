/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/integral.h: adds the steps of a PI controller to a probability. While the queue does not
 * change its steps are equal, and any number of them is one multiplication.
 *
 * Q8.56, from 0 to 1. A gain is Q0.32 per packet, so a step is exact.
 */
#ifndef AQM_LAW_INTEGRAL_H
#define AQM_LAW_INTEGRAL_H

#include "../fixed.h"

#define INTEGRAL_ONE ((u64)1 << 56)
/* Twice the whole range: a larger step changes nothing more, whatever up to 1 is taken off. */
#define INTEGRAL_MOST ((s64)2 << 32)

/* gain (q - reference), in Q0.32. A queue holds at most 2^24 packets: below 2^57. */
static inline s64 integral_term(u32 gain_q32, u32 q, u32 reference)
{
	return (s64)gain_q32 * ((s64)q - (s64)reference);
}

/* As Q8.56. */
static inline s64 integral_step(s64 step_q32)
{
	if (step_q32 > INTEGRAL_MOST)
		return INTEGRAL_MOST * (1 << 24);
	return (step_q32 < -INTEGRAL_MOST ? -INTEGRAL_MOST : step_q32) * (1 << 24);
}

/* So many steps, each held within 0 and 1; |step| < 2^62. */
static inline u64 integral_moved(u64 p, s64 step, u64 times)
{
	u64 size = (u64)(step < 0 ? -step : step), room = step < 0 ? p : INTEGRAL_ONE - p;
	/* at least as many as lead to the end */
	u64 most = size ? div64(room, size) + 1 : 0;
	u64 all = min64(room, min64(times, most) * size);

	return step < 0 ? p - all : p + all;
}

static inline u32 integral_q32(u64 p)
{
	return p == INTEGRAL_ONE ? U32_MAX : (u32)(p >> 24);
}

#endif
