/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * probes.h: lets probes join that an algorithm requests. Part of queue.h.
 *
 * A probe is a small packet of the host that measures the round trip to a responder. The
 * algorithm requests it in its verdict on an arrival. The host makes it when the call has
 * returned, and it joins the queue right behind that arrival. The algorithm gets no call when
 * a probe joins or leaves: a probe is not offered, not counted and no victim. It occupies the
 * link and the limit as any packet does, and the queue refuses it at the limit.
 */
#ifndef AQM_QUEUE_PROBES_H
#define AQM_QUEUE_PROBES_H

#include "flows.h"

/* The packet with the request has joined this lane. */
static inline void probe_ask(struct aqm_queue *q, const struct aqm_inst *in, u32 lane)
{
	q->probe_inst = in->index;
	q->probe_lane = (u8)lane;
	q->probe_asked = 1;
}

/* Has the last arrival requested a probe? `probe_inst` is its instance. */
static inline bool aqm_probe_asked(const struct aqm_queue *q)
{
	return q->probe_asked;
}

/* The requested probe; host_is_probe() is true of it. False: the limit is reached,
 * and host_free() had it. */
static inline bool aqm_join_probe(struct aqm_queue *q, u64 now, aqm_h h)
{
	struct aqm_inst *in = inst_nth(q, q->probe_inst);
	struct aqm_keep *keep = host_keep(q->ctx, h);
	u32 len = host_len(q->ctx, h), mem = host_mem(q->ctx, h);
	struct aqm_pkt pkt;

	keep->enq_ns = now;
	keep->flow = host_flow(q->ctx, h);
	keep->own = 0;
	pkt_read(q, h, q->probe_lane, &pkt);
	trace_input(q, in, AQM_EV_PROBE, now, &pkt, mem, 0);
	q->probe_asked = 0;
	if (over_limit(q, len, mem)) {
		q->probes.refused++;
		host_free(q->ctx, h, AQM_WHY_LIMIT);
		return false;
	}
	q->probes.joined++;
	q->fast_until_ns = 0;
	lane_push(q->ctx, &inst_lanes(q, in)[q->probe_lane], h, len);
	q->pkts++;
	q->bytes += len;
	q->memory_bytes += mem;
	if (q->setup.flows) {
		fq_list_flow(q, in);
		flow_end(q, in);
	}
	return true;
}

/* The answer to a probe of this instance came after rtt_ns. The host discards answers to
 * probes of an earlier epoch (before a reset). */
static inline void aqm_echo(struct aqm_queue *q, u64 now, u32 inst, u64 rtt_ns)
{
	struct aqm_inst *in = inst_nth(q, inst);

	trace_input(q, in, AQM_EV_ECHO, now, NULL, 0, rtt_ns);
	q->probes.answered++;
	inst_begin(q, in, now);
	if (q->algo->echo)
		q->algo->echo(inst_state(q, in), queue_conf(q), now, inst_views(in), rtt_ns);
	if (q->setup.flows)
		flow_end(q, in);
}

#endif
