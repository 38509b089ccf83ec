/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * trace.h: hooks that record the qdisc, behind queue.h. They are empty but in a trace
 * build (make TRACE=events, TRACE=packets).
 */
#ifndef SOJOURN_TRACE_H
#define SOJOURN_TRACE_H

#if defined(SOJOURN_TRACE_EVENTS)
#include "trace_events.h"
#elif defined(SOJOURN_TRACE_PACKETS)
#include "trace_packets.h"
#else

static inline int trace_start(void)
{
	return 0;
}

static inline bool trace_marked(struct Qdisc *sch, struct sk_buff *skb, bool done)
{
	return done;
}

static inline bool trace_joined(struct Qdisc *sch, bool joined)
{
	return joined;
}

#define NO_TRACE(name, ...)                                                                    \
	static inline void name(__VA_ARGS__)                                                   \
	{                                                                                      \
	}

NO_TRACE(trace_stop, void)
NO_TRACE(host_trace, struct Qdisc *sch, const struct aqm_event *event)
NO_TRACE(trace_freed, struct Qdisc *sch, struct sk_buff *skb, u8 why)
NO_TRACE(trace_arrival, struct Qdisc *sch, struct sk_buff *skb)
NO_TRACE(trace_left, struct Qdisc *sch, struct sk_buff *skb)
NO_TRACE(trace_made, struct Qdisc *sch, const struct sojourn_choice *choice, u64 now)
NO_TRACE(trace_change, struct Qdisc *sch, const struct sojourn_choice *choice, u64 now)
NO_TRACE(trace_reset, struct Qdisc *sch, u64 now)
NO_TRACE(trace_look, struct Qdisc *sch, u64 now)

#endif
#endif
