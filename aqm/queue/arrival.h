/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * arrival.h: handles an arrival: the packet joins or is dropped. Part of queue.h.
 */
#ifndef AQM_QUEUE_ARRIVAL_H
#define AQM_QUEUE_ARRIVAL_H

#include "probes.h"

/* Join the queue, in which there is room. */
static inline bool queue_join(struct aqm_queue *q, struct aqm_inst *in, aqm_h h,
                              struct aqm_pkt *pkt, const struct aqm_verdict *v, u8 why)
{
	u32 lane = v->queue;

	if (lane >= q->algo->queues) {
		bad(q, AQM_BAD_QUEUE);
		lane = 0;
	}
	if (v->act == AQM_MARK)
		queue_mark(q, &inst_views(in)[lane], pkt, h, why);
	else if (v->act != AQM_PASS)
		bad(q, AQM_BAD_ACT);
	host_keep(q->ctx, h)->own = pkt->k.own;
	lane_push(q->ctx, &inst_lanes(q, in)[lane], h, pkt->len);
	q->pkts++;
	q->bytes += pkt->len;
	q->memory_bytes += host_mem(q->ctx, h); /* a mark may have moved its header */
	if (q->setup.flows)
		fq_join(q, in, pkt->k.flow);
	if (v->probe && q->algo->echo)
		probe_ask(q, in, lane);
	else if (v->probe)
		bad(q, AQM_BAD_PROBE);
	return true;
}

/* Trace the answer to an arrival, let its victims leave, and return its reason. */
static inline u8 queue_hear(struct aqm_queue *q, struct aqm_inst *in, u64 now, u8 ev,
                            const struct aqm_pkt *pkt, const struct aqm_verdict *v)
{
	u8 why = why_of(q, v);

	trace(q, in, ev, now, pkt, v, 0);
	if (v->nvictims)
		queue_victims(q, in, now, v, why);
	return why;
}

/* Let the arrival join or drop it; false: it was dropped. */
static inline bool queue_admit(struct aqm_queue *q, struct aqm_inst *in, aqm_h h,
                               struct aqm_pkt *pkt, const struct aqm_verdict *v, u8 why)
{
	if (v->act != AQM_DROP)
		return queue_join(q, in, h, pkt, v, why);
	if (v->probe)
		bad(q, AQM_BAD_PROBE);
	queue_free(q, in, h, pkt->len, why);
	return false;
}

/* Drop an arrival for which no victims make room; the algorithm gets no call. */
static bool queue_refuse(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                         const struct aqm_pkt *pkt)
{
	struct aqm_verdict v = aqm_drop(AQM_WHY_LIMIT);

	trace(q, in, AQM_EV_OVERFLOW, now, pkt, &v, 0);
	queue_free(q, in, h, pkt->len, AQM_WHY_LIMIT);
	return false;
}

/* Drop an arrival that the algorithm let in, and whose victims did not make room. */
static bool queue_crowd_out(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                            const struct aqm_pkt *pkt)
{
	trace(q, in, AQM_EV_GONE, now, pkt, NULL, AQM_WHY_LIMIT);
	if (q->algo->gone)
		q->algo->gone(inst_state(q, in), queue_conf(q), now, inst_views(in), pkt,
		              AQM_WHY_LIMIT);
	queue_free(q, in, h, pkt->len, AQM_WHY_LIMIT);
	return false;
}

/* Ask again while victims leave and are not enough. Each call takes one packet at least, so
 * the calls end, and nth does not wrap. */
static bool queue_overflow(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                           struct aqm_pkt *pkt)
{
	const struct aqm_algo *a = q->algo;
	struct aqm_verdict v = aqm_drop(AQM_WHY_LIMIT);
	u32 mem = host_mem(q->ctx, h), first = q->pkts, held;
	u8 why;

	_Static_assert(AQM_EVICTED < (u16)-1, "nth counts the calls in 16 bits");
	if (q->setup.flows || !fits_empty(q, pkt->len, mem))
		return queue_refuse(q, in, now, h, pkt);
	do {
		held = q->pkts;
		if (a->overflow)
			v = a->overflow(inst_state(q, in), queue_conf(q), now, inst_views(in),
			                pkt);
		why = queue_hear(q, in, now, AQM_EV_OVERFLOW, pkt, &v);
		pkt->nth++;
	} while (v.act != AQM_DROP && q->pkts < held && first - q->pkts < AQM_EVICTED &&
	         over_limit(q, pkt->len, mem));
	if (v.act == AQM_DROP || !over_limit(q, pkt->len, mem))
		return queue_admit(q, in, h, pkt, &v, why);
	if (first - q->pkts < AQM_EVICTED)
		bad(q, AQM_BAD_OVERFLOW);
	return queue_crowd_out(q, in, now, h, pkt);
}

/* Carry out the answer to an arrival for which there is room. */
static inline bool queue_answer(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                                struct aqm_pkt *pkt, const struct aqm_verdict *v)
{
	u8 why = queue_hear(q, in, now, AQM_EV_ENQUEUE, pkt, v);

	return queue_admit(q, in, h, pkt, v, why);
}

static inline bool queue_ask(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                             struct aqm_pkt *pkt)
{
	const struct aqm_algo *a = q->algo;
	struct aqm_verdict v = aqm_pass();

	if (a->enqueue)
		v = a->enqueue(inst_state(q, in), queue_conf(q), now, inst_views(in), pkt);
	return queue_answer(q, in, now, h, pkt, &v);
}

static bool fast_admit(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                       struct aqm_pkt *pkt, const struct aqm_verdict *v)
{
	return queue_answer(q, in, now, h, pkt, v);
}

/* Handle an arrival at one list, where there is room and nothing is due. */
static inline bool queue_arrive_fast(struct aqm_queue *q, u64 now, aqm_h h)
{
	u32 len = host_len(q->ctx, h), mem = host_mem(q->ctx, h);
	struct aqm_inst *in = inst_nth(q, 0);
	const struct aqm_algo *a = q->algo;
	struct aqm_verdict v = aqm_pass();
	struct aqm_pkt pkt;

	in->ticks = 0;
	pkt_arrive(q, now, h, &pkt);
	trace_input(q, in, AQM_EV_ARRIVAL, now, &pkt, mem, 0);
	if (a->enqueue) {
		v = a->enqueue(inst_state(q, in), queue_conf(q), now, inst_views(in), &pkt);
		if (!is_mere_pass(&v))
			return fast_admit(q, in, now, h, &pkt, &v);
		host_keep(q->ctx, h)->own = pkt.k.own;
	}
	trace(q, in, AQM_EV_ENQUEUE, now, &pkt, &v, 0);
	fast_join(q, in, h, len, mem);
	return true;
}

static bool queue_arrive(struct aqm_queue *q, u64 now, aqm_h h)
{
	u32 mem = host_mem(q->ctx, h);
	struct aqm_inst *in;
	struct aqm_pkt pkt;
	bool joined;

	pkt_arrive(q, now, h, &pkt);
	in = inst_nth(q, fq_index(q, pkt.k.flow));
	trace_input(q, in, AQM_EV_ARRIVAL, now, &pkt, mem, 0);
	inst_begin(q, in, now);

	if (over_limit(q, pkt.len, mem) &&
	    !(q->setup.flows && fq_make_room(q, now, pkt.len, mem)))
		joined = queue_overflow(q, in, now, h, &pkt);
	else
		joined = queue_ask(q, in, now, h, &pkt);
	if (q->setup.flows)
		flow_end(q, in);
	return joined;
}

#endif
