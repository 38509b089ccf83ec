// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_fq.c: deficit round robin, RFC 8290 section 4.

#include "host.h"
#include "test.h"

extern const struct aqm_algo aqm_fifo, aqm_codel;

#define FLOW(n) ((u32)(n) << 28) /* of 16 flow queues, number n */

static struct bench begin(const struct aqm_algo *algo, u32 limit)
{
	struct bench b = bench_new(algo, 400, 0);

	set_row(&b, "flows", 16);
	set_row(&b, "limit", limit);
	CHECK(!bench_start(&b, 1).sentence);
	return b;
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

	set_row(&b, "limit_bytes", 1000);
	CHECK(!bench_change(&b).sentence);
	send(&b, 1, 3, 300);
	send(&b, 2, 1, 1500);
	CHECK_EQ(b.q->count.drops[AQM_WHY_FAT], 0);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 1);
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
