/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * departure.h: handles a dequeue request of the link. Part of queue.h.
 */
#ifndef AQM_QUEUE_DEPARTURE_H
#define AQM_QUEUE_DEPARTURE_H

#include "instance.h"
#include "verdict.h"

static inline u32 queue_pick(struct aqm_queue *q, struct aqm_inst *in, u64 now)
{
	const struct aqm_algo *a = q->algo;
	struct aqm_view *views = inst_views(in);
	u32 lane, held = 0;

	if (a->queues == 1)
		return 0;
	for (lane = 0; lane < a->queues; lane++)
		held += views[lane].pkts;
	if (!held)
		return 0;
	lane = a->pick ? a->pick(inst_state(q, in), queue_conf(q), now, views) : U32_MAX;
	if (lane < a->queues && views[lane].pkts)
		return lane;
	bad(q, AQM_BAD_QUEUE);
	for (lane = 0; !views[lane].pkts; lane++)
		;
	return lane;
}

/* Carry out the answer to an offer; false: dropped, offer the next. */
static inline bool queue_release(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                                 u32 lane, const struct aqm_pkt *pkt,
                                 const struct aqm_verdict *v)
{
	u8 why = why_of(q, v);

	trace(q, in, AQM_EV_DEQUEUE, now, pkt, v, 0);
	if (v->probe)
		bad(q, AQM_BAD_PROBE);
	if (v->nvictims)
		queue_victims(q, in, now, v, why);
	if (v->act == AQM_DROP && pkt->nth < AQM_DROPS_PER_DEQUEUE) {
		queue_free(q, in, h, pkt->len, why);
		return false;
	}
	if (v->act == AQM_MARK)
		queue_mark(q, &inst_views(in)[lane], pkt, h, why);
	else if (v->act != AQM_PASS)
		bad(q, v->act == AQM_DROP ? AQM_BAD_DROPS : AQM_BAD_ACT);
	q->count.out_pkts++;
	q->count.out_bytes += pkt->len;
	return true;
}

static inline bool queue_offer(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                               u32 lane, u32 nth)
{
	const struct aqm_algo *a = q->algo;
	struct aqm_verdict v = aqm_pass();
	struct aqm_pkt pkt;

	pkt_read(q, h, lane, &pkt);
	pkt.nth = (u16)nth;
	if (a->dequeue)
		v = a->dequeue(inst_state(q, in), queue_conf(q), now, inst_views(in), &pkt);
	return queue_release(q, in, now, h, lane, &pkt, &v);
}

/* Offer head packets until the algorithm passes one or none is left. This dequeue has offered
 * `nth` before. */
static inline aqm_h queue_serve(struct aqm_queue *q, struct aqm_inst *in, u64 now, u32 nth)
{
	u32 lane;
	aqm_h h;

	inst_begin(q, in, now);
	for (;; nth++) {
		lane = queue_pick(q, in, now);
		h = queue_take(q, in, lane, 0);
		if (h == AQM_NIL)
			break;
		if (is_probe(q, h)) {
			q->probes.left++;
			fast_open(q, in);
			return h;
		}
		if (queue_offer(q, in, now, h, lane, nth))
			return h;
	}
	if (q->algo->empty)
		q->algo->empty(inst_state(q, in), queue_conf(q), now, inst_views(in));
	return AQM_NIL;
}

static bool fast_release(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                         const struct aqm_pkt *pkt, const struct aqm_verdict *v)
{
	return queue_release(q, in, now, h, 0, pkt, v);
}

/* Send the head of the one list; AQM_NIL: the list is empty, or the head was dropped. */
static inline aqm_h queue_leave_fast(struct aqm_queue *q, u64 now)
{
	struct aqm_inst *in = inst_nth(q, 0);
	const struct aqm_algo *a = q->algo;
	struct aqm_verdict v = aqm_pass();
	aqm_h h = fast_leave(q, in);
	struct aqm_pkt pkt;

	if (h == AQM_NIL)
		return AQM_NIL;
	in->ticks = 0;
	pkt_read(q, h, 0, &pkt);
	if (a->dequeue) {
		v = a->dequeue(inst_state(q, in), queue_conf(q), now, inst_views(in), &pkt);
		if (!is_mere_pass(&v))
			return fast_release(q, in, now, h, &pkt, &v) ? h : AQM_NIL;
	}
	trace(q, in, AQM_EV_DEQUEUE, now, &pkt, &v, 0);
	q->count.out_pkts++;
	q->count.out_bytes += pkt.len;
	return h;
}

#endif
