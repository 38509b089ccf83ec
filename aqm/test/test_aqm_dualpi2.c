// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_dualpi2.c: what replays beside the model do not reach: rows that change, and
// the updates of a link that stands, all at once and one by one.

#include "updates.h"

extern const struct aqm_algo aqm_dualpi2;

static struct bench bench_dual(u64 alpha, u64 beta, u64 tupdate)
{
	return BEGIN(&aqm_dualpi2, 100, NS_PER_S, {"alpha", alpha}, {"beta", beta},
	             {"tupdate", tupdate});
}

/* p' after `ticks` updates of a queue that holds `held` packets, at once or in parts. */
static u64 updated_each(u64 tupdate, u64 alpha, u64 beta, u32 held, u64 ticks, u64 at_once)
{
	struct bench b = bench_dual(alpha, beta, tupdate);
	u64 found;

	arrive(&b, 0, 1000, AQM_ECT1);
	b.now += 30 * NS_PER_MS;
	arrive(&b, 0, 1000, AQM_ECT0);
	while (b.q->pkts > held)
		leave(&b);
	run_updates(&b, tupdate, ticks, at_once);
	found = stat(&b, "prob") ^ stat(&b, "delay") << 32;
	bench_end(&b);
	return found;
}

static u64 updated(u64 alpha, u64 beta, u32 held, u64 ticks, u64 at_once)
{
	return updated_each(NS_PER_MS, alpha, beta, held, ticks, at_once);
}

TEST(updates_of_a_link_that_stands_are_the_same_all_at_once)
{
	static const u32 gains[][2] = {{41, 819}, {0, 3}, {1, 0}, {0, 0}, {65535, 65535}};
	static const u32 parts[] = {2, 7, 1000};
	u32 held, i, g, ticks;

	for (g = 0; g < 5; g++)
		for (held = 0; held <= 2; held++)
			for (ticks = 1; ticks < 6000; ticks = 3 * ticks + 1)
				for (i = 0; i < 3; i++)
					CHECK_EQ(updated(gains[g][0], gains[g][1], held, ticks,
					                 1),
					         updated(gains[g][0], gains[g][1], held, ticks,
					                 parts[i]));
}

/* At a gain of 1/256 Hz the probability is still far from 1 when the delay has come to the
 * longest that counts, 4.3 s; from there it rises by as much with each update. */
TEST(updates_with_the_longest_delay_are_the_same_all_at_once)
{
	u32 ticks;

	for (ticks = 1; ticks < 100; ticks++)
		CHECK_EQ(updated_each(NS_PER_S, 1, 0, 1, ticks, 1),
		         updated_each(NS_PER_S, 1, 0, 1, ticks, 1000));
	CHECK(updated_each(NS_PER_S, 1, 0, 1, 10, 1) != updated_each(NS_PER_S, 1, 0, 1, 11, 1));
}

/* One by one that many updates take hours; a test has minutes. */
TEST(the_work_of_a_link_that_stands_is_bounded)
{
	static const u64 years = (u64)1 << 42;

	CHECK_EQ(updated(41, 819, 2, years, years), updated(41, 819, 2, years / 2, years / 2));
	CHECK_EQ(updated(1, 1, 0, years, years), 0);
}

/* Without ECN no packet is L4S. Packets that wait in that lane when ECN is switched off
 * are dropped, not marked. */
TEST(without_ecn_all_is_classic)
{
	struct bench b = bench_dual(65535, 65535, NS_PER_MS);
	struct aqm_view *views = inst_views(inst_nth(b.q, 0));
	u32 i;

	for (i = 0; i < 40; i++)
		arrive(&b, 0, 1000, AQM_ECT1);
	CHECK_EQ(views[0].pkts, 0);
	CHECK_EQ(views[1].pkts, 40);
	change_row(&b, "ecn", 0);
	arrive(&b, 0, 1000, AQM_ECT1);
	CHECK_EQ(views[0].pkts, 1);
	CHECK_EQ(views[1].pkts, 40);
	b.now += NS_PER_S;
	for (i = 0; i < 60; i++)
		leave(&b);
	CHECK_EQ(marks(&b), 0);
	CHECK_EQ(bad_verdicts(&b), 0);
	CHECK(drops(&b) > 20);
	bench_end(&b);
}

TEST(the_same_rows_again_change_nothing)
{
	struct bench b = bench_dual(41, 819, NS_PER_MS);
	void *st = inst_state(b.q, inst_nth(b.q, 0));
	char before[512];
	u32 i;

	CHECK(aqm_dualpi2.state_bytes <= sizeof(before));
	for (i = 0; i < 20; i++)
		arrive(&b, 0, 1000, (u8)(i & 3));
	for (i = 0; i < 7; i++)
		leave(&b);
	memcpy(before, st, aqm_dualpi2.state_bytes);
	aqm_dualpi2.configure(st, b.conf, inst_views(inst_nth(b.q, 0)));
	CHECK(!memcmp(before, st, aqm_dualpi2.state_bytes));
	bench_end(&b);
}

/* A share of 1/16: behind a Classic packet of `len` bytes 15 times as many leave as L4S. */
TEST(a_packet_is_charged_with_16_mib_at_most)
{
	static const u32 longest = 1u << 24;
	struct bench b = BEGIN(&aqm_dualpi2, 100, NS_PER_S, {"alpha", 0}, {"beta", 0},
	                       {"memory_limit", U32_MAX});
	u32 len, i;

	for (len = longest / 2; len <= 4 * longest; len *= 2) {
		struct aqm_view *views = inst_views(inst_nth(b.q, 0));

		for (i = 0; i < 2; i++)
			arrive(&b, 0, len, 0);
		for (i = 0; i < 40; i++)
			arrive(&b, 0, longest, AQM_ECT1);
		while (views[0].pkts == 2)
			leave(&b);
		i = views[1].pkts;
		while (views[0].pkts == 1)
			leave(&b);
		CHECK_EQ(i - views[1].pkts, len < longest ? 7 : 15);
		while (b.q->pkts)
			leave(&b);
	}
	bench_end(&b);
}

TEST(one_dequeue_drops_256_packets_at_most)
{
	struct bench b = BEGIN(&aqm_dualpi2, 700, NS_PER_S, {"alpha", 65535});
	u32 ecn;

	for (ecn = AQM_ECT0; ecn != AQM_NOT_ECT;
	     ecn = ecn == AQM_ECT0 ? AQM_ECT1 : AQM_NOT_ECT) {
		u64 before;
		u32 i;

		for (i = 0; i < 600; i++)
			arrive(&b, 0, 1000, (u8)ecn);
		b.now += 10 * NS_PER_S;
		leave(&b);
		before = drops(&b);
		leave(&b);
		CHECK_EQ(drops(&b) - before, 256);
		while (b.q->pkts)
			leave(&b);
	}
	bench_end(&b);
}

/* A packet leaves, and another of its lane comes: both queues stay as long. */
static bool l4s_leaves_and_comes(struct bench *b, u32 len)
{
	aqm_h h;
	u8 ecn;

	b->now += 12112;
	h = leave(b);
	ecn = packet_of(b->host, h)->ds;
	arrive(b, 0, len, ecn);
	return ecn & 1;
}

/* Behind a time-shifted FIFO, however long it has served both, the Classic queue waits as
 * behind an idle link: until 15 packets of L4S have paid for one of its own, and the first
 * debt. With the longest packets a credit that went on would not fit its 64 bits. */
TEST(a_time_shifted_fifo_leaves_the_credit_alone)
{
	static const u32 lens[] = {1514, 1u << 24};
	u32 i, k;

	for (k = 0; k < 2; k++) {
		struct bench b = BEGIN(&aqm_dualpi2, 100, NS_PER_S, {"alpha", 0}, {"beta", 0},
		                       {"scheduler", 1}, {"tshift", 0}, {"min_th", NS_PER_S},
		                       {"memory_limit", U32_MAX});

		for (i = 0; i < 20; i++) {
			arrive(&b, 0, lens[k], AQM_ECT1);
			arrive(&b, 0, lens[k], AQM_ECT0);
		}
		for (i = 0; i < 5000; i++)
			l4s_leaves_and_comes(&b, lens[k]);
		change_row(&b, "scheduler", 0);
		for (i = 0; i < 100 && l4s_leaves_and_comes(&b, lens[k]); i++)
			;
		CHECK_EQ(i, k ? 1 : 15);
		bench_end(&b);
	}
}

/* The probability is 1, and four full-sized packets wait. */
TEST(a_short_backlog_is_spared)
{
	u32 spared;

	for (spared = 0; spared < 4; spared++) {
		struct bench b = BEGIN(&aqm_dualpi2, 100, NS_PER_S, {"alpha", 65535},
		                       {"spared", spared});
		u64 before;
		u32 i;

		for (i = 0; i < 9; i++)
			arrive(&b, 0, 1514, 0);
		b.now += NS_PER_S;
		while (b.q->pkts)
			leave(&b);
		CHECK_EQ(stat(&b, "prob_classic"), U32_MAX);
		for (i = 0; i < 4; i++)
			arrive(&b, 0, 1514, 0);
		before = drops(&b);
		leave(&b);
		CHECK_EQ(drops(&b) - before, 4 - spared);
		bench_end(&b);
	}
}
