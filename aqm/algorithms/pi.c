// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// pi.c: Proportional Integral controller, Hollot, Misra, Towsley and Gong, "On Designing
// Improved Controllers for AQM Routers Supporting TCP Flows", INFOCOM 2001.

#include "aqm.h"
#include "law/integral.h"
#include "rng.h"

struct pi_conf {
	u64 interval;
	u32 qref;
	u32 a, b; /* Q0.32 */
};

struct pi_state {
	u64 p; /* Q8.56 */
	u32 prob, old;
	struct aqm_rng rng;
};

/* clang-format off */
static const struct aqm_field params[] = {
	/* As in ns-2, tcl/lib/ns-default.tcl: the paper's gains for 3750 packets/s, 60 flows and
	 * 246 ms, at 170 Hz instead of 160. */
	AQM_ROW(1, AQM_U32, pi_conf, qref, AQM_PKTS, 50, 1, 1u << 24, 0,
		"queue that the probability holds"),
	AQM_ROW(2, AQM_U32, pi_conf, a, AQM_PROB, 78254, 0, U32_MAX, 0,
		"rise per update, for each packet above qref"),
	AQM_ROW(3, AQM_U32, pi_conf, b, AQM_PROB, 77997, 0, U32_MAX, 0,
		"fall per update, for each packet above qref at the update before"),
	AQM_ROW(4, AQM_U64, pi_conf, interval, AQM_NS, 5882353, 10000, 10 * NS_PER_S, AQM_PERIOD,
		"time between updates of the probability"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U32, pi_state, "prob", prob, AQM_PROB, 0, "signal probability"),
	AQM_STAT(2, AQM_U32, pi_state, "queue", old, AQM_PKTS, 0, "queue at the last update"),
	AQM_END,
};
/* clang-format on */

static const char *check(const void *conf)
{
	const struct pi_conf *c = conf;

	/* At an empty queue each step is (b - a) qref: p would rise until nothing gets in. */
	return c->b <= c->a ? NULL : "b must not be larger than a";
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct pi_state *s = st;
	const struct pi_conf *c = conf;

	rng_seed(&s->rng, seed, 0);
	return now + c->interval;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct pi_state *s = st;

	(void)conf, (void)now;
	if (!rng_chance(&s->rng, s->prob))
		return aqm_pass();
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

/* a (q - qref) - b (q_old - qref), in Q8.56 */
static s64 step(const struct pi_state *s, const struct pi_conf *c, u32 q)
{
	return integral_step(integral_term(c->a, q, c->qref) -
	                     integral_term(c->b, s->old, c->qref));
}

static void move(struct pi_state *s, s64 by, u64 times)
{
	s->p = integral_moved(s->p, by, times);
	s->prob = integral_q32(s->p);
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct pi_state *s = st;
	const struct pi_conf *c = conf;

	move(s, step(s, c, view->pkts), 1);
	s->old = view->pkts;
	return now + c->interval;
}

/* Without events the queue stands: but for the first, all steps are the same. */
static u64 idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	const struct pi_conf *c = conf;

	tick(st, conf, from, view);
	move(st, step(st, c, view->pkts), div64(to - from, c->interval));
	return grid_after(from, to, c->interval);
}

const struct aqm_algo aqm_pi = {
        .name = "pi",
        .brief = "PI control of the queue's length",
        .source = "Hollot et al., PI, INFOCOM 2001",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL,
        .queues = 1,
        .conf_bytes = sizeof(struct pi_conf),
        .state_bytes = sizeof(struct pi_state),
        .params = params,
        .stats = stats,
        .check = check,
        .start = start,
        .enqueue = enqueue,
        .tick = tick,
        .idle = idle,
};
