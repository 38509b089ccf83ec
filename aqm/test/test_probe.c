// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_probe.c: what the queue promises of probes, with an algorithm that asks for one
// behind every packet.

#include "storm.h"
#include "test.h"

/* What the algorithm heard. */
static struct {
	u32 enqueues, dequeues, gones, echoes;
	u64 echo_now, echo_rtt;
	u8 lanes_left; /* a bit for each lane that a packet left from */
	bool on_drop, on_dequeue;
	struct aqm_verdict verdict; /* for arrivals, where it is not a plain pass */
	u32 pick;
	struct aqm_pkt seen[8];
} heard;

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *views, struct aqm_pkt *pkt)
{
	struct aqm_verdict v = heard.verdict;
	u32 i;

	(void)st, (void)conf, (void)now, (void)pkt;
	heard.enqueues++;
	for (i = 0; i < views->slots && i < 8; i++)
		views->peek(views, i, &heard.seen[i]);
	v.probe = 1;
	if (heard.on_drop)
		v.act = AQM_DROP;
	return v;
}

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *views, const struct aqm_pkt *pkt)
{
	struct aqm_verdict v = aqm_pass();

	(void)st, (void)conf, (void)now, (void)views;
	heard.dequeues++;
	heard.lanes_left |= (u8)(1 << pkt->lane);
	v.probe = heard.on_dequeue;
	return v;
}

static u32 pick(void *st, const void *conf, u64 now, const struct aqm_view *views)
{
	(void)st, (void)conf, (void)now, (void)views;
	return heard.pick;
}

static void gone(void *st, const void *conf, u64 now, const struct aqm_view *views,
                 const struct aqm_pkt *pkt, u8 why)
{
	(void)st, (void)conf, (void)now, (void)views, (void)pkt, (void)why;
	heard.gones++;
}

static void echo(void *st, const void *conf, u64 now, const struct aqm_view *views, u64 rtt_ns)
{
	(void)st, (void)conf, (void)views;
	heard.echoes++;
	heard.echo_now = now;
	heard.echo_rtt = rtt_ns;
}

#define ASKS(name_, queues_, flags_)                                                           \
	static const struct aqm_algo name_ = {                                                 \
	        .name = #name_,                                                                \
	        .abi = AQM_ABI,                                                                \
	        .queues = queues_,                                                             \
	        .flags = flags_,                                                               \
	        .enqueue = enqueue,                                                            \
	        .dequeue = dequeue,                                                            \
	        .pick = pick,                                                                  \
	        .gone = gone,                                                                  \
	        .echo = echo,                                                                  \
	}

ASKS(asks, 1, 0);
ASKS(asks_sampling, 1, AQM_SAMPLES);
ASKS(asks_two, 2, 0);

static struct bench begin_flows(const struct aqm_algo *algo, u32 limit, u32 flows)
{
	struct bench b = bench_new(algo, 100, 1000);

	memset(&heard, 0, sizeof(heard));
	set_row(&b, "limit", limit);
	set_row(&b, "flows", flows);
	CHECK(!bench_start(&b, 1).sentence);
	return b;
}

static struct bench begin(const struct aqm_algo *algo, u32 limit)
{
	return begin_flows(algo, limit, 0);
}

/* A packet and the probe that it asks for. */
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
	CHECK(leave(&b) != first && heard.dequeues == 1);
	CHECK_EQ(leave(&b), first);
	CHECK_EQ(heard.dequeues, 1);
	CHECK(leave(&b) != second);
	CHECK_EQ(leave(&b), second);
	CHECK_EQ(heard.dequeues, 2);
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
	CHECK_EQ(heard.gones, 0);
	CHECK(conserved(&b));
	bench_end(&b);
}

TEST(a_packet_that_does_not_join_has_no_probe)
{
	struct bench b = begin(&asks, 3);

	heard.on_drop = true;
	arrive(&b, 1, 1000, 0);
	CHECK(!aqm_probe_asked(b.q));
	CHECK_EQ(b.q->count.bad[AQM_BAD_PROBE], 1);
	heard.on_drop = false;
	heard.on_dequeue = true;
	arrive(&b, 1, 1000, 0);
	leave(&b);
	CHECK_EQ(b.q->count.bad[AQM_BAD_PROBE], 2);
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
	CHECK_EQ(heard.echoes, 1);
	CHECK_EQ(heard.echo_now, 1700);
	CHECK_EQ(heard.echo_rtt, 500);
	CHECK_EQ(b.q->probes.answered, 1);
	CHECK(inst_started(b.q, inst_nth(b.q, 9)));
	CHECK(!inst_started(b.q, inst_nth(b.q, 0)));
	bench_end(&b);
}

TEST(a_lane_is_told_and_a_probe_joins_that_of_its_packet)
{
	struct bench b = begin(&asks_two, 10);

	heard.verdict.queue = 1;
	arrive_probed(&b, 1);
	heard.verdict.queue = 0;
	arrive_probed(&b, 1);
	CHECK_EQ(inst_views(inst_nth(b.q, 0))[0].pkts, 2);
	CHECK_EQ(inst_views(inst_nth(b.q, 0))[1].pkts, 2);
	heard.pick = 1;
	leave(&b);
	CHECK_EQ(heard.lanes_left, 2);
	leave(&b);
	heard.pick = 0;
	leave(&b);
	CHECK_EQ(heard.lanes_left, 3);
	bench_end(&b);
}

TEST(a_probe_is_no_victim_but_is_seen_for_what_it_is)
{
	struct bench b = begin(&asks_sampling, 10);

	arrive_probed(&b, 1);
	heard.verdict.nvictims = 1;
	heard.verdict.victim[0] = 1;
	heard.verdict.why = AQM_WHY_MATCH;
	arrive(&b, 1, 1000, 0);
	CHECK(!heard.seen[0].probe);
	CHECK(heard.seen[1].probe);
	CHECK_EQ(b.q->count.bad[AQM_BAD_VICTIM], 1);
	CHECK_EQ(b.q->pkts, 3);
	CHECK_EQ(b.q->probes.freed, 0);
	bench_end(&b);
}

TEST(a_lowered_limit_and_a_reset_take_probes_without_a_word)
{
	struct bench b = begin(&asks, 10);
	u32 i;

	for (i = 0; i < 4; i++)
		arrive_probed(&b, 1);
	set_row(&b, "limit", 5);
	CHECK(!bench_change(&b).sentence);
	CHECK_EQ(b.q->pkts, 5);
	CHECK_EQ(heard.gones, 2);
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
