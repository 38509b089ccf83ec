// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_red.c: what replays beside the model do not reach: rows that change, and the
// updates of a link that stands, all at once and one by one.

#include "updates.h"

extern const struct aqm_algo aqm_red;

TEST(the_average_stays_when_its_weight_changes)
{
	struct bench b =
	        BEGIN(&aqm_red, 100, NS_PER_S, {"min", 10}, {"max", 20}, {"weight", 2});
	u32 i, weight;

	for (i = 0; i < 9; i++)
		arrive(&b, 0, 1000, 0);
	for (i = 0; i < 40; i++) {
		arrive(&b, 0, 1000, 0);
		leave(&b);
	}
	CHECK_EQ(stat(&b, "average"), 8);
	for (weight = 1; weight <= 20; weight = 3 * weight - 1) {
		change_row(&b, "weight", weight);
		arrive(&b, 0, 1000, 0);
		leave(&b);
		CHECK_EQ(stat(&b, "average"), 8);
		if (weight == 1)
			weight = 2;
	}
	CHECK_EQ(drops(&b), 0);
	bench_end(&b);
}

/* max_p after `ticks` updates of a queue that holds `held` packets, at once or in parts; a
 * packet takes 2 s, so an empty queue's average falls by a 16th in four updates. */
static u64 updated(u64 max_p, u32 held, u32 ticks, u32 at_once)
{
	struct bench b = BEGIN(&aqm_red, 100, NS_PER_S, {"form", 2}, {"min", 10}, {"max", 20},
	                       {"weight", 4}, {"probability", max_p}, {"bandwidth", 500});
	u64 tick_ns = 500 * NS_PER_MS, found;
	u32 i;

	for (i = 0; i < 35; i++)
		arrive(&b, 0, 1000, AQM_ECT0);
	while (b.q->pkts > held)
		leave(&b);
	CHECK_EQ(inst_nth(b.q, 0)->tick_ns, b.now + tick_ns);
	run_updates(&b, tick_ns, ticks, at_once);
	found = stat(&b, "max_prob");
	bench_end(&b);
	return found;
}

TEST(updates_of_a_link_that_stands_are_the_same_all_at_once)
{
	static const u32 parts[] = {2, 3, 7, 64, 1000};
	u32 held, i, ticks;

	for (held = 0; held <= 20; held += 10)
		for (ticks = 1; ticks < 300; ticks += 1 + ticks / 9)
			for (i = 0; i < 5; i++)
				CHECK_EQ(updated(1u << 26, held, ticks, 1),
				         updated(1u << 26, held, ticks, parts[i]));
}

/* The average falls: above 16 packets max_p rises, from 14 to 16 it stays, below it falls to
 * its least value, 0.01, of which a last step may take a tenth. */
TEST(max_p_rises_stays_and_falls_while_the_link_is_idle)
{
	u64 first = updated(1u << 26, 0, 1, 100), most = updated(1u << 26, 0, 18, 100);
	u64 least = updated(1u << 26, 0, 300, 1000);

	CHECK_EQ(first, (1u << 26) + (1u << 24));
	CHECK(most > 5 * first);
	CHECK_EQ(updated(1u << 26, 0, 24, 100), most);
	CHECK(updated(1u << 26, 0, 25, 100) < most);
	CHECK_NEAR((double)least / 4294967296., 0.0095, 0.0005);
}

/* Floyd, Gummadi and Shenker, figure 1: increased while it is at most 0.5. */
TEST(a_max_p_of_one_half_rises_once_more)
{
	CHECK_EQ(updated(1u << 31, 10, 1, 1), (1u << 31) + 42949673u);
	CHECK_EQ(updated(1u << 31, 10, 9, 1), (1u << 31) + 42949673u);
}

/* Figure 2 ages an empty queue by its whole idle time, however many packets come in it and
 * are refused: 30 packets of average are below `max` after 3 of 0.8 ms each. */
TEST(refused_packets_do_not_keep_an_empty_queue_shut)
{
	struct bench b = BEGIN(&aqm_red, 400, NS_PER_S, {"max", 15}, {"weight", 2}, {"form", 0},
	                       {"limit", 300});
	u32 i, refused;

	for (i = 0; i < 200; i++)
		arrive(&b, 0, 1000, AQM_NOT_ECT);
	while (b.q->pkts)
		leave(&b);
	for (refused = 0; refused < 1000; refused++) {
		b.now += 10000;
		if (arrive(&b, 0, 200, AQM_NOT_ECT) != AQM_NIL)
			break;
	}
	CHECK(refused >= 50 && refused < 400);
	bench_end(&b);
}

/* A link stands still for a minute, and then its queue is made to hold next to nothing: the
 * queue was not empty until then, and little of its average is gone a tenth of a millisecond
 * later. */
TEST(a_stop_is_no_idle_time_where_a_lower_limit_ends_it)
{
	u32 form;

	for (form = 0; form < 3; form++) {
		struct bench b = BEGIN(&aqm_red, 100, NS_PER_S, {"form", form}, {"min", 20},
		                       {"max", 40}, {"weight", 2});
		u32 i;

		for (i = 0; i < 13; i++)
			arrive(&b, 0, 1000, 0);
		for (i = 0; i < 60; i++) {
			b.now += NS_PER_MS;
			arrive(&b, 0, 1000, 0);
			leave(&b);
		}
		CHECK_EQ(stat(&b, "average"), 12);
		b.now += 60 * NS_PER_S;
		change_row(&b, "limit_bytes", 1);
		CHECK_EQ(b.q->pkts, 0);
		change_row(&b, "limit_bytes", U32_MAX);
		b.now += 100000;
		arrive(&b, 0, 1000, 0);
		CHECK(stat(&b, "average") >= 11);
		bench_end(&b);
	}
}

/* DCTCP's step: all packets get the mark that find 20 or more waiting, and no other. Ups and
 * downs, and pauses of a part of a packet's time. */
TEST(with_weight_0_and_equal_thresholds_the_queue_of_the_moment_decides)
{
	struct bench b = BEGIN(&aqm_red, 4000, NS_PER_S, {"weight", 0}, {"min", 20},
	                       {"max", 20}, {"ecn", 1});
	u32 held, i;
	u64 seen;

	for (i = 0; i < 3000; i++) {
		held = b.q->pkts;
		seen = marks(&b);
		CHECK(arrive(&b, 0, 64, AQM_ECT0) != AQM_NIL);
		CHECK_EQ(marks(&b) - seen, held >= 20);
		CHECK_EQ(stat(&b, "average"), held);
		b.now += i % 7 * 10000;
		if (i % 100 == 99)
			while (leave(&b) != AQM_NIL)
				;
		else if (i % 3 == 0)
			leave(&b);
	}
	CHECK(marks(&b) > 500);
	CHECK_EQ(b.q->count.marks[AQM_WHY_THRESHOLD], marks(&b));
	CHECK_EQ(drops(&b), 0);
	bench_end(&b);
}

TEST(min_above_max_is_refused)
{
	struct bench b = bench_new(&aqm_red, 10, 0);

	set_row(&b, "min", 20);
	set_row(&b, "max", 19);
	CHECK(bench_start(&b, 1).sentence);
	bench_end(&b);
}
