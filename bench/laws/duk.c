// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// duk.c: evaluations of DUK's Eq. 9 in a second, each waiting for the one before, as in a
// queue. Novak and Kasera, COMSNETS 2017, "Implementation", report 25 million.

#include <stdio.h>
#include <time.h>

#include "law/duk.h"

#define EVALUATIONS 4000000u

/* Numbers that vary, so that no branch is foretold: 2 kB to 1 MB in 1 to 64 ticks. */
static struct duk_sample sample(u64 step, s64 was_used)
{
	u64 noise = step * 0x9e3779b97f4a7c15u, could = 2000 + (noise >> 44);
	u64 sent = (noise >> 20) % could;

	return (struct duk_sample){1 + sent + (noise & 0xffff),
	                           sent,
	                           could,
	                           was_used,
	                           (s64)(noise >> 41) - (4 << 20),
	                           1 + (u32)(noise >> 58)};
}

static double seconds(double *sum)
{
	clock_t begun = clock();
	s64 used = 0;
	u32 step;

	for (*sum = 0, step = 1; step <= EVALUATIONS; step++) {
		struct duk_sample s = sample(step, used);

		*sum += duk_probability(&s, true, &used);
	}
	return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

int main(void)
{
	double best = 1e9, sum = 0;
	int i;

	/* Best of five: other programs only ever make it slower. */
	for (i = 0; i < 5; i++) {
		double took = seconds(&sum);

		best = took < best ? took : best;
	}
	printf("%.1f million evaluations a second (mean p %.3f)\n", EVALUATIONS / best / 1e6,
	       sum / EVALUATIONS / 4294967296.0);
	return 0;
}
