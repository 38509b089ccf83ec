// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// lqd.c: Loss and Queuing Delay controller, Le, Jeffay and Smith, "A Loss and Queuing-Delay
// Controller for Router Buffer Management", ICDCS 2006, section 3.1.

#include "aqm.h"
#include "law/integral.h"
#include "rng.h"

struct lqd_conf {
	u64 interval;
	u32 qref;
	u32 pref, a, b; /* Q0.32 */
};

struct lqd_state {
	u64 p; /* Q8.56 */
	u32 prob, loss;
	u32 arrivals, signals; /* since the last update */
	struct aqm_rng rng;
};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U32, lqd_conf, qref, AQM_PKTS, 24, 1, 1u << 24, 0,
		"queue above which the probability rises"),
	AQM_ROW(2, AQM_U32, lqd_conf, pref, AQM_PROB, 0, 0, U32_MAX, 0,
		"loss rate above which the probability falls"),
	AQM_ROW(3, AQM_U32, lqd_conf, a, AQM_PROB, 429497, 0, U32_MAX, 0,
		"rise per update, for each packet above qref"),
	AQM_ROW(4, AQM_U32, lqd_conf, b, AQM_PROB, 429496730, 0, U32_MAX, 0,
		"fall per update, as a share of the loss rate above pref"),
	/* The text gives T only in the example of section 3.2. */
	AQM_ROW(5, AQM_U64, lqd_conf, interval, AQM_NS, NS_PER_MS, 10000, 10 * NS_PER_S, AQM_PERIOD,
		"time between updates of the probability, T"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U32, lqd_state, "prob", prob, AQM_PROB, 0, "signal probability"),
	AQM_STAT(2, AQM_U32, lqd_state, "loss", loss, AQM_PROB, 0,
		"signals per arrival in the last interval with arrivals"),
	AQM_END,
};
/* clang-format on */

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct lqd_state *s = st;
	const struct lqd_conf *c = conf;

	rng_seed(&s->rng, seed, 0);
	return now + c->interval;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct lqd_state *s = st;

	(void)conf, (void)now;
	s->arrivals++;
	if (!rng_chance(&s->rng, s->prob))
		return aqm_pass();
	/* differs: the paper has drops only. A mark counts as one; else the loss rate would be
	 * 0 with ECN, and the law only an integral of the queue. */
	s->signals++;
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct lqd_state *s = st;

	(void)conf, (void)now, (void)view, (void)pkt;
	s->arrivals++;
	s->signals++;
	return aqm_drop(AQM_WHY_LIMIT);
}

/* A packet that made room for others is lost too. */
static void gone(void *st, const void *conf, u64 now, const struct aqm_view *view,
                 const struct aqm_pkt *pkt, u8 why)
{
	struct lqd_state *s = st;

	(void)conf, (void)now, (void)view, (void)pkt;
	s->signals += why == AQM_WHY_FAT;
}

/* a (q - qref), in Q8.56. */
static s64 queue_step(const struct lqd_conf *c, u32 q)
{
	return integral_step(integral_term(c->a, q, c->qref));
}

/* - b (l - pref), in Q8.56: at most 2^56, and the other at most 2^57. */
static s64 loss_step(const struct lqd_conf *c, u32 loss)
{
	u64 apart = loss > c->pref ? loss - c->pref : c->pref - loss;
	s64 fall = (s64)(c->b * apart >> 8);

	return loss < c->pref ? fall : -fall;
}

static void move(struct lqd_state *s, s64 by, u64 times)
{
	s->p = integral_moved(s->p, by, times);
	s->prob = integral_q32(s->p);
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct lqd_state *s = st;
	const struct lqd_conf *c = conf;
	s64 by = queue_step(c, view->pkts);

	/* differs: no arrivals, no loss rate. With one of 0 an idle link's probability would
	 * rise where pref is above it. */
	if (s->arrivals) {
		s->loss = ratio_q32(s->signals, s->arrivals);
		by += loss_step(c, s->loss);
	}
	s->arrivals = s->signals = 0;
	move(s, by, 1);
	return now + c->interval;
}

/* Without events the queue stands: but for the first, all steps are the same. */
static u64 idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	const struct lqd_conf *c = conf;

	tick(st, conf, from, view);
	move(st, queue_step(c, view->pkts), div64(to - from, c->interval));
	return grid_after(from, to, c->interval);
}

const struct aqm_algo aqm_lqd = {
        .name = "lqd",
        .brief = "controls queue length and loss rate together",
        .source = "Le, Jeffay, Smith, A Loss and Queuing-Delay Controller, ICDCS 2006",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL,
        .queues = 1,
        .conf_bytes = sizeof(struct lqd_conf),
        .state_bytes = sizeof(struct lqd_state),
        .params = params,
        .stats = stats,
        .start = start,
        .enqueue = enqueue,
        .overflow = overflow,
        .gone = gone,
        .tick = tick,
        .idle = idle,
};
