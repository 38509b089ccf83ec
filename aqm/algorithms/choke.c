// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// choke.c: CHOKe, Pan, Prabhakar and Psounis, "CHOKe: A Stateless Active Queue
// Management Scheme for Approximating Fair Bandwidth Allocation", INFOCOM 2000.
// RED's average; and before RED decides, a match with a random queued packet.

#include "aqm.h"
#include "law/red.h"
#include "sample.h"

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
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U32, choke_conf, min, AQM_PKTS, 100, 1, (1u << 17) - 1, 0,
		"average queue up to which every packet is let in"),
	AQM_ROW(2, AQM_U32, choke_conf, max, AQM_PKTS, 200, 2, 1u << 17, 0,
		"average queue from which on every packet is dropped"),
	AQM_ROW(3, AQM_U32, choke_conf, probability, AQM_PROB, 85899346, 1, U32_MAX, 0,
		"RED's signal probability just below max"),
	AQM_ROW(4, AQM_U32, choke_conf, weight, AQM_LOG2, 9, 1, 20, 0,
		"the average moves by this negative power of two of the difference"),
	/* 5 was the rate of the link, which is a row of the queue now. */
	AQM_ROW(6, AQM_U32, choke_conf, avpkt, AQM_BYTES, 1000, 1, 65535, 0,
		"mean packet, for the decay of the average while idle"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U64, choke_state, "average", average, AQM_PKTS, 0, "average queue"),
	AQM_STAT(2, AQM_U32, choke_state, "prob", prob, AQM_PROB, 0, "RED's signal probability"),
	AQM_STAT(3, AQM_U64, choke_state, "matched", matched, AQM_COUNT, AQM_COUNTER,
		"arrivals that matched their sample"),
	AQM_END,
};
/* clang-format on */

static const char *check(const void *conf)
{
	const struct choke_conf *c = conf;

	return c->min < c->max ? NULL : "min must be smaller than max";
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct choke_state *s = st;

	(void)conf;
	s->avg.empty_ns = now;
	rng_seed(&s->rng, seed, 0);
	return AQM_NEVER;
}

static void update_average(struct choke_state *s, const struct choke_conf *c, u64 now,
                           const struct aqm_view *view)
{
	red_update(&s->avg, now, view->pkts, c->weight, red_rate(view->rate_bytes_s), c->avpkt);
	s->average = s->avg.scaled >> (c->weight + RED_FRACTION);
	s->prob = 0;
}

/* Drop both packets: marks do not help against a flow that takes too much. */
static struct aqm_verdict match(struct choke_state *s, u32 slot)
{
	struct aqm_verdict v = aqm_drop(AQM_WHY_MATCH);

	s->matched++;
	v.nvictims = 1;
	v.victim[0] = slot;
	return v;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct choke_state *s = st;
	const struct choke_conf *c = conf;
	struct aqm_pkt other;
	u32 slot;

	update_average(s, c, now, view);
	if (s->avg.scaled <= red_scaled(c->min, c->weight)) {
		s->count = 0;
		return aqm_pass();
	}
	if (sample_slot(&s->rng, view, &slot, &other) && other.k.flow == pkt->k.flow)
		return match(s, slot);
	if (s->avg.scaled > red_scaled(c->max, c->weight)) {
		s->count = 1;
		return aqm_drop(AQM_WHY_THRESHOLD);
	}
	s->prob = red_slope_q32(&s->avg, c->weight, c->min, c->max, c->probability);
	if (!red_signals(&s->rng, s->prob, s->count++))
		return aqm_pass();
	s->count = 1;
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

/* Figure 1 has no limit: as in Linux all of its steps, above all the comparison, come
 * first, and then the limit refuses the packet. */
static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct aqm_verdict v = enqueue(st, conf, now, view, pkt);

	return v.act == AQM_DROP ? v : aqm_drop(AQM_WHY_LIMIT);
}

const struct aqm_algo aqm_choke = {
        .name = "choke",
        .brief = "RED that drops an arrival and a random queued packet of the same flow",
        .source = "Pan, Prabhakar, Psounis, CHOKe, INFOCOM 2000",
        .abi = AQM_ABI,
        .flags = AQM_SAMPLES | AQM_MARKS | AQM_AT_TAIL,
        .queues = 1,
        .conf_bytes = sizeof(struct choke_conf),
        .state_bytes = sizeof(struct choke_state),
        .params = params,
        .stats = stats,
        .check = check,
        .start = start,
        .enqueue = enqueue,
        .overflow = overflow,
        .dequeue = red_dequeue,
        .gone = red_gone,
};
