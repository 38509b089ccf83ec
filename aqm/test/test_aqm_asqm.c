// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_asqm.c: what replays beside the model do not reach: rows that change, bounds.

#include "begin.h"
#include "law/asqm.h"

extern const struct aqm_algo aqm_asqm;

/* Signal n + 1 follows signal n after interval / sqrt(n): until time t about (t / 2 interval)^2
 * of them, and never more than the one of each 100 ms here. */
TEST(a_shorter_interval_acts_at_once)
{
	struct bench b = BEGIN(&aqm_asqm, 400, 0, {"limit", 100}, {"interval", 100 * NS_PER_S});
	u32 i;

	for (i = 0; i < 620; i++) {
		b.now += 100 * NS_PER_MS;
		if (i == 20) {
			CHECK_EQ(drops(&b), 1);
			change_row(&b, "interval", 100 * NS_PER_MS);
		}
		aqm_echo(b.q, b.now, 0, 200 * NS_PER_MS);
		arrive(&b, 1, 1000, AQM_NOT_ECT);
		leave(&b);
	}
	CHECK(drops(&b) > 550);
	bench_end(&b);
}

/* Does a packet at this time, in ns behind the begin, ask for a probe? */
static bool asks_at(struct bench *b, u64 begin_ns, u64 at_ns)
{
	b->now = begin_ns + at_ns;
	arrive(b, 1, 1000, AQM_NOT_ECT);
	return aqm_probe_asked(b->q);
}

TEST(a_period_asks_for_a_probe_on_the_nanosecond_whatever_the_ratio)
{
	struct bench b = BEGIN(&aqm_asqm, 100, NS_PER_S, {"period", 1000}, {"ratio", 1});
	u64 begin_ns = b.now;

	CHECK(asks_at(&b, begin_ns, 0));
	CHECK(!asks_at(&b, begin_ns, 999));
	CHECK(asks_at(&b, begin_ns, 1000));
	/* From the last probe, not from when it was due. */
	CHECK(asks_at(&b, begin_ns, 2500));
	CHECK(!asks_at(&b, begin_ns, 3499));
	CHECK(asks_at(&b, begin_ns, 3500));
	bench_end(&b);
}

TEST(a_shorter_period_and_a_ratio_in_its_place_act_at_once)
{
	struct bench b =
	        BEGIN(&aqm_asqm, 100, NS_PER_S, {"period", 100 * NS_PER_S}, {"ratio", 2});
	u64 begin_ns = b.now;

	CHECK(asks_at(&b, begin_ns, 0));
	change_row(&b, "period", 1000);
	CHECK(!asks_at(&b, begin_ns, 10));
	CHECK(asks_at(&b, begin_ns, 1010));
	change_row(&b, "period", 0);
	CHECK(!asks_at(&b, begin_ns, 1011));
	CHECK(asks_at(&b, begin_ns, 1012));
	bench_end(&b);
}

TEST(a_round_trip_is_kept_between_a_nanosecond_and_69_seconds)
{
	const struct asqm_conf c = {.target = 50 * NS_PER_MS, .interval = 100 * NS_PER_MS};
	struct asqm_law l = {.base_ns = AQM_NEVER};

	asqm_sample(&l, &c, NS_PER_S, 100 * NS_PER_S);
	CHECK_EQ(l.rtt_ns, (u64)1 << 36);
	asqm_sample(&l, &c, NS_PER_S, 0);
	CHECK_EQ(l.rtt_ns, 1);
}

TEST(an_episode_lasts_from_the_target_to_a_nanosecond_below)
{
	struct bench b = BEGIN(&aqm_asqm, 4, 0, {"limit", 2}, {"target", 50 * NS_PER_MS});

	aqm_echo(b.q, b.now, 0, 50 * NS_PER_MS - 1);
	CHECK_EQ(stat(&b, "dropping"), 0);
	/* SRTT moves by eighths, and is a nanosecond below for a while. */
	aqm_echo(b.q, b.now, 0, 50 * NS_PER_MS + 7);
	CHECK_EQ(stat(&b, "srtt"), 50 * NS_PER_MS);
	CHECK_EQ(stat(&b, "dropping"), 1);
	aqm_echo(b.q, b.now, 0, 50 * NS_PER_MS);
	CHECK_EQ(stat(&b, "dropping"), 1);
	aqm_echo(b.q, b.now, 0, 50 * NS_PER_MS - 1);
	CHECK_EQ(stat(&b, "dropping"), 0);
	bench_end(&b);
}

TEST(a_first_round_trip_of_the_target_is_enough)
{
	struct bench b = BEGIN(&aqm_asqm, 4, 0, {"limit", 2}, {"target", 50 * NS_PER_MS});

	aqm_echo(b.q, b.now, 0, 50 * NS_PER_MS);
	CHECK_EQ(stat(&b, "dropping"), 1);
	bench_end(&b);
}

/* Marks at two departures, so long after an answer of 100 ms at 1 s. */
static u64 marks_by(u32 first, u64 first_ns, u64 second_ns)
{
	struct bench b =
	        BEGIN(&aqm_asqm, 8, NS_PER_S, {"limit", 6}, {"ecn", 1}, {"first", first});
	u64 answered_ns = b.now, found;

	aqm_echo(b.q, b.now, 0, 100 * NS_PER_MS);
	b.now = answered_ns + first_ns;
	arrive(&b, 1, 1000, AQM_ECT0);
	arrive(&b, 1, 1000, AQM_ECT0);
	leave(&b);
	b.now = answered_ns + second_ns;
	leave(&b);
	found = marks(&b);
	bench_end(&b);
	return found;
}

static u64 marks_after(u64 first_ns, u64 second_ns)
{
	return marks_by(ASQM_AT_ONCE, first_ns, second_ns);
}

TEST(the_first_signal_may_wait_for_an_interval)
{
	CHECK_EQ(marks_by(ASQM_AFTER_INTERVAL, 0, 100 * NS_PER_MS - 1), 0);
	CHECK_EQ(marks_by(ASQM_AFTER_INTERVAL, 0, 100 * NS_PER_MS), 1);
	CHECK_EQ(marks_by(ASQM_AFTER_INTERVAL, 100 * NS_PER_MS, 200 * NS_PER_MS - 1), 1);
	CHECK_EQ(marks_by(ASQM_AFTER_INTERVAL, 100 * NS_PER_MS, 200 * NS_PER_MS), 2);
}

TEST(signals_are_due_on_the_nanosecond)
{
	CHECK_EQ(marks_after(0, 0), 1);
	CHECK_EQ(marks_after(0, 100 * NS_PER_MS - 1), 1);
	CHECK_EQ(marks_after(0, 100 * NS_PER_MS), 2);
}

TEST(a_schedule_that_lags_by_more_than_an_interval_goes_on_from_now)
{
	CHECK_EQ(marks_after(100 * NS_PER_MS, 100 * NS_PER_MS), 2);
	CHECK_EQ(marks_after(100 * NS_PER_MS + 1, 100 * NS_PER_MS + 1), 1);
}

TEST(an_episode_without_answers_ends_behind_a_second)
{
	CHECK_EQ(marks_after(NS_PER_S, NS_PER_S), 1);
	CHECK_EQ(marks_after(NS_PER_S + 1, NS_PER_S + 1), 0);
}

/* Behind 200 and 200 ms 50 ms end the episode; SRTT is 181 ms, and with 60 ms more 166 ms. */
TEST(a_short_round_trip_begins_an_episode_only_where_the_smoothed_one_decides_alone)
{
	static const u64 rtts_ms[] = {200, 200, 50, 60};
	u32 entry, i;

	for (entry = ASQM_BOTH; entry <= ASQM_SMOOTHED; entry++) {
		struct bench b =
		        BEGIN(&aqm_asqm, 4, 0, {"target", 100 * NS_PER_MS}, {"entry", entry});

		for (i = 0; i < 4; i++) {
			aqm_echo(b.q, b.now, 0, rtts_ms[i] * NS_PER_MS);
			CHECK_EQ(stat(&b, "dropping"),
			         i < 2 || (i == 3 && entry == ASQM_SMOOTHED));
		}
		bench_end(&b);
	}
}
