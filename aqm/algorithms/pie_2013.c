// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// pie_2013.c: PIE as first published, Pan et al., "PIE: A Lightweight Control
// Scheme to Address the Bufferbloat Problem", HPSR 2013. Papers compare with it.

#include "aqm.h"
#include "law/pie_2013.h"
#include "rng.h"

struct pie_2013_conf {
	u64 target, tupdate, max_burst;
	u32 alpha, beta;
	u32 dq_threshold;
};

struct pie_2013_state {
	struct pie_law law;
	struct pie_2013_rate drain;
	u32 prob;
	struct aqm_rng rng;
};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U64, pie_2013_conf, target, AQM_NS, 20 * NS_PER_MS, 1000, 10 * NS_PER_S, 0,
		"reference delay"),
	AQM_ROW(2, AQM_U64, pie_2013_conf, tupdate, AQM_NS, 30 * NS_PER_MS, 100000, 10 * NS_PER_S, AQM_PERIOD,
		"time between updates of the probability"),
	AQM_ROW(3, AQM_U32, pie_2013_conf, alpha, AQM_HZ_16, 2, 0, 65535, 0,
		"gain on delay minus target, in sixteenths of a hertz"),
	AQM_ROW(4, AQM_U32, pie_2013_conf, beta, AQM_HZ_16, 20, 0, 65535, 0,
		"gain on the change of delay, in sixteenths of a hertz"),
	AQM_ROW(5, AQM_U64, pie_2013_conf, max_burst, AQM_NS, 100 * NS_PER_MS, 0, 10 * NS_PER_S, 0,
		"burst let through after a time without congestion"),
	AQM_ROW(6, AQM_U32, pie_2013_conf, dq_threshold, AQM_BYTES, 10000, 1, 1u << 30, 0,
		"bytes that a measurement of the drain rate spans"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U32, pie_2013_state, "prob", prob, AQM_PROB, 0, "signal probability"),
	AQM_STAT(2, AQM_U64, pie_2013_state, "delay", law.delay_ns, AQM_NS, 0,
		"delay estimated at the last update"),
	AQM_STAT(3, AQM_U64, pie_2013_state, "rate", drain.rate, AQM_BYTES_PER_S, 0,
		"average drain rate"),
	AQM_STAT(4, AQM_U64, pie_2013_state, "burst", law.burst_ns, AQM_NS, 0,
		"burst allowance left"),
	AQM_END,
};
/* clang-format on */

static void configure(void *st, const void *conf, const struct aqm_view *view)
{
	struct pie_2013_state *s = st;
	const struct pie_2013_conf *c = conf;

	(void)view;
	pie_hold_burst(&s->law, c->max_burst);
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct pie_2013_state *s = st;
	const struct pie_2013_conf *c = conf;

	s->law.burst_ns = c->max_burst;
	rng_seed(&s->rng, seed, 0);
	return now + c->tupdate;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct pie_2013_state *s = st;

	(void)conf, (void)now;
	s->law.idled = 0;
	if (s->law.burst_ns || !s->prob || !rng_chance(&s->rng, s->prob))
		return aqm_pass();
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	struct pie_2013_state *s = st;
	const struct pie_2013_conf *c = conf;

	pie_2013_leaves(&s->drain, now, pkt->len, view->bytes, c->dq_threshold);
	return aqm_pass();
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct pie_2013_state *s = st;
	const struct pie_2013_conf *c = conf;
	struct pie_gains gains = {c->target, c->alpha, c->beta, pie_2013_tune, 2};

	s->law.delay_ns = pie_2013_delay_ns(&s->drain, view->bytes);
	pie_move(&s->law, pie_step(&s->law, &gains));
	pie_spend_burst(&s->law, c->tupdate);
	pie_renew_burst(&s->law, c->target, c->max_burst);
	s->law.old_ns = s->law.delay_ns;
	s->prob = pie_prob_q32(&s->law);
	return now + c->tupdate;
}

static u64 idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	struct pie_2013_state *s = st;
	const struct pie_2013_conf *c = conf;

	while (from <= to && !view->pkts && !pie_at_rest(&s->law)) {
		if (s->law.idled++ == PIE_IDLE_TICKS)
			pie_rest(&s->law, c->max_burst);
		from = tick(st, conf, from, view);
	}
	return from <= to ? grid_after(from, to, c->tupdate) : from;
}

const struct aqm_algo aqm_pie_2013 = {
        .name = "pie_2013",
        .brief = "PI control of delay from queue length and drain rate, first form",
        .source = "Pan et al., PIE, HPSR 2013",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL,
        .queues = 1,
        .conf_bytes = sizeof(struct pie_2013_conf),
        .state_bytes = sizeof(struct pie_2013_state),
        .params = params,
        .stats = stats,
        .configure = configure,
        .start = start,
        .enqueue = enqueue,
        .dequeue = dequeue,
        .tick = tick,
        .idle = idle,
};
