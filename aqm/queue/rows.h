/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rows.h: gives an instance new rows at its next event. Part of queue.h.
 *
 * The host holds a lock during a change, and packets wait for it. A queue may have 65,536 flows
 * with 1,024 overdue ticks each, so a change runs no ticks. (A queue without flows that has to
 * drop packets runs its own.) At its next event an instance runs its ticks with the old values
 * and then takes the new ones. It is at most one change behind.
 */
#ifndef AQM_QUEUE_ROWS_H
#define AQM_QUEUE_ROWS_H

#include "../field.h"
#include "../fixed.h"
#include "fast.h"

static inline const void *inst_conf(struct aqm_queue *q, const struct aqm_inst *in)
{
	return in->change == q->change ? queue_conf(q) : queue_old_conf(q);
}

static inline void inst_limits(struct aqm_queue *q, struct aqm_inst *in)
{
	struct aqm_view *view = inst_views(in);
	u32 i;

	for (i = 0; i < q->algo->queues; i++, view++) {
		view->limit_pkts = q->setup.limit;
		view->limit_bytes = q->setup.limit_bytes;
		view->mtu_bytes = q->mtu_bytes;
		view->ecn = q->setup.ecn;
		view->rate_bytes_s = q->setup.bandwidth;
	}
}

static void inst_take_rows(struct aqm_queue *q, struct aqm_inst *in)
{
	in->change = q->change;
	fast_open(q, in);
	inst_limits(q, in);
	if (q->algo->configure)
		q->algo->configure(inst_state(q, in), queue_conf(q), inst_views(in));
}

/* Ticks must not wait for the end of a period that has become shorter. */
static void inst_hasten(struct aqm_queue *q, struct aqm_inst *in, u64 now)
{
	const struct aqm_field *row;

	for (row = q->algo->params; row && row->name; row++) {
		u64 period;

		if (!(row->flags & AQM_PERIOD) || in->tick_ns == AQM_NEVER)
			continue;
		period = aqm_field_get(row, queue_conf(q));
		if (period < aqm_field_get(row, queue_old_conf(q)))
			in->tick_ns = min64(in->tick_ns, now + period);
	}
}

/* Give new rows to an instance that has started. */
static void inst_change(struct aqm_queue *q, struct aqm_inst *in, u64 now)
{
	inst_take_rows(q, in);
	inst_hasten(q, in, now);
	fast_open(q, in);
}

/* Choose the time of a call outside the events of an instance. Its overdue ticks follow later,
 * and calls must be in order of time. */
static inline u64 inst_clock(const struct aqm_inst *in, u64 now)
{
	return min64(now, in->tick_ns);
}

#endif
