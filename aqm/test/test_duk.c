// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_duk.c: Eq. 9, the estimate of capacity, the search for the interval.

#include <math.h>

#include "host.h"
#include "law/capacity.h"
#include "law/duk.h"
#include "law/duk_alg2.h"
#include "law/duk_interval.h"
#include "test.h"

extern const struct aqm_algo aqm_duk;

static s64 q20(double x)
{
	return (s64)lround(x * (double)DUK_ONE);
}

/* Eq. 9 in exact rationals, worked out by hand from A, B, C, U before, d, n. */
TEST(probability_is_that_of_the_worked_vectors)
{
	static const struct {
		u32 a, b, c;
		double was, d;
		u32 n;
		double used, t, p;
	} v[] = {
	        {30000, 25000, 25000, 1, .5, 10, 1, 0, 1. / 6},
	        {25000, 25000, 25000, 1, 0, 10, 1, 0, 0},
	        {30000, 25000, 25000, .8, .5, 10, 1, .0231579, .1473684},
	        {30000, 25000, 25000, .8, .5, 1, 1, .8, 0},
	        {30000, 25000, 25000, .8, 5, 10, 1, -.0169231, .1807692},
	        {20000, 20000, 25000, 1, -1, 10, .8, -.0314286, .0392857},
	        {30000, 20000, 25000, 1, 2, 10, .8, -.01, .3416667},
	        {250000, 125000, 125000, .5, 3, 1, 1, -1. / 3, 2. / 3},
	        /* more was sent than the estimate allows for; at last the far bound */
	        {30000, 27500, 25000, 1, .5, 1, 1.1, -.1, 1. / 6},
	        {40000, 27500, 25000, .9, 0, 1, 1.1, 2. / 15, 11. / 48},
	        {40000, 27500, 25000, 1.3, 0, 1, 1.1, -2. / 15, 19. / 48},
	        {250000, 125000, 25000, 3.5, 0, 1, 4, 1. / 3, 7. / 15},
	};
	u32 i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct duk_sample s = {v[i].a,        v[i].b,      v[i].c,
		                       q20(v[i].was), q20(v[i].d), v[i].n};
		s64 used, y;
		u32 p = duk_probability(&s, true, &used);

		y = used - s.was_used;
		CHECK_NEAR(used, q20(v[i].used), 1);
		CHECK_NEAR(y ? duk_correction(y, s.delay_change, s.ticks) : 0, q20(v[i].t), 60);
		CHECK_NEAR(p / 4294967296., v[i].p, 1e-4);
	}
}

TEST(the_pole_saturates_upward)
{
	CHECK_EQ(duk_correction(q20(.1), (s64)12 * q20(.1), 10), DUK_T_MAX);
	CHECK(duk_correction(q20(.1), (s64)12 * q20(.1) + 1, 10) == -DUK_T_MAX);
}

TEST(no_capacity_known_means_no_correction)
{
	struct duk_sample s = {30000, 25000, 25000, q20(.8), q20(.5), 10};
	s64 used;

	CHECK_NEAR(duk_probability(&s, false, &used) / 4294967296., 1. / 6, 1e-6);
	s.arrived = 0;
	CHECK_EQ(duk_probability(&s, true, &used), 0);
}

TEST(a_link_that_has_never_sent_anything_is_not_used)
{
	CHECK_EQ(duk_used(0, 0), 0);
}

/* 200 Gbit/s for 1024 ticks of a second. */
TEST(very_many_bytes_are_as_good_as_few)
{
	u64 much = 25600000000000;
	struct duk_sample s = {much * 3 / 2, much, much, q20(.8), 0, 1024};
	s64 used;

	CHECK_EQ(duk_used(much, much), DUK_ONE);
	CHECK_EQ(duk_used(much + much / 8, much), DUK_ONE * 9 / 8);
	CHECK_EQ(duk_used(much, much * 4), DUK_ONE / 4);
	CHECK_EQ(duk_used(much * 5, much), 4 * DUK_ONE);
	CHECK_NEAR(duk_probability(&s, true, &used) / 4294967296., 1. / 3, 1e-3);
}

/* Against floating point, away from the pole, over the range the format promises. */
TEST(fixed_point_follows_the_exact_law)
{
	struct aqm_rng r;
	u32 i, far = 0;

	rng_seed(&r, 9, 9);
	for (i = 0; i < 100000; i++) {
		u64 c = 1000 + ((u64)rng_u32(&r) << rng_below(&r, 3));
		u64 b = rng_u32(&r) % (4 * c),
		    a = 1 + (u64)((double)b * (0.5 + rng_below(&r, 300) / 100.));
		u32 n = 1 + rng_below(&r, 1024);
		double was = rng_below(&r, 4001) / 1000.,
		       d = (rng_below(&r, 4001) - 2000.) / 100;
		struct duk_sample s = {a, b, c, q20(was), q20(d), n};
		double y = (double)b / (double)c - was, top = y * y * (1 + n);
		double t = y != 0 ? top / (n * (y * (2 + n) - d)) : 0, p;
		s64 used;
		u32 got = duk_probability(&s, true, &used);

		if (fabs(t) > 16)
			continue;
		p = 1 - ((double)b + (double)c * t) / (double)a;
		p = p < 0 ? 0 : p > 1 ? 1 : p;
		far += fabs(got / 4294967296. - p) > 1e-3;
	}
	CHECK(far <= 20); /* next to the pole of T */
}

TEST(capacity_is_that_of_busy_periods)
{
	struct capacity c = {0};
	u32 i;

	capacity_departure(&c, 0, 1000, 1, NS_PER_S);
	for (i = 1; i < 10; i++)
		capacity_departure(&c, i * 1000, 1000, 1, NS_PER_S);
	capacity_interval(&c, 10000, 10000);
	CHECK_EQ(capacity_bytes(&c, 10000), 10000); /* first interval, nothing better */
	for (; i < 20; i++)
		capacity_departure(&c, 9000 + (i - 9) * 2000, 1000, 1, NS_PER_S);
	capacity_interval(&c, 20000, 10000);
	CHECK_NEAR(capacity_bytes(&c, 10000), 5000, 300);
	CHECK_NEAR(capacity_packet_ns(&c), 2000, 150);
}

TEST(an_idle_link_does_not_lower_the_capacity)
{
	struct capacity c = {0};
	u32 i, k;

	for (k = 0; k < 5; k++) {
		for (i = 0; i < 10; i++)
			capacity_departure(&c, k * 1000000 + i * 1000, 1000, i < 9, NS_PER_S);
		capacity_interval(&c, 1000000, 10000);
	}
	CHECK_EQ(capacity_bytes(&c, 10000), 10000);
}

TEST(a_fetch_in_bursts_averages_out)
{
	struct capacity c = {0};
	u32 i;

	for (i = 0; i < 400; i++) {
		capacity_departure(&c, (i / 4) * 4000, 1000, 1, NS_PER_S);
		if (i % 80 == 79)
			capacity_interval(&c, 80000, 80000);
	}
	CHECK_NEAR(capacity_bytes(&c, 80000), 80000, 4000);
}

TEST(time_in_which_the_link_stands_is_no_service)
{
	struct capacity c = {0};
	u32 i;

	for (i = 0; i < 10; i++)
		capacity_departure(&c, i * 1000, 1000, 1, 50000);
	capacity_interval(&c, 10000, 10000);
	capacity_departure(&c, 9000 + 50000, 1000, 1, 50000); /* a slow packet still */
	CHECK_EQ(c.sum.ns, 50000);
	capacity_departure(&c, 59000 + 50001, 1000, 1, 50000);
	CHECK_EQ(c.sum.gaps, 1);
	CHECK_EQ(c.sum.ns, 50000);
	CHECK(c.fresh);
	capacity_departure(&c, 110000 + 1, 1000, 1, 50000); /* saved-up credit, perhaps */
	CHECK_EQ(c.sum.gaps, 1);
	CHECK_EQ(c.first.gaps, 1);
}

/* ---- the interval ---- */

/* A link of 100 Mbit/s with full packets and a clock of 1 ms, on which utilisation
 * depends on the interval alone. */
struct link {
	struct duk_interval d;
	u32 pct[DUK_RUNGS];
};

#define PACKET_NS 121120

static struct link link_new(u32 short_pct, u32 long_pct, u32 first_long)
{
	struct link l = {0};
	u32 i;

	for (i = 0; i < DUK_RUNGS; i++)
		l.pct[i] = i < first_long ? short_pct : long_pct;
	duk_interval_start(&l.d);
	return l;
}

/* One epoch: intervals with enough signals for it, at the rung under way. */
static void epochs(struct link *l, u32 n)
{
	while (n--) {
		u64 ns = 0;

		do {
			u32 ticks = duk_ticks(&l->d, l->d.rung);
			u64 could = (u64)ticks * 12500;
			struct duk_interval_sample s = {.ns = ticks * NS_PER_MS,
			                                .arrived = could * 3 / 2,
			                                .sent = could * l->pct[l->d.rung] / 100,
			                                .could = could,
			                                .packet_ns = PACKET_NS,
			                                .tick_ns = NS_PER_MS,
			                                .mtu_bytes = 1514,
			                                .signals = 16};

			duk_interval_next(&l->d, &s);
			ns = l->d.ns;
		} while (ns);
	}
}

TEST(an_epoch_has_signals_enough_and_packets_enough)
{
	struct duk_interval d = {.shortest = 1, .rung = DUK_BOOT};
	struct duk_interval_sample s = {.ns = NS_PER_MS,
	                                .arrived = 20000,
	                                .sent = 12500,
	                                .could = 12500,
	                                .packet_ns = PACKET_NS,
	                                .tick_ns = NS_PER_MS,
	                                .mtu_bytes = 1514,
	                                .signals = DUK_EPOCH};
	u32 i;

	for (i = 0; i < 12; i++) {
		duk_interval_next(&d, &s);
		CHECK(d.ns > 0); /* 12 * 12500 < 100 * 1514 */
	}
	duk_interval_next(&d, &s);
	CHECK_EQ(d.ns, 0);
	s.could = s.sent = 200000;
	duk_interval_next(&d, &s);
	CHECK(d.ns > 0); /* one interval is too few */
	duk_interval_next(&d, &s);
	CHECK_EQ(d.ns, 0);
	s.signals = DUK_EPOCH / 2 - 1;
	duk_interval_next(&d, &s);
	duk_interval_next(&d, &s);
	CHECK(d.ns > 0);
}

TEST(the_interval_shrinks_to_one_tick_where_the_rate_allows)
{
	struct link l = link_new(90, 100, 1); /* a packet is 12 % of one tick here */

	epochs(&l, 3 + 2 * DUK_BOOT); /* the level is met; two for each rung */
	CHECK_EQ(l.d.rung, 0);
	epochs(&l, 100);
	CHECK_EQ(l.d.at[l.d.level].rung, 0);
}

TEST(the_interval_stays_where_half_of_it_costs_rate)
{
	struct link l = link_new(80, 100, 3);
	u32 i, at_8 = 0;

	epochs(&l, 10);
	for (i = 0; i < 320; i++) {
		epochs(&l, 1);
		CHECK(l.d.rung >= 2 && l.d.rung <= 4);
		at_8 += l.d.rung == 3;
	}
	CHECK(at_8 > 290);
}

TEST(small_losses_do_not_add_up)
{
	/* each halving costs less than a packet per interval; all of them far more */
	struct link l = link_new(0, 100, 0);
	u32 i;

	for (i = 0; i < 5; i++)
		l.pct[i] = 100 - (4 - i) * (4 - i) * 5; /* 20, 55, 80, 95, 100 */
	epochs(&l, 60);
	/* one packet is 12 % of one tick, 6 % of two, 3 % of four */
	CHECK(l.d.at[l.d.level].rung >= 4);
}

TEST(an_interval_that_has_become_too_short_is_left)
{
	struct link l = link_new(100, 100, 0);
	u32 i;

	epochs(&l, 20);
	CHECK_EQ(l.d.rung, 0);
	for (i = 0; i < 3; i++)
		l.pct[i] = 70;
	epochs(&l, 100);
	CHECK(l.d.at[l.d.level].rung >= 3);
}

TEST(a_longer_interval_is_tried_while_it_could_gain)
{
	struct link l = link_new(0, 100, 0);
	u32 i;

	for (i = 0; i < 6; i++)
		l.pct[i] = 40 + 10 * i;
	epochs(&l, 20);
	CHECK_EQ(l.d.at[l.d.level].rung, 6);
}

/* 20 % at up to 32 ticks, 85 % beyond: from one tick no neighbour shows it */
TEST(a_trial_goes_on_past_rungs_that_gain_nothing)
{
	static const u32 tried[] = {0, 1, 1, 2, 2, 4, 4, 8, 8};
	struct link l = link_new(20, 85, 6);
	struct duk_level *known;
	u32 i;

	epochs(&l, 1);
	known = &l.d.at[l.d.level];
	known->rung = 0;
	l.d.rung = 0;
	for (i = 0; i < 9; i++) {
		epochs(&l, 1);
		CHECK_EQ(l.d.rung, tried[i]);
	}
	epochs(&l, 1);
	CHECK_EQ(known->rung, 8);
	epochs(&l, 100);
	CHECK_EQ(known->rung, 6);
}

TEST(a_trial_that_gains_nothing_ends_at_the_longest_interval)
{
	struct link l = link_new(50, 50, 1);
	struct duk_level *known;
	u32 i, longest = 0;

	epochs(&l, 1);
	known = &l.d.at[l.d.level];
	for (i = 0; i < 200; i++) {
		epochs(&l, 1);
		CHECK(l.d.rung < DUK_RUNGS);
		longest += l.d.rung == DUK_RUNGS - 1;
	}
	CHECK_EQ(known->rung, 0);
	CHECK(longest >= 2 && longest < 20);
	CHECK_EQ(known->wait, DUK_EPOCH);
}

TEST(the_first_epoch_after_a_change_is_left_out)
{
	struct link l = link_new(100, 100, 0);
	u32 level;

	epochs(&l, 2);
	level = l.d.level;
	CHECK(!l.d.fresh);
	CHECK_EQ(l.d.at[level].epochs[DUK_BOOT], 0);
	epochs(&l, 1);
	CHECK_EQ(l.d.at[level].epochs[DUK_BOOT], 1);
	CHECK_EQ(l.d.rung, DUK_BOOT - 1);
	CHECK(l.d.fresh);
	epochs(&l, 1);
	CHECK_EQ(l.d.at[level].epochs[DUK_BOOT - 1], 0);

	/* a level met before comes back with its rung; so does its newness */
	l.d.at[90] = (struct duk_level){.rung = 7, .wait = 1};
	l.d.ingress_bytes_s = 125000000;
	epochs(&l, 1);
	CHECK_EQ(l.d.level, 90);
	CHECK_EQ(l.d.rung, 7);
	epochs(&l, 1);
	CHECK_EQ(l.d.at[90].epochs[7], 0);
	epochs(&l, 1);
	CHECK_EQ(l.d.at[90].epochs[7], 1);
}

TEST(no_interval_is_shorter_than_a_packet)
{
	struct duk_interval d = {.shortest = 1};
	struct duk_interval_sample s = {.ns = NS_PER_MS,
	                                .could = 1,
	                                .packet_ns = 2422400,
	                                .tick_ns = NS_PER_MS,
	                                .mtu_bytes = 1514};

	CHECK_EQ(duk_interval_next(&d, &s), 3);
	s.packet_ns = 0;
	CHECK_EQ(duk_interval_next(&d, &s), 1);
}

TEST(no_interval_is_longer_than_1024_ticks)
{
	struct duk_interval d = {.shortest = 1, .rung = 2};
	struct duk_interval_sample s = {.ns = NS_PER_MS,
	                                .could = 1,
	                                .packet_ns = 300 * NS_PER_MS,
	                                .tick_ns = NS_PER_MS,
	                                .mtu_bytes = 1514};

	CHECK_EQ(duk_interval_next(&d, &s), 1024);
	s.packet_ns = 200 * NS_PER_MS;
	CHECK_EQ(duk_interval_next(&d, &s), 800);
	s.packet_ns = 60 * NS_PER_S;
	d.rung = 0;
	CHECK_EQ(duk_interval_next(&d, &s), 1024);
}

TEST(an_unmet_level_starts_on_the_line)
{
	struct duk_interval d = {.shortest = 1, .rung = 5};

	CHECK_EQ(duk_line(&d, 50), 32);
	d.at[20] = (struct duk_level){.rung = 3, .wait = 1};
	CHECK_EQ(duk_line(&d, 90), 8);
	d.at[60] = (struct duk_level){.rung = 2, .wait = 1};
	CHECK_EQ(duk_line(&d, 40), 6);
	CHECK_EQ(duk_line(&d, 80), 2);
	CHECK_EQ(duk_line(&d, 99), 0);
	d.at[60].rung = 5; /* rising: the mean */
	CHECK_EQ(duk_line(&d, 80), 20);
	duk_meet(&d, 80);
	CHECK_EQ(d.at[80].rung, 4);
}

TEST(the_line_ends_at_the_longest_interval)
{
	struct duk_interval d = {.shortest = 1};

	d.at[60] = (struct duk_level){.rung = DUK_RUNGS - 1, .wait = 1};
	d.at[80] = (struct duk_level){.rung = 0, .wait = 1};
	CHECK_EQ(duk_line(&d, 0), DUK_LONGEST);
	duk_meet(&d, 0);
	CHECK_EQ(d.at[0].rung, DUK_RUNGS - 1);
}

TEST(the_level_is_the_excess_of_ingress)
{
	struct duk_interval d = {.ingress_bytes_s = 12500000, .could = 2500000, .ns = NS_PER_S};

	CHECK_EQ(duk_congestion(&d), 80);
	d.could = 20000000;
	CHECK_EQ(duk_congestion(&d), 0);
}

/* ---- Algorithm 2 ---- */

/* All points it stores have the interval it began with, and so has each line through them. */
TEST(algorithm_2_stays_where_it_began)
{
	struct aqm_rng r;
	u32 first, i;

	rng_seed(&r, 2, 2);
	for (first = 1; first <= 1024; first *= 4) {
		struct duk_alg2 d = {0};
		u32 ticks = first;

		for (i = 0; i < 10000; i++) {
			ticks = duk_alg2_next(&d, rng_below(&r, DUK_LEVELS), ticks,
			                      rng_u32(&r));
			CHECK_EQ(ticks, first);
		}
		CHECK_EQ(d.points, DUK_LEVELS);
	}
}

/* Worked by hand: (20, 8) and (60, 4) are on 10 - P / 10; with (80, 1) the mean is
 * (160/3, 13/3), the sums of products and squares -640/3 and 5600/3: m = -4/35, and c =
 * 13/3 + 160/3 * 4/35 = 10.43. */
TEST(algorithm_2_follows_its_line)
{
	struct duk_alg2 d = {0};

	CHECK_EQ(duk_alg2_next(&d, 20, 8, 1000), 8);
	CHECK_EQ(duk_alg2_next(&d, 20, 5, 9000), 5); /* the level stays */
	CHECK_EQ(duk_alg2_next(&d, 60, 4, 1000), 4);
	CHECK_EQ(duk_alg2_line(&d, 0), 10);
	CHECK_EQ(duk_alg2_line(&d, 34), 7); /* 6.6 */
	CHECK_EQ(duk_alg2_line(&d, 35), 7); /* 6.5 */
	CHECK_EQ(duk_alg2_line(&d, 36), 6); /* 6.4 */
	CHECK_EQ(duk_alg2_line(&d, 99), 1); /* 0.1 */
	CHECK_EQ(duk_alg2_next(&d, 80, 1, 1000), 1);
	CHECK_EQ(duk_alg2_line(&d, 0), 10);
	CHECK_EQ(duk_alg2_line(&d, 40), 6); /* 5.86 */
}

TEST(algorithm_2_keeps_the_shortest_interval_that_costs_nothing)
{
	struct duk_alg2 d = {.at = {[60] = {1000, 4}, [20] = {1000, 8}}, .points = 2};

	duk_alg2_learn(&d, 60, 2, 499);  /* shorter, and less in that time */
	duk_alg2_learn(&d, 60, 4, 9999); /* not shorter */
	duk_alg2_learn(&d, 60, 5, 9999);
	CHECK_EQ(d.at[60].ticks, 4);
	CHECK_EQ(d.at[60].sent, 1000);
	duk_alg2_learn(&d, 60, 2, 500); /* as much in that time */
	CHECK_EQ(d.at[60].ticks, 2);
	CHECK_EQ(d.at[60].sent, 500);
	CHECK_EQ(d.points, 2);
}

TEST(the_line_of_algorithm_2_has_bounds)
{
	struct duk_alg2 d = {.at = {[10] = {1, 900}, [11] = {1, 1024}}, .points = 2};

	CHECK_EQ(duk_alg2_line(&d, 12), 1024);
	CHECK_EQ(duk_alg2_line(&d, 99), 1024);
	CHECK_EQ(duk_alg2_line(&d, 0), 1);
	CHECK_EQ(duk_alg2_line(&d, 3), 32);
	CHECK_EQ(duk_alg2_line(&d, 2), 1); /* 900 - 8 * 124 < 0 */
}

/* ---- the whole ---- */

static struct bench begin_with(const char *row, u64 value, u64 start_ns)
{
	struct bench b = bench_new(&aqm_duk, 4000, start_ns);

	set_row(&b, "limit", 4000);
	set_row(&b, row, value);
	CHECK(!bench_start(&b, 1).sentence);
	return b;
}

static struct bench begin(u64 start_ns)
{
	return begin_with("limit", 4000, start_ns);
}

/* `in` arrivals for each 10 departures, so many of these in a millisecond. */
static void load_link(struct bench *b, u32 ms, u32 in, u32 per_ms)
{
	u32 i;

	for (i = 0; i < ms * per_ms; i++) {
		b->now += NS_PER_MS / per_ms;
		if (i % 10 < in)
			arrive(b, 0, 1250, 0);
		if (i % 10 + 10 < in)
			arrive(b, 0, 1250, 0);
		leave(b);
	}
}

static void load(struct bench *b, u32 ms, u32 in)
{
	load_link(b, ms, in, 10);
}

TEST(excess_is_signalled_and_the_queue_stays)
{
	struct bench b = begin(((u64)1 << 63) - 100 * NS_PER_MS);

	load(&b, 2000, 15);
	CHECK_NEAR((double)drops(&b) / (double)b.q->count.in_pkts, 1. / 3, .02);
	CHECK_NEAR(stat(&b, "rate"), 12500000, 100);
	CHECK_EQ(stat(&b, "interval"), NS_PER_MS);
	CHECK_EQ(bad_verdicts(&b), 0);
	bench_end(&b);
}

TEST(each_rule_finds_an_interval)
{
	static const u64 found_ms[] = {1, 3, 3};
	u32 rule;

	/* each packet takes 2.5 ms; alg2 begins with the same interval for any packet */
	for (rule = 0; rule < 3; rule++) {
		struct bench b = begin_with("interval_rule", rule, 0);
		u32 i;

		for (i = 0; i < 20000; i++) {
			b.now += 2500000;
			arrive(&b, 0, 1250, 0);
			arrive(&b, 0, 1250, 0);
			leave(&b);
		}
		CHECK_EQ(stat(&b, "interval"), found_ms[rule] * NS_PER_MS);
		CHECK_EQ(bad_verdicts(&b), 0);
		bench_end(&b);
	}
}

TEST(the_interval_has_one_source)
{
	static const struct {
		u64 fixed, rule, first;
		bool good;
	} v[] = {{0, 0, 64, true},         {0, 1, 1, true},          {0, 2, 1, true},
	         {0, 1, 2, false},         {0, 2, 2, false},         {NS_PER_MS, 0, 1, true},
	         {NS_PER_MS, 1, 1, false}, {NS_PER_MS, 2, 1, false}, {NS_PER_MS, 0, 64, false},
	         {NS_PER_MS, 0, 2, false}};
	u32 i;

	for (i = 0; i < 10; i++) {
		struct bench b = bench_new(&aqm_duk, 8, 0);

		set_row(&b, "fixed_interval", v[i].fixed);
		set_row(&b, "interval_rule", v[i].rule);
		set_row(&b, "first_interval", v[i].first);
		CHECK_EQ(!aqm_duk.check(b.conf), v[i].good);
		bench_end(&b);
	}
}

/* However long the link stops, ten seconds later the interval is as before. Two packets
 * leave in a millisecond: with fewer, each one's service would take up more of the stop. */
TEST(a_stopped_link_is_forgotten_within_ten_seconds)
{
	static const u32 stops_ms[] = {5, 100, 900, 1020, 1030, 3000, 60000};
	u32 i, step;

	for (i = 0; i < 7; i++) {
		struct bench b = begin(0);
		u64 dropped, came;

		load_link(&b, 2000, 15, 2);
		for (step = 0; step < 100; step++) { /* some still arrive */
			b.now += stops_ms[i] * NS_PER_MS / 100;
			arrive(&b, 0, 1250, 0);
		}
		load_link(&b, 10000, 15, 2);
		CHECK_EQ(stat(&b, "interval"), NS_PER_MS);
		CHECK_NEAR(stat(&b, "rate"), 2500000, 100);
		dropped = drops(&b);
		came = b.q->count.in_pkts;
		load_link(&b, 2000, 15, 2);
		dropped = drops(&b) - dropped;
		came = b.q->count.in_pkts - came;
		CHECK_NEAR((double)dropped / (double)came, 1. / 3, .1); /* p is noisy here */
		bench_end(&b);
	}
}

/* Else the next departure would end a gap of most of a second. */
TEST(an_eviction_that_empties_the_queue_ends_the_busy_period)
{
	struct bench b = begin(0);
	u32 i;

	load(&b, 1000, 15);
	b.setup.limit_bytes = 1;
	CHECK(!bench_change(&b).sentence);
	CHECK_EQ(b.q->pkts, 0);
	b.now += 900 * NS_PER_MS;
	b.setup.limit_bytes = U32_MAX;
	CHECK(!bench_change(&b).sentence);
	for (i = 0; i < 20; i++) {
		load(&b, 1, 15);
		CHECK_NEAR(stat(&b, "rate"), 12500000, 100);
	}
	bench_end(&b);
}

TEST(an_empty_queue_gets_no_signal)
{
	struct bench b = begin(0);

	load(&b, 500, 5);
	CHECK_EQ(drops(&b), 0);
	load(&b, 200, 15);
	while (leave(&b) != AQM_NIL)
		;
	b.now += 100 * NS_PER_MS;
	catch_up(&b);
	CHECK_EQ(stat(&b, "prob"), 0);
	CHECK_EQ(stat(&b, "delay"), 0);
	bench_end(&b);
}

TEST(the_first_two_intervals_signal_nothing)
{
	struct bench b = begin_with("interval_rule", 1, 0); /* 16 ticks each */

	load(&b, 31, 20);
	CHECK_EQ(drops(&b), 0);
	load(&b, 30, 20);
	CHECK(drops(&b) > 0);
	bench_end(&b);
}

TEST(a_fixed_interval_is_a_whole_number_of_ticks)
{
	static const struct {
		u64 tick, fixed;
		bool good;
	} v[] = {{NS_PER_MS, 0, true},
	         {NS_PER_MS, NS_PER_MS, true},
	         {NS_PER_MS, NS_PER_MS - 1, false},
	         {NS_PER_MS, 2 * NS_PER_MS + 1, false},
	         {NS_PER_MS * 3 / 2, 3 * NS_PER_MS, true},
	         {1, 1 << 26, true},
	         {1, (1 << 26) + 1, false}};
	u32 i;

	for (i = 0; i < 7; i++) {
		struct bench b = bench_new(&aqm_duk, 8, 0);

		set_row(&b, "tick", v[i].tick);
		set_row(&b, "fixed_interval", v[i].fixed);
		CHECK_EQ(!aqm_duk.check(b.conf), v[i].good);
		bench_end(&b);
	}
}

TEST(a_fixed_interval_stays)
{
	struct bench b = begin_with("fixed_interval", 10 * NS_PER_MS, 0);

	load(&b, 3000, 15);
	CHECK_EQ(stat(&b, "interval"), 10 * NS_PER_MS);
	bench_end(&b);
}
