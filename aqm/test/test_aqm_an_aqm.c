// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_an_aqm.c: what replays beside the model do not reach: how an empty queue comes to
// rest.

#include "begin.h"

extern const struct aqm_algo aqm_an_aqm;

/* The file itself once more, for weights that only a long life brings. */
#define aqm_an_aqm an_aqm_again
#include "algorithms/an_aqm.c"
#undef aqm_an_aqm

#define TICK_NS (10 * NS_PER_MS)
/* 64 ticks, and the updates of an_aqm.c behind them. */
#define UPDATES 448

/* The probability after `ticks` updates of a queue that was left empty with p = 1. */
static u64 rested(u64 gain, u64 ticks, u64 more)
{
	struct bench b = BEGIN(&aqm_an_aqm, 100, NS_PER_S, {"bandwidth", 1000000}, {"qref", 1},
	                       {"gain", U32_MAX}, {"interval", TICK_NS});
	u64 found;
	u32 i;

	for (i = 0; i < 50; i++)
		arrive(&b, 1, 1000, 0);
	b.now += TICK_NS;
	leave(&b);
	CHECK_EQ(stat(&b, "prob"), U32_MAX);
	while (b.q->pkts)
		leave(&b);
	change_row(&b, "gain", gain);
	leave(&b);
	b.now += ticks * TICK_NS;
	leave(&b);
	b.now += more * TICK_NS;
	leave(&b);
	found = stat(&b, "prob");
	bench_end(&b);
	return found;
}

TEST(an_empty_queue_signals_nothing_after_its_last_update)
{
	CHECK(rested(1000, UPDATES, 0) > U32_MAX / 2);
	CHECK_EQ(rested(1000, UPDATES + 1, 0), 0);
	CHECK_EQ(rested(1000, 100000, 0), 0);
}

TEST(an_event_gives_it_all_its_updates_again)
{
	CHECK(rested(1000, UPDATES, UPDATES) > U32_MAX / 2);
	CHECK_EQ(rested(1000, UPDATES, UPDATES + 1), 0);
}

TEST(a_probability_that_has_come_to_0_stays)
{
	CHECK_EQ(rested(U32_MAX, 100, 0), 0);
	CHECK_EQ(rested(U32_MAX, 100, 100000), 0);
}

/* The rate's weight may have become negative: then silence raises the probability. */
TEST(a_probability_of_0_may_rise_in_silence)
{
	struct an_aqm_conf c = {
	        .interval = TICK_NS, .qref = 50, .gain = 1 << 24, .learning = 0};
	struct aqm_view view = {.rate_bytes_s = 1000000};
	struct an_aqm_state at_once, each;
	u64 t = TICK_NS;
	u32 i;

	memset(&each, 0, sizeof(each));
	each.weight[0] = each.weight[2] = WEIGHT_ONE / 5;
	each.weight[1] = WEIGHT_ONE / 5;
	each.weight[4] = -(s64)(WEIGHT_ONE / 5 * 2);
	/* The queue was long and the link busy: at first the differences hold it at 0. */
	each.last[0] = each.before[0] = 3 * (s64)INPUT_ONE;
	at_once = each;
	CHECK_EQ(idle(&at_once, &c, &view, t, 20 * TICK_NS), 21 * TICK_NS);
	for (i = 0; i < 20; i++, t += TICK_NS)
		(void)tick(&each, &c, t, &view);
	CHECK(each.p > 0);
	CHECK_EQ(at_once.p, each.p);
}

/* One by one these updates would take hours. */
TEST(an_empty_queue_at_rest_passes_a_century_at_once)
{
	/* the probability comes to 0, and is brought to it */
	static const u64 gains[] = {U32_MAX, 1000};
	static const u64 century_ns = (u64)3000000000 * NS_PER_S;
	u32 i;

	for (i = 0; i < 2; i++)
		CHECK_EQ(rested(gains[i], 100000, century_ns / TICK_NS), 0);
}
