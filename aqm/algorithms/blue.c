// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// blue.c: BLUE, Feng, Shin, Kandlur and Saha, "The BLUE Active Queue Management Algorithms",
// IEEE/ACM Transactions on Networking 10(4), 2002.

#include "aqm.h"
#include "law/blue.h"
#include "rng.h"

struct blue_conf {
	u64 freeze;
	u32 increment, decrement; /* Q0.32 */
	u32 threshold;
};

struct blue_state {
	struct blue_law law;
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
	AQM_STAT(1, AQM_U32, blue_state, "prob", law.prob, AQM_PROB, 0, "signal probability"),
	AQM_END,
};
/* clang-format on */

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct blue_state *s = st;

	(void)conf;
	rng_seed(&s->rng, seed, 0);
	s->law.last_ns = now;
	return AQM_NEVER;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct blue_state *s = st;
	const struct blue_conf *c = conf;
	struct aqm_verdict v = aqm_pass();

	blue_idle_on(&s->law, c->decrement, c->freeze, now);
	if (c->threshold && view->pkts > c->threshold)
		blue_raise(&s->law, c->increment, c->freeze, now);
	if (rng_chance(&s->rng, s->law.prob))
		v = aqm_signal(view, pkt, AQM_WHY_EARLY);
	/* A refused packet leaves an idle link idle. */
	s->law.idle = s->law.idle && v.act == AQM_DROP;
	return v;
}

static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct blue_state *s = st;
	const struct blue_conf *c = conf;

	(void)view, (void)pkt;
	blue_raise(&s->law, c->increment, c->freeze, now);
	return aqm_drop(AQM_WHY_LIMIT);
}

/* In flows, a packet of the fattest that made room is the loss. */
static void gone(void *st, const void *conf, u64 now, const struct aqm_view *view,
                 const struct aqm_pkt *pkt, u8 why)
{
	struct blue_state *s = st;
	const struct blue_conf *c = conf;

	(void)view, (void)pkt;
	if (why != AQM_WHY_FAT)
		return;
	blue_raise(&s->law, c->increment, c->freeze, now);
}

static void empty(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct blue_state *s = st;
	const struct blue_conf *c = conf;

	(void)view;
	blue_empty(&s->law, c->decrement, c->freeze, now);
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
        .gone = gone,
};
