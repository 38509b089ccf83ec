// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* test_nada.c: sender and receiver of nada.c, by cases that were worked out by hand. */
#include <math.h>

#include "../../aqm/test/test.h"
#include "../nada.c"

#define S  NS_PER_S
#define MS NS_PER_MS

static struct call *call_of(void)
{
	return (struct call *)nada_of("1000 150000 1500000", exp);
}

TEST(an_empty_queue_lets_the_rate_rise_by_what_makes_a_short_queue)
{
	struct call *call = call_of();
	struct report told = {.ramps_up = 1, .received_bps = 400e3, .forth_ns = 50 * MS};

	/* 50 / (100 + 100 + 120) of what arrives. */
	hear_report(&call->sender, S, 50 * MS, &told);
	CHECK_NEAR(call->sender.rate_bps, 400e3 * (1 + 50.0 / 320), 1e-3);
	told.received_bps = 1.5e6;
	hear_report(&call->sender, S, 0, &told);
	CHECK_NEAR(call->sender.rate_bps, 1.5e6, 1e-3);
	end(&call->application);
}

TEST(a_rate_stays_where_the_signal_is_that_of_its_share)
{
	struct call *call = call_of();
	struct report told = {.x_ms = 15, .received_bps = 1e6};

	call->sender.rate_bps = 1e6;
	/* XREF * RMAX / r. */
	hear_report(&call->sender, 0, 0, &told);
	hear_report(&call->sender, S / 10, 0, &told);
	CHECK_NEAR(call->sender.rate_bps, 1e6, 1e-3);
	/* 25 ms more, all of it since the report before: 0.5 * 0.2 * 0.05 and 0.5 * 2 * 0.05.
	 */
	told.x_ms = 40;
	hear_report(&call->sender, S / 5, 0, &told);
	CHECK_NEAR(call->sender.rate_bps, 1e6 * (1 - 0.005 - 0.05), 1e-3);
	end(&call->application);
}

TEST(the_signal_is_the_least_of_the_last_delays)
{
	struct call *call = call_of();
	struct receiver *receiver = &call->receiver;
	struct report told;

	hear_datagram(receiver, 0, 50 * MS, 0);
	for (uint64_t n = 1; n <= 15; n++)
		hear_datagram(receiver, n * MS, (60 + n) * MS, 0);
	CHECK_NEAR(signal_ms(receiver), 11, 1e-9);
	told = report(receiver, 15 * MS);
	CHECK(!told.ramps_up);
	CHECK_NEAR(told.received_bps, 16.0 * 8000 * 2, 1e-6);
	/* Half a second later nothing of that is in the window. */
	hear_datagram(receiver, 600 * MS, 50 * MS, 0);
	CHECK(report(receiver, 600 * MS).ramps_up);
	end(&call->application);
}

TEST(losses_raise_the_signal_and_long_delays_after_them_count_less)
{
	struct call *call = call_of();
	struct receiver *receiver = &call->receiver;
	double warped = 50 * exp(-0.5), ratio = 0.1 * 2 / 24;
	struct report told;

	hear_datagram(receiver, 0, 0, 0);
	for (uint64_t n = 1; n <= 20; n++)
		hear_datagram(receiver, n * MS, 100 * MS, 0);
	CHECK_NEAR(signal_ms(receiver), 100, 1e-9);
	hear_datagram(receiver, 21 * MS, 100 * MS, 2);
	CHECK_NEAR(signal_ms(receiver), warped, 1e-9);
	/* 2 of 24 datagrams were lost, and a tenth of that is in the mean. */
	told = report(receiver, 21 * MS);
	CHECK(!told.ramps_up);
	CHECK_NEAR(told.x_ms, warped + 10 * (ratio / 0.01) * (ratio / 0.01), 1e-9);
	end(&call->application);
}

TEST(losses_long_ago_are_forgotten)
{
	struct call *call = call_of();
	struct receiver *receiver = &call->receiver;

	for (int n = 0; n < 30; n++)
		hear_datagram(receiver, 0, 0, n > 0 && n % 10 == 0);
	/* Ten datagrams since the last loss, and in the two gaps before it. */
	for (int n = 10; n < 70; n++) {
		CHECK(has_lost(receiver));
		hear_datagram(receiver, 0, 0, 0);
	}
	CHECK(has_lost(receiver));
	hear_datagram(receiver, 0, 0, 0);
	CHECK(!has_lost(receiver));
	end(&call->application);
}

TEST(a_loss_of_every_datagram_for_long_fills_no_more_than_the_gaps_of_the_mean)
{
	struct call *call = call_of();

	for (uint64_t n = 0; n < 100; n++)
		hear_datagram(&call->receiver, n * MS, MS, n > 0);
	CHECK_EQ(call->receiver.ngaps, GAPS);
	/* Each gap is one datagram. */
	for (int i = 0; i < GAPS; i++)
		CHECK_EQ(call->receiver.gaps[i], 1);
	end(&call->application);
}

TEST(a_datagram_that_comes_tells_how_many_before_it_were_lost)
{
	struct call *call = call_of();
	struct application *both = &call->application;
	uint64_t sent[1000], now = 0;

	/* Its first decision waits for nothing; a later one tells that the one before is sent.
	 */
	next(both, END_FROM, now);
	for (int n = 0; n < 1000; n++) {
		sent[n] = now;
		now += next(both, END_FROM, now).wait_ns;
		/* Half of them are heard late, and of these each tenth alone. */
		if (n >= 500 && n % 10 == 0)
			hears(both, END_TO, now, sent[n - 500], MS);
	}
	CHECK_EQ(call->sent.count, 1000 - 491);
	CHECK_EQ(call->receiver.ngaps, GAPS);
	/* A datagram that another overtook is no news. */
	hears(both, END_TO, now, sent[3], MS);
	CHECK_EQ(call->sent.count, 1000 - 491);
	hears(both, END_TO, now, sent[999], MS);
	CHECK_EQ(call->sent.count, 0);
	CHECK_EQ(note_at(&call->receiver.window, call->receiver.window.count - 1)->lost, 508);
	end(both);
}
