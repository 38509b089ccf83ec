// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_fq.c: deficit round robin, RFC 8290 section 4.

#include "begin.h"
#include "law/codel.h"

extern const struct aqm_algo aqm_fifo, aqm_codel;

#define FLOW(n) ((u32)(n) << 28) /* of 16 flow queues, number n */

static struct bench begin(const struct aqm_algo *algo, u32 limit)
{
	return BEGIN(algo, 400, 0, {"flows", 16}, {"limit", limit});
}

static u32 next_flow(struct bench *b)
{
	aqm_h h = leave(b);

	return h == AQM_NIL ? U32_MAX : b->host->packets[h].flow >> 28;
}

static void send(struct bench *b, u32 flow, u32 n, u32 len)
{
	while (n--)
		arrive(b, FLOW(flow), len, 0);
}

TEST(busy_flows_take_turns)
{
	struct bench b = begin(&aqm_fifo, 400);
	u32 i;

	send(&b, 1, 10, 1514);
	send(&b, 2, 10, 1514);
	next_flow(&b);
	next_flow(&b);
	for (i = 0; i < 6; i++)
		CHECK_EQ(next_flow(&b), 1 + i % 2);
	bench_end(&b);
}

TEST(turns_are_measured_in_bytes)
{
	struct bench b = begin(&aqm_fifo, 400);
	u32 bytes[3] = {0, 0, 0}, i;

	send(&b, 1, 30, 1514);
	send(&b, 2, 150, 300);
	for (i = 0; i < 100; i++) {
		aqm_h h = leave(&b);

		bytes[b.host->packets[h].flow >> 28] += b.host->packets[h].len;
	}
	CHECK_NEAR(bytes[1], bytes[2], 2 * 1514);
	bench_end(&b);
}

TEST(a_new_flow_goes_before_the_old_ones)
{
	struct bench b = begin(&aqm_fifo, 400);

	send(&b, 1, 10, 1514);
	send(&b, 2, 10, 1514);
	next_flow(&b);
	next_flow(&b);
	next_flow(&b);
	send(&b, 3, 1, 100);
	CHECK_EQ(next_flow(&b), 3);
	bench_end(&b);
}

/* RFC 8290, 4.2, credits first: flow 1 has spent its quantum with its last packet, gets
 * another and goes to the end. A packet that comes then waits for its turn. */
TEST(a_flow_that_is_dry_and_without_credit_stays_for_a_round)
{
	static const u32 turns[] = {1, 2, 3, 1, 2};
	struct bench b = begin(&aqm_fifo, 400);
	u32 i;

	send(&b, 1, 2, 1514);
	send(&b, 2, 4, 1514);
	send(&b, 3, 4, 1514);
	for (i = 0; i < 5; i++)
		CHECK_EQ(next_flow(&b), turns[i]);
	send(&b, 1, 1, 1514);
	CHECK_EQ(next_flow(&b), 3);
	CHECK_EQ(next_flow(&b), 1);
	CHECK_EQ(next_flow(&b), 2);
	bench_end(&b);
}

TEST(a_flow_that_runs_dry_waits_behind_the_others_once)
{
	struct bench b = begin(&aqm_fifo, 400);

	send(&b, 1, 10, 1514);
	next_flow(&b);
	next_flow(&b); /* flow 1 is old now */
	send(&b, 3, 1, 100);
	CHECK_EQ(next_flow(&b), 3);
	CHECK_EQ(next_flow(&b), 1);
	send(&b, 3, 1, 100); /* on the old list still: no second start as new */
	CHECK_EQ(next_flow(&b), 3);
	bench_end(&b);
}

TEST(the_fattest_flow_pays_for_an_arrival)
{
	struct bench b = begin(&aqm_fifo, 40);

	send(&b, 1, 38, 1514);
	send(&b, 2, 2, 100);
	send(&b, 2, 1, 100);
	CHECK_EQ(b.q->count.drops[AQM_WHY_FAT], 19);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 0);
	CHECK_EQ(b.q->pkts, 22);
	bench_end(&b);
}

TEST(a_packet_that_never_fits_costs_nobody)
{
	struct bench b = begin(&aqm_fifo, 40);

	change_row(&b, "limit_bytes", 1000);
	send(&b, 1, 3, 300);
	send(&b, 2, 1, 1500);
	CHECK_EQ(b.q->count.drops[AQM_WHY_FAT], 0);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 1);
	bench_end(&b);
}

static struct aqm_inst *fattest_by_scan(struct aqm_queue *q)
{
	struct aqm_inst *fattest = NULL;
	u32 i;

	for (i = 0; i < q->insts; i++)
		if (inst_views(inst_nth(q, i))->pkts &&
		    (!fattest ||
		     inst_views(inst_nth(q, i))->bytes > inst_views(fattest)->bytes))
			fattest = inst_nth(q, i);
	return fattest;
}

TEST(the_heap_names_the_flow_that_a_scan_finds)
{
	struct bench b = BEGIN(&aqm_codel, 3000, 0, {"flows", 300}, {"limit", 900});
	struct aqm_rng r;
	u32 i, n;

	rng_seed(&r, 5, 0);
	for (i = 0; i < 40000; i++) {
		b.now += rng_below(&r, 100000);
		/* fills and runs dry by turns; few lengths, so that flows are equally fat */
		n = rng_below(&r, 100) < (i / 4000 % 2 ? 20 : 65);
		if (n)
			arrive(&b, rng_u32(&r), rng_below(&r, 4) * 500, 0);
		else
			leave(&b);
		CHECK(heap_largest(b.q) == fattest_by_scan(b.q));
	}
	CHECK(b.q->count.drops[AQM_WHY_FAT] > 500);
	bench_end(&b);
}

/* The work of one arrival, or of one change, with packets in each of `flows` flows. */
static u64 work_at_the_limit(u32 flows, bool lowered)
{
	u32 i, pkts = flows * 2;
	struct bench b = BEGIN(&aqm_fifo, pkts + 1, 0, {"flows", flows}, {"limit", pkts},
	                       {"memory_limit", U32_MAX});
	u64 work;

	for (i = 0; i < pkts; i++)
		arrive(&b, (u32)(((u64)(i % flows) << 32) / flows) + 1, 100 + i % 7, 0);
	CHECK_EQ(b.q->pkts, pkts);
	steps = 0;
	if (lowered) {
		change_row(&b, "limit", 1);
		CHECK_EQ(b.q->pkts, 1);
	} else {
		arrive(&b, 1, 100, 0);
		CHECK(b.q->count.drops[AQM_WHY_FAT] > 0);
	}
	work = steps;
	bench_end(&b);
	return work;
}

TEST(an_arrival_at_the_limit_costs_little_more_in_64_times_the_flows)
{
	u64 few = work_at_the_limit(1024, false), many = work_at_the_limit(65536, false);

	/* three levels of the heap more, downwards and upwards */
	CHECK(few >= 2 && many <= few + 8);
}

TEST(a_lowered_limit_costs_as_much_per_packet_in_64_times_the_flows)
{
	u64 few = work_at_the_limit(1024, true), many = work_at_the_limit(65536, true);

	/* 2 packets a flow; 5 levels against 8, and 3 turns */
	CHECK(few > 1024 && many * 10 < few * 64 * 16 && many < 65536 * 12);
}

static const u32 mtus[] = {0, 1, 255, 1u << 20, (1u << 31) - 14, (1u << 31) + 5, U32_MAX};

TEST(a_device_may_claim_any_mtu)
{
	u32 i;

	for (i = 0; i < sizeof(mtus) / sizeof(mtus[0]); i++) {
		struct bench b = bench_new(&aqm_fifo, 400, 0);

		b.mtu_bytes = mtus[i];
		set_row(&b, "flows", 16);
		CHECK(!bench_start(&b, 1).sentence);
		send(&b, 1, 3, 1514);
		send(&b, 2, 3, 40);
		steps = 0;
		while (next_flow(&b) != U32_MAX)
			;
		CHECK_EQ(b.q->count.out_pkts, 6);
		CHECK(steps < 200);
		bench_end(&b);
	}
}

/* A parent's size table makes a packet of any length. */
TEST(a_debt_of_any_size_is_paid_in_few_steps)
{
	struct bench b = begin(&aqm_fifo, 400);
	u32 i;

	set_row(&b, "quantum", 256);
	change_row(&b, "memory_limit", U32_MAX);
	for (i = 1; i < 16; i++) {
		send(&b, i, 1, (u32)i << 24);
		send(&b, i, 2, 100);
	}
	steps = 0;
	for (i = 0; i < 45; i++)
		CHECK(next_flow(&b) != U32_MAX);
	CHECK_EQ(next_flow(&b), U32_MAX);
	CHECK(steps < 2000);
	bench_end(&b);
}

TEST(an_algorithm_never_sees_an_mtu_out_of_bounds)
{
	static const u32 claimed[] = {0, 255, 256, 1514, 1u << 20, (1u << 20) + 1, U32_MAX};
	u32 i;

	for (i = 0; i < sizeof(claimed) / sizeof(claimed[0]); i++) {
		struct bench b = bench_new(&aqm_fifo, 4, 0);
		u32 wanted = claimed[i] < 256        ? 256
		             : claimed[i] > 1u << 20 ? 1u << 20
		                                     : claimed[i];

		b.mtu_bytes = claimed[i];
		CHECK(!bench_start(&b, 1).sentence);
		CHECK_EQ(inst_views(inst_nth(b.q, 0))->mtu_bytes, wanted);
		bench_end(&b);
	}
}

/* 100 packets of one flow fill the queue. The next one evicts half the bytes, 50 of them;
 * a lowered limit takes 40 more, which say nothing of the flow. */
TEST(evictions_of_the_fattest_flow_count_as_signals_of_codel)
{
	struct bench b = begin(&aqm_codel, 100);
	struct aqm_inst *in = inst_nth(b.q, 3);
	const struct codel_law *law = inst_state(b.q, in);

	send(&b, 3, 100, 1000);
	CHECK_EQ(law->count, 0);
	send(&b, 5, 1, 1000);
	CHECK_EQ(b.q->count.drops[AQM_WHY_FAT], 50);
	CHECK_EQ(law->count, 50);
	set_row(&b, "limit", 11);
	bench_change(&b);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LOWERED], 40);
	CHECK_EQ(law->count, 50);
	bench_end(&b);
}

/* Flow 3 never has more than one packet behind the one that leaves; flow 5 keeps the link
 * busy. RFC 8289, 4.1: the guard is there for the link. */
TEST(codel_s_guard_of_one_mtu_looks_at_the_whole_queue)
{
	u32 others;

	for (others = 0; others < 2; others++) {
		struct bench b = begin(&aqm_codel, 100);
		const struct codel_law *law = inst_state(b.q, inst_nth(b.q, 3));
		u32 i;

		for (i = 0; i < 100; i++) {
			b.now += 10 * NS_PER_MS;
			send(&b, 3, i ? 1 : 2, 1514);
			send(&b, 5, others * (i ? 1 : 4), 1514);
			leave(&b);
			if (others)
				leave(&b);
		}
		CHECK_EQ(law->count > 0, others);
		bench_end(&b);
	}
}

/* Before the first signal the count holds evictions only: it is no rate that has
 * controlled a queue. The clock may start at 0. */
TEST(evictions_before_the_first_signal_do_not_begin_the_count)
{
	struct codel_law law = {.count = 50};
	const struct codel_conf conf = {5 * NS_PER_MS, 100 * NS_PER_MS, CODEL_LINUX};

	CHECK(codel_signals(&law, &conf, NS_PER_S, true, 0));
	CHECK_EQ(law.count, 1);
	CHECK_NEAR(law.drop_next_ns, NS_PER_S + 100 * NS_PER_MS, 4096);
}

TEST(an_arrival_evicts_at_most_64_packets_where_that_is_enough)
{
	struct bench b = begin(&aqm_fifo, 300);

	send(&b, 1, 300, 1000);
	send(&b, 2, 1, 100);
	CHECK_EQ(b.q->count.drops[AQM_WHY_FAT], 64);
	CHECK_EQ(b.q->pkts, 300 - 64 + 1);
	bench_end(&b);
}

TEST(a_large_arrival_evicts_as_many_small_packets_as_it_needs)
{
	struct bench b = BEGIN(&aqm_fifo, 2100, 0, {"flows", 1024}, {"limit", 2000},
	                       {"limit_bytes", 1000000});
	u32 i;

	for (i = 0; i < 1000; i++)
		arrive(&b, i << 22, 1000, 0);
	for (i = 0; i < 12; i++)
		CHECK(arrive(&b, 1023u << 22, 65000, 0) != AQM_NIL);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 0);
	CHECK(b.q->bytes <= 1000000);
	bench_end(&b);
}

TEST(a_large_arrival_evicts_at_most_1024_packets)
{
	struct bench b = BEGIN(&aqm_fifo, 2100, 0, {"flows", 4096}, {"limit", 2000},
	                       {"limit_bytes", 1000000});
	u32 i;

	for (i = 0; i < 2000; i++)
		arrive(&b, i << 20, 500, 0);
	CHECK_EQ(arrive(&b, 3000u << 20, 900000, 0), AQM_NIL);
	CHECK_EQ(b.q->count.drops[AQM_WHY_FAT], 1024);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 1);
	bench_end(&b);
}

TEST(a_packet_of_twelve_flows_costs_the_heap_nothing_and_of_thirteen_it_does)
{
	struct bench b = begin(&aqm_fifo, 400);
	u32 i;

	for (i = 0; i < 40; i++)
		send(&b, i % 12, 1, 1514);
	steps = 0;
	for (i = 0; i < 300; i++)
		send(&b, i % 12, 1, 1514);
	CHECK_EQ(steps, 0);
	CHECK_EQ(b.q->heap_flows, 0);
	send(&b, 12, 1, 1514);
	CHECK_EQ(b.q->heap_flows, 12);
	bench_end(&b);
}

TEST(all_flows_in_debt_are_paid_alike_and_the_least_debt_is_free_first)
{
	struct bench b = begin(&aqm_fifo, 400);
	u32 i;

	for (i = 1; i <= 3; i++) {
		send(&b, i, 1, 50000 - 10000 * i);
		send(&b, i, 1, 100);
	}
	for (i = 1; i <= 3; i++)
		CHECK_EQ(next_flow(&b), i);
	CHECK_EQ(next_flow(&b), 3);
	CHECK_EQ(next_flow(&b), 2);
	CHECK_EQ(next_flow(&b), 1);
	bench_end(&b);
}

/* Dequeues of a busy flow after each other flow has sent one large packet and gone dry. */
static u64 work_beside_debtors(u32 flows)
{
	struct bench b = BEGIN(&aqm_fifo, 8, 0, {"flows", flows}, {"quantum", 256},
	                       {"memory_limit", U32_MAX});
	u64 work;
	u32 i;

	for (i = 1; i < flows; i++) {
		arrive(&b, (u32)(((u64)i << 32) / flows) + 1, 1u << 31, 0);
		CHECK(leave(&b) != AQM_NIL);
	}
	steps = 0;
	for (i = 0; i < 100; i++) {
		arrive(&b, 0, 200, 0);
		CHECK(leave(&b) != AQM_NIL);
	}
	work = steps;
	bench_end(&b);
	return work;
}

TEST(flows_that_went_dry_in_debt_are_passed_once)
{
	CHECK(work_beside_debtors(1024) < 3 * 1024 + 1000);
	CHECK(work_beside_debtors(65536) < 3 * 65536 + 1000);
}

TEST(a_flow_that_comes_back_still_owes_what_it_has_not_been_paid)
{
	struct bench b = begin(&aqm_fifo, 400);
	u32 i, others = 0;

	send(&b, 1, 1, 60000);
	send(&b, 2, 100, 1000);
	CHECK_EQ(next_flow(&b), 1);
	CHECK_EQ(next_flow(&b), 2);
	CHECK_EQ(next_flow(&b), 2);
	send(&b, 1, 1, 100);
	for (i = 0; i < 100 && next_flow(&b) == 2; i++)
		others++;
	/* about as many bytes as flow 1 has sent */
	CHECK(others >= 50 && others <= 62);
	bench_end(&b);
}

/* Flow 1 leaves with a debt of this many bytes below its first quantum, and comes back when
 * flow 2 has been paid so often; who is served then? Rounds have gone by before. */
static u32 first_after(u32 len, u32 rounds)
{
	struct bench b = begin(&aqm_fifo, 400);
	u32 i, found;

	send(&b, 2, 100, 1514);
	for (i = 0; i < 5; i++)
		CHECK_EQ(next_flow(&b), 2);
	send(&b, 1, 1, len);
	CHECK_EQ(next_flow(&b), 1);
	for (i = 0; i < rounds; i++)
		CHECK_EQ(next_flow(&b), 2);
	send(&b, 1, 1, 100);
	found = next_flow(&b);
	bench_end(&b);
	return found;
}

TEST(a_debt_is_paid_by_the_rounds_that_have_gone_by_and_not_one_less)
{
	CHECK_EQ(first_after(10 * 1514, 10), 1);
	CHECK_EQ(first_after(10 * 1514, 9), 2);
	CHECK_EQ(first_after(10 * 1514 - 1, 9), 1);
}

TEST(one_byte_of_credit_is_enough_for_another_packet)
{
	struct bench b = begin(&aqm_fifo, 400);

	send(&b, 1, 1, 1513);
	send(&b, 1, 1, 100);
	send(&b, 2, 1, 100);
	CHECK_EQ(next_flow(&b), 1);
	CHECK_EQ(next_flow(&b), 1);
	CHECK_EQ(next_flow(&b), 2);
	bench_end(&b);
}

TEST(no_round_is_skipped_when_a_flow_has_one_byte_of_credit)
{
	struct bench b = begin(&aqm_fifo, 400);

	send(&b, 1, 1, 3 * 1514 - 1);
	send(&b, 1, 1, 100);
	send(&b, 2, 1, 10000);
	send(&b, 2, 1, 100);
	CHECK_EQ(next_flow(&b), 1);
	CHECK_EQ(next_flow(&b), 2);
	CHECK_EQ(next_flow(&b), 1);
	CHECK_EQ(inst_nth(b.q, 1)->credit_bytes, 1 - 100);
	CHECK_EQ(next_flow(&b), 2);
	bench_end(&b);
}

/* Flow 2, which has been paid one round less, is looked at first. */
TEST(no_more_rounds_are_skipped_than_the_nearest_lacks)
{
	struct bench b = begin(&aqm_fifo, 400);
	u32 i;

	for (i = 1; i <= 2; i++) {
		send(&b, i, 1, 11 * 1514);
		send(&b, i, 1, 100);
	}
	CHECK_EQ(next_flow(&b), 1);
	CHECK_EQ(next_flow(&b), 2);
	CHECK_EQ(next_flow(&b), 1);
	CHECK_EQ(next_flow(&b), 2);
	bench_end(&b);
}

TEST(a_fresh_flow_that_runs_dry_stands_behind_the_old_ones_when_it_comes_back)
{
	struct bench b = begin(&aqm_fifo, 400);
	u32 i;

	send(&b, 1, 20, 500);
	for (i = 0; i < 5; i++)
		CHECK_EQ(next_flow(&b), 1);
	send(&b, 3, 1, 100);
	CHECK_EQ(next_flow(&b), 3);
	CHECK_EQ(next_flow(&b), 1);
	send(&b, 3, 1, 100);
	CHECK_EQ(next_flow(&b), 1);
	CHECK_EQ(next_flow(&b), 3);
	bench_end(&b);
}

/* Who has sent a packet of 20 rounds waits until the other has sent as much. */
TEST(rounds_that_are_skipped_leave_the_shares_as_they_are)
{
	struct bench b = begin(&aqm_fifo, 400);
	u32 i, small = 0;

	send(&b, 1, 2, 30000);
	send(&b, 2, 100, 1000);
	CHECK_EQ(next_flow(&b), 1);
	for (i = 0; i < 100 && next_flow(&b) == 2; i++)
		small++;
	CHECK_NEAR(small * 1000, 30000, 3 * 1514);
	bench_end(&b);
}

TEST(each_flow_has_an_algorithm_of_its_own)
{
	struct bench b = begin(&aqm_codel, 400);
	u32 i;

	for (i = 0; i < 3000; i++) {
		b.now += NS_PER_MS;
		send(&b, 1, 2, 1514);
		if (i % 3 == 0)
			send(&b, 2, 1, 200);
		leave(&b);
		leave(&b);
	}
	/* flow 1 offers more than it can send and is held; flow 2 never waits */
	CHECK(b.q->count.drops[AQM_WHY_DELAY] > 10);
	CHECK_EQ(inst_views(inst_nth(b.q, 2))->pkts <= 1, 1);
	bench_end(&b);
}

/* ---- algorithms in flows ---- */

/* It would do nothing there, or not what it is for. */
TEST(an_algorithm_that_compares_flows_has_none_of_its_own)
{
	static const char *const names[] = {"afd", "rio_ps", "sfb", "choke", "gchoke", "cfd"};
	u32 i;

	for (i = 0; i < 6; i++) {
		struct bench b = bench_new(aqm_find(names[i]), 10, 0);
		struct aqm_refusal no;

		set_row(&b, "flows", 1);
		no = bench_start(&b, 1);
		CHECK(no.sentence && !strcmp(no.row->name, "flows"));
		bench_end(&b);
	}
}

/* Twice the link's rate for a minute, by one flow of two: each loss makes room for an arrival,
 * and the other flow loses nothing. */
TEST(what_a_flow_loses_to_make_room_raises_blue_s_probability)
{
	struct bench b = BEGIN(aqm_find("blue"), 400, NS_PER_S, {"flows", 2}, {"limit", 100});
	const struct aqm_field *prob = aqm_field_find(b.algo->stats, "prob");
	u64 fat, thin;
	u32 ms;

	for (ms = 0; ms < 60000; ms++) {
		b.now += NS_PER_MS;
		arrive(&b, 0, 1250, 0);
		arrive(&b, 0, 1250, 0);
		if (ms % 10 == 0)
			arrive(&b, U32_MAX, 1250, 0);
		leave(&b);
	}
	fat = aqm_field_get(prob, inst_state(b.q, inst_nth(b.q, 0)));
	thin = aqm_field_get(prob, inst_state(b.q, inst_nth(b.q, 1)));
	CHECK(b.q->count.drops[AQM_WHY_FAT] > 100);
	CHECK_NEAR((double)fat / 4294967296., 0.53, 0.05);
	CHECK_EQ(thin, 0);
	bench_end(&b);
}
