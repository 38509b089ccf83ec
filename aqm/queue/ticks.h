/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * ticks.h: runs the ticks of one instance when its next event comes. Part of queue.h.
 *
 * Each instance has its own clock. Its ticks depend on its own view only, so they
 * run at its next event, and a thousand idle flows cost nothing. The number of
 * ticks since the last event is bounded.
 */
#ifndef AQM_QUEUE_TICKS_H
#define AQM_QUEUE_TICKS_H

#include "rows.h"

static inline void set_deadline(struct aqm_queue *q, struct aqm_inst *in, u64 after, u64 next)
{
	if (next <= after) {
		bad(q, AQM_BAD_TICK);
		next = AQM_NEVER;
	}
	in->tick_ns = next;
}

static inline u32 held_by(const struct aqm_queue *q, struct aqm_inst *in)
{
	u32 i, held = 0;

	for (i = 0; i < q->algo->queues; i++)
		held += inst_views(in)[i].pkts;
	return held;
}

static void run_due_ticks(struct aqm_queue *q, struct aqm_inst *in, u64 now)
{
	const struct aqm_algo *a = q->algo;
	struct aqm_view *views = inst_views(in);
	u32 most = held_by(q, in) ? AQM_TICKS_STUCK : AQM_TICKS_EMPTY;

	while (in->tick_ns <= now && in->ticks < most) {
		u64 at = in->tick_ns;

		AQM_STEP();
		in->ticks++;
		set_deadline(q, in, at,
		             a->tick(inst_state(q, in), inst_conf(q, in), at, views));
		trace(q, in, AQM_EV_TICK, at, NULL, NULL, 0);
	}
	if (in->tick_ns <= now)
		set_deadline(
		        q, in, now,
		        a->idle(inst_state(q, in), inst_conf(q, in), views, in->tick_ns, now));
	fast_open(q, in);
}

static inline void run_ticks(struct aqm_queue *q, struct aqm_inst *in, u64 now)
{
	if (in->tick_ns <= now)
		run_due_ticks(q, in, now);
}

#endif
