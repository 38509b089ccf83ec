/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fast.h: moves a packet that only joins or leaves by the fast path. Part of queue.h.
 *
 * Most packets pass through one list, in which there is room and nothing is due. The general
 * path gives the same result. The fast path leaves out what does not apply: lanes, flows,
 * victims, probes, ticks. `python -m bench.cost` counts the cost of a packet.
 */
#ifndef AQM_QUEUE_FAST_H
#define AQM_QUEUE_FAST_H

#include "packet.h"

/* One list without flows. */
static inline bool has_fast_path(const struct aqm_queue *q)
{
	return q->algo->queues == 1 && !q->setup.flows && !q->room;
}

/* Open the fast path until the next tick if the instance has the current rows and no probe is
 * held, else close it. So a packet compares one number. */
static inline void fast_open(struct aqm_queue *q, const struct aqm_inst *in)
{
	if (q->fast)
		q->fast_until_ns = in->change == q->change && !probes_held(q) ? in->tick_ns : 0;
}

static inline bool fast_is_open(const struct aqm_queue *q, u64 now)
{
	return now < q->fast_until_ns;
}

/* Is it PASS alone, to the first queue, without victims and probe? */
static inline bool is_mere_pass(const struct aqm_verdict *v)
{
	return !(v->act | v->why | v->queue | v->nvictims | v->probe);
}

static inline void fast_join(struct aqm_queue *q, struct aqm_inst *in, aqm_h h, u32 len,
                             u32 mem)
{
	struct aqm_lane *lane = inst_lanes(q, in);

	list_push(q->ctx, lane, h);
	lane_count(lane, len);
	q->pkts++;
	q->bytes += len;
	q->memory_bytes += mem;
}

static inline aqm_h fast_leave(struct aqm_queue *q, struct aqm_inst *in)
{
	struct aqm_lane *lane = inst_lanes(q, in);
	aqm_h h = list_pop(q->ctx, lane);
	struct aqm_view *view = lane->view;
	u32 len;

	if (h == AQM_NIL)
		return AQM_NIL;
	len = host_len(q->ctx, h);
	view->pkts--;
	view->bytes -= len;
	q->pkts--;
	q->bytes -= len;
	q->memory_bytes -= host_mem(q->ctx, h);
	return h;
}

#endif
