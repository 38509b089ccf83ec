// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_pie.c: the controller of both PIEs, and what surrounds it.

#include "host.h"
#include "law/pie.h"
#include "test.h"

extern const struct aqm_algo aqm_cfd, aqm_pie, aqm_pie_2013;

static const struct pie_tune tune_2013[] = {{PIE_ONE / 10, 1}, {PIE_ONE / 100, 3}};

static double as_double(u64 prob)
{
	return (double)prob / (double)PIE_ONE;
}

TEST(steps_are_those_of_the_2013_vectors)
{
	static const struct {
		double p, cur_ms, old_ms, next;
	} v[] = {
	        {0, 30, 20, 0.00171875},
	        {.05, 30, 20, .056875},
	        {.2, 30, 20, .21375},
	        {.05, 10, 20, .043125},
	};
	struct pie_gains g = {20 * NS_PER_MS, 2, 20, tune_2013, 2};
	u32 i;

	for (i = 0; i < 4; i++) {
		struct pie_law p = {.prob = (u64)(v[i].p * (double)PIE_ONE),
		                    .delay_ns = (u64)(v[i].cur_ms * 1e6),
		                    .old_ns = (u64)(v[i].old_ms * 1e6)};

		pie_move(&p, pie_step(&p, &g));
		CHECK_NEAR(as_double(p.prob), v[i].next, 1e-12);
	}
}

TEST(probability_stays_between_zero_and_one)
{
	struct pie_gains g = {NS_PER_MS, 65535, 65535, tune_2013, 2};
	struct pie_law p = {.prob = PIE_ONE / 2, .delay_ns = ~(u64)0};

	pie_move(&p, pie_step(&p, &g));
	CHECK(p.prob == PIE_ONE && pie_prob_q32(&p) == U32_MAX);
	p.old_ns = ~(u64)0;
	p.delay_ns = 0;
	pie_move(&p, pie_step(&p, &g));
	CHECK(p.prob == 0 && pie_prob_q32(&p) == 0);
}

/* A queue of `backlog` packets served one per millisecond, each as old as that. */
static void serve(struct bench *b, u32 ms, u32 backlog, u8 ecn)
{
	while (ms--) {
		b->now += NS_PER_MS;
		while (b->q->pkts < backlog)
			if (arrive(b, 0, 1514, ecn) == AQM_NIL)
				break;
		leave(b);
	}
}

static struct bench begin(const struct aqm_algo *algo, u64 start_ns)
{
	struct bench b = bench_new(algo, 2000, start_ns);

	set_row(&b, "limit", 2000);
	CHECK(!bench_start(&b, 1).sentence);
	return b;
}

enum { OURS, LINUX };

static struct bench begin_form(u32 form)
{
	struct bench b = bench_new(&aqm_pie, 2000, 0);

	set_row(&b, "limit", 2000);
	set_row(&b, "form", form);
	CHECK(!bench_start(&b, 1).sentence);
	return b;
}

TEST(a_burst_is_let_through_and_then_signals_begin)
{
	const struct aqm_algo *const both[] = {&aqm_pie, &aqm_pie_2013};
	u32 i;

	for (i = 0; i < 2; i++) {
		struct bench b = begin(both[i], 0);

		serve(&b, i ? 90 : 140, 100, 0);
		CHECK_EQ(drops(&b), 0);
		CHECK(stat(&b, "prob") > 0);
		serve(&b, 1000, 100, 0);
		CHECK(drops(&b) > 50);
		CHECK_EQ(stat(&b, "burst"), 0);
		bench_end(&b);
	}
}

TEST(pie_2013_measures_the_drain_rate)
{
	struct bench b = begin(&aqm_pie_2013, ((u64)1 << 63) - NS_PER_S);

	CHECK_EQ(stat(&b, "rate"), 0);
	serve(&b, 2000, 50, 0);
	CHECK_NEAR(stat(&b, "rate"), 1514000, 1000);
	CHECK_NEAR(stat(&b, "delay"), 50e6, 2e6);
	bench_end(&b);
}

TEST(pie_estimates_alike_from_timestamps_and_from_the_rate)
{
	u32 estimator;

	for (estimator = 0; estimator < 2; estimator++) {
		struct bench b = begin(&aqm_pie, 0);

		set_row(&b, "dq_rate_estimator", estimator);
		bench_change(&b);
		serve(&b, 2000, 50, 0);
		CHECK_NEAR(stat(&b, "delay"), 50e6, 2e6);
		CHECK_EQ(stat(&b, "drain_time") > 0, estimator);
		bench_end(&b);
	}
}

TEST(pie_marks_only_below_its_threshold)
{
	struct bench b = begin(&aqm_pie, 0);

	set_row(&b, "ecn", 1);
	bench_change(&b);
	serve(&b, 4000, 18, AQM_ECT0);
	CHECK(marks(&b) > 0);
	CHECK_EQ(drops(&b), 0);
	serve(&b, 4000, 200, AQM_ECT0);
	CHECK(stat(&b, "prob") > 429496730);
	CHECK(b.q->count.drops[AQM_WHY_EARLY] > 0);
	bench_end(&b);
}

TEST(pie_steps_are_capped_and_a_far_delay_adds)
{
	struct bench b = begin(&aqm_pie, 0);
	u64 before;

	serve(&b, 3000, 200, 0); /* 200 ms: below the far limit */
	before = stat(&b, "prob");
	CHECK(before > U32_MAX / 5);
	serve(&b, 15, 200, 0);
	CHECK(stat(&b, "prob") - before <= (u64)(0.0201 * U32_MAX));
	bench_end(&b);
}

TEST(pie_signals_are_spaced)
{
	struct bench b = begin(&aqm_pie, 0);
	u64 seen, gap = 0, least = ~(u64)0, most = 0, p;
	u32 i;

	serve(&b, 1200, 40, 0);
	for (i = 0; i < 4000; i++) {
		seen = drops(&b);
		p = stat(&b, "prob");
		serve(&b, 1, 40, 0);
		gap++;
		if (drops(&b) == seen || !p)
			continue;
		if (gap * p >> 32 < least)
			least = gap * p >> 32;
		if (gap * p >> 32 > most)
			most = gap * p >> 32;
		gap = 0;
	}
	CHECK(most <= 9);
	CHECK(drops(&b) > 20);
	bench_end(&b);
}

TEST(an_empty_queue_forgets_and_grants_a_new_burst)
{
	const struct aqm_algo *const both[] = {&aqm_pie, &aqm_pie_2013};
	u32 i;

	for (i = 0; i < 2; i++) {
		struct bench b = begin(both[i], 0);

		serve(&b, 2000, 150, 0);
		while (leave(&b) != AQM_NIL)
			;
		CHECK(stat(&b, "prob") > 0);
		b.now += 60 * NS_PER_S;
		catch_up(&b);
		CHECK_EQ(stat(&b, "prob"), 0);
		arrive(&b, 0, 1514, 0);
		CHECK_EQ(stat(&b, "burst"), (i ? 100 : 150) * NS_PER_MS);
		bench_end(&b);
	}
}

static void drain(struct bench *b)
{
	while (leave(b) != AQM_NIL)
		;
}

/* Four queues that idle: both forms of PIE, PIE of 2013, and CFD. */
enum { KINDS = 4 };

static struct bench begin_kind(u32 kind)
{
	if (kind < 2)
		return begin_form(kind);
	return begin(kind == 2 ? &aqm_pie_2013 : &aqm_cfd, 0);
}

static u64 tick_ns(const struct bench *b)
{
	return inst_nth(b->q, 0)->tick_ns;
}

/* 100 updates in one jump must end as 100 in steps. */
TEST(idle_equals_ticking)
{
	u32 i, n;

	for (i = 0; i < KINDS; i++) {
		struct bench a = begin_kind(i);
		struct bench b = begin_kind(i);

		serve(&a, 2000, 150, 0);
		serve(&b, 2000, 150, 0);
		drain(&a);
		drain(&b);
		set_row(&a, "tupdate", 10 * NS_PER_MS);
		set_row(&b, "tupdate", 10 * NS_PER_MS);
		bench_change(&a);
		bench_change(&b);
		for (n = 0; n < 100; n++) {
			a.now += 10 * NS_PER_MS;
			catch_up(&a);
		}
		b.now += NS_PER_S;
		catch_up(&b);
		CHECK(stat(&a, "prob") > 0);
		CHECK_EQ(stat(&a, "prob"), stat(&b, "prob"));
		CHECK_EQ(tick_ns(&a), tick_ns(&b));
		bench_end(&a);
		bench_end(&b);
	}
}

/* An empty queue runs 64 updates, works off 2048 and rests at the one after these. */
enum { BEFORE_REST = 64 + 2048 };

static void run_updates(struct bench *b, u32 updates)
{
	b->now = tick_ns(b) + (updates - 1) * NS_PER_MS;
	catch_up(b);
}

/* A queue with a high probability, empty; from now on only an empty queue changes it. */
static struct bench begin_without_gains(u32 kind)
{
	struct bench b = begin_kind(kind);

	serve(&b, 3000, 300, 0);
	drain(&b);
	CHECK(stat(&b, "prob") > U32_MAX / 4);
	set_row(&b, "tupdate", NS_PER_MS);
	set_row(&b, "alpha", 0);
	set_row(&b, "beta", 0);
	set_row(&b, "limit_bytes", 1514);
	bench_change(&b);
	leave(&b); /* takes the new rows */
	return b;
}

/* Without gains the probability of both stays, until the queue rests. */
TEST(an_empty_queue_rests_after_2112_updates_in_a_row)
{
	u32 i, n;

	for (i = 2; i < KINDS; i++) {
		struct bench b = begin_without_gains(i);
		u64 prob = stat(&b, "prob");

		for (n = 0; n < 3; n++) {
			arrive(&b, 0, 1514, 0); /* the count begins anew */
			leave(&b);
			run_updates(&b, BEFORE_REST);
			CHECK_EQ(stat(&b, "prob"), prob);
		}
		run_updates(&b, 1);
		CHECK_EQ(stat(&b, "prob"), 0);
		bench_end(&b);
	}
}

/* An empty queue's probability falls by a 64th in each update, but never to 0. So the next
 * burst shows whether it rests. */
TEST(an_empty_queue_of_pie_rests_after_2112_updates_in_a_row)
{
	u32 form, n;

	for (form = OURS; form <= LINUX; form++) {
		struct bench b = begin_without_gains(form);

		for (n = 0; n < 3; n++) {
			arrive(&b, 0, 1514, 0); /* the count begins anew */
			CHECK_EQ(stat(&b, "burst"), 0);
			leave(&b);
			run_updates(&b, BEFORE_REST);
		}
		CHECK_EQ(stat(&b, "burst"), 0);
		run_updates(&b, 1);
		arrive(&b, 0, 1514, 0);
		CHECK_EQ(stat(&b, "burst"), 150 * NS_PER_MS);
		bench_end(&b);
	}
}

/* Run one by one these updates would take days. */
TEST(a_queue_at_rest_passes_a_century_at_once)
{
	u32 i;

	for (i = 0; i < KINDS; i++) {
		struct bench b = begin_without_gains(i);
		u64 tick;

		run_updates(&b, BEFORE_REST + 1);
		b.now = tick = tick_ns(&b) + (u64)3000000000 * NS_PER_S;
		catch_up(&b);
		CHECK_EQ(tick_ns(&b), tick + NS_PER_MS);
		/* an event at the very time of an update */
		run_updates(&b, 1);
		CHECK_EQ(tick_ns(&b), tick + 2 * NS_PER_MS);
		bench_end(&b);
	}
}

TEST(in_linux_s_form_the_first_update_comes_after_half_a_second)
{
	struct bench b = begin_form(LINUX);

	serve(&b, 499, 100, 0);
	CHECK_EQ(stat(&b, "prob"), 0);
	serve(&b, 1, 100, 0);
	CHECK(stat(&b, "prob") > 0);
	bench_end(&b);
}

/* Three seconds at 300 ms are 200 steps of 0.04; without traffic 8 falls by a 64th in 15 ms,
 * so that it takes some 2 s to come below 1 again. */
TEST(in_linux_s_form_a_long_overload_takes_longer_to_forget)
{
	u64 after_1s[2];
	u32 form;

	for (form = OURS; form <= LINUX; form++) {
		struct bench b = begin_form(form);

		serve(&b, 450, 300, 0);
		b.now += 3 * NS_PER_S; /* the link is stopped */
		catch_up(&b);
		CHECK_EQ(stat(&b, "prob"), U32_MAX);
		while (leave(&b) != AQM_NIL)
			;
		b.now += NS_PER_S;
		catch_up(&b);
		after_1s[form] = stat(&b, "prob");
		b.now += 20 * NS_PER_S;
		catch_up(&b);
		CHECK_EQ(stat(&b, "prob"), 0);
		bench_end(&b);
	}
	CHECK(after_1s[OURS] < U32_MAX / 2);
	CHECK_EQ(after_1s[LINUX], U32_MAX);
}

TEST(in_linux_s_form_the_allowance_shrinks_while_packets_leave)
{
	struct bench b = begin_form(LINUX);

	arrive(&b, 0, 1514, 0);
	b.now += 100 * NS_PER_MS;
	leave(&b); /* the first departure has nothing before it */
	CHECK_EQ(stat(&b, "burst"), 150 * NS_PER_MS);
	serve(&b, 40, 20, 0);
	CHECK_EQ(stat(&b, "burst"), 110 * NS_PER_MS);
	while (leave(&b) != AQM_NIL)
		;
	b.now += 2 * NS_PER_S;
	catch_up(&b);
	CHECK_EQ(stat(&b, "burst"), 150 * NS_PER_MS);
	bench_end(&b);
}

/* Without beta the probability stays 0 below target, so that the delays alone decide. Half of
 * the target is 10 ms: at the first update the delay is just that, then before, then neither.
 */
TEST(in_linux_s_form_the_allowance_comes_back_with_delays_below_half_of_the_target)
{
	struct bench b = begin_form(LINUX);

	set_row(&b, "target", 20 * NS_PER_MS);
	set_row(&b, "beta", 0);
	bench_change(&b);
	serve(&b, 499, 11, 0);
	CHECK_EQ(stat(&b, "burst"), 0);
	serve(&b, 1, 11, 0);
	CHECK_EQ(stat(&b, "delay"), 10 * NS_PER_MS);
	CHECK_EQ(stat(&b, "burst"), 0);
	serve(&b, 15, 10, 0);
	CHECK_EQ(stat(&b, "delay"), 9 * NS_PER_MS);
	CHECK_EQ(stat(&b, "burst"), 0);
	serve(&b, 15, 10, 0);
	CHECK_EQ(stat(&b, "burst"), 150 * NS_PER_MS);
	bench_end(&b);
}

/* Fewer than two packets' worth are spared; Linux compares with "less", the RFC not. */
TEST(in_linux_s_form_two_packets_are_not_spared)
{
	u64 dropped[2];
	u32 form, i;

	for (form = OURS; form <= LINUX; form++) {
		struct bench b = begin_form(form);

		serve(&b, 4000, 250, 0);
		while (leave(&b) != AQM_NIL)
			;
		dropped[form] = drops(&b);
		for (i = 0; i < 40; i++) {
			b.now += NS_PER_MS / 100;
			arrive(&b, 0, 1514, 0);
			if (b.q->pkts > 2)
				leave(&b);
		}
		dropped[form] = drops(&b) - dropped[form];
		bench_end(&b);
	}
	CHECK_EQ(dropped[OURS], 0);
	CHECK(dropped[LINUX] > 0);
}

/* 6,400 steps of 0.04 reach 256, where Linux's 64 bits overflow. So a probability
 * of 1 falls sooner than one just below it. */
TEST(in_linux_s_form_the_probability_wraps_at_256)
{
	u32 prob[2], i, n;

	for (i = 0; i < 2; i++) {
		struct bench b = bench_new(&aqm_pie, 2000, 0);

		set_row(&b, "limit", 2000);
		set_row(&b, "form", LINUX);
		set_row(&b, "tupdate", 100000);
		CHECK(!bench_start(&b, 1).sentence);
		serve(&b, 450, 600, 0);
		/* 20 updates of a standing queue for each packet, at first up to p = 1 */
		for (n = 0; n < (i ? 352 : 340); n++) {
			b.now += 2 * NS_PER_MS;
			leave(&b);
			/* it wraps to 1, not to 0 */
			CHECK(n < 50 || stat(&b, "prob") == U32_MAX);
		}
		while (leave(&b) != AQM_NIL)
			;
		b.now += 28 * NS_PER_MS;
		catch_up(&b);
		prob[i] = (u32)stat(&b, "prob");
		bench_end(&b);
	}
	CHECK_EQ(prob[0], U32_MAX);
	CHECK(prob[1] < U32_MAX);
}

/* A sum of 8.5 without a signal is rare: once in some 40,000 packets. Linux does not clear it
 * for a mark, and marks every packet until the sum overflows at 256. */
TEST(in_linux_s_form_a_forced_mark_is_followed_by_thousands)
{
	u64 longest[2] = {0, 0}, run, seen;
	u32 form, i;

	for (form = OURS; form <= LINUX; form++) {
		struct bench b = begin_form(form);

		set_row(&b, "ecn", 1);
		bench_change(&b);
		while (stat(&b, "prob") < U32_MAX / 20)
			serve(&b, 15, 30, AQM_ECT0);
		set_row(&b, "alpha", 0);
		set_row(&b, "beta", 0);
		bench_change(&b);
		CHECK(stat(&b, "prob") < U32_MAX / 10);
		for (i = 0, run = 0; i < 500000; i++) {
			seen = marks(&b);
			serve(&b, 1, 30, AQM_ECT0);
			run = marks(&b) > seen ? run + 1 : 0;
			if (run > longest[form])
				longest[form] = run;
		}
		bench_end(&b);
	}
	CHECK(longest[OURS] < 10);
	CHECK(longest[LINUX] > 2000);
}
