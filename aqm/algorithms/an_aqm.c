// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// an_aqm.c: Adaptive Neuron AQM, Sun and Zukerman, "An Adaptive Neuron AQM for a Stable
// Internet", Networking 2007, LNCS 4479. The constants are not the paper's: see the page.

#include "aqm.h"
#include "law/integral.h"
#include "rng.h"

/* Queue error and rate mismatch, each as difference, as it is, and as second difference. */
#define SIGNALS 2
#define INPUTS  6

/* Inputs are Q27.36. A queue of 2^24 packets is an error below 2^24, and the mismatch is held
 * below that: a second difference is below 2^(24 + 36 + 2). */
#define INPUT_BITS 36
#define INPUT_ONE  ((u64)1 << INPUT_BITS)
#define INPUT_MOST ((u64)1 << (24 + INPUT_BITS))
/* Weights are Q15.48, from -1 to 1. */
#define WEIGHT_BITS 48
#define WEIGHT_ONE  ((u64)1 << WEIGHT_BITS)
#define RATE_BITS   16
/* Updates of an empty queue that run one by one before the probability is set to 0. First
 * weights and the default gain bring it from 1 to 0 in 300, of which 64 come before. */
#define IDLE_TICKS 384
/* After so many, neither signal has a difference any more: the first still has what came
 * before. */
#define STEADY_TICKS 3

struct an_aqm_conf {
	u64 interval;
	u32 qref;
	u32 gain, learning; /* Q0.32 */
};

struct an_aqm_state {
	s64 weight[INPUTS];
	s64 last[SIGNALS], before[SIGNALS]; /* at the last update, and at the one before it */
	u64 p;                              /* Q8.56 */
	u64 came;                           /* bytes since the last update */
	u64 updated_ns;
	u64 rate; /* of arrivals between the last two, bytes/s */
	u32 prob, by_queue;
	u32 idled; /* updates in a long silence; above IDLE_TICKS: at rest */
	struct aqm_rng rng;
};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U32, an_aqm_conf, qref, AQM_PKTS, 50, 1, 1u << 24, 0,
		"queue that the neuron holds"),
	AQM_ROW(2, AQM_U32, an_aqm_conf, gain, AQM_PROB, 42949673, 0, U32_MAX, 0,
		"K: move of the probability for a weighted input of 1"),
	AQM_ROW(3, AQM_U32, an_aqm_conf, learning, AQM_PROB, 429497, 0, U32_MAX, 0,
		"d: how fast all weights learn"),
	AQM_ROW(4, AQM_U64, an_aqm_conf, interval, AQM_NS, 6250000, 10000, 10 * NS_PER_S, AQM_PERIOD,
		"time between updates of the probability, T"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U32, an_aqm_state, "prob", prob, AQM_PROB, 0, "signal probability"),
	AQM_STAT(2, AQM_U64, an_aqm_state, "rate", rate, AQM_BYTES_PER_S, 0,
		"rate of arrivals in the last interval"),
	AQM_STAT(3, AQM_U32, an_aqm_state, "by_queue", by_queue, AQM_PROB, 0,
		"weight of the queue's inputs; the rate's have the others"),
	AQM_END,
};
/* clang-format on */

static u64 size_of(s64 x)
{
	return (u64)(x < 0 ? -x : x);
}

static s64 signed_as(u64 size, bool negative)
{
	return negative ? -(s64)size : (s64)size;
}

static void show(struct an_aqm_state *s)
{
	u64 sum = size_of(s->weight[0]) + size_of(s->weight[1]) + size_of(s->weight[2]);

	s->prob = integral_q32(s->p);
	s->by_queue = (u32)min64(sum >> (WEIGHT_BITS - 32), U32_MAX);
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct an_aqm_state *s = st;
	const struct an_aqm_conf *c = conf;
	u32 i;

	for (i = 0; i < INPUTS; i++)
		s->weight[i] = WEIGHT_ONE / INPUTS;
	rng_seed(&s->rng, seed, 0);
	s->updated_ns = now;
	show(s);
	return now + c->interval;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct an_aqm_state *s = st;

	(void)conf, (void)now;
	s->came += pkt->len;
	if (!rng_chance(&s->rng, s->prob))
		return aqm_pass();
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct an_aqm_state *s = st;

	(void)conf, (void)now, (void)view;
	s->came += pkt->len;
	return aqm_drop(AQM_WHY_LIMIT);
}

/* e / Q_ref. differs: the page says why not e. */
static s64 queue_error(const struct an_aqm_conf *c, u32 q)
{
	u64 apart = q > c->qref ? q - c->qref : c->qref - q;

	return signed_as(div64(apart << INPUT_BITS, c->qref), q < c->qref);
}

/* r / C - 1. The time since the last update is the interval, but for the first one after a
 * change of it. */
static s64 rate_mismatch(struct an_aqm_state *s, u64 now, u64 link_bytes_s)
{
	u64 r = muldiv64(s->came, NS_PER_S << RATE_BITS, now - s->updated_ns);

	s->rate = r >> RATE_BITS;
	r = muldiv64(r, (u64)1 << (INPUT_BITS - RATE_BITS), link_bytes_s);
	return (s64)min64(r, INPUT_MOST) - (s64)INPUT_ONE;
}

/* K times the weighted inputs. The weights' sizes add up to 1, so their sum is no larger
 * than the largest input. */
static s64 step(const struct an_aqm_state *s, const struct an_aqm_conf *c, const s64 *x)
{
	s64 sum = 0;
	u32 i;

	for (i = 0; i < INPUTS; i++)
		sum += signed_as(mulshift64(size_of(s->weight[i]), size_of(x[i]), WEIGHT_BITS),
		                 (s->weight[i] < 0) != (x[i] < 0));
	/* Q.32 times Q.36 is Q.68. A step of 2 changes as much as any larger one. */
	return signed_as(min64(mulshift64(size_of(sum), c->gain, 12), 2 * INTEGRAL_ONE),
	                 sum < 0);
}

/* 1 / x for x from 2^-4 up to 6, twelve bits at a time: what is left is below 2^51. */
static u64 reciprocal(u64 x)
{
	u64 rest = WEIGHT_ONE, found = 0;
	u32 i;

	for (i = 0; i < WEIGHT_BITS; i += 12) {
		u64 digit = div64(rest << 12, x);

		found = (found << 12) + digit;
		rest = (rest << 12) - digit * x;
	}
	return found;
}

/* differs: each weight is held within -1 and 1, and then all are divided by the sum of their
 * sizes. Else they run away while the queue is far from its reference. */
static void normalise(struct an_aqm_state *s)
{
	u64 sum = 0, scale;
	u32 i;

	for (i = 0; i < INPUTS; i++)
		sum += size_of(s->weight[i]);
	scale = reciprocal(max64(sum, WEIGHT_ONE >> 4));
	for (i = 0; i < INPUTS; i++)
		s->weight[i] = signed_as(mulshift64(size_of(s->weight[i]), scale, WEIGHT_BITS),
		                         s->weight[i] < 0);
}

/* w += d e p x. d p is Q0.63, d p e Q24.40, and the product with x Q.48. */
static void learn(struct an_aqm_state *s, const struct an_aqm_conf *c, const s64 *x, s64 e)
{
	u64 by = mulshift64(mulshift64(c->learning, s->p, 25), size_of(e), 59);
	u32 i;

	for (i = 0; i < INPUTS; i++) {
		u64 size = min64(mulshift64(by, size_of(x[i]), 28), 2 * WEIGHT_ONE);
		s64 w = s->weight[i] + signed_as(size, (e < 0) != (x[i] < 0));

		s->weight[i] = signed_as(min64(size_of(w), WEIGHT_ONE), w < 0);
	}
	normalise(s);
}

static u64 update(struct an_aqm_state *s, const struct an_aqm_conf *c, u64 now,
                  const struct aqm_view *view)
{
	s64 is[SIGNALS] = {queue_error(c, view->pkts),
	                   rate_mismatch(s, now, view->rate_bytes_s)};
	s64 x[INPUTS];
	u32 i;

	for (i = 0; i < SIGNALS; i++) {
		x[3 * i] = is[i] - s->last[i];
		x[3 * i + 1] = is[i];
		x[3 * i + 2] = is[i] - 2 * s->last[i] + s->before[i];
		s->before[i] = s->last[i];
		s->last[i] = is[i];
	}
	s->came = 0;
	s->updated_ns = now;
	s->p = integral_moved(s->p, step(s, c, x), 1);
	/* At 0 nothing is learned. */
	if (s->p)
		learn(s, c, x, is[0]);
	show(s);
	return now + c->interval;
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct an_aqm_state *s = st;

	s->idled = 0;
	return update(s, conf, now, view);
}

/* Without events both signals stand. An empty queue is at rest where the probability stays 0,
 * and after IDLE_TICKS is brought to it; one behind a stopped link is left as it is. */
static u64 idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	struct an_aqm_state *s = st;
	const struct an_aqm_conf *c = conf;

	while (from <= to && !view->pkts && s->idled <= IDLE_TICKS) {
		u64 was = s->p;

		if (s->idled++ == IDLE_TICKS) {
			s->p = s->prob = 0;
			break;
		}
		from = update(s, c, from, view);
		if (s->idled > STEADY_TICKS && !was && !s->p)
			s->idled = IDLE_TICKS + 1;
	}
	from = from <= to ? grid_after(from, to, c->interval) : from;
	s->updated_ns = from - c->interval;
	return from;
}

const struct aqm_algo aqm_an_aqm = {
        .name = "an_aqm",
        .brief = "a neuron that learns to hold the queue by its length and its rate",
        .source = "Sun, Zukerman, An Adaptive Neuron AQM, Networking 2007",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL | AQM_NEEDS_RATE,
        .queues = 1,
        .conf_bytes = sizeof(struct an_aqm_conf),
        .state_bytes = sizeof(struct an_aqm_state),
        .params = params,
        .stats = stats,
        .start = start,
        .enqueue = enqueue,
        .overflow = overflow,
        .tick = tick,
        .idle = idle,
};
