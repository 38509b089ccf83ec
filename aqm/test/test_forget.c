// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_forget.c: of an idle link, those whose law needs more than ten seconds to forget an
// overload
// (`sojourn check`, property `forget`) have forgotten it after the time that their page names.

#include "test.h"

#include "check/forget.h"

static const u32 sizes[] = {FORGET_SMALL, 576, 1514, 9000}, loads_pct[] = {5, 20, 50};

static u64 late_signals(const char *name, u64 after_ns)
{
	u64 signals = 0;
	u32 i, k;

	for (i = 0; i < 4; i++)
		for (k = 0; k < 3; k++) {
			struct life l = forget_life(aqm_find(name));

			signals += forget_run(&l, sizes[i], loads_pct[k], after_ns);
		}
	return signals;
}

TEST(each_forgets_in_the_time_of_its_page)
{
	CHECK_EQ(late_signals("pie_2013", 14 * NS_PER_S), 0);
	CHECK_EQ(late_signals("cfd", 14 * NS_PER_S), 0);
	CHECK_EQ(late_signals("pi", 60 * NS_PER_S), 0);
	CHECK_EQ(late_signals("blue", 60 * NS_PER_S), 0);
}

/* A probability of 1 is gone after 5,958 arrivals of the flow; four flows take turns. */
TEST(sfb_forgets_in_arrivals)
{
	u32 i, k;

	for (i = 0; i < 4; i++)
		for (k = 0; k < 3; k++) {
			struct life l = forget_life(aqm_find("sfb"));
			u64 after_ns = 4 * 5958 * forget_gap_ns(sizes[i], loads_pct[k]);

			CHECK_EQ(forget_run(&l, sizes[i], loads_pct[k], after_ns), 0);
		}
}

/* In packets, 64 bytes count as much as any other: there a fifth of the link is an overload. */
TEST(rem_forgets_where_it_counts_bytes)
{
	u32 i, k;

	for (i = 0; i < 4; i++)
		for (k = 0; k < 3; k++) {
			struct life l = forget_life(aqm_find("rem"));

			set_row(&l.b, "bytes", 1);
			CHECK_EQ(forget_run(&l, sizes[i], loads_pct[k], 120 * NS_PER_S), 0);
		}
}
