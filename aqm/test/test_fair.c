// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_fair.c: choke and sfb, the two that tell flows apart.

#include <math.h>

#include "begin.h"
#include "law/red.h"

extern const struct aqm_algo aqm_choke, aqm_sfb;

/* ---- RED's average and probability ---- */

static double average_of(const struct red_average *a)
{
	return (double)a->scaled / (double)red_scaled(1);
}

TEST(the_average_moves_by_its_weight)
{
	struct red_average a = {0, 0};
	double exact = 0;
	u32 i;

	for (i = 0; i < 3000; i++) {
		red_update(&a, 0, 50 + i % 20, 9, 1250000, 1000);
		exact += (50 + i % 20 - exact) / 512;
	}
	CHECK_NEAR(average_of(&a), exact, .01);
}

TEST(the_average_decays_while_the_queue_is_empty)
{
	struct red_average a = {red_scaled(100), 0};

	red_emptied(&a, NS_PER_S);
	/* 400 ms at 1250 packets per second: 500 of them */
	red_update(&a, NS_PER_S + 400 * NS_PER_MS, 0, 9, 1250000, 1000);
	CHECK_NEAR(average_of(&a), 100 * pow(1 - 1. / 512, 500), .01);
	red_emptied(&a, 2 * NS_PER_S);
	red_update(&a, 1000000 * NS_PER_S, 0, 9, 1250000, 1000);
	CHECK_EQ(a.scaled, 0);
}

TEST(signals_are_spread_evenly)
{
	struct aqm_rng r;
	u32 n, count, gaps[101] = {0};

	rng_seed(&r, 1, 1);
	for (n = 0; n < 100000; n++) {
		for (count = 1; !red_signals(&r, 42949673, count); count++) /* 1 % */
			;
		gaps[count < 100 ? count : 100]++;
	}
	/* uniform on 1 .. 99 and a certain signal then: 1.01 % each */
	CHECK_NEAR(gaps[1], 1010, 200);
	CHECK_NEAR(gaps[50], 1010, 200);
	CHECK(gaps[100] == 0);
}

/* ---- choke ---- */

static struct bench begin_choke(void)
{
	return BEGIN(&aqm_choke, 310, 0, {"limit", 300}, {"min", 10}, {"max", 30},
	             {"weight", 1});
}

TEST(choke_lets_everything_in_below_min)
{
	struct bench b = begin_choke();
	u32 i;

	for (i = 0; i < 10; i++)
		CHECK(arrive(&b, 7, 1000, 0) != AQM_NIL);
	bench_end(&b);
}

TEST(choke_drops_both_of_a_matching_pair)
{
	struct bench b = begin_choke();
	u32 i;

	for (i = 0; i < 11; i++) /* the average is one behind */
		arrive(&b, 7, 1000, 0);
	CHECK_EQ(drops(&b), 0);
	i = b.q->pkts;
	CHECK_EQ(arrive(&b, 7, 1000, AQM_ECT0), AQM_NIL);
	CHECK_EQ(b.q->pkts, i - 1);
	CHECK_EQ(b.q->count.drops[AQM_WHY_MATCH], 2);
	CHECK_EQ(stat(&b, "matched"), 1);
	bench_end(&b);
}

/* With a weight of one half the average is 11 + 2^-12 when twelve wait, then 11.5. */
TEST(choke_compares_also_where_the_queue_is_full)
{
	struct bench b = BEGIN(&aqm_choke, 40, 0, {"limit", 12}, {"min", 12}, {"weight", 1});
	u32 i;

	for (i = 0; i < 12; i++)
		CHECK(arrive(&b, 7, 1000, 0) != AQM_NIL);
	CHECK_EQ(arrive(&b, 7, 1000, 0), AQM_NIL);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 1);
	set_row(&b, "min", 11);
	bench_change(&b);
	CHECK_EQ(arrive(&b, 8, 1000, AQM_ECT0), AQM_NIL);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 2);
	CHECK_EQ(arrive(&b, 7, 1000, 0), AQM_NIL);
	CHECK_EQ(b.q->count.drops[AQM_WHY_MATCH], 2);
	CHECK_EQ(b.q->pkts, 11);
	CHECK_EQ(drops(&b), 4);
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
}

TEST(choke_drops_all_above_max)
{
	struct bench b = begin_choke();
	u32 i;

	set_row(&b, "ecn", 1);
	bench_change(&b);
	for (i = 0; i < 500; i++)
		arrive(&b, i * 2654435761u, 1000, AQM_ECT0);
	CHECK(b.q->count.drops[AQM_WHY_THRESHOLD] > 300);
	CHECK(b.q->pkts < 60);
	bench_end(&b);
}

TEST(choke_holds_a_flow_that_takes_too_much)
{
	struct bench b = begin_choke();
	u64 sent[2] = {0, 0};
	u32 i;

	for (i = 0; i < 20000; i++) {
		aqm_h h;

		b.now += NS_PER_MS;
		arrive(&b, 1, 1000, 0); /* all of the link */
		if (i % 2)
			arrive(&b, 2 + i * 2654435761u, 1000, 0); /* many small ones: half */
		h = leave(&b);
		if (h != AQM_NIL)
			sent[b.host->packets[h].flow != 1]++;
	}
	/* in proportion to its arrivals the big flow would have two thirds */
	CHECK((double)sent[0] / (double)(sent[0] + sent[1]) < .6);
	bench_end(&b);
}

TEST(choke_wants_min_below_max)
{
	struct bench b = bench_new(&aqm_choke, 100, 0);

	set_row(&b, "min", 30);
	set_row(&b, "max", 30);
	CHECK(bench_start(&b, 1).sentence != NULL);
	bench_end(&b);
}

/* ---- sfb ---- */

static struct bench begin_sfb(void)
{
	return BEGIN(&aqm_sfb, 1010, 0, {"limit", 1000});
}

TEST(sfb_stops_a_flow_at_the_size_of_its_bins)
{
	struct bench b = begin_sfb();
	u32 i;

	for (i = 0; i < 40; i++)
		arrive(&b, 99, 1000, 0);
	CHECK_EQ(b.q->count.drops[AQM_WHY_THRESHOLD], 15);
	CHECK(arrive(&b, 12345, 1000, 0) != AQM_NIL);
	bench_end(&b);
}

TEST(sfb_counts_every_way_out)
{
	struct bench b = begin_sfb();
	u32 i;

	for (i = 0; i < 25; i++)
		arrive(&b, 99, 1000, 0);
	leave(&b);
	CHECK(arrive(&b, 99, 1000, 0) != AQM_NIL);
	CHECK_EQ(arrive(&b, 99, 1000, 0), AQM_NIL);
	set_row(&b, "limit", 20);
	bench_change(&b);
	set_row(&b, "limit", 1000);
	bench_change(&b);
	for (i = 0; i < 5; i++)
		CHECK(arrive(&b, 99, 1000, 0) != AQM_NIL);
	CHECK_EQ(arrive(&b, 99, 1000, 0), AQM_NIL);
	bench_end(&b);
}

/* One flow keeps its bins full, another has one packet at a time. */
static void pressed(struct bench *b, u32 seconds)
{
	u32 i;

	for (i = 0; i < seconds * 1000; i++) {
		b->now += NS_PER_MS;
		arrive(b, 99, 1000, AQM_ECT0);
		arrive(b, 99, 1000, AQM_ECT0);
		if (i % 25 == 0)
			arrive(b, 12345, 1000, AQM_ECT0);
		leave(b);
	}
}

TEST(sfb_boxes_in_a_flow_that_does_not_respond)
{
	struct bench b = begin_sfb();
	u32 i, passed = 0;

	for (i = 0; i < 1100; i++) /* 0.1 % more each time, past one */
		arrive(&b, 99, 1000, 0);
	CHECK_EQ(stat(&b, "prob"), U32_MAX);
	for (i = 0; i < 20; i++)
		leave(&b);
	for (i = 0; i < 30; i++) {
		passed += arrive(&b, 99, 1000, 0) != AQM_NIL;
		if (i < 20)
			leave(&b); /* but never all: an empty bin forgives */
	}
	CHECK_EQ(passed, 20); /* the bucket */
	CHECK_EQ(b.q->count.drops[AQM_WHY_RATE], 10);
	CHECK_EQ(stat(&b, "penalised"), 30);
	b.now += NS_PER_S;
	arrive(&b, 12345, 1000, 0); /* keeps the link busy; passes */
	for (i = passed = 0; i < 30; i++)
		passed += arrive(&b, 99, 1000, 0) != AQM_NIL;
	CHECK_EQ(passed, 10);
	CHECK_EQ(b.q->count.drops[AQM_WHY_RATE], 30);
	bench_end(&b);
}

TEST(sfb_marks_half_way_and_drops_beyond)
{
	struct bench b = begin_sfb();

	set_row(&b, "ecn", 1);
	bench_change(&b);
	pressed(&b, 10);
	CHECK(marks(&b) > 0);
	CHECK(b.q->count.drops[AQM_WHY_EARLY] > 0);
	bench_end(&b);
}

TEST(sfb_keeps_its_books_over_a_change_of_hash)
{
	struct bench b = BEGIN(&aqm_sfb, 1010, 0, {"limit", 1000}, {"rehash", 2 * NS_PER_S},
	                       {"warmup", NS_PER_S});
	u32 i;

	for (i = 0; i < 20; i++) {
		arrive(&b, 99, 1000, 0);
		b.now += 300 * NS_PER_MS; /* some before, some in, some after a warm-up */
		if (i % 3 == 0)
			leave(&b);
	}
	while (leave(&b) != AQM_NIL)
		;
	/* with every count back at zero the bins take their 25 again */
	for (i = 0; i < 25; i++)
		CHECK(arrive(&b, 99, 1000, 0) != AQM_NIL);
	CHECK_EQ(arrive(&b, 99, 1000, 0), AQM_NIL);
	bench_end(&b);
}

TEST(sfb_wants_rows_that_fit_together)
{
	struct bench b = bench_new(&aqm_sfb, 100, 0);

	set_row(&b, "bin_target", 30);
	CHECK(bench_start(&b, 1).sentence != NULL);
	set_row(&b, "bin_target", 20);
	set_row(&b, "warmup", 600 * NS_PER_S);
	CHECK(bench_start(&b, 1).sentence != NULL);
	bench_end(&b);
}
