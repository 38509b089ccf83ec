/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * plain.h: the short way of a packet that only joins or leaves. Part of queue.h.
 *
 * Most packets pass through one list, in which there is room and nothing is due. The general
 * way gives the same result; this one leaves out what does not apply (lanes, flows, victims,
 * probes, ticks). `python -m bench.cost` counts what a packet takes.
 */
#ifndef AQM_PLAIN_H
#define AQM_PLAIN_H

/* One list without flows. */
static inline bool is_plain_queue(const struct aqm_queue *q)
{
	return q->algo->queues == 1 && !q->setup.flows && !q->room;
}

/* Has the instance taken the rows, and is no tick due? */
static inline bool is_current(const struct aqm_queue *q, const struct aqm_inst *in, u64 now)
{
	return in->change == q->change && in->tick_ns > now;
}

/* PASS, and nothing else: the queue is the first, there are no victims and no probe. */
static inline bool is_plain_pass(const struct aqm_verdict *v)
{
	return !(v->act | v->why | v->queue | v->nvictims | v->probe);
}

static inline void plain_join(struct aqm_queue *q, struct aqm_inst *in, aqm_h h, u32 len,
                              u32 mem)
{
	struct aqm_lane *lane = inst_lanes(q, in);

	list_push(q->ctx, lane, h);
	lane_count(lane, len);
	q->pkts++;
	q->bytes += len;
	q->memory_bytes += mem;
}

/* There is a packet, and it is no probe. */
static inline aqm_h plain_leave(struct aqm_queue *q, struct aqm_inst *in)
{
	struct aqm_lane *lane = inst_lanes(q, in);
	aqm_h h = list_pop(q->ctx, lane);
	u32 len = host_len(q->ctx, h);

	lane->view->pkts--;
	lane->view->bytes -= len;
	q->pkts--;
	q->bytes -= len;
	q->memory_bytes -= host_mem(q->ctx, h);
	return h;
}

#endif
