// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_fast.c: the fast path of a packet (fast.h) gives what the general path gives; rows that
// came later: drop_batch, and marks above a threshold without the row ecn.

#include "odd.h"
#include "storm.h"

extern const struct aqm_algo aqm_fifo;

/* The second lane keeps the second queue on the general path; no packet joins it. */
ODD(one, 1, .overflow = overflow);
ODD(two, 2, .overflow = overflow);

/* Without calls for arrivals and offers, as fifo. */
static const struct aqm_algo silent = {.name = "silent", .abi = AQM_ABI, .queues = 1};
static const struct aqm_algo silent_two = {
        .name = "silent", .abi = AQM_ABI, .queues = 2, .pick = pick};

static struct aqm_verdict any_verdict(struct aqm_rng *r)
{
	u32 kind = rng_below(r, 40);
	struct aqm_verdict v = {.victim = {rng_below(r, 4)}};

	if (kind < 6)
		v.act = (u8)rng_below(r, 4);
	if (kind >= 6 && kind < 9)
		v.nvictims = (u8)rng_below(r, 3);
	if (kind >= 9 && kind < 12)
		v.why = (u8)rng_below(r, AQM_WHY_COUNT + 1);
	if (kind == 12)
		v.vqueue = 9;
	v.probe = kind == 13;
	return v;
}

/* What a life with this algorithm has come to. */
struct sum {
	u64 digest, memory_bytes;
	struct aqm_counters count;
	struct aqm_probes probes;
	u32 ticks, empties;
};

static struct sum life_of(const struct aqm_algo *algo, u64 seed, bool ticks)
{
	struct bench b = ODD_BEGIN(algo, 300, {"limit", 100});
	struct aqm_rng calls, answers;
	struct sum sum = {0};
	u32 i;

	if (ticks) {
		bench_end(&b);
		b = begin_ticking(algo, 300, 30 * NS_PER_MS);
	}
	rng_seed(&calls, seed, 1);
	rng_seed(&answers, seed, 2);
	for (i = 0; i < 4000; i++) {
		script.enqueue = any_verdict(&answers);
		script.overflow = any_verdict(&answers);
		script.dequeue = any_verdict(&answers);
		script.drops_wanted = rng_below(&answers, 8) ? 0 : rng_below(&answers, 4);
		storm_step(&b, &calls, STORM_CHANGES);
		CHECK(conserved(&b));
	}
	sum.digest = b.host->digest;
	sum.memory_bytes = b.q->memory_bytes;
	sum.count = b.q->count;
	sum.probes = b.q->probes;
	sum.ticks = script.ticks;
	sum.empties = script.empties;
	bench_end(&b);
	return sum;
}

static void check_same(const struct aqm_algo *short_way, const struct aqm_algo *general,
                       bool ticks)
{
	u64 seed;

	for (seed = 1; seed <= 8; seed++) {
		struct sum a = life_of(short_way, seed, ticks);
		struct sum b = life_of(general, seed, ticks);

		CHECK_EQ(memcmp(&a, &b, sizeof(a)), 0);
		CHECK(a.count.out_pkts > 1000);
	}
}

TEST(the_short_way_gives_what_the_general_way_gives)
{
	check_same(&one, &two, false);
}

TEST(the_short_way_leaves_ticks_to_the_general_way)
{
	check_same(&one, &two, true);
	CHECK(life_of(&one, 1, true).ticks > 1000);
}

TEST(the_short_way_needs_no_calls_of_the_algorithm)
{
	check_same(&silent, &silent_two, false);
}

TEST(a_packet_of_the_short_way_ends_a_silence)
{
	struct bench b = begin_ticking(&one, 3, 1000);
	u32 i;

	/* As many ticks as an empty queue runs between two events, twice. */
	for (i = 0; i < 2; i++) {
		b.now += 1000 * (AQM_TICKS_EMPTY - 1);
		catch_up(&b);
		CHECK_EQ(inst_nth(b.q, 0)->ticks, AQM_TICKS_EMPTY - 1);
		arrive(&b, 0, 100, 0);
		CHECK_EQ(inst_nth(b.q, 0)->ticks, 0);
		b.now += 1000;
		catch_up(&b);
		CHECK_EQ(inst_nth(b.q, 0)->ticks, 1);
		leave(&b);
		CHECK_EQ(inst_nth(b.q, 0)->ticks, 0);
		CHECK_EQ(leave(&b), AQM_NIL);
	}
	CHECK_EQ(script.idles, 0);
	bench_end(&b);
}

TEST(the_offer_behind_a_drop_on_the_short_way_is_the_second)
{
	struct bench b = ODD_BEGIN(&one, 4, {"limit", 10});

	arrive(&b, 0, 100, 0);
	arrive(&b, 0, 100, 0);
	script.drops_wanted = 1;
	CHECK(leave(&b) != AQM_NIL);
	CHECK_EQ(script.offered.nth, 1);
	CHECK_EQ(script.offered.k.own, 2);
	CHECK_EQ(script.empties, 0);
	bench_end(&b);
}

TEST(a_threshold_marks_ect_whatever_the_row_ecn_says)
{
	struct bench b = ODD_BEGIN(&one, 4, {"limit", 10});
	aqm_h h;

	script.enqueue = (struct aqm_verdict){.act = AQM_MARK, .why = AQM_WHY_THRESHOLD};
	h = arrive(&b, 0, 100, AQM_ECT0);
	CHECK_EQ(b.host->packets[h].ds, AQM_CE);
	CHECK_EQ(b.q->count.marks[AQM_WHY_THRESHOLD], 1);
	CHECK_EQ(b.q->count.bad[AQM_BAD_MARK], 0);
	h = arrive(&b, 0, 100, AQM_NOT_ECT);
	CHECK_EQ(b.host->packets[h].ds, AQM_NOT_ECT);
	CHECK_EQ(b.q->count.bad[AQM_BAD_MARK], 1);
	bench_end(&b);
}

TEST(drop_batch_says_how_many_packets_the_fattest_flow_loses_at_once)
{
	static const u32 batches[] = {1, 7, 100, AQM_BATCH_MAX};
	u32 i, n;

	for (i = 0; i < 4; i++) {
		struct bench b = BEGIN(&aqm_fifo, 400, 0, {"flows", 16}, {"limit", 300});
		/* half of its bytes, if that is less */
		u32 lost = batches[i] < 150 ? batches[i] : 150;

		change_row(&b, "drop_batch", batches[i]);
		for (n = 0; n < 300; n++)
			arrive(&b, 1u << 28, 1000, 0);
		arrive(&b, 2u << 28, 100, 0);
		CHECK_EQ(b.q->count.drops[AQM_WHY_FAT], lost);
		CHECK_EQ(b.q->pkts, 300 - lost + 1);
		bench_end(&b);
	}
}
