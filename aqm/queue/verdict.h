/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * verdict.h: carries out the parts of a verdict that every call shares. Part of queue.h.
 */
#ifndef AQM_QUEUE_VERDICT_H
#define AQM_QUEUE_VERDICT_H

#include "rows.h"

static inline u8 why_of(struct aqm_queue *q, const struct aqm_verdict *v)
{
	if (v->why < AQM_WHY_COUNT)
		return v->why;
	bad(q, AQM_BAD_ACT);
	return AQM_WHY_NONE;
}

static inline void queue_free(struct aqm_queue *q, struct aqm_inst *in, aqm_h h, u32 len,
                              u8 why)
{
	in->drops++;
	q->count.drops[why]++;
	q->count.drop_bytes += len;
	host_free(q->ctx, h, why);
}

/* A threshold of delay has a row of its own, which asks for marks even without `ecn`. */
static inline bool may_mark(const struct aqm_view *view, const struct aqm_pkt *pkt, u8 why)
{
	return pkt->ecn != AQM_NOT_ECT && (view->ecn || why == AQM_WHY_THRESHOLD);
}

static inline void queue_mark(struct aqm_queue *q, const struct aqm_view *view,
                              const struct aqm_pkt *pkt, aqm_h h, u8 why)
{
	if (!may_mark(view, pkt, why))
		bad(q, AQM_BAD_MARK);
	else if (host_mark(q->ctx, h))
		q->count.marks[why]++;
	else
		q->count.unmarkable++;
}

static inline aqm_h queue_take(struct aqm_queue *q, struct aqm_inst *in, u32 lane, u32 slot)
{
	aqm_h h = lane_take(q->ctx, &inst_lanes(q, in)[lane], slot);

	if (h != AQM_NIL) {
		q->pkts--;
		q->bytes -= host_len(q->ctx, h);
		q->memory_bytes -= host_mem(q->ctx, h);
	}
	return h;
}

static inline void probe_free(struct aqm_queue *q, aqm_h h, u8 why)
{
	q->probes.freed++;
	fast_open(q, inst_nth(q, 0));
	host_free(q->ctx, h, why);
}

/* Take a packet out from anywhere, report it to the algorithm, free it. */
static bool queue_evict(struct aqm_queue *q, struct aqm_inst *in, u64 now, u32 lane, u32 slot,
                        u8 why)
{
	aqm_h h = queue_take(q, in, lane, slot);
	struct aqm_pkt pkt;

	if (h == AQM_NIL)
		return false;
	if (is_probe(q, h)) {
		probe_free(q, h, why);
		return true;
	}
	pkt_read(q, h, lane, &pkt);
	trace(q, in, AQM_EV_GONE, now, &pkt, NULL, why);
	if (q->algo->gone)
		q->algo->gone(inst_state(q, in), inst_conf(q, in), now, inst_views(in), &pkt,
		              why);
	queue_free(q, in, h, pkt.len, why);
	return true;
}

static inline bool is_probe_at(struct aqm_queue *q, struct aqm_inst *in, u32 lane, u32 slot)
{
	aqm_h h = probes_held(q) ? lane_at(&inst_lanes(q, in)[lane], slot) : AQM_NIL;

	return h != AQM_NIL && is_probe(q, h);
}

/* Evict from the newest to the oldest. The slot numbers of the others then stay valid. */
static void queue_victims(struct aqm_queue *q, struct aqm_inst *in, u64 now,
                          const struct aqm_verdict *v, u8 why)
{
	u32 n = v->nvictims, lane = v->vqueue, last = U32_MAX;

	if (n > AQM_VICTIMS) {
		bad(q, AQM_BAD_VICTIM);
		n = AQM_VICTIMS;
	}
	if (lane >= q->algo->queues) {
		bad(q, AQM_BAD_QUEUE);
		return;
	}
	for (;;) {
		u32 i, slot = 0;
		bool found = false;

		for (i = 0; i < n; i++)
			if (v->victim[i] < last && (!found || v->victim[i] > slot)) {
				slot = v->victim[i];
				found = true;
			}
		if (!found)
			return;
		if (is_probe_at(q, in, lane, slot) || !queue_evict(q, in, now, lane, slot, why))
			bad(q, AQM_BAD_VICTIM);
		last = slot;
	}
}

static inline bool over_limit(const struct aqm_queue *q, u32 len, u32 mem)
{
	return q->pkts >= q->setup.limit || (u64)q->bytes + len > q->setup.limit_bytes ||
	       q->memory_bytes + mem > q->setup.memory_limit;
}

/* Does an empty queue have room for this packet? */
static inline bool fits_empty(const struct aqm_queue *q, u32 len, u32 mem)
{
	return len <= q->setup.limit_bytes && mem <= q->setup.memory_limit;
}

#endif
