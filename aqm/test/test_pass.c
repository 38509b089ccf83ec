// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_pass.c: an answer that is no mere PASS does not take the fast path, whatever its parts.

#include "odd.h"

ODD(odd, 1, .overflow = overflow);

TEST(a_victim_and_a_probe_together_are_no_mere_pass)
{
	struct bench b = ODD_BEGIN(&odd, 8, {"limit", 10});

	arrive(&b, 0, 100, 0);
	script.enqueue = (struct aqm_verdict){.nvictims = 1, .victim = {0}, .probe = 1};
	arrive(&b, 0, 100, 0);
	CHECK_EQ(script.gones, 1);
	CHECK_EQ(b.q->pkts, 1);
	CHECK(aqm_probe_asked(b.q));
	bench_end(&b);
}

TEST(a_reason_and_a_queue_of_the_same_number_are_no_mere_pass)
{
	struct bench b = ODD_BEGIN(&odd, 8, {"limit", 10});

	script.enqueue = (struct aqm_verdict){.why = 1, .queue = 1};
	arrive(&b, 0, 100, 0);
	CHECK_EQ(b.q->count.bad[AQM_BAD_QUEUE], 1);
	bench_end(&b);
}
