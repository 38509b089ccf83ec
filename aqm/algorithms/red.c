// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// red.c: Random Early Detection, Floyd and Jacobson, "Random Early Detection Gateways
// for Congestion Avoidance", IEEE/ACM ToN 1(4), 1993; gentle RED, Floyd 2000; Adaptive
// RED, Floyd, Gummadi and Shenker, 2001.

#include "aqm.h"
#include "law/red.h"

struct red_conf {
	u32 min, max; /* packets; of avpkt bytes each in byte mode */
	u32 probability;
	u32 weight;
	u32 avpkt;
	u32 mode;
	u32 form;
	u32 harddrop;
	u64 tupdate;
};

enum { RED_PACKETS, RED_BYTES };
enum { RED_CLASSIC, RED_GENTLE, RED_ADAPTIVE };

struct red_state {
	struct red_average avg; /* first: law/red.h's calls find it there */
	u32 min, max, top; /* in what is counted; from top on every packet gets the signal */
	u32 max_p;
	u32 count; /* 1 + RED's count: packets between the thresholds since a signal */
	u32 prob;
	u64 average; /* whole packets, for the reader */
	struct aqm_rng rng;
};
_Static_assert(!offsetof(struct red_state, avg), "law/red.h");

static const char *const red_modes[] = {"packets", "bytes"};
static const char *const red_forms[] = {"classic", "gentle", "adaptive"};

/* Adaptive RED: figure 1, and the range of section 4.1. */
#define ARED_LEAST 42949673u /* 0.01 */
#define ARED_MOST  (1u << 31)
#define ARED_STEP  42949673u
/* From one end of the range 0.9^38 reaches the other; upwards it takes 55 steps. */
#define ARED_STEPS_MAX 64

/* clang-format off */
static const struct aqm_field params[] = {
	/* Thresholds, probability and weight of the paper's simulations. */
	AQM_ROW(1, AQM_U32, red_conf, min, AQM_PKTS, 5, 1, (1u << 17) - 1, 0,
		"average queue below which every packet is let in"),
	AQM_ROW(2, AQM_U32, red_conf, max, AQM_PKTS, 15, 1, 1u << 17, 0,
		"average queue from which on all get the signal; gentle: from twice this on"),
	AQM_ROW(3, AQM_U32, red_conf, probability, AQM_PROB, 85899346, 1, U32_MAX, 0,
		"signal probability just below max; adaptive: where it begins"),
	AQM_ROW(4, AQM_U32, red_conf, weight, AQM_LOG2, 9, 0, 20, 0,
		"the average moves by 2^-weight of the difference; 0: it is the queue"),
	AQM_ROW(5, AQM_U32, red_conf, avpkt, AQM_BYTES, 1000, 1, 65535, 0,
		"mean packet, for the decay while idle and for thresholds in bytes"),
	AQM_ROW_OF_CHOICES(6, red_conf, mode, red_modes, RED_PACKETS, RED_BYTES, AQM_FIXED,
		"what is counted; in bytes a packet's probability is in proportion to its size"),
	AQM_ROW_OF_CHOICES(7, red_conf, form, red_forms, RED_CLASSIC, RED_ADAPTIVE, AQM_FIXED,
		"above max: probability 1, or gently up to 1; adaptive: that at max moves"),
	AQM_ROW(8, AQM_BOOL, red_conf, harddrop, AQM_COUNT, 0, 0, 1, 0,
		"where every packet gets the signal, drop also those that could be marked"),
	AQM_ROW(9, AQM_U64, red_conf, tupdate, AQM_NS, 500 * NS_PER_MS, NS_PER_MS, 100 * NS_PER_S, AQM_PERIOD,
		"adaptive: time between updates of the probability at max"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U64, red_state, "average", average, AQM_PKTS, 0, "average queue"),
	AQM_STAT(2, AQM_U32, red_state, "prob", prob, AQM_PROB, 0,
		"signal probability of the last arrival, of the largest packet"),
	AQM_STAT(3, AQM_U32, red_state, "max_prob", max_p, AQM_PROB, 0,
		"signal probability just below max"),
	AQM_END,
};
/* clang-format on */

/* One of what is counted, in packets. */
static u32 unit(const struct red_conf *c)
{
	return c->mode == RED_BYTES ? c->avpkt : 1;
}

static const char *check(const void *conf)
{
	const struct red_conf *c = conf;

	if (c->min > c->max)
		return "min must not be larger than max";
	if (2 * (u64)c->max * unit(c) > RED_LONGEST)
		return "in bytes, max times avpkt is at most 64 MiB";
	return NULL;
}

static void configure(void *st, const void *conf, const struct aqm_view *view)
{
	struct red_state *s = st;
	const struct red_conf *c = conf;

	(void)view;
	s->min = c->min * unit(c);
	s->max = c->max * unit(c);
	s->top = c->form == RED_CLASSIC ? s->max : 2 * s->max;
	if (c->form != RED_ADAPTIVE)
		s->max_p = c->probability;
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct red_state *s = st;
	const struct red_conf *c = conf;

	s->avg.empty_ns = now;
	rng_seed(&s->rng, seed, 0);
	if (c->form != RED_ADAPTIVE)
		return AQM_NEVER;
	s->max_p = (u32)min64(max64(c->probability, ARED_LEAST), ARED_MOST);
	return now + c->tupdate;
}

static void measure(struct red_state *s, const struct red_conf *c, u64 now,
                    const struct aqm_view *view)
{
	u32 q = c->mode == RED_BYTES ? view->bytes : view->pkts;

	red_update(&s->avg, now, q, c->weight, red_rate(view->rate_bytes_s), c->avpkt);
	s->average = div64(s->avg.scaled >> RED_FRACTION, unit(c));
	s->prob = 0;
}

/* p_b: up to max as in 1993, and from there gently on. */
static u32 slope(const struct red_state *s)
{
	u64 max = red_scaled(s->max);

	if (s->avg.scaled < max)
		return red_slope_q32(&s->avg, s->min, s->max, s->max_p);
	return (u32)min64(s->max_p +
	                          muldiv64((1ull << 32) - s->max_p, s->avg.scaled - max, max),
	                  U32_MAX);
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct red_state *s = st;
	const struct red_conf *c = conf;
	u32 p;

	measure(s, c, now, view);
	if (s->avg.scaled < red_scaled(s->min)) {
		s->count = 0;
		return aqm_pass();
	}
	if (s->avg.scaled >= red_scaled(s->top)) {
		s->count = 1;
		return c->harddrop ? aqm_drop(AQM_WHY_THRESHOLD)
		                   : aqm_signal(view, pkt, AQM_WHY_THRESHOLD);
	}
	p = s->prob = slope(s);
	if (c->mode == RED_BYTES)
		p = (u32)min64(muldiv64(p, pkt->len, view->mtu_bytes), U32_MAX);
	if (!red_signals(&s->rng, p, s->count++))
		return aqm_pass();
	s->count = 1;
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

/* Not in the paper, whose queue has no limit: one more forced drop. */
static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct red_state *s = st;

	(void)pkt;
	measure(s, conf, now, view);
	s->count = 1;
	return aqm_drop(AQM_WHY_LIMIT);
}

/* Which way max_p goes at `now`: 1 up, -1 down. For an idle link the average
 * is that of an arrival at `now`. */
static int side(const struct red_state *s, const struct red_conf *c, u64 now,
                const struct aqm_view *view)
{
	u64 fifth = div64(red_scaled(s->max - s->min), 5);
	u64 low = red_scaled(s->min) + 2 * fifth;
	u64 avg = s->avg.scaled;

	if (!view->pkts)
		avg = red_aged(&s->avg, now, c->weight, red_rate(view->rate_bytes_s), c->avpkt);
	return avg > low + fifth ? 1 : avg < low ? -1 : 0;
}

static void move(struct red_state *s, int way)
{
	if (way > 0 && s->max_p <= ARED_MOST)
		s->max_p += (u32)min64(ARED_STEP, s->max_p >> 2);
	else if (way < 0 && s->max_p >= ARED_LEAST)
		s->max_p -= (u32)div64(s->max_p, 10);
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct red_state *s = st;
	const struct red_conf *c = conf;

	move(s, side(s, c, now, view));
	return now + c->tupdate;
}

/* Only the clock changes the average, and only downwards: first some updates up,
 * then some that change nothing, and the last ones down. Of each kind no more than a few
 * dozen count. */
static u64 idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	struct red_state *s = st;
	const struct red_conf *c = conf;
	u64 after, t;
	u32 n;

	after = grid_after(from, to, c->tupdate);
	for (t = from, n = 0; n < ARED_STEPS_MAX && t < after && side(s, c, t, view) > 0; n++) {
		move(s, 1);
		t += c->tupdate;
	}
	for (t = after, n = 0; n < ARED_STEPS_MAX && t > from; n++) {
		t -= c->tupdate;
		if (side(s, c, t, view) >= 0)
			break;
		move(s, -1);
	}
	return after;
}

const struct aqm_algo aqm_red = {
        .name = "red",
        .brief = "signals with a probability that grows with the average queue",
        .source = "Floyd, Jacobson, ToN 1993; Floyd 2000; Floyd, Gummadi, Shenker 2001",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL,
        .queues = 1,
        .conf_bytes = sizeof(struct red_conf),
        .state_bytes = sizeof(struct red_state),
        .params = params,
        .stats = stats,
        .check = check,
        .configure = configure,
        .start = start,
        .enqueue = enqueue,
        .overflow = overflow,
        .dequeue = red_dequeue,
        .gone = red_gone,
        .tick = tick,
        .idle = idle,
};
