// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_codel.c: RFC 8289, section 5, on a queue that stands.

#include <math.h>

#include "host.h"
#include "law/codel.h"
#include "test.h"

extern const struct aqm_algo aqm_codel;

static const struct codel_conf ours = {5 * NS_PER_MS, 100 * NS_PER_MS, CODEL_OURS};
static const struct codel_conf linux_form = {5 * NS_PER_MS, 100 * NS_PER_MS, CODEL_LINUX};

static struct bench begin(u64 start_ns)
{
	struct bench b = bench_new(&aqm_codel, 4000, start_ns);

	set_row(&b, "limit", 4000);
	CHECK(!bench_start(&b, 1).sentence);
	return b;
}

TEST(the_step_is_the_interval_over_the_root_of_the_count)
{
	static const u32 counts[] = {1, 2, 3, 7, 100, 65536, 1000000, U32_MAX};
	u32 i;

	for (i = 0; i < 8; i++) {
		double exact = 100e6 / sqrt(counts[i]);

		CHECK_NEAR(codel_step(100 * NS_PER_MS, counts[i]), exact, 1 + exact * 2e-5);
	}
}

/* One packet each millisecond in and out, 20 ms of standing queue. Answers times of
 * drops in ms since the first departure, up to `most` of them. */
static u32 stand(struct bench *b, u32 for_ms, u32 *at_ms, u32 most)
{
	u32 ms, n = 0;
	u64 seen = drops(b);

	for (ms = 0; ms < for_ms; ms++) {
		b->now += NS_PER_MS;
		while (b->q->pkts < 20)
			arrive(b, 0, 1514, 0);
		arrive(b, 0, 1514, 0);
		leave(b);
		if (drops(b) != seen && n < most)
			at_ms[n++] = ms;
		seen = drops(b);
	}
	return n;
}

static void check_schedule(u64 start_ns)
{
	struct bench b = begin(start_ns);
	u32 at[8], n, first;

	stand(&b, 30, at, 0); /* until packets have waited */
	n = stand(&b, 400, at, 6);
	first = at[0];
	CHECK_EQ(n, 6);
	CHECK(first <= 100);
	/* interval / sqrt(1), (2), (3) ...: 100, 70.7, 57.7, 50, 44.7 ms */
	CHECK_NEAR(at[1] - first, 100, 1);
	CHECK_NEAR(at[2] - first, 171, 1);
	CHECK_NEAR(at[3] - first, 229, 1);
	CHECK_NEAR(at[4] - first, 279, 1);
	CHECK_NEAR(at[5] - first, 323, 1);
	bench_end(&b);
}

TEST(signals_follow_the_control_law)
{
	check_schedule(0);
}

TEST(survives_wrap)
{
	check_schedule(((u64)1 << 63) - 200 * NS_PER_MS);
}

TEST(a_queue_below_target_is_left_alone)
{
	struct bench b = begin(0);
	u32 i;

	for (i = 0; i < 2000; i++) {
		arrive(&b, 0, 1514, 0);
		arrive(&b, 0, 1514, 0);
		b.now += NS_PER_MS;
		leave(&b);
		leave(&b);
	}
	CHECK_EQ(drops(&b), 0);
	bench_end(&b);
}

TEST(one_packet_behind_is_no_standing_queue)
{
	struct bench b = begin(0);
	u32 i;

	arrive(&b, 0, 1514, 0);
	for (i = 0; i < 500; i++) {
		arrive(&b, 0, 1514, 0);
		b.now += 10 * NS_PER_MS;
		leave(&b);
	}
	CHECK_EQ(drops(&b), 0);
	bench_end(&b);
}

TEST(a_dip_below_target_starts_the_interval_anew)
{
	struct bench b = begin(0);
	u32 at[1];

	stand(&b, 100, at, 0);
	while (b.q->pkts > 1)
		leave(&b);
	b.now += NS_PER_MS;
	CHECK_EQ(stand(&b, 100, at, 1), 0);
	bench_end(&b);
}

TEST(a_mark_keeps_the_schedule_and_the_packet)
{
	struct bench b = begin(0);
	u32 i;
	u64 at[3] = {0}, seen = 0, n = 0;

	set_row(&b, "ecn", 1);
	bench_change(&b);
	for (i = 0; i < 500 && n < 3; i++) {
		b.now += NS_PER_MS;
		while (b.q->pkts < 20)
			arrive(&b, 0, 1514, AQM_ECT0);
		CHECK(leave(&b) != AQM_NIL);
		if (marks(&b) != seen)
			at[n++] = b.now;
		seen = marks(&b);
	}
	CHECK_EQ(drops(&b), 0);
	CHECK_EQ(n, 3);
	CHECK_EQ(at[1] - at[0], 100 * NS_PER_MS);
	CHECK_NEAR(at[2] - at[1], 71e6, 1e6);
	bench_end(&b);
}

/* A link stopped for a minute: the schedule is 60 s behind. After 256 signals the law
 * counts from the present again: at a count of 9 + 256 after 100 / sqrt(265) = 6.143 ms. */
static void check_resync(bool mark)
{
	struct codel_law law = {.count = 9, .dropping = 1, .drop_next_ns = NS_PER_S};
	u64 now = 61 * NS_PER_S;
	u32 n = 0, asked = 0;

	while (asked++ < 1000 && codel_signals(&law, &ours, now, true, mark ? 0 : n)) {
		n++;
		if (mark)
			codel_marked(&law, &ours);
	}
	CHECK_EQ(n, CODEL_DROPS);
	CHECK_EQ(law.count, 265);
	CHECK_NEAR(law.drop_next_ns, now + 6143000, 1000);
	CHECK(!codel_signals(&law, &ours, now + 6142000, true, 0));
	CHECK(codel_signals(&law, &ours, now + 6144000, true, 0));
}

TEST(drops_behind_a_stop_are_bounded_and_the_schedule_goes_on_from_now)
{
	check_resync(false);
}

TEST(marks_behind_a_stop_are_bounded_and_the_schedule_goes_on_from_now)
{
	check_resync(true);
}

/* Signals of one dequeue, up to `most`. */
static u32 signals_at(struct codel_law *law, u64 now, u32 most)
{
	u32 n = 0;

	while (n < most && codel_signals(law, &ours, now, true, n))
		n++;
	return n;
}

TEST(each_stop_has_256_late_signals)
{
	struct codel_law law = {.count = 9, .dropping = 1, .drop_next_ns = NS_PER_S};

	CHECK_EQ(signals_at(&law, 61 * NS_PER_S, 1000), CODEL_DROPS);
	CHECK_EQ(signals_at(&law, 121 * NS_PER_S, 1000), CODEL_DROPS);
}

TEST(late_signals_before_the_state_was_entered_do_not_count)
{
	struct codel_law law = {.count = 9, .dropping = 1, .drop_next_ns = NS_PER_S};

	CHECK_EQ(signals_at(&law, 61 * NS_PER_S, 200), 200);
	CHECK(!codel_signals(&law, &ours, 62 * NS_PER_S, false, 0));
	CHECK_EQ(signals_at(&law, 63 * NS_PER_S, 1000), 1); /* enters */
	CHECK_EQ(signals_at(&law, 123 * NS_PER_S, 1000), CODEL_DROPS);
}

TEST(a_schedule_that_256_late_signals_have_caught_up_with_stays)
{
	u64 now = 61 * NS_PER_S;
	struct codel_law law = {
	        .count = 265, .dropping = 1, .late = CODEL_DROPS, .drop_next_ns = now + 1};

	CHECK(!codel_signals(&law, &ours, now, true, 0));
	CHECK(codel_signals(&law, &ours, now + 1, true, 0));
}

TEST(signals_in_time_are_not_counted_as_late)
{
	struct codel_law law = {.count = 9, .dropping = 1, .drop_next_ns = NS_PER_S};
	u32 n;

	for (n = 0; n < 1000; n++) {
		u64 due = law.drop_next_ns;

		CHECK(codel_signals(&law, &ours, due, true, 0));
		codel_marked(&law, &ours);
		CHECK(!codel_signals(&law, &ours, due, true, 0));
		CHECK(law.drop_next_ns < due + 100 * NS_PER_MS);
	}
}

TEST(in_linux_s_form_the_schedule_keeps_its_place)
{
	struct codel_law law = {.count = 1u << 30, .dropping = 1, .drop_next_ns = 1};
	u32 nth = 0;

	while (codel_signals(&law, &linux_form, 100 * NS_PER_S, true, nth))
		nth++;
	CHECK_EQ(nth, CODEL_DROPS);
	CHECK(codel_signals(&law, &linux_form, 100 * NS_PER_S, true, 0));
}

TEST(the_state_is_entered_again_where_it_was_left)
{
	struct codel_law law = {.count = 12, .last_count = 2, .drop_next_ns = 1000 * NS_PER_MS};

	CHECK(codel_signals(&law, &ours, 1500 * NS_PER_MS, true, 0));
	CHECK_EQ(law.count, 10);
	CHECK_EQ(law.last_count, 10);
	/* 16 intervals later that is forgotten */
	law.dropping = 0;
	law.count = 20;
	law.drop_next_ns = 1000 * NS_PER_MS;
	CHECK(codel_signals(&law, &ours, 2600 * NS_PER_MS, true, 0));
	CHECK_EQ(law.count, 1);
}

/* The schedule moves on with a signal, and not with the packet that ends the state. So 16
 * intervals after the last signal was due the count is forgotten. */
TEST(the_packet_that_ends_the_state_leaves_the_schedule)
{
	struct codel_law law = {
	        .count = 12, .last_count = 2, .dropping = 1, .drop_next_ns = 1000 * NS_PER_MS};

	CHECK(codel_signals(&law, &ours, 1000 * NS_PER_MS, true, 0));
	CHECK(!codel_signals(&law, &ours, 1000 * NS_PER_MS, false, 1));
	CHECK(codel_signals(&law, &ours, 2600 * NS_PER_MS, true, 0));
	CHECK_EQ(law.count, 1);
}

TEST(the_packet_behind_the_first_drop_passes)
{
	struct codel_law law = {.count = 0};

	CHECK(codel_signals(&law, &ours, 5000 * NS_PER_MS, true, 0));
	CHECK(!codel_signals(&law, &ours, 5000 * NS_PER_MS, true, 1));
	CHECK(!codel_signals(&law, &ours, 5000 * NS_PER_MS, true, 0));
}

/* Where the root starts at 1 and takes one step per signal, worked out by hand in Q0.16:
 * x (3 - count x^2) / 2 is 0.5 at count 2, then 0.5625, 0.4878 and 0.4415. */
TEST(linux_nears_the_root_by_one_step_a_signal)
{
	static const u32 inv_sqrt[] = {65535, 32768, 36864, 31968, 28936};
	struct codel_law law = {.count = 0};
	u64 now = 5000 * NS_PER_MS;
	u32 i;

	for (i = 0; i < 5; i++) {
		u64 gap_ns = (u64)(97656 * (double)inv_sqrt[i] / 65536) * 1024;

		CHECK(codel_signals(&law, &linux_form, now, true, 0));
		codel_marked(&law, &linux_form);
		CHECK_EQ(law.count, i + 1);
		CHECK_NEAR(law.inv_sqrt, inv_sqrt[i], 2);
		CHECK_NEAR(law.drop_next_ns - now, gap_ns, 3 * 1024);
		now = law.drop_next_ns;
	}
}

TEST(in_linux_s_form_an_interval_must_be_over_and_not_just_reached)
{
	struct codel_law law = {.count = 0}, exact = {.count = 0};
	u64 now = 1024000, over = now + (100 * NS_PER_MS >> 10 << 10);

	CHECK(!codel_above(&law, &linux_form, now, NS_PER_S, 10000, 1514));
	CHECK(!codel_above(&law, &linux_form, over, NS_PER_S, 10000, 1514));
	CHECK(codel_above(&law, &linux_form, over + 1024, NS_PER_S, 10000, 1514));
	CHECK(!codel_above(&exact, &ours, now, NS_PER_S, 10000, 1514));
	CHECK(codel_above(&exact, &ours, now + 100 * NS_PER_MS, NS_PER_S, 10000, 1514));
}

TEST(in_linux_s_form_time_counts_in_1024_ns)
{
	struct bench b = bench_new(&aqm_codel, 10, 0);

	set_row(&b, "form", CODEL_LINUX);
	CHECK(!bench_start(&b, 1).sentence);
	b.now = 1024 * 1000 + 1023;
	arrive(&b, 0, 1514, 0);
	arrive(&b, 0, 1514, 0);
	b.now += 1;
	leave(&b);
	CHECK_EQ(stat(&b, "delay"), 1024);
	bench_end(&b);
}
