// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// blue.c: BLUE, Feng, Shin, Kandlur and Saha, "The BLUE Active Queue Management Algorithms",
// IEEE/ACM Transactions on Networking 10(4), 2002.

#include "aqm.h"
#include "fixed.h"
#include "rng.h"

struct blue_conf {
	u64 freeze;
	u32 increment, decrement; /* Q0.32 */
	u32 threshold;
};

struct blue_state {
	u64 last_ns; /* when p was last changed */
	u64 idle_ns; /* since when the link idles */
	u32 prob;
	u32 idle;
	struct aqm_rng rng;
};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U32, blue_conf, increment, AQM_PROB, 10737418, 0, U32_MAX, 0,
		"rise of the probability at an overflow, d1"),
	AQM_ROW(2, AQM_U32, blue_conf, decrement, AQM_PROB, 1073742, 0, U32_MAX, 0,
		"fall of the probability while the link idles, d2"),
	AQM_ROW(3, AQM_U64, blue_conf, freeze, AQM_NS, 100 * NS_PER_MS, 1000, 100 * NS_PER_S, 0,
		"least time between two changes of the probability"),
	AQM_ROW(4, AQM_U32, blue_conf, threshold, AQM_PKTS, 0, 0, 1u << 24, 0,
		"a queue above this counts as an overflow; 0: only the limits do"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U32, blue_state, "prob", prob, AQM_PROB, 0, "signal probability"),
	AQM_END,
};
/* clang-format on */

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct blue_state *s = st;

	(void)conf;
	rng_seed(&s->rng, seed, 0);
	s->last_ns = now;
	return AQM_NEVER;
}

static void lower(struct blue_state *s, u32 decrement, u64 times)
{
	/* p is 0 after 2^32 steps of one at the latest */
	s->prob -= (u32)min64(s->prob, min64(times, (u64)1 << 32) * decrement);
}

static void raise(struct blue_state *s, const struct blue_conf *c, u64 now)
{
	if (now - s->last_ns <= c->freeze)
		return;
	s->prob = (u32)min64((u64)s->prob + c->increment, U32_MAX);
	s->last_ns = now;
}

/* The link has idled on: a step for each freeze time. */
static void idle_on(struct blue_state *s, const struct blue_conf *c, u64 now)
{
	u64 from = max64(s->last_ns, s->idle_ns), times = div64(now - from, c->freeze);

	if (!times)
		return;
	lower(s, c->decrement, times);
	s->last_ns = from + times * c->freeze;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct blue_state *s = st;
	const struct blue_conf *c = conf;
	struct aqm_verdict v = aqm_pass();

	if (s->idle)
		idle_on(s, c, now);
	if (c->threshold && view->pkts > c->threshold)
		raise(s, c, now);
	if (rng_chance(&s->rng, s->prob))
		v = aqm_signal(view, pkt, AQM_WHY_EARLY);
	/* A refused packet leaves an idle link idle. */
	s->idle = s->idle && v.act == AQM_DROP;
	return v;
}

static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	(void)view, (void)pkt;
	raise(st, conf, now);
	return aqm_drop(AQM_WHY_LIMIT);
}

static void empty(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct blue_state *s = st;
	const struct blue_conf *c = conf;

	(void)view;
	if (s->idle) {
		idle_on(s, c, now);
		return;
	}
	s->idle = 1;
	s->idle_ns = now;
	if (now - s->last_ns > c->freeze) {
		lower(s, c->decrement, 1);
		s->last_ns = now;
	}
}

const struct aqm_algo aqm_blue = {
        .name = "blue",
        .brief = "raises its probability at overflows, lowers it while the link idles",
        .source = "Feng et al., The BLUE Active Queue Management Algorithms, ToN 2002",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL,
        .queues = 1,
        .conf_bytes = sizeof(struct blue_conf),
        .state_bytes = sizeof(struct blue_state),
        .params = params,
        .stats = stats,
        .start = start,
        .enqueue = enqueue,
        .overflow = overflow,
        .empty = empty,
};
