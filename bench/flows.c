// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// flows.c: what a queue of many flows does at once, and a kernel under its root lock.
//
//   gcc -O2 -std=gnu11 -Iaqm -Iaqm/test bench/flows.c aqm/*.c -o build/flows && build/flows
//
// Every flow holds a packet. An arrival beyond the limit looks for the fattest flow among
// all; statistics and a change run the ticks of all that are due, here after a link has
// stood still. Processor time; of each the least and the most of some turns.

#include <time.h>

#include "host.h"

enum { TURNS = 15, HOUR_S = 3600 };

extern const struct aqm_algo aqm_codel, aqm_duk, aqm_pie;

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void arrive_in(struct bench *b, u32 flow)
{
	arrive(b, (u32)(((u64)flow << 32) / b->setup.flows + 1), 1000, 0);
}

static struct bench filled(const struct aqm_algo *algo, u32 flows)
{
	struct bench b = bench_new(algo, flows + 1, 1);
	u32 i;

	set_row(&b, "flows", flows);
	set_row(&b, "limit", flows);
	if (bench_start(&b, 1).sentence)
		broken("these rows are accepted");
	for (i = 0; i < flows; i++)
		arrive_in(&b, i);
	return b;
}

static double overflow(struct bench *b)
{
	double began = cpu_us();

	arrive_in(b, b->setup.flows / 2);
	return cpu_us() - began;
}

static double look(struct bench *b)
{
	double began;

	b->now += HOUR_S * NS_PER_S;
	began = cpu_us();
	aqm_queue_stat(b->q, b->now, b->algo->stats);
	return cpu_us() - began;
}

static void measure(const struct aqm_algo *algo, u32 flows, const char *what,
                    double (*turn)(struct bench *))
{
	double least = 1e12, most = 0;
	u32 i;

	for (i = 0; i < TURNS; i++) {
		struct bench b = filled(algo, flows);
		double us = turn(&b);

		least = us < least ? us : least;
		most = us > most ? us : most;
		bench_end(&b);
	}
	printf("| %s | %u | %s | %.1f | %.1f |\n", algo->name, flows, what, least, most);
}

int main(void)
{
	puts("| queue | flows | what | least, us | most, us |\n|---|--:|---|--:|--:|");
	measure(&aqm_codel, 1024, "an arrival at the limit", overflow);
	measure(&aqm_codel, 65536, "an arrival at the limit", overflow);
	measure(&aqm_codel, 65536, "statistics", look);
	measure(&aqm_pie, 1024, "statistics", look);
	measure(&aqm_pie, 65536, "statistics", look);
	measure(&aqm_duk, 10000, "statistics", look);
	return 0;
}
