// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_red.c: RED's average by figure 2 of Floyd and Jacobson, 1993, and CHOKe above it.

#include "host.h"
#include "law/red.h"
#include "test.h"

static double avg(const struct red_average *a, u32 k)
{
	return (double)a->scaled / (double)(1ull << (k + RED_FRACTION));
}

/* Weight 1/4, packets of 1 ms: 8 (3/4)^m after m ms and a half. */
TEST(an_idle_queue_ages_by_the_packets_that_could_have_left)
{
	static const double after[] = {8, 6, 4.5, 3.375};
	u32 m;

	for (m = 0; m < 4; m++) {
		struct red_average a = {red_scaled(8, 2), NS_PER_S};

		red_update(&a, NS_PER_S + m * NS_PER_MS + NS_PER_MS / 2, 0, 2, 1000000, 1000);
		CHECK_NEAR(avg(&a, 2), after[m], 1e-4);
		red_update(&a, NS_PER_S + m * NS_PER_MS + NS_PER_MS / 2, 4, 2, 1000000, 1000);
		CHECK_NEAR(avg(&a, 2), after[m] * 0.75 + 1, 1e-4);
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
	CHECK_NEAR(avg(&a, 20), RED_LONGEST, 1);
	CHECK_EQ(red_slope_q32(&a, 20, 1, RED_LONGEST - 1, U32_MAX), U32_MAX);
}
