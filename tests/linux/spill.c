// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// spill.c: for tests. Each so many dequeues it drops all that the queue holds.
//
// No published algorithm empties a queue inside a dequeue; a parent must stand it.

#include "aqm.h"

struct spill_conf {
	u32 each, last;
};

struct spill_state {
	u32 dequeues;
};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U32, spill_conf, each, AQM_COUNT, 3, 1, 1000, 0,
		"dequeues from one that drops to the next"),
	AQM_ROW(2, AQM_BOOL, spill_conf, last, AQM_COUNT, 0, 0, 1, 0,
		"pass the last packet"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U32, spill_state, "dequeues", dequeues, AQM_COUNT, AQM_COUNTER, "so far"),
	AQM_END,
};
/* clang-format on */

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	struct spill_state *s = st;
	const struct spill_conf *c = conf;

	(void)now;
	if (!pkt->nth)
		s->dequeues++;
	if (s->dequeues % c->each || (c->last && !view->pkts))
		return aqm_pass();
	return aqm_drop(AQM_WHY_DELAY);
}

extern const struct aqm_algo aqm_spill;
const struct aqm_algo aqm_spill = {
        .name = "spill",
        .brief = "drops all at once, for tests",
        .source = "none",
        .abi = AQM_ABI,
        .flags = AQM_AT_HEAD,
        .queues = 1,
        .conf_bytes = sizeof(struct spill_conf),
        .state_bytes = sizeof(struct spill_state),
        .params = params,
        .stats = stats,
        .dequeue = dequeue,
};
