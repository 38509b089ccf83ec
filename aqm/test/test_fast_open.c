// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_fast_open.c: when the fast path of a packet (fast.h) is shut, because something else
// is to be done first, and that it opens again when it has been done.

#include "odd.h"

extern const struct aqm_algo aqm_pie;

static struct {
	u32 calls, limit_pkts;
} rows;

static void configure(void *st, const void *conf, const struct aqm_view *views)
{
	(void)st, (void)conf;
	rows.calls++;
	rows.limit_pkts = views->limit_pkts;
}

ODD(one, 1, .configure = configure);
ODD(two, 2);
ODD(sampling, 1, .flags = AQM_SAMPLES);

static struct bench begin(u32 limit)
{
	memset(&rows, 0, sizeof(rows));
	return ODD_BEGIN(&one, 20, {"limit", limit});
}

static bool is_open(const struct bench *b)
{
	return fast_is_open(b->q, b->now);
}

static void arrive_with_probe(struct bench *b)
{
	script.enqueue.probe = 1;
	arrive(b, 1, 1000, AQM_ECT0);
	script.enqueue.probe = 0;
	CHECK(join_probe(b) != AQM_NIL);
}

TEST(the_short_way_is_open_from_the_start)
{
	struct bench b = begin(10);

	CHECK(is_open(&b));
	arrive(&b, 1, 1000, 0);
	CHECK(is_open(&b));
	aqm_queue_reset(b.q, b.now);
	CHECK(is_open(&b));
	bench_end(&b);
}

TEST(only_one_list_without_flows_or_samples_has_a_short_way)
{
	struct bench flows = ODD_BEGIN(&one, 2, {"limit", 10}, {"flows", 16});
	struct bench lists = ODD_BEGIN(&two, 2, {"limit", 10});
	struct bench samples = ODD_BEGIN(&sampling, 2, {"limit", 10});

	CHECK(!is_open(&flows));
	CHECK(!is_open(&lists));
	CHECK(!is_open(&samples));
	bench_end(&flows);
	bench_end(&lists);
	bench_end(&samples);
}

TEST(new_rows_shut_the_short_way_until_the_instance_has_taken_them)
{
	struct bench b = begin(10);

	change_row(&b, "limit", 5);
	CHECK(!is_open(&b));
	CHECK_EQ(rows.limit_pkts, 10);
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(rows.limit_pkts, 5);
	CHECK(is_open(&b));
	change_row(&b, "limit", 4);
	leave(&b);
	CHECK_EQ(rows.limit_pkts, 4);
	CHECK(is_open(&b));
	bench_end(&b);
}

/* The last probe goes with what a lowered limit takes; the rows are still to be taken. */
TEST(a_probe_that_a_lowered_limit_takes_does_not_open_the_short_way)
{
	struct bench b = begin(10);
	u32 calls;

	arrive_with_probe(&b);
	arrive(&b, 1, 1000, 0);
	arrive(&b, 1, 1000, 0);
	calls = rows.calls;
	change_row(&b, "limit", 2);
	CHECK_EQ(b.q->probes.freed, 1);
	CHECK_EQ(b.q->pkts, 2);
	CHECK_EQ(rows.calls, calls);
	CHECK(!is_open(&b));
	leave(&b);
	CHECK_EQ(rows.calls, calls + 1);
	CHECK_EQ(rows.limit_pkts, 2);
	CHECK(is_open(&b));
	bench_end(&b);
}

TEST(the_short_way_is_shut_from_the_tick_that_is_due)
{
	struct bench b = begin_ticking(&one, 3, 1000);

	b.now += 999;
	CHECK(is_open(&b));
	b.now++;
	CHECK(!is_open(&b));
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(script.ticks, 1);
	CHECK(is_open(&b));
	b.now += 1000;
	CHECK(!is_open(&b));
	bench_end(&b);
}

/* Deadlines of the life before hold no longer. */
TEST(after_a_reset_the_first_tick_of_the_new_life_shuts_the_short_way)
{
	struct bench b = begin_ticking(&one, 3, 1000);

	aqm_queue_reset(b.q, b.now);
	b.now += 999;
	CHECK(is_open(&b));
	script.period_ns = 400;
	aqm_queue_reset(b.q, b.now);
	CHECK(is_open(&b));
	b.now += 399;
	CHECK(is_open(&b));
	b.now++;
	CHECK(!is_open(&b));
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(script.ticks, 1);
	bench_end(&b);
}

TEST(a_tick_that_a_shorter_period_brings_forward_shuts_the_short_way)
{
	struct bench b = BEGIN(&aqm_pie, 10, 0, {"tupdate", NS_PER_S});

	b.now = 10 * NS_PER_MS;
	change_row(&b, "tupdate", 5 * NS_PER_MS);
	arrive(&b, 1, 1000, 0);
	b.now += 5 * NS_PER_MS - 1;
	CHECK(is_open(&b));
	b.now++;
	CHECK(!is_open(&b));
	bench_end(&b);
}

TEST(a_probe_shuts_the_short_way_until_the_last_has_left)
{
	struct bench b = begin(10);

	arrive_with_probe(&b);
	arrive_with_probe(&b);
	CHECK(!is_open(&b));
	leave(&b);
	leave(&b);
	CHECK_EQ(b.q->probes.left, 1);
	CHECK(!is_open(&b));
	leave(&b);
	CHECK(!is_open(&b));
	leave(&b);
	CHECK_EQ(b.q->probes.left, 2);
	CHECK_EQ(script.dequeues, 2);
	CHECK(is_open(&b));
	bench_end(&b);
}

TEST(a_reset_that_takes_a_probe_opens_the_short_way)
{
	struct bench b = begin(10);

	arrive_with_probe(&b);
	CHECK(!is_open(&b));
	aqm_queue_reset(b.q, b.now);
	CHECK_EQ(b.q->probes.freed, 1);
	CHECK(is_open(&b));
	bench_end(&b);
}

TEST(a_probe_that_is_refused_leaves_the_short_way_open)
{
	struct bench b = begin(1);

	script.enqueue.probe = 1;
	arrive(&b, 1, 1000, AQM_ECT0);
	CHECK_EQ(join_probe(&b), AQM_NIL);
	CHECK_EQ(b.q->probes.refused, 1);
	CHECK(is_open(&b));
	bench_end(&b);
}
