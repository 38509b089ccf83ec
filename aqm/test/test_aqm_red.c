// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_red.c: what replays beside the model do not reach: rows that change, and the
// updates of a link that stands, all at once and one by one.

#include "updates.h"

extern const struct aqm_algo aqm_red;

static struct bench bench_red(u64 form)
{
	return BEGIN(&aqm_red, 100, NS_PER_S, {"form", form}, {"min", 10}, {"max", 20},
	             {"weight", 2});
}

TEST(the_average_stays_when_its_weight_changes)
{
	struct bench b = bench_red(0);
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

/* max_p after `ticks` updates of a queue that holds `held` packets, at once or in parts. */
static u64 updated(u32 held, u32 ticks, u32 at_once)
{
	struct bench b = bench_red(2);
	u64 tick_ns = 500 * NS_PER_MS, found;
	u32 i;

	for (i = 0; i < 90; i++)
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
		for (ticks = 1; ticks < 300; ticks = 2 * ticks + 1)
			for (i = 0; i < 5; i++)
				CHECK_EQ(updated(held, ticks, 1),
				         updated(held, ticks, parts[i]));
}
