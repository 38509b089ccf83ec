// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// pie_2013.c: PIE's update as first published: the delay from backlog and drain rate, and the step
// of p. The burst allowance, which is no part of the law, is left out.

#include "law/pie_2013.h"

#include "timed.h"

LAW u32 law(struct pie_law *pie, const struct pie_gains *gains, const struct pie_2013_rate *rate,
            u32 backlog)
{
	pie->delay_ns = pie_2013_delay_ns(rate, backlog);
	pie_move(pie, pie_step(pie, gains));
	pie->old_ns = pie->delay_ns;
	return pie_prob_q32(pie);
}

/* The gains of DUK's paper, up to 64 kB at 1 to 2 MB/s. */
static u32 evaluate(u64 step)
{
	static const struct pie_gains gains = {20 * NS_PER_MS, 2, 20, pie_2013_tune, 2};
	static struct pie_law pie;
	u64 random = noise(step);
	struct pie_2013_rate rate = {{0, 0, 0}, 0, 1000000 + (random >> 44)};

	return law(&pie, &gains, &rate, (u32)(random >> 48));
}
