/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * host.h: the kernel as a host of queue.h. A packet is an sk_buff.
 */
#ifndef SOJOURN_HOST_H
#define SOJOURN_HOST_H

#include <linux/interrupt.h>
#include <linux/skbuff.h>

#include "sojourn.h"
#include "compat.h"
#include "ip_header.h"
#include "probe.h"

typedef struct sk_buff *aqm_h;
typedef struct Qdisc *aqm_ctx;
#define AQM_NIL NULL

struct aqm_event;
struct aqm_queue;

/* State that a trace build keeps for a queue, and for a packet in it. */
#if defined(SOJOURN_TRACE_EVENTS)
struct queue_trace {
	u32 queue, arrivals;
};
struct packet_trace {
	u8 number[3];
};
#elif defined(SOJOURN_TRACE_PACKETS)
struct queue_trace {
	u64 now;
	u32 queue;
	u8 why;
	bool leaving;
};
struct packet_trace {
	u8 came_ecn, marked, mark_why;
};
#else
struct queue_trace {
};
struct packet_trace {
};
#endif

/* Losses of the current call: a list to be freed, and those not yet reported to parents:
 * sch->q.qlen and theirs still count them. */
struct sojourn_lost {
	struct sk_buff *first, *last;
	u32 pkts, bytes;
};

struct sojourn_sched {
	struct aqm_queue *queue; /* NULL before init has succeeded */
	size_t queue_bytes;
	struct sojourn_lost lost;
	struct tasklet_struct teller; /* reports to parents after a call */
	struct sojourn_conf conf;
	u8 hears;                      /* protocols of probes, see hear.h */
	struct sojourn_probes *probes; /* NULL: the algorithm sends none */
	u64 last_ns;                   /* of its events, where there are probes */
	struct probe_place due;        /* where `is_due`: the next packet asks */
	bool is_due;
	struct queue_trace trace;
};

/* Ours while the packet is queued. It keeps the DS field beside the queue's own part: it
 * is read more than once, and the header may no longer be in the cache. */
struct sojourn_cb {
	struct aqm_keep keep;
	u8 ds;
	struct packet_trace trace;
};

/* In trace.h, behind queue.h. */
static inline void host_trace(aqm_ctx sch, const struct aqm_event *event);
static inline void trace_freed(struct Qdisc *sch, struct sk_buff *skb, u8 why);
static inline bool trace_marked(struct Qdisc *sch, struct sk_buff *skb, bool done);

static inline struct sojourn_cb *sojourn_cb(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct aqm_keep) != 16);
	BUILD_BUG_ON(offsetof(struct sojourn_cb, trace) + sizeof(struct packet_trace) >
	             QDISC_CB_PRIV_LEN);
	BUILD_BUG_ON(offsetof(struct qdisc_skb_cb, data) % __alignof__(struct aqm_keep));
	return (struct sojourn_cb *)qdisc_skb_cb(skb)->data;
}

static inline struct aqm_keep *host_keep(aqm_ctx sch, aqm_h skb)
{
	return &sojourn_cb(skb)->keep;
}

static inline u32 host_len(aqm_ctx sch, aqm_h skb)
{
	return qdisc_pkt_len(skb);
}

/* No other code writes to a queued packet. */
static inline u32 host_mem(aqm_ctx sch, aqm_h skb)
{
	return skb->truesize;
}

static inline u32 host_flow(aqm_ctx sch, aqm_h skb)
{
	return skb_get_hash(skb);
}

static inline u8 host_ds(aqm_ctx sch, aqm_h skb)
{
	return sojourn_cb(skb)->ds;
}

static inline bool host_mark(aqm_ctx sch, aqm_h skb)
{
	bool done = set_ce(skb);

	if (done)
		sojourn_cb(skb)->ds |= INET_ECN_CE;
	return trace_marked(sch, skb, done);
}

static inline aqm_h host_next(aqm_ctx sch, aqm_h skb)
{
	return skb->next;
}

static inline void host_set_next(aqm_ctx sch, aqm_h skb, aqm_h next)
{
	skb->next = next;
}

static inline bool host_is_probe(aqm_ctx sch, aqm_h skb)
{
	const struct sojourn_sched *s = qdisc_priv(sch);

	return unlikely(s->probes) && sojourn_is_probe(s->probes, skb);
}

static inline void host_free(aqm_ctx sch, aqm_h skb, u8 why)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sojourn_lost *lost = &s->lost;

	trace_freed(sch, skb, why);
	if (!host_is_probe(sch, skb))
		qdisc_qstats_drop(sch);
	lost->pkts++;
	lost->bytes += qdisc_pkt_len(skb);
	if (!lost->first)
		lost->last = skb;
	__qdisc_drop(skb, &lost->first);
}

#endif
