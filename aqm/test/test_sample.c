// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_sample.c: what is drawn from a queue that is full of holes.

#include "sample.h"
#include "test.h"

static struct {
	u32 calls, last, full; /* the slot that is no hole */
} holes;

static bool peek_holes(const struct aqm_view *from, u32 slot, struct aqm_pkt *out)
{
	(void)from, (void)out;
	holes.calls++;
	holes.last = slot;
	return slot == holes.full;
}

static bool sample_of(u32 slots, u32 full, u32 *slot)
{
	const struct aqm_view from = {.slots = slots, .peek = peek_holes};
	struct aqm_pkt pkt;
	struct aqm_rng r;

	memset(&holes, 0, sizeof(holes));
	holes.full = full;
	rng_seed(&r, 1, 1);
	return sample_slot(&r, &from, slot, &pkt);
}

TEST(three_holes_are_drawn_and_then_the_head_is_taken)
{
	u32 slot = 7;

	CHECK(sample_of(1u << 30, 0, &slot));
	CHECK_EQ(holes.calls, 4);
	CHECK_EQ(holes.last, 0);
	CHECK_EQ(slot, 0);
}

TEST(the_first_packet_drawn_is_the_sample)
{
	u32 slot = 7;

	CHECK(sample_of(1, 0, &slot));
	CHECK_EQ(holes.calls, 1);
	CHECK_EQ(slot, 0);
}

TEST(nothing_is_drawn_from_an_empty_queue)
{
	u32 slot;

	CHECK(!sample_of(0, 0, &slot));
	CHECK_EQ(holes.calls, 0);
}

static bool peek_packets(const struct aqm_view *from, u32 slot, struct aqm_pkt *out)
{
	(void)out;
	return slot < from->slots;
}

/* Of 1000 samples of five packets, some of which are about to leave: how often was each drawn?
 * Last, how often none was found. */
static void draw(const u32 *taken, u32 n, u32 drawn[6])
{
	const struct aqm_view from = {.slots = 5, .peek = peek_packets};
	struct aqm_rng r;
	u32 i, slot;

	memset(drawn, 0, 6 * sizeof(*drawn));
	rng_seed(&r, 1, 1);
	for (i = 0; i < 1000; i++) {
		struct aqm_pkt pkt;

		drawn[sample_other(&r, &from, taken, n, &slot, &pkt) ? slot : 5]++;
	}
}

TEST(a_packet_that_is_about_to_leave_is_not_drawn_again)
{
	static const u32 taken[] = {3, 1, 0};
	u32 drawn[6], n, i;

	for (n = 0; n <= 3; n++) {
		draw(taken, n, drawn);
		for (i = 0; i < n; i++)
			CHECK_EQ(drawn[taken[i]], 0);
		for (; i < 3; i++)
			CHECK(drawn[taken[i]] > 100);
		CHECK(drawn[2] > 100 && drawn[4] > 100);
		/* the head stands in only while it stays: else three draws in 5^3 find nothing
		 */
		CHECK(n < 3 ? !drawn[5] : drawn[5] > 100);
	}
}
