// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// cfd.c: Controlling Fairness and Delay, Jiang and Jin, "CFD: an efficient active queue
// management algorithm", Electronics Letters 52(23), 2016. PIE's controller for the delay;
// for fairness, flows that match random queued packets lose their share of all matches.

#include "aqm.h"
#include "law/landmark.h"
#include "law/pie_2013.h"
#include "sample.h"

struct cfd_conf {
	u64 target, tupdate;
	u32 alpha, beta;
	u32 dq_threshold;
	u32 samples, records, age;
	u32 fairness, alone, eq1;
};

struct cfd_state {
	struct pie_law law;
	struct pie_2013_rate drain;
	struct landmark cache;
	struct aqm_rng rng;
	u64 matched;
	u32 prob, share;
};

enum { CFD_CONGESTED, CFD_ALWAYS, CFD_DELAYED };
enum { CFD_SPARED, CFD_DROPPED };
enum { CFD_PRODUCT, CFD_LETTER };
static const char *const cfd_fairness[] = {"congested", "always", "delayed"};
static const char *const cfd_alone[] = {"spared", "dropped"};
static const char *const cfd_eq1[] = {"product", "letter"};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U64, cfd_conf, target, AQM_NS, 20 * NS_PER_MS, 1000, 10 * NS_PER_S, 0,
		"reference delay, r_d"),
	AQM_ROW(2, AQM_U64, cfd_conf, tupdate, AQM_NS, 30 * NS_PER_MS, 100000, 10 * NS_PER_S, AQM_PERIOD,
		"time between updates of the probability"),
	AQM_ROW(3, AQM_U32, cfd_conf, alpha, AQM_HZ_16, 2, 0, 65535, 0,
		"gain on delay minus target, in sixteenths of a hertz"),
	AQM_ROW(4, AQM_U32, cfd_conf, beta, AQM_HZ_16, 20, 0, 65535, 0,
		"gain on the change of delay, in sixteenths of a hertz"),
	AQM_ROW(5, AQM_U32, cfd_conf, dq_threshold, AQM_BYTES, 10000, 1, 1u << 30, 0,
		"bytes that a measurement of the drain rate spans"),
	AQM_ROW(6, AQM_U32, cfd_conf, samples, AQM_PKTS, 1, 1, 5, 0,
		"queued packets that each arrival is compared with, n"),
	AQM_ROW(7, AQM_U32, cfd_conf, records, AQM_COUNT, 1000, 1, LANDMARK_MAX, AQM_FIXED,
		"flows that the landmark-LRU cache holds"),
	AQM_ROW(8, AQM_U32, cfd_conf, age, AQM_COUNT, 1u << 31, 1024, 1u << 31, 0,
		"sum of matches at which all counts are halved"),
	AQM_ROW_OF_CHOICES(9, cfd_conf, fairness, cfd_fairness, CFD_CONGESTED, CFD_DELAYED, 0,
		"matched flows lose their share: while prob is above 0, always, above target"),
	AQM_ROW_OF_CHOICES(10, cfd_conf, alone, cfd_alone, CFD_SPARED, CFD_DROPPED, 0,
		"a flow that alone has matches; if spared, no share is above 1 - 1 / flows"),
	AQM_ROW_OF_CHOICES(11, cfd_conf, eq1, cfd_eq1, CFD_PRODUCT, CFD_LETTER, AQM_FIXED,
		"kept by (1 - prob) (1 - share), or to the letter of Eq. 1 by prob (1 - share)"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U32, cfd_state, "prob", prob, AQM_PROB, 0,
		"probability of the delay controller"),
	AQM_STAT(2, AQM_U64, cfd_state, "delay", law.delay_ns, AQM_NS, 0,
		"delay estimated at the last update"),
	AQM_STAT(3, AQM_U64, cfd_state, "rate", drain.rate, AQM_BYTES_PER_S, 0,
		"average drain rate"),
	AQM_STAT(4, AQM_U32, cfd_state, "flows", cache.live, AQM_COUNT, 0,
		"flows with matches in the cache"),
	AQM_STAT(5, AQM_U32, cfd_state, "share", share, AQM_PROB, 0,
		"share of all matches of the last arrival's flow"),
	AQM_STAT(6, AQM_U64, cfd_state, "matched", matched, AQM_COUNT, AQM_COUNTER,
		"matches of an arrival with a queued packet"),
	AQM_END,
};
/* clang-format on */

static void configure(void *st, const void *conf, const struct aqm_view *view)
{
	struct cfd_state *s = st;
	const struct cfd_conf *c = conf;

	(void)view;
	s->cache.sum_max = c->age;
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct cfd_state *s = st;
	const struct cfd_conf *c = conf;

	/* differs: Eq. 1 has no first value. To the letter 0 would drop all, for ever. */
	if (c->eq1 == CFD_LETTER) {
		s->law.prob = PIE_ONE;
		s->prob = U32_MAX;
	}
	landmark_begin(&s->cache, c->records, rng_mix(seed));
	rng_seed(&s->rng, seed, 0);
	return now + c->tupdate;
}

static void match(struct cfd_state *s, const struct cfd_conf *c, const struct aqm_view *view,
                  u32 flow)
{
	struct aqm_pkt other;
	u32 i, slot;

	for (i = 0; i < c->samples; i++) {
		if (!sample_slot(&s->rng, view, &slot, &other) || other.k.flow != flow)
			continue;
		s->matched++;
		landmark_hit(&s->cache, flow);
	}
}

/* f_i over the sum of all f, Q0.32. */
static u32 share_of(struct cfd_state *s, const struct cfd_conf *c, u32 flow)
{
	u32 share = landmark_share_q32(&s->cache, flow);
	u32 even = s->cache.live ? (u32)div64((u64)1 << 32, s->cache.live) : 0;

	if (c->alone == CFD_DROPPED || !share)
		return share;
	/* differs: of n flows none is given more than 1 - 1 / n, so that one alone is served */
	return (u32)min64(share, (u32)-even);
}

/* differs: without congestion nobody is punished, unless a row says so. The probability is
 * often above 0 where the delay is small: it rises with the delay's change too. */
static bool shares_count(const struct cfd_state *s, const struct cfd_conf *c)
{
	if (c->fairness == CFD_DELAYED)
		return s->law.delay_ns > c->target;
	return s->prob || c->fairness == CFD_ALWAYS;
}

/* "If u > p_i^d, the packet of the i th flow is dropped or marked." */
static struct aqm_verdict to_the_letter(struct cfd_state *s, const struct aqm_view *view,
                                        struct aqm_pkt *pkt, u32 share)
{
	u64 kept = s->prob * (((u64)1 << 32) - share) >> 32; /* below 2^64 before the shift */

	/* differs: behind fewer than two packets all are kept. A queue that lets nobody in
	 * would have no delay that raises the probability again. */
	if (view->pkts < 2 || rng_chance(&s->rng, (u32)kept))
		return aqm_pass();
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct cfd_state *s = st;
	const struct cfd_conf *c = conf;
	u32 share;

	(void)now;
	s->law.idled = 0;
	match(s, c, view, pkt->k.flow);
	s->share = share_of(s, c, pkt->k.flow);
	share = shares_count(s, c) ? s->share : 0;
	if (c->eq1 == CFD_LETTER)
		return to_the_letter(s, view, pkt, share);
	if (!s->prob && !share)
		return aqm_pass();
	/* Eq. 1: a packet is kept with probability (1 - p) (1 - share). Marks do not help
	 * against a flow that takes too much, so the second factor drops. */
	if (rng_chance(&s->rng, s->prob))
		return aqm_signal(view, pkt, AQM_WHY_EARLY);
	if (rng_chance(&s->rng, share))
		return aqm_drop(AQM_WHY_MATCH);
	return aqm_pass();
}

/* All steps come first, above all the comparison: a flow that fills the queue is found. */
static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct aqm_verdict v = enqueue(st, conf, now, view, pkt);

	return v.act == AQM_DROP ? v : aqm_drop(AQM_WHY_LIMIT);
}

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	struct cfd_state *s = st;
	const struct cfd_conf *c = conf;

	pie_2013_leaves(&s->drain, now, pkt->len, view->bytes, c->dq_threshold);
	return aqm_pass();
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct cfd_state *s = st;
	const struct cfd_conf *c = conf;
	struct pie_gains gains = {c->target, c->alpha, c->beta, pie_2013_tune, 2};

	s->law.delay_ns = pie_2013_delay_ns(&s->drain, view->bytes);
	pie_move(&s->law, pie_step(&s->law, &gains));
	s->law.old_ns = s->law.delay_ns;
	s->prob = pie_prob_q32(&s->law);
	return now + c->tupdate;
}

static u64 idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	struct cfd_state *s = st;
	const struct cfd_conf *c = conf;

	while (from <= to && !view->pkts && !pie_at_rest(&s->law)) {
		if (s->law.idled++ == PIE_IDLE_TICKS)
			pie_rest(&s->law, 0);
		from = tick(st, conf, from, view);
	}
	return from <= to ? grid_after(from, to, c->tupdate) : from;
}

const struct aqm_algo aqm_cfd = {
        .name = "cfd",
        .brief = "controls delay and fairness: PIE's control, and drops of flows that match",
        .source = "Jiang, Jin, CFD, Electronics Letters 52(23), 2016",
        .abi = AQM_ABI,
        .flags = AQM_SAMPLES | AQM_MARKS | AQM_AT_TAIL,
        .queues = 1,
        .conf_bytes = sizeof(struct cfd_conf),
        .state_bytes = sizeof(struct cfd_state),
        .params = params,
        .stats = stats,
        .configure = configure,
        .start = start,
        .enqueue = enqueue,
        .overflow = overflow,
        .dequeue = dequeue,
        .tick = tick,
        .idle = idle,
};
