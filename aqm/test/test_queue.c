// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_queue.c: what the queue promises algorithms and hosts, with an algorithm that
// answers whatever a test wants it to.

#include "odd.h"

ODD(odd, 1, .overflow = overflow);
ODD(odd_ring, 1, .flags = AQM_SAMPLES, .overflow = overflow);
ODD(dual, 2, .overflow = overflow);

static struct bench begin(const struct aqm_algo *algo, u32 limit)
{
	return ODD_BEGIN(algo, 2100, {"limit", limit});
}

static void fill(struct bench *b, u32 n)
{
	while (n--)
		arrive(b, 0, 100, AQM_ECT0);
}

TEST(own_comes_back_with_the_packet)
{
	struct bench b = begin(&odd, 10);

	fill(&b, 3);
	leave(&b);
	CHECK_EQ(script.offered.k.own, 1);
	leave(&b);
	CHECK_EQ(script.offered.k.own, 2);
	bench_end(&b);
}

TEST(peek_shows_the_queue_without_the_packet_in_hand)
{
	struct bench b = begin(&odd, 10);

	fill(&b, 1);
	CHECK(!script.seen_well[0]);
	fill(&b, 1);
	CHECK(script.seen_well[0]);
	CHECK_EQ(script.seen[0].k.own, 1);
	bench_end(&b);
}

TEST(overflow_is_asked_instead_of_enqueue)
{
	struct bench b = begin(&odd, 2);

	script.overflow = aqm_drop(AQM_WHY_LIMIT);
	fill(&b, 3);
	CHECK_EQ(script.enqueues, 2);
	CHECK_EQ(script.overflows, 1);
	CHECK_EQ(script.gones, 0);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 1);
	bench_end(&b);
}

TEST(overflow_victims_make_room_in_another_queue)
{
	struct bench b = begin(&dual, 2);

	script.enqueue.queue = 1;
	fill(&b, 2);
	script.overflow =
	        (struct aqm_verdict){.nvictims = 1, .vqueue = 1, .why = AQM_WHY_THRESHOLD};
	CHECK(arrive(&b, 0, 100, 0) != AQM_NIL);
	CHECK_EQ(inst_views(inst_nth(b.q, 0))[0].pkts, 1);
	CHECK_EQ(inst_views(inst_nth(b.q, 0))[1].pkts, 1);
	CHECK_EQ(script.gones, 1);
	CHECK_EQ(b.q->count.drops[AQM_WHY_THRESHOLD], 1);
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
}

/* Ten packets of 100 bytes fill it. One of 250 needs the room of three. */
TEST(overflow_is_asked_again_while_victims_leave)
{
	struct bench b = ODD_BEGIN(&odd, 100, {"limit_bytes", 1000});

	script.overflow = (struct aqm_verdict){.nvictims = 1, .why = AQM_WHY_THRESHOLD};
	fill(&b, 10);
	CHECK(arrive(&b, 0, 250, 0) != AQM_NIL);
	CHECK_EQ(script.overflows, 3);
	CHECK_EQ(script.overflown.nth, 2);
	CHECK_EQ(b.q->count.drops[AQM_WHY_THRESHOLD], 3);
	CHECK_EQ(b.q->bytes, 7 * 100 + 250);
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
}

TEST(nothing_is_asked_for_a_packet_larger_than_the_queue)
{
	struct bench b = ODD_BEGIN(&odd, 100, {"limit_bytes", 1000}, {"memory_limit", 7000});

	script.overflow = (struct aqm_verdict){.nvictims = 1, .why = AQM_WHY_THRESHOLD};
	fill(&b, 9);
	CHECK(arrive(&b, 0, 1000, 0) != AQM_NIL);
	CHECK_EQ(script.overflows, 9);
	CHECK_EQ(arrive(&b, 0, 1001, 0), AQM_NIL);
	change_row(&b, "limit_bytes", 10000);
	fill(&b, 1);
	CHECK_EQ(arrive(&b, 0, 6401, 0), AQM_NIL); /* 600 bytes more in memory */
	CHECK_EQ(script.overflows, 9);
	CHECK_EQ(b.q->pkts, 2);
	CHECK_EQ(b.q->count.drops[AQM_WHY_LIMIT], 2);
	CHECK_EQ(b.host->events[AQM_EV_OVERFLOW], 9 + 2); /* a trace has all refusals */
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
}

/* The algorithm learns that the packet which it let in has left. */
TEST(overflow_is_asked_no_more_when_1024_packets_have_left)
{
	struct bench b = ODD_BEGIN(&odd, 2500, {"limit", 2500}, {"limit_bytes", 40 * 2000});
	u32 i;

	script.overflow = (struct aqm_verdict){.nvictims = 1, .why = AQM_WHY_THRESHOLD};
	for (i = 0; i < 2000; i++)
		arrive(&b, 0, 40, 0);
	CHECK_EQ(arrive(&b, 0, 40 * 1025, 0), AQM_NIL);
	CHECK_EQ(script.overflows, 1024);
	CHECK_EQ(script.overflown.nth, 1023);
	CHECK_EQ(script.gones, 1024 + 1);
	CHECK_EQ(script.gone_why, AQM_WHY_LIMIT);
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
}

TEST(overflow_without_room_drops_and_tells)
{
	struct bench b = begin(&odd, 2);

	fill(&b, 3);
	CHECK_EQ(b.q->pkts, 2);
	CHECK_EQ(b.q->count.bad[AQM_BAD_OVERFLOW], 1);
	CHECK_EQ(script.gones, 1);
	CHECK_EQ(script.gone_why, AQM_WHY_LIMIT);
	bench_end(&b);
}

static void check_victims(const struct aqm_algo *algo)
{
	struct bench b = begin(algo, 10);

	fill(&b, 6); /* own 1 .. 6 in slots 0 .. 5 */
	script.enqueue = (struct aqm_verdict){.act = AQM_DROP,
	                                      .why = AQM_WHY_MATCH,
	                                      .nvictims = 5,
	                                      .victim = {0, 4, 2, 4, 5}};
	CHECK_EQ(arrive(&b, 0, 100, 0), AQM_NIL);
	CHECK_EQ(script.gones, 4);
	CHECK_EQ(script.gone_own[0], 6);
	CHECK_EQ(script.gone_own[1], 5);
	CHECK_EQ(script.gone_own[2], 3);
	CHECK_EQ(script.gone_own[3], 1);
	CHECK_EQ(b.q->count.drops[AQM_WHY_MATCH], 5);
	CHECK_EQ(bad_verdicts(&b), 0);
	leave(&b);
	CHECK_EQ(script.offered.k.own, 2);
	leave(&b);
	CHECK_EQ(script.offered.k.own, 4);
	CHECK_EQ(leave(&b), AQM_NIL);
	bench_end(&b);
}

TEST(a_list_gives_up_its_head_and_nothing_behind)
{
	struct bench b = begin(&odd, 10);
	const struct aqm_view *view = inst_views(inst_nth(b.q, 0));
	struct aqm_pkt pkt;

	fill(&b, 3);
	CHECK(view->peek(view, 0, &pkt) && pkt.k.own == 1);
	CHECK(!view->peek(view, 1, &pkt));
	script.enqueue = (struct aqm_verdict){.nvictims = 2, .victim = {0, 1}};
	fill(&b, 1);
	CHECK_EQ(script.gones, 1);
	CHECK_EQ(script.gone_own[0], 1);
	CHECK_EQ(b.q->count.bad[AQM_BAD_VICTIM], 1);
	CHECK_EQ(b.q->pkts, 3);
	bench_end(&b);
}

TEST(victims_leave_newest_first_from_a_ring)
{
	check_victims(&odd_ring);
}

TEST(a_ring_keeps_holes_and_closes_them_when_it_must)
{
	struct bench b = begin(&odd_ring, 4); /* eight cells */
	const struct aqm_view *view = inst_views(inst_nth(b.q, 0));
	struct aqm_pkt pkt;
	u32 slot;

	fill(&b, 3);
	for (slot = 1; slot < 6; slot++) {
		script.enqueue = (struct aqm_verdict){.nvictims = 1, .victim = {slot}};
		fill(&b, 1);
	}
	CHECK_EQ(view->pkts, 3);
	CHECK_EQ(view->slots, 8);
	CHECK(!view->peek(view, 5, &pkt) && view->peek(view, 6, &pkt));
	CHECK(!view->peek(view, 8, &pkt));
	script.enqueue = aqm_pass();
	fill(&b, 1);
	CHECK_EQ(view->slots, 4);
	CHECK(view->peek(view, 1, &pkt) && pkt.k.own == 7);
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
}

/* Every arrival takes a victim from the middle of a full ring. */
static u64 work_of_victims(u32 limit)
{
	struct bench b = ODD_BEGIN(&odd_ring, limit + 2, {"limit", limit});
	struct aqm_rng r;
	u32 i;

	rng_seed(&r, 3, 0);
	fill(&b, limit - 1);
	steps = 0;
	for (i = 0; i < 4 * limit; i++) {
		const struct aqm_view *view = inst_views(inst_nth(b.q, 0));
		u32 slot = rng_below(&r, view->slots);
		struct aqm_pkt pkt;

		script.enqueue = (struct aqm_verdict){.nvictims = 1, .victim = {slot}};
		script.enqueue.nvictims = view->peek(view, slot, &pkt);
		if (script.enqueue.nvictims)
			fill(&b, 1);
		CHECK_EQ(b.q->pkts, limit - 1);
	}
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
	return steps;
}

TEST(victims_cost_as_much_each_in_64_times_the_ring)
{
	u64 few = work_of_victims(32), many = work_of_victims(32 * 64);

	CHECK(few > 32 && many <= few * 64 * 2);
}

TEST(a_victim_at_the_end_of_a_ring_leaves_no_slot_behind)
{
	struct bench b = begin(&odd_ring, 10);
	const struct aqm_view *view = inst_views(inst_nth(b.q, 0));

	fill(&b, 3);
	script.enqueue = (struct aqm_verdict){
	        .act = AQM_DROP, .why = AQM_WHY_MATCH, .nvictims = 2, .victim = {1, 2}};
	fill(&b, 1);
	CHECK_EQ(view->pkts, 1);
	CHECK_EQ(view->slots, 1);
	bench_end(&b);
}

TEST(a_ring_holds_at_most_131072_packets)
{
	struct bench b = bench_new(&odd_ring, 1, 0);
	struct aqm_refusal no;

	set_row(&b, "limit", AQM_RING_MAX);
	CHECK(!aqm_setup_check(b.algo, &b.setup, b.conf, NULL, NULL, 0).sentence);
	set_row(&b, "limit", AQM_RING_MAX + 1);
	no = aqm_setup_check(b.algo, &b.setup, b.conf, NULL, NULL, 0);
	CHECK(no.sentence && !strcmp(no.row->name, "limit"));
	bench_end(&b);
}

TEST(bad_verdicts_are_counted_and_do_no_harm)
{
	struct bench b = begin(&odd, 10);
	const u64 *bad_count = b.q->count.bad;

	fill(&b, 2);
	script.enqueue = (struct aqm_verdict){.nvictims = 1, .victim = {9}};
	fill(&b, 1);
	CHECK_EQ(bad_count[AQM_BAD_VICTIM], 1);
	script.enqueue = (struct aqm_verdict){.nvictims = 77, .victim = {0, 0, 0, 0, 0}};
	fill(&b, 1);
	CHECK_EQ(bad_count[AQM_BAD_VICTIM], 2);
	CHECK_EQ(script.gones, 1);
	script.enqueue = (struct aqm_verdict){.queue = 3, .nvictims = 1, .vqueue = 3};
	fill(&b, 1);
	CHECK_EQ(bad_count[AQM_BAD_QUEUE], 2);
	script.enqueue = (struct aqm_verdict){.act = 99, .why = 99};
	fill(&b, 1);
	CHECK_EQ(bad_count[AQM_BAD_ACT], 2);
	CHECK_EQ(b.q->pkts, 5);
	bench_end(&b);
}

TEST(a_mark_needs_ect_and_the_row_ecn)
{
	struct bench b = begin(&odd, 10);
	aqm_h h;

	script.enqueue = (struct aqm_verdict){.act = AQM_MARK, .why = AQM_WHY_EARLY};
	h = arrive(&b, 0, 100, AQM_ECT0);
	CHECK_EQ(b.q->count.bad[AQM_BAD_MARK], 1);
	CHECK_EQ(b.host->packets[h].ds, AQM_ECT0);
	change_row(&b, "ecn", 1);
	h = arrive(&b, 0, 100, AQM_ECT1);
	CHECK_EQ(b.host->packets[h].ds, AQM_CE);
	CHECK_EQ(b.q->count.marks[AQM_WHY_EARLY], 1);
	h = arrive(&b, 0, 100, AQM_NOT_ECT);
	CHECK_EQ(b.host->packets[h].ds, AQM_NOT_ECT);
	CHECK_EQ(b.q->count.bad[AQM_BAD_MARK], 2);
	b.host->refuses_marks = true;
	arrive(&b, 0, 100, AQM_ECT0);
	CHECK_EQ(b.q->count.unmarkable, 1);
	CHECK_EQ(b.q->pkts, 4);
	bench_end(&b);
}

TEST(a_dequeue_drop_offers_the_next_and_counts_offers)
{
	struct bench b = begin(&odd, 10);

	fill(&b, 4);
	script.drops_wanted = 2;
	leave(&b);
	CHECK_EQ(script.offered.k.own, 3);
	CHECK_EQ(script.offered.nth, 2);
	CHECK_EQ(script.empties, 0);
	CHECK_EQ(leave(&b), AQM_NIL);
	CHECK_EQ(script.offered.nth, 0);
	CHECK_EQ(script.empties, 1);
	CHECK_EQ(b.q->count.drops[AQM_WHY_DELAY], 3);
	bench_end(&b);
}

TEST(drops_without_end_are_stopped)
{
	struct bench b = begin(&odd, 2000);

	fill(&b, 2000);
	script.drops_wanted = 5000;
	CHECK(leave(&b) != AQM_NIL);
	CHECK_EQ(drops(&b), AQM_DROPS_PER_DEQUEUE);
	CHECK_EQ(b.q->count.bad[AQM_BAD_DROPS], 1);
	bench_end(&b);
}

TEST(pick_must_name_a_queue_that_holds_packets)
{
	struct bench b = begin(&dual, 10);

	script.enqueue.queue = 1;
	fill(&b, 2);
	script.pick = 1;
	CHECK(leave(&b) != AQM_NIL);
	CHECK_EQ(bad_verdicts(&b), 0);
	script.pick = 0;
	CHECK(leave(&b) != AQM_NIL);
	CHECK_EQ(b.q->count.bad[AQM_BAD_QUEUE], 1);
	CHECK_EQ(leave(&b), AQM_NIL);
	bench_end(&b);
}

TEST(due_ticks_run_before_a_packet_each_at_its_own_time)
{
	struct bench b = begin_ticking(&odd, 16, 100);

	b.now = 1299;
	fill(&b, 1);
	CHECK_EQ(script.ticks, 2);
	CHECK_EQ(script.tick_at[0], 1100);
	CHECK_EQ(script.tick_at[1], 1200);
	b.now = 1300;
	leave(&b);
	CHECK_EQ(script.ticks, 3);
	bench_end(&b);
}

TEST(an_empty_queue_idles_after_64_ticks_and_keeps_the_grid)
{
	struct bench b = begin_ticking(&odd, 16, 100);

	b.now = 1000 + 100 * 1000 + 50;
	leave(&b);
	CHECK_EQ(script.ticks, AQM_TICKS_EMPTY);
	CHECK_EQ(script.idles, 1);
	CHECK_EQ(script.idle_from, 1000 + 100 * 65);
	CHECK_EQ(script.idle_to, b.now);
	b.now += 50;
	leave(&b);
	CHECK_EQ(script.ticks, AQM_TICKS_EMPTY + 1);
	CHECK_EQ(script.tick_at[AQM_TICKS_EMPTY], b.now);
	bench_end(&b);
}

TEST(a_stopped_link_costs_a_bounded_number_of_ticks)
{
	struct bench b = begin_ticking(&odd, 16, 100);

	fill(&b, 1);
	b.now += 3600 * NS_PER_S;
	leave(&b);
	CHECK_EQ(script.ticks, AQM_TICKS_STUCK);
	CHECK_EQ(script.idles, 1);
	bench_end(&b);
}

TEST(looking_on_changes_nothing_about_the_bound)
{
	struct bench b = begin_ticking(&odd, 16, 100);
	u32 i;

	for (i = 0; i < 1000; i++) {
		b.now += 170;
		run_ticks(b.q, inst_nth(b.q, 0), b.now); /* as a dump does */
	}
	CHECK_EQ(script.ticks, AQM_TICKS_EMPTY);
	bench_end(&b);
}

TEST(a_tick_that_stands_still_is_the_last)
{
	struct bench b = begin_ticking(&odd, 16, 100);

	script.next_ns = 1100;
	b.now = 5000;
	fill(&b, 1);
	CHECK_EQ(script.ticks, 1);
	CHECK_EQ(b.q->count.bad[AQM_BAD_TICK], 1);
	bench_end(&b);
}

TEST(a_lowered_limit_sheds_from_the_head_and_tells)
{
	struct bench b = begin(&odd, 10);

	fill(&b, 10);
	change_row(&b, "limit", 7);
	CHECK_EQ(b.q->pkts, 7);
	CHECK_EQ(script.gones, 3);
	CHECK_EQ(script.gone_own[0], 1);
	CHECK_EQ(script.gone_why, AQM_WHY_LOWERED);
	change_row(&b, "limit_bytes", 650);
	CHECK_EQ(b.q->pkts, 6);
	bench_end(&b);
}

TEST(a_lowered_limit_sheds_from_the_fuller_of_two_queues)
{
	struct bench b = begin(&dual, 10);

	fill(&b, 2);
	script.enqueue.queue = 1;
	fill(&b, 5);
	change_row(&b, "limit", 4);
	CHECK_EQ(inst_views(inst_nth(b.q, 0))[0].pkts, 2);
	CHECK_EQ(inst_views(inst_nth(b.q, 0))[1].pkts, 2);
	bench_end(&b);
}

TEST(memory_is_bounded_by_what_packets_occupy)
{
	struct bench b = ODD_BEGIN(&odd, 100, {"memory_limit", 7000}); /* 700 bytes each */

	script.overflow = aqm_drop(AQM_WHY_LIMIT);
	fill(&b, 12);
	CHECK_EQ(b.q->pkts, 10);
	CHECK_EQ(script.overflows, 2);
	CHECK_EQ(b.q->memory_bytes, 7000);
	leave(&b);
	fill(&b, 1);
	CHECK_EQ(b.q->pkts, 10);
	change_row(&b, "memory_limit", 2100);
	CHECK_EQ(b.q->pkts, 3);
	while (leave(&b) != AQM_NIL)
		;
	CHECK_EQ(b.q->memory_bytes, 0);
	bench_end(&b);
}

TEST(overflow_must_make_room_in_memory_too)
{
	struct bench b = ODD_BEGIN(&odd, 100, {"memory_limit", 7000});

	fill(&b, 10);
	CHECK_EQ(arrive(&b, 0, 2000, 0), AQM_NIL);
	CHECK_EQ(b.q->count.bad[AQM_BAD_OVERFLOW], 1);
	CHECK_EQ(b.q->memory_bytes, 10 * 700);
	script.overflow = (struct aqm_verdict){.nvictims = 1, .why = AQM_WHY_THRESHOLD};
	CHECK(arrive(&b, 0, 100, 0) != AQM_NIL);
	CHECK_EQ(b.q->memory_bytes, 10 * 700);
	bench_end(&b);
}

TEST(memory_is_taken_from_the_fattest_flow)
{
	struct bench b = ODD_BEGIN(&odd, 100, {"flows", 4}, {"memory_limit", 7000});

	fill(&b, 9);
	arrive(&b, 1u << 31, 100, 0);
	arrive(&b, 1u << 31, 100, 0);
	CHECK_EQ(b.q->count.drops[AQM_WHY_FAT], 5);
	CHECK_EQ(arrive(&b, 1u << 31, 6500, 0), AQM_NIL); /* larger than the limit itself */
	CHECK_EQ(b.q->count.drops[AQM_WHY_FAT], 5);
	bench_end(&b);
}

TEST(a_lowered_limit_finds_packets_without_length)
{
	struct bench b = begin(&dual, 10);

	script.enqueue.queue = 1;
	arrive(&b, 0, 0, 0);
	arrive(&b, 0, 0, 0);
	change_row(&b, "limit", 1);
	CHECK_EQ(b.q->pkts, 1);
	bench_end(&b);
}

TEST(a_change_that_needs_more_memory_is_refused)
{
	struct bench b = begin(&odd_ring, 10);
	struct aqm_refusal no;

	CHECK_EQ(b.q->room, 16);
	change_row(&b, "limit", 16);
	set_row(&b, "limit", 17);
	no = bench_change(&b);
	CHECK(no.sentence && !strcmp(no.row->name, "limit"));
	set_row(&b, "limit", 16);
	set_row(&b, "flows", 2);
	no = bench_change(&b);
	CHECK(no.sentence && !strcmp(no.row->name, "flows"));
	bench_end(&b);
}

TEST(an_algorithm_that_samples_is_not_flow_queued)
{
	struct bench b = bench_new(&odd_ring, 1, 0);
	struct aqm_refusal no;

	set_row(&b, "flows", 1);
	no = bench_start(&b, 1);
	CHECK(no.sentence && !strcmp(no.row->name, "flows"));
	bench_end(&b);
}

TEST(several_queues_are_not_flow_queued)
{
	struct bench b = bench_new(&dual, 1, 0);

	set_row(&b, "flows", 8);
	CHECK(bench_start(&b, 1).sentence != NULL);
	bench_end(&b);
}

TEST(reset_starts_again_without_reporting)
{
	struct bench b = begin(&odd, 10);

	fill(&b, 4);
	aqm_queue_reset(b.q, b.now);
	CHECK_EQ(script.gones, 0);
	CHECK_EQ(script.starts, 2);
	CHECK_EQ(b.q->pkts, 0);
	CHECK_EQ(b.host->freed, 4);
	aqm_queue_reset(b.q, b.now);
	CHECK_EQ(b.host->freed, 4);
	bench_end(&b);
}

TEST(a_copy_put_back_is_a_checkpoint)
{
	struct bench b = begin(&odd, 10);
	size_t bytes = aqm_queue_mem(&odd, &b.setup);
	void *copy = malloc(bytes);

	fill(&b, 4);
	memcpy(copy, b.q, bytes);
	b.host->packets[leave(&b)].place = INSIDE;
	memcpy(b.q, copy, bytes);
	leave(&b);
	CHECK_EQ(script.offered.k.own, 1);
	free(copy);
	bench_end(&b);
}

/* ---- rows ---- */

TEST(every_row_is_stored_read_back_and_bounded)
{
	const struct aqm_algo *const *a;
	const struct aqm_field *row;

	for (a = aqm_all; *a; a++) {
		struct bench b = bench_new(*a, 1, 0);

		CHECK(aqm_find((*a)->name) == *a);
		CHECK((*a)->queues >= 1 && (*a)->abi == AQM_ABI);
		CHECK(!(*a)->tick == !(*a)->idle);
		for (row = (*a)->params; row && row->name; row++) {
			CHECK(aqm_field_get(row, b.conf) == row->def);
			CHECK(!aqm_field_set(row, b.conf, row->max));
			CHECK(aqm_field_get(row, b.conf) == row->max);
			CHECK(row->max == ~(u64)0 || aqm_field_set(row, b.conf, row->max + 1));
			CHECK(!row->min || aqm_field_set(row, b.conf, row->min - 1));
			CHECK(strlen(row->help) < 80);
		}
		bench_end(&b);
	}
	CHECK(!aqm_find("no such"));
}

TEST(reasons_have_names)
{
	u32 i;

	for (i = 0; i < AQM_WHY_COUNT; i++)
		CHECK(aqm_why_name(i) && strcmp(aqm_why_name(i), "unknown"));
	for (i = 0; i < AQM_BAD_COUNT; i++)
		CHECK(aqm_bad_name(i) && strcmp(aqm_bad_name(i), "unknown"));
	CHECK(!strcmp(aqm_why_name(99), "unknown"));
	CHECK(!strcmp(aqm_bad_name(99), "unknown"));
}
