// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_fifo.c: a full queue loses what arrives, or what has waited longest.

#include "begin.h"

extern const struct aqm_algo aqm_fifo;

enum { TAIL, HEAD };

TEST(a_full_queue_loses_what_arrives_or_what_has_waited_longest)
{
	u32 drop;

	for (drop = TAIL; drop <= HEAD; drop++) {
		struct bench b = BEGIN(&aqm_fifo, 10, 0, {"drop", drop}, {"limit", 3});
		aqm_h came[5];
		u32 i;

		for (i = 0; i < 5; i++)
			came[i] = arrive(&b, 0, 100, 0);
		CHECK_EQ(came[4] == AQM_NIL, drop == TAIL);
		for (i = 0; i < 3; i++)
			CHECK_EQ(leave(&b), came[drop == TAIL ? i : i + 2]);
		CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 2);
		CHECK_EQ(bad_verdicts(&b), 0);
		bench_end(&b);
	}
}

TEST(the_row_may_change_while_the_queue_is_full)
{
	struct bench b = BEGIN(&aqm_fifo, 10, 0, {"limit", 3});
	aqm_h first = arrive(&b, 0, 100, 0), second = arrive(&b, 0, 100, 0);

	arrive(&b, 0, 100, 0);
	change_row(&b, "drop", HEAD);
	CHECK(arrive(&b, 0, 100, 0) != AQM_NIL);
	CHECK(first != second && leave(&b) == second);
	change_row(&b, "drop", TAIL);
	CHECK(arrive(&b, 0, 100, 0) != AQM_NIL);
	CHECK_EQ(arrive(&b, 0, 100, 0), AQM_NIL);
	bench_end(&b);
}

TEST(a_large_packet_takes_the_room_of_several_small_ones)
{
	struct bench b = BEGIN(&aqm_fifo, 30, 0, {"drop", HEAD}, {"limit_bytes", 1500});
	u32 i;

	for (i = 0; i < 15; i++)
		arrive(&b, 0, 100, 0);
	CHECK(arrive(&b, 0, 1200, 0) != AQM_NIL);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 12);
	CHECK_EQ(b.q->bytes, 1500);
	/* One that no queue of this limit can hold takes none. */
	CHECK_EQ(arrive(&b, 0, 1501, 0), AQM_NIL);
	CHECK_EQ(b.q->pkts, 4);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 13);
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
}

TEST(a_large_packet_takes_the_room_of_1024_small_ones_at_most)
{
	u32 needed, i;

	for (needed = 1024; needed <= 1025; needed++) {
		struct bench b = BEGIN(&aqm_fifo, 3000, 0, {"drop", HEAD}, {"limit", 3000},
		                       {"limit_bytes", 40 * 2000});

		for (i = 0; i < 2000; i++)
			arrive(&b, 0, 40, 0);
		CHECK_EQ(arrive(&b, 0, 40 * needed, 0) != AQM_NIL, needed == 1024);
		CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], needed == 1024 ? 1024 : 1024 + 1);
		CHECK_EQ(bad_verdicts(&b), 0);
		bench_end(&b);
	}
}

/* A packet of the host occupies 600 bytes more than its length. */
TEST(a_packet_for_which_no_memory_suffices_is_lost_alone)
{
	struct bench b = BEGIN(&aqm_fifo, 30, 0, {"drop", HEAD}, {"memory_limit", 1500});

	arrive(&b, 0, 100, 0);
	arrive(&b, 0, 100, 0);
	CHECK_EQ(arrive(&b, 0, 1000, 0), AQM_NIL);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 1);
	CHECK_EQ(b.q->pkts, 2);
	CHECK_EQ(bad_verdicts(&b), 0);
	CHECK(arrive(&b, 0, 100, 0) != AQM_NIL);
	bench_end(&b);
}

/* The arrival evicts what it may of the fattest flow, and is lost. A thin flow loses nothing
 * beside. */
TEST(a_thin_flow_does_not_pay_for_a_packet_that_finds_no_room)
{
	struct bench b = BEGIN(&aqm_fifo, 3000, 0, {"drop", HEAD}, {"flows", 2},
	                       {"limit", 3000}, {"limit_bytes", 40 * 2000});
	u32 thin = 1u << 31, i;

	arrive(&b, thin, 40, 0);
	for (i = 1; i < 2000; i++)
		arrive(&b, 0, 40, 0);
	CHECK_EQ(arrive(&b, thin, 40 * 1999, 0), AQM_NIL);
	CHECK_EQ(b.q->count.drops[AQM_WHY_FAT], 1024);
	CHECK_EQ(aqm_flow(b.q, 1).pkts, 1);
	/* Nor for one that never fits. */
	CHECK_EQ(arrive(&b, thin, 40 * 2001, 0), AQM_NIL);
	CHECK_EQ(b.q->count.drops[AQM_WHY_FAT], 1024);
	CHECK_EQ(aqm_flow(b.q, 1).pkts, 1);
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
}
