/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * trace_packets.h: TRACE=packets records each packet's passage; see passage.h. It does
 * not read the clock: in virtual time that would change the measured times.
 */
#ifndef SOJOURN_TRACE_PACKETS_H
#define SOJOURN_TRACE_PACKETS_H

#include <linux/timekeeping.h>

#include "passage.h"

static inline int trace_start(void)
{
	BUILD_BUG_ON(sizeof(struct sojourn_passage) != 32);
	return store_open(SOJOURN_PASSAGES, sizeof(struct sojourn_passage));
}

static inline void trace_stop(void)
{
	store_close();
}

/* Each call of the queue begins with its time; a verdict comes before it is carried out. */
static inline void host_trace(aqm_ctx sch, const struct aqm_event *event)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	s->trace.now = event->now;
	if (event->verdict) {
		s->trace.why = event->verdict->why;
		s->trace.leaving = event->ev == AQM_EV_DEQUEUE;
	}
}

static inline u64 passage_ns(u64 now)
{
	return ktime_to_ns(ktime_mono_to_real(ns_to_ktime(now)));
}

static inline void passage_over(struct Qdisc *sch, struct sk_buff *skb, u8 fate, u8 why)
{
	const struct sojourn_sched *s = qdisc_priv(sch);
	const struct sojourn_cb *cb = sojourn_cb(skb);
	struct sojourn_passage p = {
	        .came_ns = passage_ns(cb->keep.enq_ns),
	        .went_ns = passage_ns(s->trace.now),
	        .flow = cb->keep.flow,
	        .len = qdisc_pkt_len(skb),
	        .queue = s->trace.queue,
	        .fate = fate,
	        .drop_why = why,
	        .marked = cb->trace.marked,
	        .mark_why = cb->trace.mark_why,
	        .came_ecn = cb->trace.came_ecn,
	        .went_ecn = cb->ds & INET_ECN_MASK,
	};

	/* A reader needs the probes that left: a shaper above has spent tokens for them. */
	if (host_is_probe(sch, skb)) {
		if (fate == PASSAGE_DROPPED)
			return;
		p.fate = PASSAGE_PROBE;
	}
	store_record(&p);
}

static inline void trace_freed(struct Qdisc *sch, struct sk_buff *skb, u8 why)
{
	passage_over(sch, skb, PASSAGE_DROPPED, why);
}

static inline bool trace_marked(struct Qdisc *sch, struct sk_buff *skb, bool done)
{
	const struct sojourn_sched *s = qdisc_priv(sch);
	struct sojourn_cb *cb = sojourn_cb(skb);

	if (done) {
		cb->trace.marked =
		        s->trace.leaving ? PASSAGE_MARKED_LEAVING : PASSAGE_MARKED_COMING;
		cb->trace.mark_why = s->trace.why;
	}
	return done;
}

static inline void trace_arrival(struct Qdisc *sch, struct sk_buff *skb)
{
	struct sojourn_cb *cb = sojourn_cb(skb);

	cb->trace = (struct packet_trace){.came_ecn = cb->ds & INET_ECN_MASK};
}

static inline bool trace_joined(struct Qdisc *sch, bool joined)
{
	return joined;
}

static inline void trace_left(struct Qdisc *sch, struct sk_buff *skb)
{
	if (skb)
		passage_over(sch, skb, PASSAGE_SENT, 0);
}

static inline void trace_made(struct Qdisc *sch, const struct sojourn_choice *choice, u64 now)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sojourn_passage p = {.fate = PASSAGE_QUEUE};

	s->trace.queue = store_queue();
	p.queue = s->trace.queue;
	/* A device may have several queues. */
	snprintf(p.device, sizeof(p.device), "%s %x:", qdisc_dev(sch)->name,
	         TC_H_MAJ(sch->handle) >> 16);
	store_record(&p);
}

static inline void trace_change(struct Qdisc *sch, const struct sojourn_choice *choice, u64 now)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	s->trace.now = now;
}

static inline void trace_reset(struct Qdisc *sch, u64 now)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	s->trace.now = now;
}

static inline void trace_look(struct Qdisc *sch, u64 now)
{
}

#endif
