/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/duk_alg2.h: chooses DUK's measurement interval by Algorithm 2, as printed.
 *
 *   if (P_cur != P_last) {
 *     if (beta_cur >= beta_old at P_cur and dt_cur < dt_old at P_cur) {
 *       beta_new at P_cur = beta_cur; dt_new at P_cur = dt_cur;
 *       set m and c from the curve fit of Eq. 11
 *     }
 *     dt_new = m P_cur + c
 *   }
 *
 * beta is what was sent in dt. A level that was never met has no old values that could
 * fail the inner condition: it is met by storing what there is. Two points make a line;
 * with one the interval stays. The fit is by least squares, and rounded to whole ticks.
 *
 * Rates are compared as bytes times the other's ticks, exactly: below 2^53 * 2^10. The
 * line: of at most 100 points with levels below 100 and at most 1024 ticks, |top| < 2^29,
 * bottom < 2^25, and no term of `at` exceeds 2^44.
 */
#ifndef AQM_LAW_DUK_ALG2_H
#define AQM_LAW_DUK_ALG2_H

#include "../fixed.h"
#include "duk_level.h"

struct duk_point {
	u64 sent;  /* bytes in that interval */
	u32 ticks; /* 0: never met */
};

struct duk_alg2 {
	u32 last; /* P_last + 1; 0: none yet */
	u32 points;
	struct duk_point at[DUK_LEVELS];
};

static inline void duk_alg2_learn(struct duk_alg2 *d, u32 level, u32 ticks, u64 sent)
{
	struct duk_point *old = &d->at[level];

	if (old->ticks && (sent * old->ticks < old->sent * ticks || ticks >= old->ticks))
		return;
	d->points += !old->ticks;
	*old = (struct duk_point){sent, ticks};
}

/* m P + c in whole ticks, for at least two points. */
static inline u32 duk_alg2_line(const struct duk_alg2 *d, u32 level)
{
	s64 n = d->points, p = 0, pp = 0, t = 0, pt = 0, top, bottom, at;
	u32 i;

	for (i = 0; i < DUK_LEVELS; i++) {
		if (!d->at[i].ticks)
			continue;
		p += i;
		pp += (s64)i * i;
		t += d->at[i].ticks;
		pt += (s64)i * d->at[i].ticks;
	}
	top = n * pt - p * t;
	bottom = n * pp - p * p;
	/* doubled, so that half a tick more rounds to the nearest */
	at = 2 * (t * bottom + top * (n * level - p)) + n * bottom;
	return at > 0 ? (u32)max64(1,
	                           min64(div64((u64)at, (u64)(2 * n * bottom)), DUK_TICKS_MAX))
	              : 1;
}

/* An interval of so many ticks has ended, at this level. Answers the next one's. */
static inline u32 duk_alg2_next(struct duk_alg2 *d, u32 level, u32 ticks, u64 sent)
{
	if (d->last == level + 1)
		return ticks;
	d->last = level + 1;
	duk_alg2_learn(d, level, ticks, sent);
	return d->points < 2 ? ticks : duk_alg2_line(d, level);
}

#endif
