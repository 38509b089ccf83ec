// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_edges.c: numbers of the queue that must be neither one more nor one less, with an
// algorithm that answers what a test wants.

#include "odd.h"

ODD(single, 1);
static const struct aqm_algo silent = {
        .name = "silent", .brief = "", .source = "", .abi = AQM_ABI, .queues = 1};
ODD(ring, 1, .flags = AQM_SAMPLES);
ODD(rings, 2, .flags = AQM_SAMPLES);
ODD(three, 3);
ODD(huge, 1, .state_bytes = 1u << 20);

static struct bench begin(const struct aqm_algo *algo, u32 limit)
{
	return ODD_BEGIN(algo, 400, {"limit", limit});
}

static void fill(struct bench *b, u32 lane, u32 n)
{
	script.enqueue.queue = (u8)lane;
	while (n--)
		arrive(b, 0, 100, AQM_ECT0);
}

static const struct aqm_view *view(struct bench *b, u32 lane)
{
	return &inst_views(inst_nth(b->q, 0))[lane];
}

/* ---- what an algorithm sees ---- */

TEST(an_algorithm_sees_both_parts_of_the_ds_field)
{
	struct bench b = begin(&single, 10);

	arrive(&b, 0, 100, 46 << 2 | AQM_ECT0);
	CHECK_EQ(script.arrived.dscp, 46);
	CHECK_EQ(script.arrived.ecn, AQM_ECT0);
	CHECK_EQ(script.arrived.nth, 0);
	CHECK_EQ(script.arrived.k.own, 0);
	leave(&b);
	CHECK_EQ(script.offered.dscp, 46);
	CHECK_EQ(script.offered.nth, 0);
	bench_end(&b);
}

TEST(each_lane_has_the_limits_in_its_view)
{
	struct bench b = begin(&three, 7);
	u32 lane;

	for (lane = 0; lane < 3; lane++) {
		CHECK_EQ(view(&b, lane)->limit_pkts, 7);
		CHECK_EQ(view(&b, lane)->limit_bytes, U32_MAX);
		CHECK_EQ(view(&b, lane)->mtu_bytes, 1514);
	}
	bench_end(&b);
}

TEST(a_list_has_a_slot_for_each_packet)
{
	struct bench b = begin(&single, 10);

	fill(&b, 0, 3);
	CHECK_EQ(view(&b, 0)->slots, 3);
	leave(&b);
	CHECK_EQ(view(&b, 0)->slots, 2);
	bench_end(&b);
}

/* ---- what the queue counts ---- */

TEST(packets_and_bytes_are_counted_where_they_come_and_where_they_go)
{
	struct bench b = begin(&single, 10);

	fill(&b, 0, 3);
	leave(&b);
	script.enqueue = aqm_drop(AQM_WHY_EARLY);
	fill(&b, 0, 2);
	CHECK_EQ(b.q->count.in_pkts, 5);
	CHECK_EQ(b.q->count.in_bytes, 500);
	CHECK_EQ(b.q->count.out_pkts, 1);
	CHECK_EQ(b.q->count.out_bytes, 100);
	CHECK_EQ(b.q->count.drops[AQM_WHY_EARLY], 2);
	CHECK_EQ(b.q->count.drop_bytes, 200);
	CHECK_EQ(b.q->pkts, 2);
	CHECK_EQ(b.q->bytes, 200);
	bench_end(&b);
}

static void check_events(const struct aqm_algo *algo)
{
	struct bench b = begin(algo, 2);

	fill(&b, 0, 3);
	leave(&b);
	CHECK_EQ(b.host->events[AQM_EV_ARRIVAL], 3);
	CHECK_EQ(b.host->events[AQM_EV_ENQUEUE], 2);
	CHECK_EQ(b.host->events[AQM_EV_OVERFLOW], 1);
	CHECK_EQ(b.host->events[AQM_EV_REQUEST], 1);
	CHECK_EQ(b.host->events[AQM_EV_DEQUEUE], 1);
	CHECK_EQ(b.host->events[AQM_EV_GONE], 0);
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
}

TEST(each_event_is_traced_as_what_it_is)
{
	check_events(&single);
	check_events(&silent);
}

TEST(the_first_number_that_is_no_reason_is_refused)
{
	struct bench b = begin(&single, 10);

	script.enqueue = aqm_drop(AQM_WHY_COUNT);
	fill(&b, 0, 1);
	CHECK_EQ(b.q->count.bad[AQM_BAD_ACT], 1);
	CHECK_EQ(b.q->count.drops[AQM_WHY_NONE], 1);
	bench_end(&b);
}

TEST(the_first_number_that_is_no_lane_is_refused)
{
	struct bench b = begin(&single, 10);

	fill(&b, 0, 2);
	script.enqueue = (struct aqm_verdict){.nvictims = 1, .vqueue = 1};
	fill(&b, 1, 1);
	CHECK_EQ(b.q->count.bad[AQM_BAD_QUEUE], 2);
	CHECK_EQ(script.gones, 0);
	CHECK_EQ(b.q->pkts, 3);
	bench_end(&b);
}

TEST(as_many_victims_as_a_verdict_holds_are_no_fault)
{
	struct bench b = begin(&ring, 20);
	u32 i;

	fill(&b, 0, 12);
	script.enqueue.nvictims = AQM_VICTIMS;
	for (i = 0; i < AQM_VICTIMS; i++)
		script.enqueue.victim[i] = i;
	fill(&b, 0, 1);
	CHECK_EQ(script.gones, AQM_VICTIMS);
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
}

TEST(the_slot_behind_the_newest_holds_no_victim)
{
	struct bench b = begin(&ring, 10);

	fill(&b, 0, 3);
	script.enqueue = (struct aqm_verdict){.nvictims = 1, .victim = {3}};
	fill(&b, 0, 1);
	CHECK_EQ(script.gones, 0);
	CHECK_EQ(b.q->count.bad[AQM_BAD_VICTIM], 1);
	bench_end(&b);
}

/* ---- limits ---- */

TEST(a_queue_holds_just_its_bytes)
{
	struct bench b = ODD_BEGIN(&single, 10, {"limit_bytes", 300});

	fill(&b, 0, 3);
	CHECK_EQ(b.q->pkts, 3);
	fill(&b, 0, 1);
	CHECK_EQ(b.q->pkts, 3);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 1);
	change_row(&b, "limit_bytes", 300);
	CHECK_EQ(b.q->pkts, 3);
	bench_end(&b);
}

TEST(a_packet_of_just_the_limits_is_let_in_after_the_others_have_gone)
{
	struct bench b = ODD_BEGIN(&single, 10, {"flows", 4}, {"limit_bytes", 3000},
	                           {"memory_limit", 3600});

	arrive(&b, 0, 100, 0);
	CHECK(arrive(&b, 1u << 31, 3000, 0) != AQM_NIL);
	CHECK_EQ(b.q->pkts, 1);
	CHECK_EQ(b.q->bytes, 3000);
	CHECK_EQ(b.q->memory_bytes, 3600);
	bench_end(&b);
}

TEST(the_fullest_of_three_lanes_pays_for_a_lowered_limit_and_of_equals_the_first)
{
	struct bench b = begin(&three, 30);

	fill(&b, 0, 2);
	fill(&b, 1, 2);
	fill(&b, 2, 5);
	change_row(&b, "limit", 6);
	CHECK_EQ(view(&b, 2)->pkts, 2);
	change_row(&b, "limit", 5);
	CHECK_EQ(view(&b, 0)->pkts, 1);
	CHECK_EQ(view(&b, 1)->pkts, 2);
	bench_end(&b);
}

TEST(a_lowered_limit_takes_64_packets_of_the_fattest_flow_at_a_time)
{
	struct bench b = ODD_BEGIN(&single, 400, {"flows", 2});
	u32 i;

	for (i = 0; i < 390; i++)
		arrive(&b, i < 200 ? 0 : 1u << 31, 100, 0);
	change_row(&b, "limit", 290);
	CHECK_EQ(inst_views(inst_nth(b.q, 0))->pkts, 200 - 64);
	CHECK_EQ(inst_views(inst_nth(b.q, 1))->pkts, 190 - 36);
	bench_end(&b);
}

/* ---- lanes ---- */

TEST(a_reset_empties_every_lane)
{
	struct bench b = begin(&three, 30);
	u32 lane;

	for (lane = 0; lane < 3; lane++)
		fill(&b, lane, 2);
	aqm_queue_reset(b.q, b.now);
	CHECK_EQ(b.host->freed, 6);
	CHECK_EQ(b.q->pkts, 0);
	bench_end(&b);
}

TEST(a_wrong_pick_is_replaced_by_the_first_lane_that_holds_packets)
{
	struct bench b = begin(&three, 30);

	fill(&b, 1, 1);
	fill(&b, 2, 1);
	script.pick = 3;
	CHECK(leave(&b) != AQM_NIL);
	CHECK_EQ(view(&b, 1)->pkts, 0);
	CHECK_EQ(b.q->count.bad[AQM_BAD_QUEUE], 1);
	CHECK(leave(&b) != AQM_NIL);
	CHECK_EQ(view(&b, 2)->pkts, 0);
	bench_end(&b);
}

TEST(a_pick_of_an_empty_lane_is_a_fault_even_where_only_the_first_holds_packets)
{
	struct bench b = begin(&three, 30);

	fill(&b, 0, 1);
	script.pick = 1;
	CHECK(leave(&b) != AQM_NIL);
	CHECK_EQ(b.q->count.bad[AQM_BAD_QUEUE], 1);
	bench_end(&b);
}

/* A packet waits in each lane while 20 pass through the cells of one, then of the other. */
TEST(the_ring_of_a_lane_is_its_own)
{
	struct bench b = begin(&rings, 4);
	aqm_h waits[2];
	u32 lane, i;

	for (lane = 0; lane < 2; lane++) {
		script.enqueue.queue = (u8)lane;
		waits[lane] = arrive(&b, 0, 100, 0);
	}
	for (lane = 0; lane < 2; lane++)
		for (i = 0; i < 20; i++) {
			aqm_h h;

			script.enqueue.queue = (u8)lane;
			script.pick = lane;
			h = arrive(&b, 0, 100, 0);
			CHECK_EQ(leave(&b), waits[lane]);
			waits[lane] = h;
		}
	CHECK_EQ(view(&b, 0)->pkts, 1);
	CHECK_EQ(view(&b, 1)->pkts, 1);
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
}

/* ---- memory ---- */

TEST(a_ring_is_made_for_a_power_of_two_of_packets)
{
	static const u32 limits[] = {1, 2, 3, 4, 5, 64, 65}, rooms[] = {1, 2, 4, 4, 8, 64, 128};
	u32 i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct bench b = begin(&ring, limits[i]);

		CHECK_EQ(b.q->room, rooms[i]);
		bench_end(&b);
	}
}

static size_t memory(const struct aqm_algo *algo, u32 limit, u32 flows)
{
	struct aqm_setup setup;

	aqm_field_defaults(aqm_setup_rows, &setup);
	setup.limit = limit;
	setup.flows = flows;
	return aqm_queue_mem(algo, &setup);
}

TEST(a_ring_takes_two_cells_for_each_packet_it_is_made_for)
{
	CHECK_EQ(memory(&ring, 128, 0) - memory(&ring, 64, 0), 64 * 2 * sizeof(aqm_h));
	CHECK_EQ(memory(&rings, 128, 0) - memory(&rings, 64, 0), 64 * 4 * sizeof(aqm_h));
	CHECK_EQ(memory(&single, 128, 0), memory(&single, 64, 0));
}

TEST(a_queue_of_two_gigabytes_is_too_large)
{
	CHECK(memory(&huge, 10, 1500) > 1500u << 20);
	CHECK(memory(&huge, 10, 2040) > 2040u << 20);
	CHECK_EQ(memory(&huge, 10, 2048), 0);
	CHECK_EQ(memory(&huge, 10, 3000), 0);
	CHECK_EQ(memory(&huge, 10, 65536), 0);
}

TEST(parts_of_the_memory_begin_at_multiples_of_eight_and_waste_none)
{
	CHECK_EQ(round_up_8(0), 0);
	CHECK_EQ(round_up_8(1), 8);
	CHECK_EQ(round_up_8(8), 8);
	CHECK_EQ(round_up_8(9), 16);
}

TEST(a_queue_without_flows_keeps_no_sums)
{
	struct bench b = begin(&single, 10);

	CHECK_EQ(b.q->counters, 0);
	CHECK_EQ(b.q->at_sums, b.q->at_heap);
	bench_end(&b);
}

/* ---- instances ---- */

TEST(each_flow_has_a_seed_of_its_own)
{
	struct bench b = bench_new(&single, 10, 0);

	memset(&script, 0, sizeof(script));
	set_row(&b, "flows", 4);
	CHECK(!bench_start(&b, 9).sentence);
	arrive(&b, 3u << 30, 100, 0);
	CHECK(script.seed == rng_mix(9 + 3));
	bench_end(&b);
}

/* ---- ticks ---- */

TEST(sixteen_dry_flows_run_their_ticks_in_one_dequeue)
{
	struct bench b = bench_new(&single, 40, 1000);
	u32 i;

	memset(&script, 0, sizeof(script));
	script.period_ns = 100;
	set_row(&b, "flows", 64);
	CHECK(!bench_start(&b, 1).sentence);
	for (i = 0; i < 40; i++)
		arrive(&b, i << 26, 100, 0);
	change_row(&b, "limit", 1); /* of equally fat flows the first pay */
	CHECK_EQ(script.ticks, 0);
	b.now += 150;
	CHECK(leave(&b) != AQM_NIL);
	CHECK_EQ(script.empties, 39);
	CHECK_EQ(script.ticks, 16 + 1); /* and the flow that is served */
	bench_end(&b);
}

TEST(a_tick_is_due_at_its_very_nanosecond)
{
	struct bench b = begin_ticking(&single, 10, 100);

	b.now = 1099;
	fill(&b, 0, 1);
	CHECK_EQ(script.ticks, 0);
	b.now = 1100;
	fill(&b, 0, 1);
	CHECK_EQ(script.ticks, 1);
	bench_end(&b);
}

TEST(idling_begins_with_the_65th_tick_due_even_at_this_very_nanosecond)
{
	struct bench b = begin_ticking(&single, 10, 100);

	b.now += 65 * 100;
	fill(&b, 0, 1);
	CHECK_EQ(script.ticks, 64);
	CHECK_EQ(script.idles, 1);
	bench_end(&b);
}

TEST(a_packet_in_any_lane_makes_a_stopped_link_of_an_empty_queue)
{
	struct bench b = begin_ticking(&three, 10, 100);

	fill(&b, 2, 1);
	b.now += NS_PER_S;
	fill(&b, 2, 1);
	CHECK_EQ(script.ticks, 1024);
	CHECK_EQ(script.idles, 1);
	bench_end(&b);
}

/* ---- the fattest flow ---- */

static u32 fattest_of(u32 first_bytes, u32 second_bytes)
{
	struct bench b = ODD_BEGIN(&single, 10, {"flows", 2}, {"memory_limit", U32_MAX});
	u32 index;

	arrive(&b, 0, first_bytes, 0);
	arrive(&b, 1u << 31, second_bytes, 0);
	index = heap_largest(b.q)->index;
	bench_end(&b);
	return index;
}

TEST(one_byte_more_makes_the_fattest_flow_and_so_do_two_gigabytes)
{
	CHECK_EQ(fattest_of(1000, 1000), 0);
	CHECK_EQ(fattest_of(1000, 1001), 1);
	CHECK_EQ(fattest_of(1000, 1u << 31), 1);
	CHECK_EQ(fattest_of(1u << 31, 1000), 0);
}
