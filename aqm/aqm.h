/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * aqm.h: defines the calls that an algorithm receives, and the verdicts that it may answer.
 *
 * An active queue management algorithm is a pure state machine in one C file.
 * It reads no clock, allocates nothing, keeps no global, uses no floating
 * point. Each call names an event and its time; the answer is a verdict. The
 * queue (queue.h) carries the verdict out; a host (a simulator, a kernel) owns
 * packet memory and the clock. docs/inside/host-contract.md describes the host's side.
 *
 * Conventions
 *   time         u64 nanoseconds, never decreasing; AQM_NEVER means no time
 *   probability  u32 Q0.32; U32_MAX means "always"
 *   conf         the user's values, one canonical unit per row, read-only
 *   st           the algorithm's memory: zeroed, then configure, then start.
 *                Derived values live here, never in conf
 *   views        one struct aqm_view per queue of the algorithm (usually one).
 *                They do not count the packet of the current call
 *
 * Calls, in the order of a packet's life. Each but start may be NULL.
 *
 *   check        Are these rows valid together? (The queue has tested the range
 *                of each row.) NULL, or a static sentence of at most 79 chars.
 *   configure    conf or the limits in the views are new: compute the derived
 *                values. Called before start, and again after each change, at
 *                the instance's next event and after the ticks due by then,
 *                which still see the old values. If several changes come
 *                without an event between them, only the last two are
 *                configured, the first of these two without its ticks.
 *   start        Begin at `now`, with `seed` for all randomness. Answers the
 *                time of the first tick, or AQM_NEVER. Called again at a reset,
 *                on zeroed and configured memory; the algorithm gets no call
 *                for packets that the reset drops.
 *   tick         `now` is exactly the time answered before, or an earlier one where
 *                a row with AQM_PERIOD has become smaller. Answers the next
 *                time, later than now. Ticks are lazy: the queue runs each tick
 *                that is due before the next event, a tick at t before a
 *                packet at t. Nothing changes in a queue between events, so
 *                this equals a perfect timer. An event is an arrival, an offer
 *                or an echo; a statistics read runs no ticks.
 *   idle         Nothing has happened in this queue for AQM_TICKS_EMPTY ticks
 *                (queue empty) or AQM_TICKS_STUCK ticks (backlog, but the link
 *                stopped). Replaces every tick t with from <= t <= to, in
 *                bounded work; answers the next one on the same grid, later
 *                than `to`. Splitting a span in two must give the same state.
 *                `tick` requires `idle`.
 *   enqueue      A packet has arrived and fits within the limit. The queue
 *                always carries out PASS and MARK, so the algorithm may count
 *                them here. It may write pkt->k.own and read it back later.
 *   overflow     Instead of enqueue when the limit is reached. DROP; or PASS
 *                or MARK together with victims that make room. If the packet
 *                still does not fit and victims have left, the call is made again
 *                with pkt->nth one higher. If none has left, the queue drops the
 *                packet, counts a bad verdict and calls gone. When 1,024 packets have
 *                left for it, the queue drops it and calls gone. Not called in flows, nor
 *                for a packet larger than the whole queue. NULL: drop.
 *   pick         Which queue to serve. Called only for an algorithm with several
 *                queues of which one or more hold packets; must name one that does.
 *   dequeue      The queue offers the head packet. PASS or MARK: it leaves. DROP:
 *                the queue offers the next one at the same `now` with pkt->nth one
 *                higher (0 is the first offer of a dequeue). The algorithm
 *                bounds its drops per dequeue; the queue stops it at
 *                AQM_DROPS_PER_DEQUEUE.
 *   empty        A dequeue request found no packet for this instance: the queue
 *                was empty, or the verdicts just given emptied it.
 *   gone         A packet accepted earlier left without a dequeue: a victim (the
 *                algorithm's own too), the head of the fattest flow, a lowered
 *                limit. Called after the removal; several come newest first. Not
 *                called for packets its own verdict dropped. In flows the last two do
 *                not wait for ticks: if ticks are overdue, `now` is the time of the
 *                first of them, and they see the queue without the packet. The
 *                same holds for `empty` where a dequeue passes many empty flows.
 *   echo         The answer to a probe of this instance came at `now`, rtt_ns
 *                after the probe joined the queue.
 *
 * Probes
 *   The verdict on an arrival may request a probe (verdict.probe). The host then sends
 *   a small packet behind the arrival, and a responder beyond the link sends it back
 *   (probes.h). The views count a probe like any packet held, but the algorithm gets no
 *   call for it before `echo`; it cannot be a victim. An arrival must join to have one.
 *
 * Verdicts
 *   Answer MARK only for packets that aqm_can_mark() allows; with AQM_WHY_THRESHOLD
 *   for any ECT packet, where a row of the algorithm's own asks for it. Victims are slot
 *   numbers at the time of the verdict, in any order, duplicates ignored, in
 *   queue `vqueue`; `why` counts for them too. Without AQM_SAMPLES only slot 0
 *   can be a victim. Every build neutralises and counts a verdict that breaks
 *   a rule (enum aqm_bad).
 *
 * Slots
 *   Numbered from the head (0) to the newest (slots - 1). A ring keeps holes
 *   where victims were, so slots >= pkts there; peek answers false for a hole.
 *   Without AQM_SAMPLES there is no ring, and peek answers for slot 0 only.
 */
#ifndef AQM_H
#define AQM_H

#include "deps.h"

#define AQM_ABI     3
#define AQM_NEVER   ((u64)-1)
#define AQM_VICTIMS 5

/* Bounds on lazy ticks since the last event, the same in every host. */
#define AQM_TICKS_EMPTY 64
#define AQM_TICKS_STUCK 1024

/* Bounds algorithms that do not stop themselves; CoDel does, at 256. */
#define AQM_DROPS_PER_DEQUEUE 1024

/* ECN field as on the wire, RFC 3168. */
enum { AQM_NOT_ECT = 0, AQM_ECT1 = 1, AQM_ECT0 = 2, AQM_CE = 3 };

/* Stays with the packet; 16 bytes, because a qdisc has 20 per packet. */
struct aqm_keep {
	u64 enq_ns;
	u32 flow; /* the host's 32-bit hash of the flow */
	u32 own;  /* written by enqueue, read back by dequeue and gone */
};

struct aqm_pkt {
	struct aqm_keep k;
	u32 len; /* bytes */
	u8 ecn, dscp;
	u16 nth;  /* which offer within one dequeue, or which overflow of one arrival */
	u8 lane;  /* the queue that holds or held it; 0 for an arrival */
	u8 probe; /* 1: a probe, met by `peek` */
	u8 pad[6];
};

struct aqm_view {
	u32 pkts, bytes;
	const u32 *all_bytes; /* of all flows, where there are any */
	u32 limit_pkts, limit_bytes;
	u32 mtu_bytes;
	u32 slots;
	u32 ecn;          /* the row: may this queue mark, but by a threshold of its own? */
	u64 rate_bytes_s; /* of the link, the row `bandwidth`; 0: unknown */
	/* false: no such slot, a hole, or out of reach. O(1). */
	bool (*peek)(const struct aqm_view *view, u32 slot, struct aqm_pkt *out);
	void *host;
};

enum aqm_act { AQM_PASS, AQM_MARK, AQM_DROP };

/* Why a packet was marked or dropped. Names: aqm_why_name(). */
enum aqm_why {
	AQM_WHY_NONE,
	AQM_WHY_EARLY,     /* drawn with a probability */
	AQM_WHY_DELAY,     /* its time in the queue */
	AQM_WHY_THRESHOLD, /* a fixed bound of the algorithm */
	AQM_WHY_MATCH,     /* same flow as a sampled packet */
	AQM_WHY_RATE,      /* a flow held to a rate */
	AQM_WHY_LIMIT,     /* the limit was reached */
	AQM_WHY_FAT,       /* head of the fattest flow, to make room */
	AQM_WHY_LOWERED,   /* the limit was lowered below the backlog */
	AQM_WHY_RESET,     /* the queue was reset */
	AQM_WHY_COUNT
};

/* Rules that a verdict can break. Names: aqm_bad_name(). */
enum aqm_bad {
	AQM_BAD_ACT,      /* unknown act or reason: passed, or counted as NONE */
	AQM_BAD_MARK,     /* MARK where marking is not allowed: passed */
	AQM_BAD_QUEUE,    /* no such queue, or an empty one picked: the first */
	AQM_BAD_VICTIM,   /* a hole, beyond the newest, or out of reach: ignored */
	AQM_BAD_OVERFLOW, /* PASS without making room: dropped */
	AQM_BAD_TICK,     /* next tick not in the future: no more ticks */
	AQM_BAD_DROPS,    /* too many drops in one dequeue: passed */
	AQM_BAD_PROBE, /* requested a probe behind a packet that did not join, or has no echo()
	                */
	AQM_BAD_COUNT
};

struct aqm_verdict {
	u8 act;
	u8 why;
	u8 queue; /* PASS, MARK on arrival: the queue to join */
	u8 nvictims;
	u8 probe; /* PASS, MARK on arrival: 1 requests a probe behind this packet */
	u8 vqueue;
	u16 pad;
	u32 victim[AQM_VICTIMS];
};

/* The storage of a row at its offset, and the unit of its number: see aqm_units[]. */
enum aqm_type { AQM_BOOL, AQM_U32, AQM_U64, AQM_CHOICE };
enum aqm_unit {
	AQM_COUNT,
	AQM_NS,
	AQM_PKTS,
	AQM_BYTES,
	AQM_BYTES_PER_S,
	AQM_PROB,   /* Q0.32 */
	AQM_HZ_16,  /* sixteenths of a hertz, as tc counts the gains of pie */
	AQM_LOG2,   /* exponent of a power of two */
	AQM_IPV4,   /* an address as a number */
	AQM_HZ_256, /* 256ths of a hertz, for gains below a sixteenth */
	AQM_UNITS
};
enum aqm_field_flags {
	AQM_FIXED = 1,   /* cannot be changed once the queue exists */
	AQM_COUNTER = 2, /* statistic that only grows: with flows their sum is shown */
	/* the time from tick to tick: where a change makes it shorter, the next tick comes
	 * as long after it at most */
	AQM_PERIOD = 4
};

/* One row: one parameter (in conf) or one statistic (in st). */
struct aqm_field {
	const char *name;
	const char *help;
	const char *const *choices; /* AQM_CHOICE: max + 1 words */
	u64 def, min, max;
	u32 offset;
	u16 attr; /* netlink number, unique in its table, never used again */
	u8 type, unit, flags;
};

/* Offset of a member. The compiler refuses a member that is not as wide as its row's type,
 * since a write of another width would change the next member too. */
#define AQM_AT(type_, struct_, member_)                                                        \
	(offsetof(struct struct_, member_) +                                                   \
	 0 * sizeof(struct {                                                                   \
		 _Static_assert(sizeof(((struct struct_ *)0)->member_) ==                      \
		                        ((type_) == AQM_U64 ? 8 : 4),                          \
		                "the member is not as wide as the type of its row");           \
		 char none;                                                                    \
	 }))

#define AQM_ROW(attr_, type_, struct_, member_, unit_, def_, min_, max_, flags_, help_)        \
	{                                                                                      \
		.name = #member_, .help = help_, .def = def_, .min = min_, .max = max_,        \
		.offset = AQM_AT(type_, struct_, member_), .attr = attr_, .type = type_,       \
		.unit = unit_, .flags = flags_                                                 \
	}
#define AQM_ROW_OF_CHOICES(attr_, struct_, member_, words_, def_, last_, flags_, help_)        \
	{                                                                                      \
		.name = #member_, .help = help_, .choices = words_, .def = def_, .max = last_, \
		.offset = AQM_AT(AQM_CHOICE, struct_, member_), .attr = attr_,                 \
		.type = AQM_CHOICE, .unit = AQM_COUNT, .flags = flags_                         \
	}
#define AQM_STAT(attr_, type_, struct_, name_, member_, unit_, flags_, help_)                  \
	{                                                                                      \
		.name = name_, .help = help_, .offset = AQM_AT(type_, struct_, member_),       \
		.attr = attr_, .type = type_, .unit = unit_, .flags = flags_                   \
	}
#define AQM_END                                                                                \
	{                                                                                      \
		.name = NULL                                                                   \
	}

enum aqm_algo_flags {
	AQM_SAMPLES = 1, /* peeks at any slot: has a ring, and no flows of its own */
	AQM_MARKS = 2,   /* marks, where the row `ecn` or a row of its own asks for it */
	AQM_AT_TAIL = 4, /* signals to arrivals */
	AQM_AT_HEAD = 8, /* signals to departures */
	/* needs the row `bandwidth` above 0; its law describes the whole link, so it has no
	 * flows of its own */
	AQM_NEEDS_RATE = 16,
	/* compares flows: one that is alone has no other, so it has no flows of its own */
	AQM_COMPARES = 32
};

/* An algorithm's default for a row of the queue (setup.h). */
struct aqm_default {
	const char *row; /* NULL: the end */
	u64 value;
};

struct aqm_algo {
	const char *name, *brief, *source;
	u32 abi; /* AQM_ABI */
	u32 flags;
	u32 queues; /* at least 1 */
	u32 conf_bytes, state_bytes;
	const struct aqm_field *params, *stats; /* ended by AQM_END; NULL: none */
	const struct aqm_default *defaults;     /* of the queue's rows; NULL: the rows' own */

	const char *(*check)(const void *conf);
	void (*configure)(void *st, const void *conf, const struct aqm_view *views);
	u64 (*start)(void *st, const void *conf, u64 now, u64 seed);

	struct aqm_verdict (*enqueue)(void *st, const void *conf, u64 now,
	                              const struct aqm_view *views, struct aqm_pkt *pkt);
	struct aqm_verdict (*overflow)(void *st, const void *conf, u64 now,
	                               const struct aqm_view *views, struct aqm_pkt *pkt);
	u32 (*pick)(void *st, const void *conf, u64 now, const struct aqm_view *views);
	struct aqm_verdict (*dequeue)(void *st, const void *conf, u64 now,
	                              const struct aqm_view *views, const struct aqm_pkt *pkt);
	void (*empty)(void *st, const void *conf, u64 now, const struct aqm_view *views);
	void (*gone)(void *st, const void *conf, u64 now, const struct aqm_view *views,
	             const struct aqm_pkt *pkt, u8 why);
	u64 (*tick)(void *st, const void *conf, u64 now, const struct aqm_view *views);
	u64 (*idle)(void *st, const void *conf, const struct aqm_view *views, u64 from, u64 to);
	void (*echo)(void *st, const void *conf, u64 now, const struct aqm_view *views,
	             u64 rtt_ns);
};

static inline struct aqm_verdict aqm_pass(void)
{
	return (struct aqm_verdict){.act = AQM_PASS};
}

static inline struct aqm_verdict aqm_drop(u8 why)
{
	return (struct aqm_verdict){.act = AQM_DROP, .why = why};
}

/* RFC 3168: only ECT(0), ECT(1) and CE may carry a mark. */
static inline bool aqm_can_mark(const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	return view->ecn && pkt->ecn != AQM_NOT_ECT;
}

/* The usual signal: a mark where one may be set, else a drop. */
static inline struct aqm_verdict aqm_signal(const struct aqm_view *view,
                                            const struct aqm_pkt *pkt, u8 why)
{
	u8 act = aqm_can_mark(view, pkt) ? AQM_MARK : AQM_DROP;

	return (struct aqm_verdict){.act = act, .why = why};
}

static inline u64 aqm_sojourn_ns(u64 now, const struct aqm_pkt *pkt)
{
	return now - pkt->k.enq_ns;
}

const char *aqm_why_name(u32 why);
const char *aqm_bad_name(u32 bad);

/* Every algorithm of this folder, by name; ended by NULL. From all.c. */
extern const struct aqm_algo *const aqm_all[];

#endif
