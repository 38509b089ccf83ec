// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_cobalt.c: what replays beside the model do not reach: counts of signals beyond
// any that a replay has time for, the slowest links, and a schedule met to the nanosecond.

#include <math.h>

#include "begin.h"

extern const struct aqm_algo aqm_cobalt;

/* The file itself once more, for a count that only hours of overload bring. */
#define aqm_cobalt cobalt_again
#include "algorithms/cobalt.c"
#undef aqm_cobalt

#define INTERVAL_NS (100 * NS_PER_MS)

/* Of 1 / sqrt(k), k from `from` to `to` - 1, in intervals. */
static double roots(u64 from, u64 to)
{
	double sum = 0;
	u64 k;

	for (k = from; k < to; k++)
		sum += 1 / sqrt((double)k);
	return sum;
}

static struct cobalt_state after(u32 signals, u64 ns)
{
	struct cobalt_state s = {.interval_ns = INTERVAL_NS, .count = signals};

	s.drop_next_ns = NS_PER_S;
	forget(&s, NS_PER_S + ns);
	return s;
}

TEST(signals_are_forgotten_at_the_pace_at_which_they_came)
{
	u32 counts[] = {65, 100, 128, 129, 200, 1000, 4711, 100000}, i, left;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		for (left = 1; left < counts[i]; left = left * 3 + 7) {
			/* the last one that is forgotten plans a gap of the count left */
			double intervals = roots(left + 1, counts[i]) + 1e-3;
			struct cobalt_state s =
			        after(counts[i], (u64)(intervals * INTERVAL_NS));
			double ahead = ((double)s.drop_next_ns - NS_PER_S) / INTERVAL_NS;

			CHECK_NEAR(s.count, left, counts[i] > 10000);
			CHECK_NEAR(ahead, roots(s.count, counts[i]), 32. / 14000);
		}
	}
}

/* One by one these would take minutes. */
TEST(any_number_of_signals_is_forgotten_at_once)
{
	struct cobalt_state s = after(U32_MAX, 14000 * NS_PER_S);

	CHECK_EQ(s.count, 0);
	s = after(U32_MAX, 13000 * NS_PER_S);
	/* 2 sqrt(2^32) - 2 sqrt(left) intervals of 0.1 s are 13,000 s */
	CHECK_NEAR(s.count, pow(65536 - 65000, 2), 100);
}

TEST(a_link_of_a_byte_a_second_counts_as_one_of_64)
{
	struct bench b =
	        BEGIN(&aqm_cobalt, 100, NS_PER_S, {"bandwidth", 1}, {"target", NS_PER_MS});
	u64 least_ns = 4 * (1514 * NS_PER_S / 64);

	arrive(&b, 1, 1000, 0);
	arrive(&b, 1, 1000, 0);
	b.now += least_ns;
	leave(&b);
	CHECK_EQ(stat(&b, "dropping"), 0);
	b.now += 1;
	leave(&b);
	CHECK_EQ(stat(&b, "dropping"), 1);
	bench_end(&b);
}

TEST(an_entry_at_the_end_of_an_interval_is_not_late)
{
	u64 late;

	for (late = 0; late < 2; late++) {
		struct bench b = BEGIN(&aqm_cobalt, 100, NS_PER_S, {"ecn", 0});
		u32 i;

		for (i = 0; i < 10; i++)
			arrive(&b, 1, 1000, 0);
		b.now += NS_PER_MS;
		leave(&b); /* short yet: the schedule begins an interval from here */
		b.now += INTERVAL_NS + late;
		leave(&b);
		CHECK_EQ(stat(&b, "dropping"), 1);
		b.now += NS_PER_MS;
		leave(&b);
		CHECK_EQ(b.q->count.drops[AQM_WHY_DELAY], late);
		bench_end(&b);
	}
}

/* A gap is 0 ns there, and there are 4 * 10^9 of them. */
TEST(signals_without_gaps_are_forgotten_in_bounded_work)
{
	struct cobalt_state s = {
	        .interval_ns = 2000, .count = U32_MAX, .drop_next_ns = NS_PER_S};

	forget(&s, NS_PER_S);
	CHECK_NEAR(s.count, U32_MAX, 1000);
	/* 2 sqrt(2^32) intervals are 262 ms */
	forget(&s, NS_PER_S + 263 * NS_PER_MS);
	CHECK_EQ(s.count, 0);
}

static struct bench one_late_packet(u32 packets, u32 probability)
{
	struct bench b = BEGIN(&aqm_cobalt, 400, NS_PER_S, {"limit", 400});
	struct cobalt_state *s = inst_state(b.q, inst_nth(b.q, 0));
	u32 i;

	for (i = 0; i < packets; i++)
		arrive(&b, 1, 1000, AQM_ECT0);
	b.now += 60 * NS_PER_S;
	s->count = 4;
	s->dropping = 1;
	s->blue.prob = probability;
	return b;
}

TEST(a_packet_that_blue_may_not_drop_keeps_the_mark_of_codel)
{
	/* the last of the queue; the one behind 256 drops; without BLUE */
	static const u32 packets[] = {1, 300, 1}, probs[] = {U32_MAX, U32_MAX, 0};
	u32 i;

	for (i = 0; i < 3; i++) {
		struct bench b = one_late_packet(packets[i], probs[i]);

		CHECK(leave(&b) != AQM_NIL);
		CHECK_EQ(b.q->count.marks[AQM_WHY_DELAY], 1);
		CHECK_EQ(drops(&b), packets[i] == 1 ? 0 : 256);
		bench_end(&b);
	}
}

TEST(the_first_overflow_after_any_idle_time_raises_the_probability)
{
	u64 ms;

	for (ms = 1; ms <= 10000; ms *= 10) {
		struct bench b = BEGIN(&aqm_cobalt, 100, 0, {"limit", 20});
		u32 i;

		arrive(&b, 1, 1000, 0);
		b.now = 10 * NS_PER_S;
		leave(&b);
		leave(&b);
		b.now += ms * NS_PER_MS;
		for (i = 0; i < 40; i++)
			arrive(&b, 1, 1000, 0);
		CHECK_EQ(stat(&b, "prob"), 1u << 24);
		bench_end(&b);
	}
}

/* 200 signals are gone in 2 sqrt(200) intervals. */
TEST(a_count_falls_while_the_queue_is_empty)
{
	struct bench b = BEGIN(&aqm_cobalt, 100, NS_PER_S, {"ecn", 0});
	struct cobalt_state *s = inst_state(b.q, inst_nth(b.q, 0));

	s->count = 200;
	s->drop_next_ns = b.now;
	leave(&b);
	CHECK_EQ(s->count, 199);
	b.now += 20 * NS_PER_S;
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(s->count, 0);
	bench_end(&b);
}

TEST(an_overflow_raises_a_probability_that_has_fallen_to_0_since)
{
	struct bench b = BEGIN(&aqm_cobalt, 100, NS_PER_S, {"limit", 2});
	struct cobalt_state *s = inst_state(b.q, inst_nth(b.q, 0));
	u32 i;

	s->blue.prob = 3u << 20;
	b.now += NS_PER_S;
	for (i = 0; i < 2; i++, b.now += NS_PER_S)
		leave(&b);
	CHECK_EQ(stat(&b, "prob"), 0);
	b.now -= NS_PER_S; /* at the last request that found nothing */
	for (i = 0; i < 4; i++)
		arrive(&b, 1, 1000, 0);
	CHECK_EQ(stat(&b, "prob"), 1u << 24);
	bench_end(&b);
}

/* It needs 3 steps, the last of them of less than a whole decrement. */
TEST(blues_timer_stops_with_the_step_that_takes_the_probability_to_0)
{
	const struct cobalt_conf conf = {.decrement = 1u << 20};
	u64 changed_s;

	/* before the queue ran dry, and since */
	for (changed_s = 1; changed_s <= 3; changed_s += 2) {
		u64 from = (changed_s > 2 ? changed_s : 2) * NS_PER_S;
		struct cobalt_state s = {.target_ns = 5 * NS_PER_MS};

		s.blue = (struct blue_law){.last_ns = changed_s * NS_PER_S,
		                           .idle_ns = 2 * NS_PER_S,
		                           .prob = (2u << 20) + 1,
		                           .idle = 1};
		idle_on(&s, &conf, 60 * NS_PER_S);
		CHECK_EQ(s.blue.prob, 0);
		CHECK_EQ(s.blue.last_ns, from + 3 * s.target_ns);
	}
}

TEST(a_signal_is_forgotten_at_the_very_time_at_which_it_would_have_come)
{
	u64 early;

	for (early = 0; early < 2; early++) {
		struct bench b = BEGIN(&aqm_cobalt, 100, NS_PER_S, {"ecn", 0});
		struct cobalt_state *s = inst_state(b.q, inst_nth(b.q, 0));

		leave(&b);
		b.now += NS_PER_S;
		s->count = 5;
		s->drop_next_ns = b.now + early;
		arrive(&b, 1, 1000, 0);
		CHECK_EQ(s->count, early ? 5 : 4);
		bench_end(&b);
	}
}

TEST(an_overflow_within_a_target_of_the_start_does_not_raise_the_probability)
{
	struct bench b = BEGIN(&aqm_cobalt, 100, NS_PER_S, {"limit", 2});
	u64 late;

	for (late = 0; late < 2; late++) {
		u32 i;

		b.now = NS_PER_S + 5 * NS_PER_MS + late;
		for (i = 0; i < 4; i++)
			arrive(&b, 1, 1000, 0);
		CHECK_EQ(stat(&b, "prob"), late << 24);
	}
	bench_end(&b);
}

/* A signal that is due as a delay begins adds its gap to that of the entry. This goes beyond an
 * interval, which is right unless the interval has just become shorter. */
TEST(a_shorter_interval_holds_the_schedule_once)
{
	struct bench b =
	        BEGIN(&aqm_cobalt, 100, NS_PER_S, {"ecn", 0}, {"interval", 10 * NS_PER_S});
	struct cobalt_state *s = inst_state(b.q, inst_nth(b.q, 0));
	u64 next;
	u32 i;

	change_row(&b, "interval", INTERVAL_NS);
	leave(&b);
	for (i = 0; i < 20; i++)
		arrive(&b, 1, 1000, 0);
	b.now += 10 * NS_PER_MS;
	s->count = 1;
	s->drop_next_ns = b.now;
	next = b.now + INTERVAL_NS + codel_step(INTERVAL_NS, 2);
	for (i = 0; i < 3; i++) {
		leave(&b);
		CHECK_EQ(drops(&b), 1);
		CHECK_EQ(s->drop_next_ns, next);
		b.now += NS_PER_MS;
	}
	bench_end(&b);
}

TEST(a_request_that_finds_nothing_holds_the_schedule_in_a_shorter_interval)
{
	struct bench b = BEGIN(&aqm_cobalt, 100, NS_PER_S, {"interval", 10 * NS_PER_S});
	struct cobalt_state *s = inst_state(b.q, inst_nth(b.q, 0));

	arrive(&b, 1, 1000, 0);
	leave(&b);
	CHECK_EQ(s->drop_next_ns, b.now + 10 * NS_PER_S);
	change_row(&b, "interval", INTERVAL_NS);
	leave(&b);
	CHECK_EQ(s->drop_next_ns, b.now + INTERVAL_NS);
	bench_end(&b);
}
