/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/duk.h: computes DUK's probability, Novak and Kasera, "Auto-Tuning Active Queue
 * Management", COMSNETS 2017, Eq. 9.
 *
 * With A, B bytes arrived and sent in an interval of n clock ticks, C bytes that
 * could have been sent, U = B/C, y the change of U and d that of delay in ticks, Eq. 9 is
 *
 *   p = 1 - (B + C T) / A,   T = y^2 (1 + n) / (n (y (2 + n) - d)).
 *
 * In this form dD/dU = d/y never has to be formed, which is 0/0 whenever
 * utilisation stands still; there T = 0. The delay's unit is one tick: Eq. 9 adds
 * 1 to an interval, so the tick is part of the law (docs/reference/algorithms/duk.md).
 *
 * U has no bound at 1: when the capacity is underrated, or n packets of an interval are
 * counted against n - 1, the link is used by more than all of it, and y is wrong if that
 * is cut. Only where an estimate is off by more than DUK_USED_MAX does U stay there.
 *
 * Fixed point: U, y, T in Q20; U <= 4, so |y| <= 2^22; n <= 2^26, so |y| (2 + n) < 2^49;
 * |d| <= 2^62, so the bracket stays below 2^63.
 */
#ifndef AQM_LAW_DUK_H
#define AQM_LAW_DUK_H

#include "../fixed.h"

#define DUK_ONE      ((s64)1 << 20)
#define DUK_T_MAX    (16 * DUK_ONE)
#define DUK_USED_MAX 4

struct duk_sample {
	u64 arrived, sent, could; /* bytes, below 2^58: C T is below 2^62 */
	s64 was_used;             /* U of the interval before, Q20 */
	s64 delay_change;         /* d in Q20 ticks */
	u32 ticks;                /* n */
};

/* U in Q20; 0 when there is no capacity to speak of. */
static inline s64 duk_used(u64 sent, u64 could)
{
	if (!could)
		return 0;
	if (div64(sent, DUK_USED_MAX) >= could)
		return DUK_USED_MAX * DUK_ONE;
	return (s64)muldiv64(sent, (u64)DUK_ONE, could);
}

/* T in Q20. At the pole it saturates upward. */
static inline s64 duk_correction(s64 y, s64 delay_change, u32 n)
{
	u64 per_n = div64(((u64)n + 1) << 16, n); /* (1 + n)/n in Q16, <= 2^17 */
	u64 top = (u64)(y * y) * per_n >> 16;     /* 2^44 * 2^17; Q40, <= 2^45 */
	s64 bracket = y * (2 + (s64)n) - delay_change;
	u64 size = (u64)(bracket < 0 ? -bracket : bracket);
	u64 t = size ? min64(div64(top, size), (u64)DUK_T_MAX) : (u64)DUK_T_MAX;

	return bracket < 0 ? -(s64)t : (s64)t;
}

/* p in Q0.32; U is handed back for the next interval. `known` is false as long as
 * `could` is only a lower bound, which must not enter the correction. */
static inline u32 duk_probability(const struct duk_sample *s, bool known, s64 *used)
{
	s64 y, t, kept, shift;

	*used = duk_used(s->sent, s->could);
	y = *used - s->was_used;
	t = known && y ? duk_correction(y, s->delay_change, s->ticks) : 0;
	shift = (s64)mulshift64(s->could, (u64)(t < 0 ? -t : t), 20);
	kept = (s64)s->sent + (t < 0 ? -shift : shift);
	return s->arrived ? ratio_q32((s64)s->arrived - kept, s->arrived) : 0;
}

#endif
