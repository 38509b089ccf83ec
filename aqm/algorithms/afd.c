// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// afd.c: Approximate Fair Dropping, Pan, Breslau, Prabhakar and Shenker, "Approximate Fairness
// through Differential Dropping", CCR 33(2), 2003.

#include "aqm.h"
#include "fixed.h"
#include "law/shadow.h"

/* m_fair and the gains are in hundredths, so that every step is exact: 1.7 and 1.8 of bytes. */
#define HUNDREDTHS 100

struct afd_conf {
	u64 interval;
	u32 qref;
	u32 alpha, beta; /* hundredths */
	u32 sample, shadow;
};

struct afd_state {
	u64 fair;     /* m_fair, in hundredths of a byte */
	u64 fair_max; /* likewise: a share that limits nobody */
	u64 shown;    /* m_fair in bytes, for the reader */
	u32 own;      /* m_i of the last arrival's flow, in bytes */
	u32 prob;     /* of the last arrival */
	u32 old;      /* queue at the last update */
	struct aqm_rng rng;
	struct shadow shadow;
};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U32, afd_conf, qref, AQM_BYTES, 50000, 1000, 1u << 30, 0,
		"queue that the fair share holds"),
	AQM_ROW(2, AQM_U32, afd_conf, alpha, AQM_COUNT, 170, 0, 999, 0,
		"gain on the queue of the update before, in hundredths"),
	AQM_ROW(3, AQM_U32, afd_conf, beta, AQM_COUNT, 180, 1, 1000, 0,
		"gain on the queue, in hundredths"),
	/* 160 Hz */
	AQM_ROW(4, AQM_U64, afd_conf, interval, AQM_NS, 6250000, 10000, 10 * NS_PER_S, AQM_PERIOD,
		"time between updates of the fair share"),
	AQM_ROW(5, AQM_U32, afd_conf, sample, AQM_PKTS, 5, 1, 1u << 20, 0,
		"arrivals of which one is sampled, s"),
	AQM_ROW(6, AQM_U32, afd_conf, shadow, AQM_PKTS, 1000, 1, SHADOW_MAX, AQM_FIXED,
		"samples that are kept, b"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U64, afd_state, "fair", shown, AQM_BYTES, 0,
		"fair share: bytes of samples that a flow may have"),
	AQM_STAT(2, AQM_U32, afd_state, "own", own, AQM_BYTES, 0,
		"bytes of samples of the last arrival's flow"),
	AQM_STAT(3, AQM_U32, afd_state, "prob", prob, AQM_PROB, 0,
		"signal probability of the last arrival"),
	AQM_STAT(4, AQM_U32, afd_state, "flows", shadow.flows, AQM_COUNT, 0, "flows with samples"),
	AQM_END,
};
/* clang-format on */

static const char *check(const void *conf)
{
	const struct afd_conf *c = conf;

	return c->alpha < c->beta ? NULL : "alpha must be smaller than beta";
}

static void set_fair(struct afd_state *s, u64 fair)
{
	s->fair = fair;
	s->shown = div64(fair, HUNDREDTHS);
}

/* No flow can exceed as many samples of the mean size as are kept, which is at most 2^10 of
 * 2^20 bytes. A larger share would take long to come down to where it matters. One that limited
 * nobody still limits nobody: else large samples would be dropped without any queue. */
static void bound(struct afd_state *s, const struct afd_conf *c)
{
	u64 all = (u64)s->shadow.bytes * c->shadow * HUNDREDTHS;
	u64 max = max64(div64(all, s->shadow.samples), HUNDREDTHS);
	bool open = s->fair == s->fair_max;

	s->fair_max = max;
	set_fair(s, open ? max : min64(s->fair, max));
}

/* Until the first sample comes it counts as an MTU. */
static void configure(void *st, const void *conf, const struct aqm_view *view)
{
	struct afd_state *s = st;
	const struct afd_conf *c = conf;

	if (s->fair_max)
		return;
	s->fair_max = (u64)c->shadow * view->mtu_bytes * HUNDREDTHS;
	set_fair(s, s->fair_max);
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct afd_state *s = st;
	const struct afd_conf *c = conf;

	s->shadow.seed = rng_mix(seed);
	rng_seed(&s->rng, seed, 0);
	return now + c->interval;
}

/* The history is of arrivals, whether they are let in or not. */
static void note(struct afd_state *s, const struct afd_conf *c, const struct aqm_pkt *pkt)
{
	s64 own;

	if (!rng_below(&s->rng, c->sample)) {
		shadow_put(&s->shadow, rng_below(&s->rng, c->shadow), pkt->k.flow, pkt->len);
		bound(s, c);
	}
	s->own = shadow_bytes(&s->shadow, pkt->k.flow);
	own = (s64)s->own * HUNDREDTHS;
	/* D_i = 1 - m_fair / m_i */
	s->prob = ratio_q32(own - (s64)s->fair, (u64)own);
}

/* RFC 8033, section 5.1, for PIE: above 10 % a mark is not enough. */
#define MARKS_UP_TO (U32_MAX / 10)

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct afd_state *s = st;

	(void)now;
	note(s, conf, pkt);
	if (!rng_chance(&s->rng, s->prob))
		return aqm_pass();
	/* differs: the paper has drops only. A flow that ignores marks would keep its rate. */
	return s->prob <= MARKS_UP_TO ? aqm_signal(view, pkt, AQM_WHY_RATE)
	                              : aqm_drop(AQM_WHY_RATE);
}

static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	(void)now, (void)view;
	note(st, conf, pkt);
	return aqm_drop(AQM_WHY_LIMIT);
}

/* alpha (q_old - q_ref) - beta (q - q_ref), below 2^43 */
static s64 step(const struct afd_state *s, const struct afd_conf *c, u32 q)
{
	return (s64)c->alpha * ((s64)s->old - c->qref) - (s64)c->beta * ((s64)q - c->qref);
}

/* So many steps, held between a byte and fair_max. */
static void move(struct afd_state *s, s64 by, u64 times)
{
	u64 size = (u64)(by < 0 ? -by : by);
	u64 room = by < 0 ? s->fair - HUNDREDTHS : s->fair_max - s->fair;
	/* at least as many as lead to the end */
	u64 most = size ? div64(room, size) + 1 : 0;
	u64 all = min64(room, min64(times, most) * size);

	set_fair(s, by < 0 ? s->fair - all : s->fair + all);
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct afd_state *s = st;
	const struct afd_conf *c = conf;

	move(s, step(s, c, view->bytes), 1);
	s->old = view->bytes;
	return now + c->interval;
}

/* Without events the queue stands: but for the first, all steps are the same. */
static u64 idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	const struct afd_conf *c = conf;

	tick(st, conf, from, view);
	move(st, step(st, c, view->bytes), div64(to - from, c->interval));
	return grid_after(from, to, c->interval);
}

const struct aqm_algo aqm_afd = {
        .name = "afd",
        .brief = "drops a flow's packets by how far its recent arrivals exceed a fair share",
        .source = "Pan, Breslau, Prabhakar, Shenker, AFD, CCR 33(2), 2003",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL | AQM_COMPARES,
        .queues = 1,
        .conf_bytes = sizeof(struct afd_conf),
        .state_bytes = sizeof(struct afd_state),
        .params = params,
        .stats = stats,
        .check = check,
        .configure = configure,
        .start = start,
        .enqueue = enqueue,
        .overflow = overflow,
        .tick = tick,
        .idle = idle,
};
