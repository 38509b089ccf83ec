// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_zero.c: a clock may begin at 0, as the simulator's does. What shuts the fast path of a
// packet (fast.h) shuts it at that time too.

#include "odd.h"

ODD(one, 1);

static struct bench begin_at_zero(void)
{
	memset(&script, 0, sizeof(script));
	return BEGIN(&one, 20, 0, {"limit", 10});
}

static void arrive_with_probe(struct bench *b)
{
	script.enqueue.probe = 1;
	arrive(b, 1, 1000, AQM_ECT0);
	CHECK(join_probe(b) != AQM_NIL);
}

TEST(at_zero_the_short_way_is_open)
{
	struct bench b = begin_at_zero();

	CHECK(fast_is_open(b.q, b.now));
	arrive(&b, 1, 1000, 0);
	CHECK(fast_is_open(b.q, b.now));
	bench_end(&b);
}

TEST(at_zero_new_rows_shut_the_short_way)
{
	struct bench b = begin_at_zero();

	change_row(&b, "limit", 5);
	CHECK(!fast_is_open(b.q, b.now));
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(inst_views(inst_nth(b.q, 0))->limit_pkts, 5);
	bench_end(&b);
}

TEST(at_zero_a_probe_shuts_the_short_way_and_is_not_offered)
{
	struct bench b = begin_at_zero();
	u32 i;

	arrive_with_probe(&b);
	CHECK(!fast_is_open(b.q, b.now));
	arrive_with_probe(&b);
	for (i = 0; i < 4; i++) {
		CHECK(!fast_is_open(b.q, b.now));
		CHECK(leave(&b) != AQM_NIL);
	}
	CHECK(fast_is_open(b.q, b.now));
	CHECK_EQ(script.dequeues, 2);
	CHECK_EQ(b.q->probes.left, 2);
	bench_end(&b);
}
