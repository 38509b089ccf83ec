/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/choke.h: compares arrivals with random queued packets, as CHOKe does, once or more often.
 *
 * RED's average decides whether to compare, and RED decides on packets that match none. Each
 * file that includes this defines one algorithm, so each stands alone.
 */
#ifndef AQM_LAW_CHOKE_H
#define AQM_LAW_CHOKE_H

#include "../aqm.h"
#include "../sample.h"
#include "red.h"

/* The first member of an algorithm's own. */
struct choke_conf {
	u32 min, max; /* packets of average queue */
	u32 probability;
	u32 weight;
	u32 avpkt;
};

struct choke_state {
	struct red_average avg; /* first: law/red.h's calls find it there */
	u32 count; /* 1 + RED's count: packets between the thresholds since a signal */
	u32 prob;
	u64 average; /* whole packets, for the reader */
	u64 matched;
	struct aqm_rng rng;
};
_Static_assert(!offsetof(struct choke_state, avg), "law/red.h");

/* clang-format off */
#define CHOKE_ROWS \
	AQM_ROW(1, AQM_U32, choke_conf, min, AQM_PKTS, 100, 1, (1u << 17) - 1, 0, \
		"average queue up to which every packet is let in"), \
	AQM_ROW(2, AQM_U32, choke_conf, max, AQM_PKTS, 200, 2, 1u << 17, 0, \
		"average queue from which on every packet is dropped"), \
	AQM_ROW(3, AQM_U32, choke_conf, probability, AQM_PROB, 85899346, 1, U32_MAX, 0, \
		"RED's signal probability just below max"), \
	AQM_ROW(4, AQM_U32, choke_conf, weight, AQM_LOG2, 9, 1, 20, 0, \
		"the average moves by this negative power of two of the difference"), \
	/* 5 was the rate of the link, which is a row of the queue now. */ \
	AQM_ROW(6, AQM_U32, choke_conf, avpkt, AQM_BYTES, 1000, 1, 65535, 0, \
		"mean packet, for the decay of the average while idle")

static const struct aqm_field choke_stats[] = {
	AQM_STAT(1, AQM_U64, choke_state, "average", average, AQM_PKTS, 0, "average queue"),
	AQM_STAT(2, AQM_U32, choke_state, "prob", prob, AQM_PROB, 0, "RED's signal probability"),
	AQM_STAT(3, AQM_U64, choke_state, "matched", matched, AQM_COUNT, AQM_COUNTER,
		"arrivals that matched their sample"),
	AQM_END,
};
/* clang-format on */

static const char *choke_check(const void *conf)
{
	const struct choke_conf *c = conf;

	return c->min < c->max ? NULL : "min must be smaller than max";
}

static u64 choke_start(void *st, const void *conf, u64 now, u64 seed)
{
	struct choke_state *s = st;

	(void)conf;
	s->avg.empty_ns = now;
	rng_seed(&s->rng, seed, 0);
	return AQM_NEVER;
}

static void choke_average(struct choke_state *s, const struct choke_conf *c, u64 now,
                          const struct aqm_view *view)
{
	red_update(&s->avg, now, view->pkts, c->weight, red_rate(view->rate_bytes_s), c->avpkt);
	s->average = s->avg.scaled >> RED_FRACTION;
	s->prob = 0;
}

/* Draw packets while they are of the arrival's flow, `most` times: these and the arrival are
 * dropped. Marks do not help against a flow that takes too much. */
static struct aqm_verdict choke_match(struct choke_state *s, const struct aqm_view *view,
                                      const struct aqm_pkt *pkt, u32 most)
{
	struct aqm_verdict v = aqm_drop(AQM_WHY_MATCH);
	struct aqm_pkt other;
	u32 slot;

	while (v.nvictims < most && v.nvictims < view->pkts &&
	       sample_other(&s->rng, view, v.victim, v.nvictims, &slot, &other) &&
	       other.k.flow == pkt->k.flow)
		v.victim[v.nvictims++] = slot;
	s->matched += v.nvictims != 0;
	return v;
}

static struct aqm_verdict choke_answer(struct choke_state *s, const struct choke_conf *c,
                                       u64 now, const struct aqm_view *view,
                                       const struct aqm_pkt *pkt, u32 most)
{
	struct aqm_verdict v;

	choke_average(s, c, now, view);
	if (s->avg.scaled <= red_scaled(c->min)) {
		s->count = 0;
		return aqm_pass();
	}
	v = choke_match(s, view, pkt, most);
	if (v.nvictims)
		return v;
	if (s->avg.scaled > red_scaled(c->max)) {
		s->count = 1;
		return aqm_drop(AQM_WHY_THRESHOLD);
	}
	s->prob = red_slope_q32(&s->avg, c->min, c->max, c->probability);
	if (!red_signals(&s->rng, s->prob, s->count++))
		return aqm_pass();
	s->count = 1;
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

/* At the limit all of these steps, above all the comparison, come first, and then it refuses
 * the packet. */
static inline struct aqm_verdict choke_at_limit(struct aqm_verdict v)
{
	return v.act == AQM_DROP ? v : aqm_drop(AQM_WHY_LIMIT);
}

#endif
