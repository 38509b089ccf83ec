/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * instance.h: starts an instance at its first event, and brings it up to date at others. Part
 * of queue.h.
 *
 * A queue has up to 65,536 flows, and most never see a packet. A reset holds a lock that
 * packets wait for. So neither init nor reset touches the flows: the queue counts its epochs,
 * and a flow of an earlier epoch starts at its first event. It starts as of the time when the
 * epoch began, with the current rows.
 */
#ifndef AQM_QUEUE_INSTANCE_H
#define AQM_QUEUE_INSTANCE_H

#include "../rng.h"
#include "ticks.h"

static inline bool inst_started(const struct aqm_queue *q, const struct aqm_inst *in)
{
	return in->epoch == q->epoch;
}

static void inst_start(struct aqm_queue *q, struct aqm_inst *in)
{
	const struct aqm_algo *a = q->algo;
	u64 deadline = AQM_NEVER;

	in->epoch = q->epoch;
	aqm_zero(inst_state(q, in), q->stride - q->at_state);
	inst_take_rows(q, in);
	if (a->start)
		deadline = a->start(inst_state(q, in), queue_conf(q), q->epoch_start_ns,
		                    rng_mix(q->seed + in->index));
	set_deadline(q, in, q->epoch_start_ns, a->tick && a->idle ? deadline : AQM_NEVER);
	fast_open(q, in);
	in->ticks = 0;
	in->listed = in->deferred = 0;
	in->drops = 0;
	in->place = U32_MAX;
	in->round = 0;
	in->credit_bytes = 1; /* no debt */
}

/* Bring an instance up to date: start, ticks, changes. */
static void inst_catch_up(struct aqm_queue *q, struct aqm_inst *in, u64 now)
{
	if (!inst_started(q, in))
		inst_start(q, in);
	run_ticks(q, in, now);
	if (in->change != q->change)
		inst_change(q, in, now);
}

/* Begin an event of this instance. One that has not started is a change behind. */
static inline void inst_begin(struct aqm_queue *q, struct aqm_inst *in, u64 now)
{
	if (in->change != q->change)
		inst_catch_up(q, in, now);
	else
		run_ticks(q, in, now);
	in->ticks = 0;
}

#endif
