// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_avq.c: what AVQ does where the rate of its link is missing or changes.

#include "begin.h"

extern const struct aqm_algo aqm_avq;

static const char *refused(struct bench *b, const char *row, u64 value)
{
	struct aqm_refusal no;

	set_row(b, row, value);
	no = b->q ? bench_change(b) : bench_start(b, 1);
	if (no.sentence)
		CHECK(!strcmp(no.row->name, row));
	return no.sentence ? no.sentence : "";
}

TEST(no_queue_is_made_without_the_rate_of_its_link)
{
	struct bench b = bench_new(&aqm_avq, 10, 0);

	CHECK(!strcmp(refused(&b, "bandwidth", 0),
	              "this algorithm must know the link's rate: give bandwidth"));
	CHECK(!strcmp(refused(&b, "bandwidth", 1), ""));
	CHECK(!strcmp(refused(&b, "bandwidth", 0),
	              "this algorithm must know the link's rate: give bandwidth"));
	bench_end(&b);
}

TEST(no_flow_knows_its_share_of_the_rate)
{
	struct bench b = bench_new(&aqm_avq, 10, 0);

	CHECK(!strcmp(refused(&b, "flows", 1),
	              "an algorithm that must know the link's rate has no flows"));
	bench_end(&b);
}

/* C~ - alpha b at an arrival without time since the last. */
TEST(the_virtual_capacity_is_never_above_the_link_s)
{
	struct bench b = BEGIN(&aqm_avq, 10, 0, {"bandwidth", 1000000});

	CHECK_EQ(stat(&b, "virtual_rate"), 1000000);
	arrive(&b, 0, 1000, 0);
	CHECK_EQ(stat(&b, "virtual_rate"), 999850);
	change_row(&b, "bandwidth", 2000);
	arrive(&b, 0, 20, 0);
	CHECK_EQ(stat(&b, "virtual_rate"), 1999 - 3);
	/* 0.147 * 2000 a second; and then at most 2000. */
	b.now += NS_PER_S / 1000;
	arrive(&b, 0, 1000, 0);
	CHECK_NEAR(stat(&b, "virtual_rate"), 1997 - 150, 1);
	b.now += (u64)1 << 62;
	arrive(&b, 0, 20, 0);
	CHECK_EQ(stat(&b, "virtual_rate"), 1997);
	CHECK_EQ(stat(&b, "virtual_queue"), 20);
	bench_end(&b);
}

/* 100 of 1000, 10 of 100 and then 910 of 1000: what the law took of the slow link is all that
 * is missing on the fast one. */
TEST(the_virtual_capacity_follows_a_link_that_slows_and_recovers)
{
	struct bench b = BEGIN(&aqm_avq, 100, 0, {"bandwidth", 1000000}, {"limit", 50});
	u64 slow;
	u32 i;

	for (i = 0; i < 6; i++)
		arrive(&b, 0, 1000000, 0);
	CHECK_NEAR(stat(&b, "virtual_rate"), 100000, 1);
	change_row(&b, "bandwidth", 100000);
	arrive(&b, 0, 1, 0);
	slow = stat(&b, "virtual_rate");
	CHECK_NEAR(slow, 10000, 1);
	change_row(&b, "bandwidth", 1000000);
	arrive(&b, 0, 1, 0);
	CHECK_NEAR(stat(&b, "virtual_rate"), slow + 900000, 1);
	bench_end(&b);
}

/* The time before the change counts at the virtual capacity of that time. */
TEST(the_virtual_queue_drains_as_fast_as_the_link_was)
{
	struct bench b = BEGIN(&aqm_avq, 10, 0, {"bandwidth", 1000000}, {"buffer", 3000});

	arrive(&b, 0, 3000, 0);
	b.now += NS_PER_S;
	change_row(&b, "bandwidth", 1000);
	arrive(&b, 0, 2000, 0);
	CHECK_EQ(stat(&b, "virtual_queue"), 2000);
	CHECK_EQ(drops(&b), 0);
	bench_end(&b);
}

/* Arrivals of one instant: a virtual queue of exactly B is no overflow. */
TEST(the_signal_is_for_what_exceeds_the_buffer)
{
	struct bench b = BEGIN(&aqm_avq, 10, 0, {"buffer", 3000});

	arrive(&b, 0, 1000, 0);
	arrive(&b, 0, 2000, 0);
	CHECK_EQ(drops(&b), 0);
	CHECK_EQ(stat(&b, "virtual_queue"), 3000);
	arrive(&b, 0, 1, 0);
	CHECK_EQ(drops(&b), 1);
	bench_end(&b);
}

/* As in ns-2; the time since the last arrival that moved C~ counts on. */
TEST(what_the_virtual_queue_drops_moves_nothing_where_accepted_packets_count)
{
	struct bench b = BEGIN(&aqm_avq, 10, 0, {"buffer", 3000}, {"accepted", 1},
	                       {"bandwidth", 1000000});

	arrive(&b, 0, 2000, 0);
	CHECK_EQ(stat(&b, "virtual_rate"), 999700);
	arrive(&b, 0, 2000, 0);
	CHECK_EQ(drops(&b), 1);
	CHECK_EQ(stat(&b, "virtual_rate"), 999700);
	b.now += NS_PER_S / 1000;
	arrive(&b, 0, 2500, 0);
	CHECK_EQ(drops(&b), 2);
	CHECK_EQ(stat(&b, "virtual_rate"), 999700);
	CHECK_EQ(stat(&b, "virtual_queue"), 1000);
	/* 0.147 * 1000000 a second, for 2 ms; alpha b is 150. */
	b.now += NS_PER_S / 1000;
	arrive(&b, 0, 1000, 0);
	CHECK_EQ(stat(&b, "virtual_rate"), 999700 + 294 - 150);
	bench_end(&b);
}

/* A mark lets the packet in: it counts. */
TEST(what_is_marked_moves_the_virtual_capacity_where_accepted_packets_count)
{
	struct bench b = BEGIN(&aqm_avq, 10, 0, {"buffer", 3000}, {"accepted", 1},
	                       {"bandwidth", 1000000}, {"ecn", 1});

	arrive(&b, 0, 2000, AQM_ECT0);
	arrive(&b, 0, 2000, AQM_ECT0);
	CHECK_EQ(drops(&b), 0);
	CHECK_EQ(stat(&b, "virtual_rate"), 999400);
	bench_end(&b);
}
