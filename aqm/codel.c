// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// codel.c: Controlled Delay, RFC 8289. Acts at the head, on time in the queue.

#include "aqm.h"
#include "law/codel.h"

struct codel_state {
	struct codel_law law;
	u64 delay; /* of the last packet offered */
};

static const char *const codel_forms[] = {"ours", "linux"};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U64, codel_conf, target, AQM_NS, 5 * NS_PER_MS, 1000, 10 * NS_PER_S, 0,
		"acceptable standing delay"),
	AQM_ROW(2, AQM_U64, codel_conf, interval, AQM_NS, 100 * NS_PER_MS, 1000, 100 * NS_PER_S, 0,
		"time above target before the first signal; about a worst round trip"),
	AQM_ROW_OF_CHOICES(3, codel_conf, form, codel_forms, CODEL_OURS, CODEL_LINUX, AQM_FIXED,
		"arithmetic of the control law: exact, or Linux's approximation"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U64, codel_state, "delay", delay, AQM_NS, 0, "time in queue of the last packet"),
	AQM_STAT(2, AQM_U32, codel_state, "count", law.count, AQM_COUNT, 0, "signals since entering"),
	AQM_STAT(3, AQM_U32, codel_state, "dropping", law.dropping, AQM_COUNT, 0, "1: in the dropping state"),
	AQM_END,
};
/* clang-format on */

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	struct codel_state *s = st;
	const struct codel_conf *c = conf;
	struct aqm_verdict v;
	u64 came = now - aqm_sojourn_ns(now, pkt);
	bool above;

	now = codel_tick(c, now);
	s->delay = now - codel_tick(c, came);
	above = codel_above(&s->law, c, now, s->delay, view->bytes, view->mtu_bytes);
	if (!codel_signals(&s->law, c, now, above, pkt->nth))
		return aqm_pass();
	v = aqm_signal(view, pkt, AQM_WHY_DELAY);
	if (v.act == AQM_MARK)
		codel_marked(&s->law, c);
	return v;
}

static void empty(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct codel_state *s = st;

	(void)conf, (void)now, (void)view;
	codel_empty(&s->law);
}

const struct aqm_algo aqm_codel = {
        .name = "codel",
        .brief = "signals at the head when delay stays above target for an interval",
        .source = "RFC 8289",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_HEAD,
        .queues = 1,
        .conf_bytes = sizeof(struct codel_conf),
        .state_bytes = sizeof(struct codel_state),
        .params = params,
        .stats = stats,
        .dequeue = dequeue,
        .empty = empty,
};
