/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * timed.h: evaluations of a law in a second, each waiting for the one before, as in a queue.
 * A file defines law(), which is what sojourn.result.law counts, and evaluate(), which calls it once.
 */
#ifndef SOJOURN_LAWS_TIMED_H
#define SOJOURN_LAWS_TIMED_H

#include <stdio.h>
#include <time.h>

#include "fixed.h"

#define EVALUATIONS 1000000u

/* Not inlined, so that its instructions stand apart. */
#define LAW static __attribute__((noinline))

/* The p of this step, in Q0.32. Its numbers vary, so that no branch is foretold. */
static u32 evaluate(u64 step);

static inline u64 noise(u64 step)
{
	return step * 0x9e3779b97f4a7c15u;
}

int main(void)
{
	double best = 1e9, sum = 0;
	u64 step = 0;
	int i;

	/* Best of ten: other programs only ever make it slower. */
	for (i = 0; i < 10; i++) {
		clock_t begun = clock();
		u64 last = step + EVALUATIONS;
		double took;

		while (step < last)
			sum += evaluate(++step);
		took = (double)(clock() - begun) / CLOCKS_PER_SEC;
		best = took < best ? took : best;
	}
	/* The mean p, so that no evaluation can be left out. */
	printf("%.3f %.6f\n", EVALUATIONS / best / 1e6, sum / (double)step / 4294967296.0);
	return 0;
}

#endif
