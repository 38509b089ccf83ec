// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_asqm.c: what replays beside the model do not reach: rows that change.

#include "begin.h"

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
