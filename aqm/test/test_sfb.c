// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_sfb.c: what SFB's bins learn and keep, and what its penalty box lets pass.

#include "begin.h"

extern const struct aqm_algo aqm_sfb;

/* A bin that holds a packet goes to one at the next arrival, and never back. */
static struct bench begin(u32 increment)
{
	return BEGIN(&aqm_sfb, 4000, 0, {"limit", 4000}, {"bin_target", 1}, {"bin_max", 65535},
	             {"increment", increment}, {"decrement", 0}, {"rehash", NS_PER_S},
	             {"warmup", 900 * NS_PER_MS});
}

static void send(struct bench *b, u32 flow, u32 n)
{
	while (n--)
		arrive(b, flow, 1000, 0);
}

/* The bins' reading for a flow whose packet comes at this time. */
static u64 prob_at(struct bench *b, u64 now, u32 flow)
{
	b->now = now;
	send(b, flow, 1);
	return stat(b, "prob");
}

/* Ten a second and twenty at once: 10 s bring 20 + 100, less the 0.07 that the first 7 ms
 * would have added to a full bucket, and the last packet is not yet whole. */
TEST(the_penalty_box_loses_no_part_of_a_packet)
{
	struct bench b = BEGIN(&aqm_sfb, 4000, 0, {"limit", 4000}, {"bin_target", 1},
	                       {"bin_max", 65535}, {"increment", U32_MAX});
	u32 i, passed = 0;

	send(&b, 7, 1);
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

	b.now = 500 * NS_PER_MS;
	send(&b, 7, 50);
	CHECK(stat(&b, "prob") >= 45u << 16);
	CHECK_EQ(prob_at(&b, NS_PER_S, 7), 0);
	bench_end(&b);
}

TEST(a_flow_that_does_not_respond_is_known_when_the_hash_changes)
{
	struct bench b = begin(U32_MAX);

	b.now = 100 * NS_PER_MS; /* the warm-up begins */
	send(&b, 7, 4);
	CHECK_EQ(prob_at(&b, NS_PER_S, 7), U32_MAX);
	CHECK_EQ(prob_at(&b, NS_PER_S, 8), 0);
	bench_end(&b);
}

TEST(before_the_warmup_nobody_teaches)
{
	struct bench b = begin(U32_MAX);

	send(&b, 7, 4);
	CHECK_EQ(prob_at(&b, NS_PER_S, 7), 0);
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
	CHECK_EQ(prob_at(&b, NS_PER_S, 1), 0);
	CHECK_EQ(prob_at(&b, 2 * NS_PER_S, 1), U32_MAX);
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

/* From 600 s to 1 s: the next arrival finds the bins of the next hash, which hold nothing. */
TEST(a_shorter_rehash_acts_at_once)
{
	struct bench b =
	        BEGIN(&aqm_sfb, 4000, 0, {"limit", 4000}, {"bin_target", 1}, {"bin_max", 65535},
	              {"increment", 1000}, {"decrement", 0}, {"warmup", 0});

	send(&b, 7, 20);
	CHECK_EQ(prob_at(&b, 2 * NS_PER_S, 7), 20 * 1000);
	change_row(&b, "rehash", NS_PER_S);
	CHECK_EQ(prob_at(&b, 3500 * NS_PER_MS, 7), 0);
	bench_end(&b);
}

TEST(the_penalty_box_fills_from_the_start_on_and_not_from_time_0)
{
	struct bench b =
	        BEGIN(&aqm_sfb, 100, 1000 * NS_PER_S, {"bin_target", 1}, {"bin_max", 65535},
	              {"increment", U32_MAX}, {"penalty_burst", 1});
	u32 i, passed = 0;

	change_row(&b, "penalty_burst", 20);
	send(&b, 7, 1);
	for (i = 0; i < 10; i++)
		passed += arrive(&b, 7, 1000, 0) != AQM_NIL;
	CHECK_EQ(passed, 1);
	bench_end(&b);
}

/* A packet that teaches is in the bins of the next era too, where the flow's probability is 1
 * then. */
TEST(the_first_packet_of_an_era_teaches_nothing)
{
	struct bench b = begin(U32_MAX);

	send(&b, 7, 2);
	b.now = NS_PER_S / 2;
	send(&b, 7, 2);
	CHECK_EQ(prob_at(&b, NS_PER_S, 7), U32_MAX);
	CHECK_EQ(prob_at(&b, 2 * NS_PER_S, 7), 0);
	bench_end(&b);
}
