// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// lqd.c: Loss and Queuing Delay controller, Le, Jeffay and Smith, "A Loss and Queuing-Delay
// Controller for Router Buffer Management", ICDCS 2006, section 3.1.

#include "aqm.h"
#include "law/even.h"
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
	AQM_ROW(1, AQM_U32, lqd_conf, qref, AQM_PKTS, 24, 0, 1u << 24, 0,
		"queue above which the probability rises"),
	AQM_ROW(2, AQM_U32, lqd_conf, pref, AQM_PROB, 0, 0, U32_MAX, 0,
		"loss rate above which the probability falls"),
	AQM_ROW(3, AQM_U32, lqd_conf, a, AQM_PROB, 429497, 0, U32_MAX, 0,
		"rise per update, for each packet above qref"),
	AQM_ROW(4, AQM_U32, lqd_conf, b, AQM_PROB, 429496730, 0, U32_MAX, 0,
		"fall per update, as a share of the loss rate above pref"),
	/* The text gives T only in the example of section 3.2. */
	AQM_ROW(5, AQM_U64, lqd_conf, interval, AQM_NS, NS_PER_MS, 10000, 10 * NS_PER_S, 0,
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
	 * 0 with ECN, and nothing would hold the probability. */
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

/* a (q - qref) - b (l - pref), in Q8.56. The first is at most 2^57, the second 2^56. */
static s64 step(const struct lqd_conf *c, u32 q, u32 loss)
{
	u64 apart = loss > c->pref ? loss - c->pref : c->pref - loss;
	s64 fall = (s64)(c->b * apart >> 8);

	return even_step(even_term(c->a, q, c->qref)) - (loss < c->pref ? -fall : fall);
}

static void move(struct lqd_state *s, s64 by, u64 times)
{
	s->p = even_moved(s->p, by, times);
	s->prob = even_q32(s->p);
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct lqd_state *s = st;
	const struct lqd_conf *c = conf;
	u32 loss = ratio_q32(s->signals, s->arrivals);

	if (s->arrivals)
		s->loss = loss;
	s->arrivals = s->signals = 0;
	move(s, step(c, view->pkts, loss), 1);
	return now + c->interval;
}

/* Without events the queue stands, and nothing is lost: but for the first, all steps are
 * the same. */
static u64 idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	const struct lqd_conf *c = conf;

	tick(st, conf, from, view);
	move(st, step(c, view->pkts, 0), div64(to - from, c->interval));
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
        .tick = tick,
        .idle = idle,
};
