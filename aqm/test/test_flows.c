// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_flows.c: statistics of flows, beside counts made by hand.

#include "begin.h"

extern const struct aqm_algo aqm_fifo, aqm_codel;

#define FLOW(n) ((u32)(n) << 28) /* of 16 flow queues, number n */
#define LEN     1514

static struct bench begin(void)
{
	return BEGIN(&aqm_fifo, 600, 0, {"flows", 16}, {"limit", 600});
}

/* A packet that waits so long, alone. */
static void pass(struct bench *b, u32 flow, u64 wait_ns)
{
	arrive(b, flow, 100, 0);
	b->now += wait_ns;
	leave(b);
	leave(b); /* the flow is dry, and in no list */
}

TEST(a_flow_is_counted_where_it_waits)
{
	struct bench b = begin();

	arrive(&b, FLOW(1), LEN, 0);
	arrive(&b, FLOW(1), LEN, 0);
	arrive(&b, FLOW(2), LEN, 0);
	CHECK_EQ(aqm_flows(b.q).new_flows_len, 2);
	CHECK_EQ(aqm_flows(b.q).old_flows_len, 0);
	leave(&b);
	leave(&b); /* flow 1 has spent its quantum, and flow 2 is served */
	CHECK_EQ(aqm_flows(b.q).new_flows_len, 1);
	CHECK_EQ(aqm_flows(b.q).old_flows_len, 1);
	CHECK_EQ(aqm_flows(b.q).memory_used_bytes, LEN + 600);
	leave(&b);
	leave(&b);
	CHECK_EQ(aqm_flows(b.q).new_flows_len, 0);
	CHECK_EQ(aqm_flows(b.q).old_flows_len, 0);
	CHECK_EQ(aqm_flows(b.q).new_flow_count, 2);
	CHECK(!aqm_flow_listed(b.q, 1));
	bench_end(&b);
}

TEST(a_flow_becomes_new_as_often_as_it_comes_back_with_credit)
{
	struct bench b = begin();
	u32 i;

	for (i = 0; i < 5; i++)
		pass(&b, FLOW(3), 1000);
	CHECK_EQ(aqm_flows(b.q).new_flow_count, 5);
	/* Longer than the quantum: it comes back in debt, to the old list. */
	arrive(&b, FLOW(4), 4 * LEN, 0);
	leave(&b);
	leave(&b);
	arrive(&b, FLOW(4), LEN, 0);
	CHECK_EQ(aqm_flows(b.q).new_flow_count, 6);
	CHECK_EQ(aqm_flows(b.q).old_flows_len, 1);
	bench_end(&b);
}

TEST(another_hash_in_a_flow_that_holds_packets_is_a_collision)
{
	struct bench b = begin();

	arrive(&b, FLOW(1), 100, 0);
	arrive(&b, FLOW(1), 100, 0);
	CHECK_EQ(aqm_flows(b.q).collisions, 0);
	arrive(&b, FLOW(1) + 1, 100, 0);
	CHECK_EQ(aqm_flows(b.q).collisions, 1);
	arrive(&b, FLOW(1) + 1, 100, 0);
	arrive(&b, FLOW(2) + 5, 100, 0);
	CHECK_EQ(aqm_flows(b.q).collisions, 1);
	arrive(&b, FLOW(1), 100, 0);
	CHECK_EQ(aqm_flows(b.q).collisions, 2);
	while (leave(&b) != AQM_NIL)
		;
	arrive(&b, FLOW(1) + 2, 100, 0);
	CHECK_EQ(aqm_flows(b.q).collisions, 2);
	bench_end(&b);
}

TEST(the_mean_of_the_first_256_delays_is_exact)
{
	struct bench b = begin();
	u64 sum = 0, n;

	for (n = 1; n <= 256; n++) {
		pass(&b, FLOW(1), n * n);
		sum += n * n;
		CHECK_EQ(aqm_flows(b.q).delay_mean_ns, sum / n);
		CHECK_EQ(aqm_flows(b.q).delay_sparse_ns, sum / n);
		CHECK_EQ(aqm_flows(b.q).delay_peak_ns, n * n);
	}
	bench_end(&b);
}

TEST(a_later_delay_moves_the_mean_by_a_256th)
{
	struct bench b = begin();
	double mean = 1000;
	u32 n;

	for (n = 0; n < 256; n++)
		pass(&b, FLOW(1), 1000);
	for (n = 0; n < 177; n++) {
		pass(&b, FLOW(1), 257000);
		mean += (257000 - mean) / 256;
		CHECK_NEAR(aqm_flows(b.q).delay_mean_ns, mean, 2);
	}
	CHECK_NEAR(aqm_flows(b.q).delay_mean_ns, 129000, 500);
	bench_end(&b);
}

TEST(a_packet_of_an_old_flow_is_in_no_sparse_delay)
{
	struct bench b = begin();

	arrive(&b, FLOW(1), LEN, 0);
	arrive(&b, FLOW(1), LEN, 0);
	b.now += 1000;
	leave(&b);
	b.now += 2000;
	leave(&b); /* flow 1 is an old one */
	CHECK_EQ(aqm_flows(b.q).delay_sparse_ns, 1000);
	CHECK_EQ(aqm_flows(b.q).delay_mean_ns, 2000);
	CHECK_EQ(aqm_flows(b.q).delay_peak_ns, 3000);
	bench_end(&b);
}

TEST(a_reset_begins_delays_anew_and_keeps_counts)
{
	struct bench b = begin();

	arrive(&b, FLOW(1), 100, 0);
	arrive(&b, FLOW(1) + 1, 100, 0);
	arrive(&b, FLOW(2), 100, 0);
	b.now += 1000;
	leave(&b);
	aqm_queue_reset(b.q, b.now);
	CHECK_EQ(aqm_flows(b.q).new_flow_count, 2);
	CHECK_EQ(aqm_flows(b.q).collisions, 1);
	CHECK_EQ(aqm_flows(b.q).new_flows_len, 0);
	CHECK_EQ(aqm_flows(b.q).delay_mean_ns, 0);
	CHECK_EQ(aqm_flows(b.q).delay_sparse_ns, 0);
	CHECK_EQ(aqm_flows(b.q).delay_peak_ns, 0);
	CHECK(!aqm_flow_listed(b.q, 1));
	CHECK_EQ(aqm_flow(b.q, 1).drops, 0);
	bench_end(&b);
}

TEST(a_flow_has_its_own_numbers)
{
	struct bench b = BEGIN(&aqm_codel, 600, 0, {"flows", 16}, {"limit", 40});
	const struct aqm_field *row = aqm_field_find(aqm_codel.stats, "dropping");
	u64 value = 7;
	u32 i;

	CHECK(!aqm_flow_stat(b.q, 1, row, &value));
	for (i = 0; i < 38; i++)
		arrive(&b, FLOW(1), LEN, 0);
	for (i = 0; i < 3; i++)
		arrive(&b, FLOW(2), 100, 0);
	leave(&b);
	CHECK_EQ(aqm_flow(b.q, 1).drops, 19);
	CHECK_EQ(aqm_flow(b.q, 2).drops, 0);
	CHECK_EQ(aqm_flow(b.q, 1).pkts, 18);
	CHECK_EQ(aqm_flow(b.q, 1).bytes, 18 * LEN);
	CHECK_EQ(aqm_flow(b.q, 1).credit_bytes, 0);
	CHECK_EQ(aqm_flow(b.q, 2).credit_bytes, LEN);
	CHECK(aqm_flow_listed(b.q, 1) && aqm_flow_listed(b.q, 2) && !aqm_flow_listed(b.q, 3));
	CHECK(aqm_flow_stat(b.q, 1, row, &value));
	CHECK_EQ(value, 0);
	CHECK(!aqm_flow_stat(b.q, 3, row, &value));
	bench_end(&b);
}

TEST(a_queue_without_flows_lists_none)
{
	struct bench b = BEGIN(&aqm_fifo, 40, 0, {"limit", 40});

	arrive(&b, FLOW(1), LEN, 0);
	CHECK(!aqm_flow_listed(b.q, 0));
	CHECK_EQ(aqm_flows(b.q).new_flow_count, 0);
	bench_end(&b);
}
