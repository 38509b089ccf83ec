// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_rio_ps.c: what replays beside the model do not reach: rows that change.

#include "begin.h"

extern const struct aqm_algo aqm_rio_ps;

/* Eight packets of flow 1 wait, and one more comes and one leaves, again and again. */
static struct bench settled(u64 threshold)
{
	struct bench b = BEGIN(&aqm_rio_ps, 100, NS_PER_S, {"long_min", 10}, {"weight", 2},
	                       {"threshold", threshold});
	u32 i;

	for (i = 0; i < 9; i++)
		arrive(&b, 1, 1000, 0);
	for (i = 0; i < 40; i++) {
		arrive(&b, 1, 1000, 0);
		leave(&b);
	}
	return b;
}

TEST(both_averages_stay_when_their_weight_changes)
{
	static const u32 weights[] = {1, 5, 20, 3};
	struct bench b = settled(1000);
	u32 i;

	for (i = 0; i < 4; i++) {
		CHECK_EQ(stat(&b, "average"), 8);
		CHECK_EQ(stat(&b, "short_average"), 8);
		change_row(&b, "weight", weights[i]);
		arrive(&b, 1, 1000, 0);
		leave(&b);
	}
	CHECK_EQ(stat(&b, "average"), 8);
	CHECK_EQ(stat(&b, "short_average"), 8);
	CHECK_EQ(drops(&b), 0);
	bench_end(&b);
}

TEST(a_flow_that_is_long_stays_so_until_the_threshold_is_above_its_count)
{
	struct bench b = settled(4);
	u64 arrivals;

	CHECK_EQ(stat(&b, "short_arrivals"), 4);
	change_row(&b, "threshold", 2);
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(stat(&b, "short_arrivals"), 4);
	/* 50 of its packets are counted. */
	change_row(&b, "threshold", 50);
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(stat(&b, "short_arrivals"), 4);
	change_row(&b, "threshold", 53);
	for (arrivals = 0; arrivals < 9; arrivals++)
		arrive(&b, 1, 1000, 0);
	CHECK_EQ(stat(&b, "short_arrivals"), 6);
	bench_end(&b);
}
