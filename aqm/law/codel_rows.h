/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/codel_rows.h: shares rows, statistics and the calls at the head among algorithms with
 * CoDel in their queues. Each file that includes it defines one
 * algorithm, so each stands alone.
 */
#ifndef AQM_LAW_CODEL_ROWS_H
#define AQM_LAW_CODEL_ROWS_H

#include "../aqm.h"
#include "codel.h"

struct codel_rows {
	struct codel_conf law; /* first: rows 1 to 3 are in it */
	u64 ce_threshold;      /* ns; 0: none */
};

struct codel_state {
	struct codel_law law;
	u64 delay; /* of the last packet offered */
};

static const char *const codel_forms[] = {"ours", "linux"};

/* clang-format off */
static const struct aqm_field codel_params[] = {
	AQM_ROW(1, AQM_U64, codel_conf, target, AQM_NS, 5 * NS_PER_MS, 1000, 10 * NS_PER_S, 0,
		"acceptable standing delay"),
	AQM_ROW(2, AQM_U64, codel_conf, interval, AQM_NS, 100 * NS_PER_MS, 1000, 100 * NS_PER_S, 0,
		"time above target before the first signal; about a worst round trip"),
	AQM_ROW_OF_CHOICES(3, codel_conf, form, codel_forms, CODEL_OURS, CODEL_LINUX, AQM_FIXED,
		"arithmetic of the control law: exact, or Linux's approximation"),
	AQM_ROW(4, AQM_U64, codel_rows, ce_threshold, AQM_NS, 0, 0, 100 * NS_PER_S, 0,
		"delay above which each ECT packet is marked, also without ecn; 0: none"),
	AQM_END,
};

static const struct aqm_field codel_stats[] = {
	AQM_STAT(1, AQM_U64, codel_state, "delay", delay, AQM_NS, 0, "time in queue of the last packet"),
	AQM_STAT(2, AQM_U32, codel_state, "count", law.count, AQM_COUNT, 0, "signals since entering"),
	AQM_STAT(3, AQM_U32, codel_state, "dropping", law.dropping, AQM_COUNT, 0, "1: in the dropping state"),
	AQM_END,
};
/* clang-format on */

/* A packet that leaves without a signal of the control law. As in Linux the threshold marks
 * whatever the row `ecn` says. */
static struct aqm_verdict codel_sent(const struct codel_state *s, const struct codel_rows *c,
                                     const struct aqm_pkt *pkt)
{
	if (c->ce_threshold && s->delay > codel_tick(&c->law, c->ce_threshold) &&
	    pkt->ecn != AQM_NOT_ECT)
		return (struct aqm_verdict){.act = AQM_MARK, .why = AQM_WHY_THRESHOLD};
	return aqm_pass();
}

static struct aqm_verdict codel_dequeue(void *st, const void *conf, u64 now,
                                        const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	struct codel_state *s = st;
	const struct codel_rows *rows = conf;
	const struct codel_conf *c = &rows->law;
	struct aqm_verdict v;
	u64 came = now - aqm_sojourn_ns(now, pkt);
	bool above;

	now = codel_tick(c, now);
	s->delay = now - codel_tick(c, came);
	above = codel_above(&s->law, c, now, s->delay, *view->all_bytes, view->mtu_bytes);
	if (!codel_signals(&s->law, c, now, above, pkt->nth))
		return codel_sent(s, rows, pkt);
	v = aqm_signal(view, pkt, AQM_WHY_DELAY);
	if (v.act == AQM_MARK)
		codel_marked(&s->law, c);
	return v;
}

static void codel_on_empty(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct codel_state *s = st;

	(void)conf, (void)now, (void)view;
	codel_empty(&s->law);
}

/* The queue took a packet of a flow that was the fattest: as in Linux that counts as a
 * signal, so later signals come closer together. The next one's time stays. */
static void codel_on_gone(void *st, const void *conf, u64 now, const struct aqm_view *view,
                          const struct aqm_pkt *pkt, u8 why)
{
	struct codel_state *s = st;

	(void)conf, (void)now, (void)view, (void)pkt;
	if (why == AQM_WHY_FAT)
		s->law.count += s->law.count != U32_MAX;
}

#endif
