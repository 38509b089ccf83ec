// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_blue.c: what replays beside the model do not reach: losses in the first freeze time,
// and the first packet after an idle time.

#include "begin.h"

extern const struct aqm_algo aqm_blue;

/* The file itself once more, for its state. */
#define aqm_blue blue_again
#include "algorithms/blue.c"
#undef aqm_blue

#define INCREMENT (1u << 28)
#define DECREMENT (1u << 24)

static struct bench begin(void)
{
	return BEGIN(&aqm_blue, 100, 7 * NS_PER_S, {"limit", 1}, {"freeze", NS_PER_S},
	             {"increment", INCREMENT}, {"decrement", DECREMENT});
}

static struct blue_law *law(struct bench *b)
{
	struct blue_state *s = inst_state(b->q, inst_nth(b->q, 0));

	return &s->law;
}

TEST(a_freeze_time_begins_with_the_queue)
{
	struct bench b = begin();

	arrive(&b, 1, 1000, 0);
	b.now += NS_PER_S;
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(law(&b)->prob, 0);
	b.now++;
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(law(&b)->prob, INCREMENT);
	bench_end(&b);
}

TEST(an_idle_link_has_taken_the_probability_down_before_the_next_packet_is_drawn)
{
	struct bench b = begin();

	law(&b)->prob = 1u << 31;
	leave(&b);
	b.now += 10 * NS_PER_S + NS_PER_S / 2;
	arrive(&b, 1, 1000, 0);
	CHECK_EQ(law(&b)->prob, (1u << 31) - 10 * DECREMENT);
	bench_end(&b);
}
