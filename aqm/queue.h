/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * queue.h: runs the queue around an algorithm, written once for every host.
 *
 * FIFO or ring, limits, overflow, victims, the dequeue-drop loop, lazy ticks,
 * counters per reason, flow queueing. It is a template: a host first defines its packets,
 *
 *   typedef ... aqm_h;      a handle: slot number, sk_buff pointer
 *   #define AQM_NIL ...     the handle that is none
 *   typedef ... aqm_ctx;    context with which the functions find packets
 *
 *   struct aqm_keep *host_keep(aqm_ctx, aqm_h);     16 bytes in the packet
 *   u32   host_len(aqm_ctx, aqm_h);                 bytes, constant while queued
 *   u32   host_mem(aqm_ctx, aqm_h);                 memory it occupies, likewise
 *   u32   host_flow(aqm_ctx, aqm_h);                32-bit hash, at arrival only
 *   u8    host_ds(aqm_ctx, aqm_h);                  DS field: dscp << 2 | ecn
 *   bool  host_mark(aqm_ctx, aqm_h);                set CE; false: could not
 *   aqm_h host_next(aqm_ctx, aqm_h);                the list's link
 *   void  host_set_next(aqm_ctx, aqm_h, aqm_h);
 *   void  host_free(aqm_ctx, aqm_h, u8 why);        the queue is done with it
 *   bool  host_is_probe(aqm_ctx, aqm_h);            one that joined by aqm_join_probe()
 *   void  host_trace(aqm_ctx, const struct aqm_event *);   empty: costs nothing
 *   #define AQM_STEP()                              may count the turns of loops
 *
 * and then calls, with `now` never decreasing:
 *
 *   aqm_queue_mem    bytes to provide, 8-byte aligned; zero: too large
 *   aqm_queue_init   on that memory, after aqm_setup_check() found no fault
 *   aqm_enqueue      false: this very packet was refused (host_free had it)
 *   aqm_probe_asked  after aqm_enqueue: the packet requests a probe behind it; the host
 *                    makes it and calls aqm_join_probe (false: refused, host_free had it)
 *   aqm_echo         the answer to a probe has come
 *   aqm_dequeue      AQM_NIL: nothing to send; drops went to host_free
 *   aqm_queue_apply  new rows under way, after aqm_setup_check()
 *   aqm_queue_reset  free all packets, start again; may be called twice
 *   aqm_queue_stat   a statistic row, as of the last event; false: with flows it
 *                    has no one value
 *   aqm_flows        statistics of all flows together; aqm_flow, aqm_flow_stat: of one
 *
 * Its parts, in the order in which each includes those before it (some stand side by side):
 *
 *   types ring lane memory packet fast rows ticks instance     one instance and its packets
 *   verdict sums heap flows probes                          losses, flows, probes
 *   arrival departure rounds lifecycle stats                   the calls above
 *
 * ctx may differ from call to call: it is set in q->ctx before each.
 * The memory holds pointers into itself: a copy is a checkpoint only when it
 * is copied back to the same place.
 */
#ifndef AQM_QUEUE_H
#define AQM_QUEUE_H

#include "queue/arrival.h"
#include "queue/lifecycle.h"
#include "queue/rounds.h"
#include "queue/stats.h"

static inline bool aqm_enqueue(struct aqm_queue *q, u64 now, aqm_h h)
{
	if (fast_is_open(q, now) && !over_limit(q, host_len(q->ctx, h), host_mem(q->ctx, h)))
		return queue_arrive_fast(q, now, h);
	return queue_arrive(q, now, h);
}

static inline aqm_h aqm_dequeue(struct aqm_queue *q, u64 now)
{
	u32 nth = 0;
	aqm_h h;

	trace(q, inst_nth(q, 0), AQM_EV_REQUEST, now, NULL, NULL, 0);
	if (fast_is_open(q, now)) {
		h = queue_leave_fast(q, now);
		if (h != AQM_NIL)
			return h;
		nth = 1; /* or none was there */
	}
	return queue_leave(q, now, nth);
}

#endif
