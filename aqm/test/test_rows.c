// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_rows.c: values that change under way are at work within one old or new interval.

#include "begin.h"

static const struct aqm_field *period_of(const struct aqm_algo *algo)
{
	const struct aqm_field *row;

	for (row = algo->params; row && row->name; row++)
		if (row->flags & AQM_PERIOD)
			return row;
	return NULL;
}

/* From an event to the next tick, where the longest period has become the shortest. */
static u64 waited_ns(const struct aqm_algo *algo, const struct aqm_field *row)
{
	struct bench b = bench_new(algo, 100, NS_PER_S);
	u64 first, waited;

	set_row(&b, row->name, row->max);
	if (!strcmp(algo->name, "red"))
		set_row(&b, "form", 2); /* the others do without ticks */
	CHECK(!bench_start(&b, 1).sentence);
	arrive(&b, 1, 1000, 0);
	first = inst_nth(b.q, 0)->tick_ns;
	b.now += row->max / 3;
	change_row(&b, row->name, row->min);
	CHECK_EQ(inst_nth(b.q, 0)->tick_ns, first);
	b.now += row->max / 3;
	arrive(&b, 1, 1000, 0);
	waited = inst_nth(b.q, 0)->tick_ns - b.now;
	/* One that becomes longer leaves the tick that was due. */
	change_row(&b, row->name, row->max);
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(inst_nth(b.q, 0)->tick_ns - b.now, waited);
	bench_end(&b);
	return waited;
}

TEST(a_tick_does_not_wait_for_the_end_of_a_period_that_has_become_shorter)
{
	u32 n, found = 0;

	for (n = 0; aqm_all[n]; n++) {
		const struct aqm_field *row = period_of(aqm_all[n]);

		if (aqm_all[n]->flags & AQM_SAMPLES || !row)
			continue;
		found++;
		CHECK_EQ(waited_ns(aqm_all[n], row), row->min);
	}
	CHECK(found >= 9);
}

/* Flows have ticks of their own. */
TEST(a_tick_of_a_flow_does_not_wait_either)
{
	struct bench b =
	        BEGIN(aqm_find("pie"), 100, NS_PER_S, {"flows", 2}, {"tupdate", 10 * NS_PER_S});
	struct aqm_inst *in = inst_nth(b.q, 1);

	arrive(&b, 1u << 31, 1000, 0);
	CHECK_EQ(in->tick_ns, 11 * NS_PER_S);
	b.now += NS_PER_S;
	change_row(&b, "tupdate", NS_PER_MS);
	arrive(&b, 1u << 31, 1000, 0);
	CHECK_EQ(in->tick_ns, b.now + NS_PER_MS);
	/* Two changes without an event: the first is taken with the second. */
	change_row(&b, "tupdate", 100000);
	change_row(&b, "tupdate", NS_PER_S);
	CHECK_EQ(in->tick_ns, b.now + 100000);
	bench_end(&b);
}

/* In Linux's form PIE's first tick comes after half a second. */
TEST(a_longer_period_leaves_a_tick_that_is_later_still)
{
	struct bench b = BEGIN(aqm_find("pie"), 100, 0, {"form", 1});

	b.now = 10 * NS_PER_MS;
	change_row(&b, "tupdate", 20 * NS_PER_MS);
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(inst_nth(b.q, 0)->tick_ns, 500 * NS_PER_MS);
	bench_end(&b);
}

/* RED's first form does without ticks. */
TEST(a_shorter_period_brings_no_tick_where_there_is_none)
{
	const struct aqm_field *row = period_of(aqm_find("red"));
	struct bench b = BEGIN(aqm_find("red"), 100, NS_PER_S, {row->name, row->max});

	CHECK(inst_nth(b.q, 0)->tick_ns == AQM_NEVER);
	change_row(&b, row->name, row->min);
	arrive(&b, 1, 1000, 0);
	CHECK(inst_nth(b.q, 0)->tick_ns == AQM_NEVER);
	bench_end(&b);
}

/* The largest probability from 5 to 20 s at 90 % of the link, in which nothing ever waits;
 * after 5.5 s the interval becomes another one. */
static u64 largest_prob(const char *name, const char *gain, u64 from_ns, u64 to_ns)
{
	struct bench b = BEGIN(aqm_find(name), 100, NS_PER_S, {"interval", from_ns},
	                       {"bandwidth", 1250000}, {gain, 1u << 30});
	u64 prob = 0;
	u32 ms;

	for (ms = 0; ms < 20000; ms++) {
		b.now += NS_PER_MS;
		if (ms == 5500)
			change_row(&b, "interval", to_ns);
		if (ms % 10)
			arrive(&b, 1, 1250, 0);
		leave(&b);
		if (ms > 5000)
			prob = max64(prob, stat(&b, "prob"));
	}
	bench_end(&b);
	return prob;
}

TEST(arrivals_of_a_long_interval_are_no_overload_in_a_short_one)
{
	static const char *const gains[][2] = {{"an_aqm", "gain"}, {"rem", "gamma"}};
	static const u64 intervals_ns[] = {10 * NS_PER_MS, 100 * NS_PER_MS, NS_PER_S};
	u32 n, from, to;

	for (n = 0; n < 2; n++)
		for (from = 0; from < 3; from++)
			for (to = 0; to < 3; to++)
				CHECK_EQ(largest_prob(gains[n][0], gains[n][1],
				                      intervals_ns[from], intervals_ns[to]),
				         0);
}

/* From a change of the interval to the next signal; a queue stands all the time. */
static u64 silence_ns(const char *name, u64 from_ns, u64 to_ns, u32 before_ms)
{
	struct bench b = BEGIN(aqm_find(name), 400, NS_PER_S, {"flows", 0}, {"limit", 300},
	                       {"interval", from_ns});
	u64 changed, seen;
	u32 ms;

	for (ms = 0; ms < 200; ms++)
		arrive(&b, 1, 1250, 0);
	for (ms = 0; ms < before_ms; ms++) {
		b.now += NS_PER_MS;
		arrive(&b, 1, 1250, 0);
		leave(&b);
	}
	change_row(&b, "interval", to_ns);
	changed = b.now;
	seen = drops(&b);
	while (drops(&b) == seen && b.now < changed + 2 * from_ns) {
		b.now += NS_PER_MS;
		arrive(&b, 1, 1250, 0);
		leave(&b);
	}
	bench_end(&b);
	return b.now - changed;
}

/* Before the first signal, and between two. */
TEST(a_shorter_interval_does_not_wait_for_the_end_of_the_old_one)
{
	static const char *const names[] = {"codel", "fq_codel", "cobalt"};
	u32 n;

	for (n = 0; n < 3; n++) {
		CHECK(silence_ns(names[n], 100 * NS_PER_S, 100 * NS_PER_MS, 5000) <=
		      102 * NS_PER_MS);
		CHECK(silence_ns(names[n], 10 * NS_PER_S, 100 * NS_PER_MS, 11000) <=
		      102 * NS_PER_MS);
	}
}

/* Linux's form has a clock of its own. */
TEST(a_shorter_interval_does_not_wait_in_linux_s_form_either)
{
	struct bench b = BEGIN(aqm_find("codel"), 400, NS_PER_S, {"form", 1}, {"limit", 300},
	                       {"interval", 100 * NS_PER_S});
	u32 ms;

	for (ms = 0; ms < 200; ms++)
		arrive(&b, 1, 1250, 0);
	for (ms = 0; ms < 150; ms++) {
		if (ms == 20)
			change_row(&b, "interval", 100 * NS_PER_MS);
		b.now += NS_PER_MS;
		leave(&b);
	}
	CHECK(drops(&b) > 0);
	bench_end(&b);
}

/* An allowance of 10 s that becomes one of 100 ms is spent 100 ms later. */
TEST(a_burst_is_allowed_no_longer_than_the_row_says)
{
	static const char *const names[] = {"pie", "pie_2013", "fq_pie"};
	u32 n;

	for (n = 0; n < 3; n++) {
		struct bench b = BEGIN(aqm_find(names[n]), 400, NS_PER_S, {"flows", 0},
		                       {"max_burst", 10 * NS_PER_S});

		CHECK_EQ(stat(&b, "burst"), 10 * NS_PER_S);
		arrive(&b, 1, 1250, 0);
		change_row(&b, "max_burst", 100 * NS_PER_MS);
		b.now += 5 * NS_PER_MS;
		leave(&b);
		CHECK_EQ(stat(&b, "burst"), 100 * NS_PER_MS);
		change_row(&b, "max_burst", NS_PER_S);
		leave(&b);
		CHECK_EQ(stat(&b, "burst"), 100 * NS_PER_MS);
		bench_end(&b);
	}
}
