/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/pie_rows.h: shares rows, statistics and all calls but that for an arrival among
 * algorithms with the PIE of RFC 8033 in their queues. Each file that includes it defines one
 * algorithm, so each stands alone.
 */
#ifndef AQM_LAW_PIE_ROWS_H
#define AQM_LAW_PIE_ROWS_H

#include "../aqm.h"
#include "../rng.h"
#include "pie.h"

/* The first member of an algorithm's own. */
struct pie_law_conf {
	u64 target, tupdate, max_burst;
	u32 alpha, beta;
	u32 dq_rate_estimator;
	u32 form;
};

enum { PIE_OURS, PIE_LINUX };

struct pie_state {
	struct pie_law law;
	struct pie_drain drain;
	u64 accu;     /* Q8.56 sum of probabilities since the last signal */
	u64 drain_ns; /* average time to send PIE_DQ_THRESHOLD bytes */
	u64 left_ns;  /* Linux's form: when the last packet left; 0: none */
	u32 prob;
	struct aqm_rng rng;
};

/* Section 5.2: 16 KB, and with it the weight 2^14 / 2^16. */
#define PIE_DQ_THRESHOLD   16384
#define PIE_DQ_WEIGHT_LOG2 2

/* Section 5.4. */
#define PIE_ACCU_LOW  (PIE_ONE / 100 * 85)
#define PIE_ACCU_HIGH (PIE_ONE / 2 * 17)

/* Section 5.5; and, outside the RFC, what Linux adds per update to a delay that is
 * far out of hand. */
#define PIE_STEP_CAP ((s64)(PIE_ONE / 50))
#define PIE_STEP_FAR ((s64)(PIE_ONE / 50))
#define PIE_FAR_NS   (250 * NS_PER_MS)

/* net/sched/sch_pie.c: its first update. */
#define PIE_LINUX_FIRST_NS (500 * NS_PER_MS)

static const char *const pie_forms[] = {"ours", "linux"};

/* clang-format off */
#define PIE_ROWS_OF_THE_LAW \
	AQM_ROW(1, AQM_U64, pie_law_conf, target, AQM_NS, 15 * NS_PER_MS, 1000, 10 * NS_PER_S, 0, \
		"reference delay"), \
	AQM_ROW(2, AQM_U64, pie_law_conf, tupdate, AQM_NS, 15 * NS_PER_MS, 100000, 10 * NS_PER_S, AQM_PERIOD, \
		"time between updates of the probability"), \
	AQM_ROW(3, AQM_U32, pie_law_conf, alpha, AQM_HZ_16, 2, 0, 65535, 0, \
		"gain on delay minus target, in sixteenths of a hertz"), \
	AQM_ROW(4, AQM_U32, pie_law_conf, beta, AQM_HZ_16, 20, 0, 65535, 0, \
		"gain on the change of delay, in sixteenths of a hertz"), \
	AQM_ROW(5, AQM_U64, pie_law_conf, max_burst, AQM_NS, 150 * NS_PER_MS, 0, 10 * NS_PER_S, 0, \
		"burst let through after a time without congestion")

#define PIE_ROWS_OF_ITS_WAYS \
	AQM_ROW(7, AQM_BOOL, pie_law_conf, dq_rate_estimator, AQM_COUNT, 0, 0, 1, 0, \
		"estimate delay from the drain rate instead of timestamps"), \
	AQM_ROW_OF_CHOICES(8, pie_law_conf, form, pie_forms, PIE_OURS, PIE_LINUX, AQM_FIXED, \
		"safeguards: the RFC's, or Linux's, whose probability is not bounded by 1")

static const struct aqm_field pie_stats[] = {
	AQM_STAT(1, AQM_U32, pie_state, "prob", prob, AQM_PROB, 0, "signal probability"),
	AQM_STAT(2, AQM_U64, pie_state, "delay", law.old_ns, AQM_NS, 0,
		"delay used by the last update"),
	AQM_STAT(3, AQM_U64, pie_state, "burst", law.burst_ns, AQM_NS, 0,
		"burst allowance left"),
	AQM_STAT(4, AQM_U64, pie_state, "drain_time", drain_ns, AQM_NS, 0,
		"average time to send 16384 bytes, if that is measured"),
	AQM_END,
};
/* clang-format on */

/* Section 4.2. */
static const struct pie_tune pie_tunes[] = {
        {PIE_ONE / 10, 1},    {PIE_ONE / 100, 3},    {PIE_ONE / 1000, 5},
        {PIE_ONE / 10000, 7}, {PIE_ONE / 100000, 9}, {PIE_ONE / 1000000, 11},
};

static void pie_configure(void *st, const void *conf, const struct aqm_view *view)
{
	struct pie_state *s = st;
	const struct pie_law_conf *c = conf;

	(void)view;
	pie_hold_burst(&s->law, c->max_burst);
}

static u64 pie_start(void *st, const void *conf, u64 now, u64 seed)
{
	struct pie_state *s = st;
	const struct pie_law_conf *c = conf;

	s->law.burst_ns = c->max_burst;
	rng_seed(&s->rng, seed, 0);
	return now + (c->form == PIE_LINUX ? PIE_LINUX_FIRST_NS : c->tupdate);
}

/* Section 4.1: no signals while the queue is short already. */
static bool pie_spared(const struct pie_state *s, const struct pie_law_conf *c,
                       const struct aqm_view *view)
{
	bool linux_form = c->form == PIE_LINUX;
	u64 delay_ns = linux_form ? s->law.delay_ns : s->law.old_ns;
	u32 least_bytes = 2 * view->mtu_bytes + !linux_form;

	return (delay_ns < c->target >> 1 && s->law.prob < PIE_ONE / 5) ||
	       view->bytes < least_bytes;
}

/* Section 5.4: signals neither too close together nor too far apart. */
static bool pie_derandomised(struct pie_state *s, u64 prob, u32 form)
{
	if (!prob)
		s->accu = 0;
	s->accu += prob;
	if (s->accu < PIE_ACCU_LOW)
		return false;
	if (s->accu >= PIE_ACCU_HIGH) {
		/* In Linux a mark leaves the sum as it is: each packet is marked, until the sum
		 * overflows. */
		if (form == PIE_OURS)
			s->accu = 0;
		return true;
	}
	if (!rng_chance(&s->rng, pie_q32(prob)))
		return false;
	s->accu = 0;
	return true;
}

/* The answer to an arrival whose own probability is `prob`, in Q8.56. `markable`: is the
 * probability low enough for marks? */
static struct aqm_verdict pie_answer(struct pie_state *s, const struct pie_law_conf *c,
                                     const struct aqm_view *view, const struct aqm_pkt *pkt,
                                     u64 prob, bool markable)
{
	struct aqm_verdict v;

	s->law.idled = 0;
	if (c->form == PIE_OURS)
		pie_renew_burst(&s->law, c->target, c->max_burst);
	if (s->law.burst_ns || pie_spared(s, c, view) || !pie_derandomised(s, prob, c->form))
		return aqm_pass();
	v = aqm_drop(AQM_WHY_EARLY);
	if (markable)
		v = aqm_signal(view, pkt, AQM_WHY_EARLY);
	if (v.act == AQM_DROP)
		s->accu = 0;
	return v;
}

static struct aqm_verdict pie_overflow(void *st, const void *conf, u64 now,
                                       const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct pie_state *s = st;

	(void)conf, (void)now, (void)view, (void)pkt;
	s->accu = 0;
	return aqm_drop(AQM_WHY_LIMIT);
}

static void pie_measure_drain(struct pie_state *s, u64 now, u32 len, u32 left)
{
	if (pie_drained(&s->drain, len, PIE_DQ_THRESHOLD)) {
		u64 spent_ns = now - s->drain.start_ns;

		if (s->drain_ns)
			s->drain_ns += (spent_ns >> PIE_DQ_WEIGHT_LOG2) -
			               (s->drain_ns >> PIE_DQ_WEIGHT_LOG2);
		else
			s->drain_ns = spent_ns;
	}
	pie_drain_again(&s->drain, now, left, PIE_DQ_THRESHOLD);
}

/* Linux's form: the allowance shrinks while packets leave, not with the updates. */
static void pie_spend_with_departures(struct pie_state *s, u64 now)
{
	if (s->left_ns)
		pie_spend_burst(&s->law, now - s->left_ns);
	s->left_ns = now;
}

static struct aqm_verdict pie_dequeue(void *st, const void *conf, u64 now,
                                      const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	struct pie_state *s = st;
	const struct pie_law_conf *c = conf;

	if (c->dq_rate_estimator)
		pie_measure_drain(s, now, pkt->len, view->bytes);
	else if (c->form == PIE_LINUX && !view->bytes)
		s->law.delay_ns = 0;
	else
		s->law.delay_ns = aqm_sojourn_ns(now, pkt);
	if (c->form == PIE_LINUX)
		pie_spend_with_departures(s, now);
	return aqm_pass();
}

/* Linux's form: the probability goes beyond 1, to where 64 bits overflow, and then to 1. */
static void pie_move_unbounded(struct pie_law *p, s64 step)
{
	if (step < 0) {
		p->prob -= min64(p->prob, (u64)-step);
		return;
	}
	p->prob += (u64)step;
	if (p->prob < (u64)step)
		p->prob = PIE_ONE - 1;
}

/* Linux's form: an update without congestion renews the burst and clears the sum. */
static void pie_renew_with_updates(struct pie_state *s, const struct pie_law_conf *c)
{
	const struct pie_law *p = &s->law;

	if (p->prob || p->delay_ns >= c->target >> 1 || p->old_ns >= c->target >> 1)
		return;
	s->law.burst_ns = c->max_burst;
	s->accu = 0;
	s->left_ns = 0;
}

static u64 pie_tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct pie_state *s = st;
	const struct pie_law_conf *c = conf;
	struct pie_gains gains = {c->target, c->alpha, c->beta, pie_tunes, 6};
	struct pie_law *p = &s->law;
	s64 step;

	if (c->dq_rate_estimator)
		p->delay_ns = muldiv64(view->bytes, s->drain_ns, PIE_DQ_THRESHOLD);
	else if (!view->pkts)
		p->delay_ns = 0; /* the last packet's delay does not describe an empty queue */
	step = pie_step(p, &gains);
	if (p->prob >= PIE_ONE / 10 && step > PIE_STEP_CAP)
		step = PIE_STEP_CAP;
	if (p->delay_ns > PIE_FAR_NS)
		step += PIE_STEP_FAR;
	if (c->form == PIE_LINUX)
		pie_move_unbounded(p, step);
	else
		pie_move(p, step);
	/* Linux: a delay of 0 with packets queued is one that was too short to measure. */
	if (!p->delay_ns && !p->old_ns && (c->form == PIE_OURS || !view->bytes))
		p->prob -= p->prob >> 6; /* the RFC's 0.98, by the 1 - 1/64 it allows */
	if (c->form == PIE_LINUX)
		pie_renew_with_updates(s, c);
	else
		pie_spend_burst(p, c->tupdate);
	p->old_ns = p->delay_ns;
	s->prob = pie_prob_q32(p);
	return now + c->tupdate;
}

/* Would further updates of an empty queue change nothing? */
static bool pie_settled(const struct pie_state *s, const struct pie_law_conf *c)
{
	u64 burst_ns = c->form == PIE_LINUX ? c->max_burst : 0;

	return pie_at_rest(&s->law) && s->law.burst_ns == burst_ns && !s->left_ns;
}

static u64 pie_idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	struct pie_state *s = st;
	const struct pie_law_conf *c = conf;

	while (from <= to && !view->pkts && !pie_settled(s, c)) {
		/* In Linux's form the next update renews the burst. */
		if (s->law.idled++ == PIE_IDLE_TICKS)
			pie_rest(&s->law, 0);
		from = pie_tick(st, conf, from, view);
	}
	return from <= to ? grid_after(from, to, c->tupdate) : from;
}

#endif
