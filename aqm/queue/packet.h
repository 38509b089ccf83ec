/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * packet.h: describes a packet to the algorithm and to a trace. Part of queue.h.
 */
#ifndef AQM_QUEUE_PACKET_H
#define AQM_QUEUE_PACKET_H

#include "memory.h"

static inline void bad(struct aqm_queue *q, u32 what)
{
	q->count.bad[what]++;
}

static inline u64 probes_held(const struct aqm_queue *q)
{
	return q->probes.joined - q->probes.left - q->probes.freed;
}

static inline bool is_probe(const struct aqm_queue *q, aqm_h h)
{
	return probes_held(q) && host_is_probe(q->ctx, h);
}

static inline void trace(struct aqm_queue *q, struct aqm_inst *in, u8 ev, u64 now,
                         const struct aqm_pkt *pkt, const struct aqm_verdict *verdict, u8 why)
{
	struct aqm_event event = {now, in->index, ev, why, inst_views(in), pkt, verdict, 0, 0};

	host_trace(q->ctx, &event);
}

static inline void trace_input(struct aqm_queue *q, struct aqm_inst *in, u8 ev, u64 now,
                               const struct aqm_pkt *pkt, u32 mem, u64 rtt_ns)
{
	struct aqm_event event = {now, in->index, ev,  0,     inst_views(in),
	                          pkt, NULL,      mem, rtt_ns};

	host_trace(q->ctx, &event);
}

static inline void pkt_fill(struct aqm_queue *q, aqm_h h, u32 lane, struct aqm_pkt *pkt)
{
	u8 ds = host_ds(q->ctx, h);

	pkt->len = host_len(q->ctx, h);
	pkt->ecn = ds & 3;
	pkt->dscp = ds >> 2;
	pkt->nth = 0;
	pkt->lane = (u8)lane;
	pkt->probe = 0;
}

/* Copy member by member. A struct assignment would be read back wider than it was written, and
 * the processor would wait for the store. */
static inline void pkt_read(struct aqm_queue *q, aqm_h h, u32 lane, struct aqm_pkt *pkt)
{
	const struct aqm_keep *keep = host_keep(q->ctx, h);

	pkt->k.enq_ns = keep->enq_ns;
	pkt->k.flow = keep->flow;
	pkt->k.own = keep->own;
	pkt_fill(q, h, lane, pkt);
}

/* Describe an arrival and count it. It does not read back what it writes into the packet: a
 * compiler reads two members at once, and the processor would wait for both stores. */
static inline void pkt_arrive(struct aqm_queue *q, u64 now, aqm_h h, struct aqm_pkt *pkt)
{
	struct aqm_keep *keep = host_keep(q->ctx, h);
	u32 flow = host_flow(q->ctx, h);

	keep->enq_ns = pkt->k.enq_ns = now;
	keep->flow = pkt->k.flow = flow;
	keep->own = pkt->k.own = 0;
	pkt_fill(q, h, 0, pkt);
	q->probe_asked = 0;
	q->count.in_pkts++;
	q->count.in_bytes += pkt->len;
}

static bool queue_peek(const struct aqm_view *view, u32 slot, struct aqm_pkt *out)
{
	const struct aqm_lane *lane = (const struct aqm_lane *)view->host;
	aqm_h h = lane_at(lane, slot);

	if (h == AQM_NIL)
		return false;
	pkt_read(lane->q, h, lane->number, out);
	out->probe = is_probe(lane->q, h);
	return true;
}

#endif
