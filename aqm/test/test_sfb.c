// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_sfb.c: what SFB's bins learn and keep, and what its penalty box lets pass.

#include "host.h"
#include "test.h"

extern const struct aqm_algo aqm_sfb;

/* A bin that holds a packet goes to one at the next arrival, and never back. */
static struct bench begin(u32 increment)
{
	struct bench b = bench_new(&aqm_sfb, 4000, 0);

	set_row(&b, "limit", 4000);
	set_row(&b, "bin_target", 1);
	set_row(&b, "bin_max", 65535);
	set_row(&b, "increment", increment);
	set_row(&b, "decrement", 0);
	set_row(&b, "rehash", NS_PER_S);
	set_row(&b, "warmup", 900 * NS_PER_MS);
	CHECK(!bench_start(&b, 1).sentence);
	return b;
}

/* Ten a second and twenty at once: 10 s bring 20 + 100, less the 0.07 that the first 7 ms
 * would have added to a full bucket, and the last packet is not yet whole. */
TEST(the_penalty_box_loses_no_part_of_a_packet)
{
	struct bench b = bench_new(&aqm_sfb, 4000, 0);
	u32 i, passed = 0;

	set_row(&b, "limit", 4000);
	set_row(&b, "bin_target", 1);
	set_row(&b, "bin_max", 65535);
	set_row(&b, "increment", U32_MAX);
	CHECK(!bench_start(&b, 1).sentence);
	arrive(&b, 7, 1000, 0);
	for (i = 1; i <= 1428; i++) {
		b.now += 7 * NS_PER_MS;
		passed += arrive(&b, 7, 1000, 0) != AQM_NIL;
	}
	CHECK_EQ(stat(&b, "penalised"), 1428);
	CHECK_EQ(passed, 119);
	bench_end(&b);
}

TEST(a_credit_of_one_packet_lets_one_pass)
{
	struct bench b = begin(U32_MAX);
	u32 i;

	set_row(&b, "penalty_burst", 1);
	set_row(&b, "rehash", 600 * NS_PER_S);
	bench_change(&b);
	arrive(&b, 7, 1000, 0);
	for (i = 0; i < 50; i++) {
		b.now += 100 * NS_PER_MS;
		CHECK(arrive(&b, 7, 1000, 0) != AQM_NIL);
		CHECK_EQ(arrive(&b, 7, 1000, 0), AQM_NIL);
	}
	bench_end(&b);
}

TEST(a_box_without_rate_or_burst_is_shut)
{
	static const char *const rows[] = {"penalty_rate", "penalty_burst"};
	u32 i, n;

	for (i = 0; i < 2; i++) {
		struct bench b = begin(U32_MAX);

		set_row(&b, rows[i], 0);
		bench_change(&b);
		arrive(&b, 7, 1000, 0);
		for (n = 0; n < 50; n++) {
			b.now += NS_PER_MS;
			CHECK_EQ(arrive(&b, 7, 1000, 0), AQM_NIL);
		}
		bench_end(&b);
	}
}

TEST(a_flow_that_responds_teaches_nothing)
{
	struct bench b = begin(1u << 16);
	u32 i;

	b.now = 500 * NS_PER_MS;
	for (i = 0; i < 50; i++)
		arrive(&b, 7, 1000, 0);
	CHECK(stat(&b, "prob") >= 45u << 16);
	b.now = NS_PER_S;
	arrive(&b, 7, 1000, 0);
	CHECK_EQ(stat(&b, "prob"), 0);
	bench_end(&b);
}

TEST(a_flow_that_does_not_respond_is_known_when_the_hash_changes)
{
	struct bench b = begin(U32_MAX);
	u32 i;

	b.now = 100 * NS_PER_MS; /* the warm-up begins */
	for (i = 0; i < 4; i++)
		arrive(&b, 7, 1000, 0);
	b.now = NS_PER_S;
	arrive(&b, 7, 1000, 0);
	CHECK_EQ(stat(&b, "prob"), U32_MAX);
	arrive(&b, 8, 1000, 0);
	CHECK_EQ(stat(&b, "prob"), 0);
	bench_end(&b);
}

TEST(before_the_warmup_nobody_teaches)
{
	struct bench b = begin(U32_MAX);
	u32 i;

	for (i = 0; i < 4; i++)
		arrive(&b, 7, 1000, 0);
	b.now = NS_PER_S;
	arrive(&b, 7, 1000, 0);
	CHECK_EQ(stat(&b, "prob"), 0);
	bench_end(&b);
}

/* 600 flows leave no bin at zero. The set decides again two eras later. */
TEST(bins_keep_their_probability_when_the_hash_changes)
{
	struct bench b = begin(U32_MAX);
	u32 i;

	set_row(&b, "penalty_rate", 0);
	bench_change(&b);
	for (i = 0; i < 1200; i++)
		arrive(&b, i / 2 * 0x9e3779b1u, 1000, 0);
	b.now = NS_PER_S;
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(stat(&b, "prob"), 0);
	b.now = 2 * NS_PER_S;
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(stat(&b, "prob"), U32_MAX);
	bench_end(&b);
}

TEST(a_packet_is_taken_back_from_the_bins_that_counted_it)
{
	struct bench b = begin(0);
	u32 era, i;

	set_row(&b, "bin_max", 3);
	bench_change(&b);
	for (era = 0; era < 6; era++) {
		for (i = 0; i < 100; i++)
			arrive(&b, i * 0x9e3779b1u, 1000, 0);
		CHECK(b.q->pkts > 20);
		b.now += (era % 3 + 1) * NS_PER_S;
		while (leave(&b) != AQM_NIL)
			;
		for (i = 0; i < 100; i++) {
			CHECK(arrive(&b, i * 0x85ebca6bu, 1000, 0) != AQM_NIL);
			leave(&b);
		}
	}
	bench_end(&b);
}
