// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_red.c: RED's average by figure 2 of Floyd and Jacobson, 1993, and those that have it.

#include "begin.h"
#include "law/red.h"

static double avg(const struct red_average *a)
{
	return (double)a->scaled / (double)red_scaled(1);
}

/* Weight 1/4, packets of 1 ms: 8 (3/4)^m after m ms, and between them along a straight line. */
TEST(an_idle_queue_ages_by_the_packets_that_could_have_left)
{
	static const double after[] = {8, 7, 6, 5.25, 4.5, 3.9375, 3.375};
	u32 halves;

	for (halves = 0; halves < 7; halves++) {
		struct red_average a = {red_scaled(8), NS_PER_S};
		u64 now = NS_PER_S + halves * NS_PER_MS / 2;

		red_update(&a, now, 0, 2, 1000000, 1000);
		CHECK_NEAR(avg(&a), after[halves], 1e-4);
		red_update(&a, now, 4, 2, 1000000, 1000);
		CHECK_NEAR(avg(&a), after[halves] * 0.75 + 1, 1e-4);
	}
}

/* A second in which each gap is a part of a packet's time: what a link can do in a second is
 * forgotten in a second, 8 (511/512)^1000. */
TEST(an_idle_queue_ages_alike_in_gaps_of_any_length)
{
	static const u64 gaps_ns[] = {NS_PER_S, 800000, 549000, 41000, 977};
	u32 i;

	for (i = 0; i < 5; i++) {
		struct red_average a = {red_scaled(8), 0};
		u64 now;

		for (now = gaps_ns[i]; now <= NS_PER_S; now += gaps_ns[i]) {
			red_update(&a, now, 0, 9, 1000000, 1000);
			red_emptied(&a, now);
		}
		CHECK_NEAR(avg(&a), 1.1325, 0.003);
	}
}

/* A queue may hold 2^32 bytes; with 36 fractional bits that overflows 64 bits. */
TEST(a_queue_of_any_number_of_bytes_fits)
{
	struct red_average a = {0, 0};
	u64 before;
	u32 i;

	for (i = 0; i < 1u << 25; i++) {
		before = a.scaled;
		red_update(&a, 0, U32_MAX, 20, 1000000, 1000);
		if (a.scaled < before)
			break;
	}
	CHECK_EQ(i, 1u << 25);
	CHECK_NEAR(avg(&a), RED_LONGEST, 1);
	CHECK_EQ(red_slope_q32(&a, 1, RED_LONGEST - 1, U32_MAX), U32_MAX);
}

/* Two thirds of a link's rate more than it carries for five seconds, and marks that nobody
 * heeds: the average is far above `max`. Then packets of 64 bytes at 9 % of the link, none of
 * which waits. */
static u64 late_signals(const char *name, const struct row *rows)
{
	struct bench b = begin_rows(aqm_find(name), 2000, NS_PER_S, rows);
	u32 flow = 0, ms;
	u64 seen = 0;

	for (ms = 0; ms < 5000; ms++) {
		b.now += NS_PER_MS;
		arrive(&b, ++flow * 2654435761u, 1250, AQM_ECT0);
		if (ms % 3)
			arrive(&b, ++flow * 2654435761u, 1250, AQM_ECT0);
		leave(&b);
	}
	while (leave(&b) != AQM_NIL)
		b.now += NS_PER_MS;
	for (ms = 0; ms < 16000; ms++) {
		if (ms == 8000)
			seen = drops(&b) + marks(&b);
		b.now += NS_PER_MS * 3 / 5;
		arrive(&b, ++flow * 2654435761u, 64, AQM_ECT0);
		leave(&b);
	}
	CHECK(seen > 0);
	seen = drops(&b) + marks(&b) - seen;
	bench_end(&b);
	return seen;
}

TEST(small_packets_that_find_no_queue_get_no_signal_for_long)
{
	u32 form;

	for (form = 0; form < 3; form++)
		CHECK_EQ(late_signals("red", ROWS({"form", form}, {"ecn", 1})), 0);
	CHECK_EQ(late_signals("choke", ROWS({"min", 5}, {"max", 15}, {"ecn", 1})), 0);
	CHECK_EQ(late_signals("gchoke", ROWS({"min", 5}, {"max", 15}, {"ecn", 1})), 0);
	CHECK_EQ(late_signals("rio_ps", ROWS({"ecn", 1}, {"threshold", 0})), 0);
}

/* Eight packets wait; then rows say that the average moves faster or slower. */
TEST(an_average_stays_when_its_weight_changes)
{
	static const char *const names[] = {"red", "choke", "gchoke", "rio_ps"};
	static const u32 weights[] = {1, 20, 5, 9};
	u32 n, i;

	for (n = 0; n < 4; n++) {
		struct bench b = BEGIN(aqm_find(names[n]), 100, NS_PER_S, {"weight", 2},
		                       {n == 3 ? "long_max" : "max", 16},
		                       {n == 3 ? "long_min" : "min", 15});

		for (i = 0; i < 49; i++) {
			arrive(&b, i * 2654435761u, 1000, 0);
			if (i > 8)
				leave(&b);
		}
		for (i = 0; i < 4; i++) {
			change_row(&b, "weight", weights[i]);
			arrive(&b, i * 2654435761u, 1000, 0);
			leave(&b);
			CHECK_EQ(stat(&b, "average"), 8);
		}
		CHECK_EQ(drops(&b), 0);
		bench_end(&b);
	}
}
