// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_afd.c: what AFD does with packets that are larger than the MTU.

#include "begin.h"

extern const struct aqm_algo aqm_afd;

static void one_at_a_time(struct bench *b, u32 len, u32 n)
{
	while (n--) {
		b->now += 10 * NS_PER_MS;
		arrive(b, 7, len, 0);
		leave(b);
	}
}

TEST(large_segments_are_not_dropped_without_a_queue)
{
	struct bench b = BEGIN(&aqm_afd, 10, 0, {"shadow", 100});

	one_at_a_time(&b, 1514, 2000);
	CHECK_EQ(stat(&b, "fair"), 100 * 1514);
	one_at_a_time(&b, 64000, 20000);
	CHECK_EQ(drops(&b), 0);
	CHECK_EQ(stat(&b, "fair"), 100 * 64000);
	/* and the share comes down with the samples */
	one_at_a_time(&b, 100, 20000);
	CHECK_EQ(stat(&b, "fair"), 100 * 1514);
	bench_end(&b);
}
