// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// tsc.c: how often the processor's cycle counter counts in a second of the host's clock.
//
//   gcc -O2 bench/bounds/tsc.c -o build/tsc && build/tsc

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct moment {
	uint64_t cycles, ns;
};

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Of many pairs the one whose clock was read between the closest two counts. */
static struct moment moment(void)
{
	struct moment best = {0, 0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t before = __rdtsc(), ns = clock_ns(), after = __rdtsc();

		if (after - before >= least)
			continue;
		least = after - before;
		best.cycles = before + least / 2;
		best.ns = ns;
	}
	return best;
}

int main(void)
{
	struct timespec pause = {.tv_nsec = 300000000};
	struct moment began = moment(), ended;

	nanosleep(&pause, NULL);
	ended = moment();
	printf("%.0f\n",
	       (double)(ended.cycles - began.cycles) * 1e9 / (double)(ended.ns - began.ns));
	return 0;
}
