// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_probe.c: what the queue promises of probes, with an algorithm that asks for one
// behind every packet.

#include "odd.h"
#include "storm.h"

ODD(asks, 1);
ODD(asks_sampling, 1, .flags = AQM_SAMPLES);
ODD(asks_two, 2);

static struct bench begin_flows(const struct aqm_algo *algo, u32 limit, u32 flows)
{
	struct bench b = ODD_BEGIN(algo, 100, {"limit", limit}, {"flows", flows});

	script.enqueue.probe = 1;
	return b;
}

static struct bench begin(const struct aqm_algo *algo, u32 limit)
{
	return begin_flows(algo, limit, 0);
}

/* A packet and the probe that it requests. */
static aqm_h arrive_probed(struct bench *b, u32 flow)
{
	arrive(b, flow, 1000, AQM_ECT0);
	CHECK(aqm_probe_asked(b->q));
	return join_probe(b);
}

TEST(a_probe_leaves_behind_the_packet_that_asked_and_is_not_offered)
{
	struct bench b = begin(&asks, 10);
	aqm_h first = arrive_probed(&b, 1), second = arrive_probed(&b, 1);

	CHECK_EQ(b.q->pkts, 4);
	CHECK(leave(&b) != first && script.dequeues == 1);
	CHECK_EQ(leave(&b), first);
	CHECK_EQ(script.dequeues, 1);
	CHECK(leave(&b) != second);
	CHECK_EQ(leave(&b), second);
	CHECK_EQ(script.dequeues, 2);
	CHECK_EQ(b.q->count.in_pkts, 2);
	CHECK_EQ(b.q->count.out_pkts, 2);
	CHECK_EQ(b.q->probes.left, 2);
	CHECK(conserved(&b));
	bench_end(&b);
}

TEST(a_probe_counts_for_the_limit_and_is_refused_there)
{
	struct bench b = begin(&asks, 3);

	arrive_probed(&b, 1);
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(b.q->pkts, 3);
	CHECK_EQ(join_probe(&b), AQM_NIL);
	CHECK_EQ(b.q->probes.refused, 1);
	CHECK_EQ(drops(&b), 0);
	CHECK_EQ(script.gones, 0);
	CHECK(conserved(&b));
	bench_end(&b);
}

TEST(a_packet_that_does_not_join_has_no_probe)
{
	struct bench b = begin(&asks, 3);

	script.enqueue.act = AQM_DROP;
	arrive(&b, 1, 1000, 0);
	CHECK(!aqm_probe_asked(b.q));
	CHECK_EQ(b.q->count.bad[AQM_BAD_PROBE], 1);
	script.enqueue.act = AQM_PASS;
	script.dequeue.probe = 1;
	arrive(&b, 1, 1000, 0);
	leave(&b);
	CHECK_EQ(b.q->count.bad[AQM_BAD_PROBE], 2);
	bench_end(&b);
}

/* Its answer would reach nobody. */
TEST(an_algorithm_without_echo_gets_no_probe)
{
	struct aqm_algo deaf = asks;
	struct bench b;

	deaf.echo = NULL;
	b = begin(&deaf, 3);
	arrive(&b, 1, 1000, 0);
	CHECK(!aqm_probe_asked(b.q));
	CHECK_EQ(b.q->count.bad[AQM_BAD_PROBE], 1);
	CHECK_EQ(b.q->pkts, 1);
	bench_end(&b);
}

TEST(what_the_arrival_before_wanted_is_forgotten)
{
	struct bench b = begin(&asks, 1);

	arrive(&b, 1, 1000, 0);
	CHECK(aqm_probe_asked(b.q));
	arrive(&b, 1, 1000, 0); /* beyond the limit */
	CHECK(!aqm_probe_asked(b.q));
	bench_end(&b);
}

TEST(an_answer_reaches_the_instance_that_asked)
{
	struct bench b = begin_flows(&asks, 10, 16);
	aqm_h probe = arrive_probed(&b, 9u << 28);

	CHECK_EQ(packet_of(b.host, probe)->inst, 9);
	b.now += 700;
	aqm_echo(b.q, b.now, packet_of(b.host, probe)->inst, 500);
	CHECK_EQ(script.echoes, 1);
	CHECK_EQ(script.echo_now, 1700);
	CHECK_EQ(script.echo_rtt, 500);
	CHECK_EQ(b.q->probes.answered, 1);
	CHECK(inst_started(b.q, inst_nth(b.q, 9)));
	CHECK(!inst_started(b.q, inst_nth(b.q, 0)));
	bench_end(&b);
}

TEST(a_lane_is_told_and_a_probe_joins_that_of_its_packet)
{
	struct bench b = begin(&asks_two, 10);

	script.enqueue.queue = 1;
	arrive_probed(&b, 1);
	CHECK_EQ(script.arrived.lane, 0); /* it is in none yet */
	CHECK(!script.arrived.probe);
	script.enqueue.queue = 0;
	arrive_probed(&b, 1);
	CHECK_EQ(inst_views(inst_nth(b.q, 0))[0].pkts, 2);
	CHECK_EQ(inst_views(inst_nth(b.q, 0))[1].pkts, 2);
	script.pick = 1;
	leave(&b);
	CHECK_EQ(script.lanes_left, 2);
	CHECK(!script.offered.probe);
	leave(&b);
	script.pick = 0;
	leave(&b);
	CHECK_EQ(script.lanes_left, 3);
	bench_end(&b);
}

TEST(a_probe_is_no_victim_but_is_seen_for_what_it_is)
{
	struct bench b = begin(&asks_sampling, 10);

	arrive_probed(&b, 1);
	script.enqueue.nvictims = 1;
	script.enqueue.victim[0] = 1;
	script.enqueue.why = AQM_WHY_MATCH;
	arrive(&b, 1, 1000, 0);
	CHECK(!script.seen[0].probe);
	CHECK(script.seen[1].probe);
	CHECK_EQ(b.q->count.bad[AQM_BAD_VICTIM], 1);
	CHECK_EQ(b.q->pkts, 3);
	CHECK_EQ(b.q->probes.freed, 0);
	/* the packet before it is one as any */
	script.enqueue.victim[0] = 0;
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(b.q->count.bad[AQM_BAD_VICTIM], 1);
	CHECK_EQ(b.q->count.drops[AQM_WHY_MATCH], 1);
	bench_end(&b);
}

TEST(a_lowered_limit_and_a_reset_take_probes_without_a_word)
{
	struct bench b = begin(&asks, 10);
	u32 i;

	for (i = 0; i < 4; i++)
		arrive_probed(&b, 1);
	change_row(&b, "limit", 5);
	CHECK_EQ(b.q->pkts, 5);
	CHECK_EQ(script.gones, 2);
	CHECK_EQ(b.q->probes.freed, 1);
	CHECK_EQ(drops(&b), 2);
	aqm_queue_reset(b.q, b.now);
	CHECK_EQ(b.q->pkts, 0);
	CHECK_EQ(b.q->probes.freed, 4);
	CHECK(conserved(&b));
	bench_end(&b);
}

TEST(an_arrival_evicts_probes_of_the_fattest_flow_too)
{
	struct bench b = begin_flows(&asks, 4, 16);

	arrive_probed(&b, 1u << 28);
	arrive_probed(&b, 1u << 28);
	arrive(&b, 2u << 28, 1000, 0);
	CHECK(b.q->pkts <= 4);
	CHECK(b.q->probes.freed >= 1);
	CHECK(conserved(&b));
	bench_end(&b);
}

/* Of 1000 and 42 bytes twice, all but the last must go. */
TEST(an_arrival_evicts_on_behind_a_probe)
{
	struct bench b = ODD_BEGIN(&asks, 100, {"limit_bytes", 2100}, {"flows", 16});

	script.enqueue.probe = 1;
	arrive_probed(&b, 1u << 28);
	arrive_probed(&b, 1u << 28);
	CHECK(arrive(&b, 2u << 28, 2000, 0) != AQM_NIL);
	CHECK_EQ(drops(&b), 2);
	CHECK_EQ(b.q->probes.freed, 1);
	CHECK_EQ(b.q->bytes, 2042);
	bench_end(&b);
}

TEST(probes_of_a_flow_are_served_in_its_turn)
{
	struct bench b = begin_flows(&asks, 10, 16);
	aqm_h probe = arrive_probed(&b, 3u << 28), h;
	u32 n = 0;

	arrive_probed(&b, 5u << 28);
	while ((h = leave(&b)) != AQM_NIL) {
		n++;
		if (h == probe)
			CHECK_EQ(n, 2);
	}
	CHECK_EQ(n, 4);
	bench_end(&b);
}
