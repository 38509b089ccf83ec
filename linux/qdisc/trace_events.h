/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * trace_events.h: TRACE=events records all inputs of a queue and its actions; see
 * record.h. For tests of parity.
 */
#ifndef SOJOURN_TRACE_EVENTS_H
#define SOJOURN_TRACE_EVENTS_H

#include "record.h"

static inline void record_put(aqm_ctx sch, struct sojourn_record *r)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	r->queue = s->trace.queue;
	store_record(r);
}

static inline u32 record_number(aqm_ctx sch, aqm_h skb)
{
	const u8 *number = sojourn_cb(skb)->trace.number;

	return number[0] | (u32)number[1] << 8 | (u32)number[2] << 16;
}

#include "events.h"

static inline int trace_start(void)
{
	BUILD_BUG_ON(sizeof(struct sojourn_record) != 96);
	return store_open(SOJOURN_RECORDS, sizeof(struct sojourn_record));
}

static inline void trace_stop(void)
{
	store_close();
}

static inline void host_trace(aqm_ctx sch, const struct aqm_event *event)
{
	record_event(sch, event);
}

static inline void trace_freed(struct Qdisc *sch, struct sk_buff *skb, u8 why)
{
	record_fate(sch, RECORD_FREED, record_number(sch, skb), true, why);
}

static inline bool trace_marked(struct Qdisc *sch, struct sk_buff *skb, bool done)
{
	record_marked(sch, skb, done);
	return done;
}

static inline void trace_arrival(struct Qdisc *sch, struct sk_buff *skb)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	u8 *number = sojourn_cb(skb)->trace.number;

	number[0] = s->trace.arrivals;
	number[1] = s->trace.arrivals >> 8;
	number[2] = s->trace.arrivals >> 16;
	s->trace.arrivals++;
}

static inline bool trace_joined(struct Qdisc *sch, bool joined)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	record_fate(sch, RECORD_JOINED, (s->trace.arrivals - 1) % SOJOURN_PACKETS, joined, 0);
	return joined;
}

static inline void trace_left(struct Qdisc *sch, struct sk_buff *skb)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	record_left(sch, s->queue, skb);
}

static inline void trace_rows(struct Qdisc *sch, u8 table, const struct aqm_field *row,
                              const void *base)
{
	for (; row && row->name; row++)
		record_number_of(sch, RECORD_ROW, table, row->attr, aqm_field_get(row, base));
}

static inline void trace_choice(struct Qdisc *sch, const struct sojourn_choice *choice)
{
	trace_rows(sch, TCA_SOJOURN_QUEUE, aqm_setup_rows, &choice->setup);
	trace_rows(sch, TCA_SOJOURN_PARAMS, choice->algo->params, choice->conf);
}

static inline void trace_made(struct Qdisc *sch, const struct sojourn_choice *choice, u64 now)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sojourn_record r = record_of(RECORD_INIT);

	s->trace.queue = store_queue();
	s->trace.arrivals = 0;
	trace_choice(sch, choice);
	r.now = now;
	r.value = s->queue->seed;
	r.len = s->queue->mtu_bytes;
	strscpy(r.name, choice->algo->name, sizeof(r.name));
	record_put(sch, &r);
}

static inline void trace_change(struct Qdisc *sch, const struct sojourn_choice *choice, u64 now)
{
	struct sojourn_record r = record_of(RECORD_CHANGE);

	trace_choice(sch, choice);
	r.now = now;
	record_put(sch, &r);
}

static inline void trace_reset(struct Qdisc *sch, u64 now)
{
	struct sojourn_record r = record_of(RECORD_RESET);

	r.now = now;
	record_put(sch, &r);
}

static inline void trace_look(struct Qdisc *sch, u64 now)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	record_look(sch, s->queue, now);
}

#endif
