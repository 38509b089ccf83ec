/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * queue.h: the queue around an algorithm, written once for every host.
 *
 * FIFO or ring, limits, overflow, victims, the dequeue-drop loop, lazy ticks,
 * counters per reason, flow queueing. A template: before including it a host
 * defines what a packet is,
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
 * ctx may differ from call to call: it is set in q->ctx before each.
 * The memory holds pointers into itself: a copy is a checkpoint only when it
 * is copied back to the same place.
 */
#ifndef AQM_QUEUE_H
#define AQM_QUEUE_H

#ifndef AQM_STEP
#define AQM_STEP() ((void)0)
#endif

#include "field.h"
#include "fixed.h"
#include "lane.h"
#include "rng.h"
#include "setup.h"

struct aqm_counters {
	u64 in_pkts, in_bytes; /* every arrival, before any decision */
	u64 out_pkts, out_bytes;
	u64 drop_bytes;
	u64 unmarkable; /* MARK that the host could not carry out; the packet passed */
	u64 drops[AQM_WHY_COUNT];
	u64 marks[AQM_WHY_COUNT];
	u64 bad[AQM_BAD_COUNT];
};

/* Apart from the packets: in = out + dropped + held holds for those without these. */
struct aqm_probes {
	u64 joined, refused, left, freed, answered;
};

/* Statistics of the flows together; no decision depends on them. Delays are of all packets that
 * leave, probes too, since this life of the queue began. */
struct aqm_flows {
	u64 new_flow_count; /* how often a flow became busy with credit, and so a new one */
	u64 new_flows_len, old_flows_len; /* in the lists now */
	u64 collisions; /* packets that joined a flow whose newest packet has another hash */
	u64 delay_mean_ns;
	u64 delay_sparse_ns; /* the mean for packets of new flows */
	u64 delay_peak_ns;
	u64 memory_used_bytes; /* by the packets held */
};

/* Statistics of one flow in its present life. */
struct aqm_flow {
	u32 pkts, bytes; /* held */
	u32 drops;
	s64 credit_bytes;
};

/* See fq_average(). */
struct aqm_mean {
	u64 sum_ns;
	u32 count;
};

/* One instance of the algorithm: all of the queue, or one flow of it. After it
 * in memory: its views, its lanes, its state. */
struct aqm_inst {
	u64 tick_ns; /* the next deadline */
	u32 ticks;   /* run since the last event, at most AQM_TICKS_STUCK */
	u32 change;  /* up to which it has taken new rows; see change.h */
	u32 life;    /* of the queue, in which it has started; see start.h */
	u32 next;    /* in the round robin list; see fq.h */
	u32 place;   /* in the heap; see fat.h */
	u32 listed, index;
	u32 stale; /* in the heap */
	u32 hash;  /* of the packet that joined last */
	u32 drops;
	u64 round;        /* up to which it has received credit */
	s64 credit_bytes; /* a packet may be of any length, and is paid for in rounds */
};

/* Flows of the heap that may be stale: bounds the moves of one call. */
#define FAT_STALE 12

struct aqm_fq_list {
	u32 head, tail;
};

struct aqm_queue {
	u32 pkts, bytes; /* in all lanes; first, where a host may look for them */
	u64 plain_ns;    /* until when packets may take the short way; see plain.h */
	const struct aqm_algo *algo;
	aqm_ctx ctx;
	struct aqm_setup setup;
	u32 insts, room; /* room: packets that the rings were made for */
	u32 at_lanes, at_state, at_summed, stride; /* in an instance */
	u32 at_old_conf, at_inst, at_heap, at_sums;
	u32 mtu_bytes, quantum_bytes;
	struct aqm_fq_list fresh, old;
	u32 fat; /* flows in the heap */
	u32 stale[FAT_STALE], stales;
	u32 change;       /* how often rows have changed or a life has begun */
	u32 life;         /* how often it has begun */
	u32 counters;     /* of the algorithm's statistics */
	u64 born_ns;      /* when this life began */
	u64 round;        /* of the round robin */
	u64 memory_bytes; /* that the packets held occupy */
	struct aqm_mean delay, sparse;
	u64 delay_peak_ns;
	u64 new_flow_count, collisions;
	u32 fresh_flows, listed_flows; /* in the lists: of the first, of both */
	u64 seed;
	u32 probe_inst; /* that requested a probe, in the arrival just handled */
	u8 probe_lane, probe_asked;
	u8 plain; /* see plain.h */
	struct aqm_counters count;
	struct aqm_probes probes;
	/* conf, the conf before it, instances, rings, heap and sums follow */
};

enum aqm_ev {
	AQM_EV_ARRIVAL, /* inputs: a packet, a dequeue request */
	AQM_EV_WISH,
	AQM_EV_ENQUEUE, /* calls of the algorithm, with its answer */
	AQM_EV_OVERFLOW,
	AQM_EV_DEQUEUE,
	AQM_EV_GONE,
	AQM_EV_TICK,
	AQM_EV_PROBE, /* inputs: a probe that joins or is refused, an answer */
	AQM_EV_ECHO
};

struct aqm_event {
	u64 now;
	u32 inst;
	u8 ev, why;
	const struct aqm_view *views;
	const struct aqm_pkt *pkt;         /* NULL: none */
	const struct aqm_verdict *verdict; /* NULL: none */
	u32 mem;                           /* of an arrival */
	u64 rtt_ns;                        /* of an answer */
};

/* ---- memory layout ---- */

static inline void *queue_conf(struct aqm_queue *q)
{
	return q + 1;
}

static inline void *queue_old_conf(struct aqm_queue *q)
{
	return (char *)q + q->at_old_conf;
}

static inline struct aqm_inst *inst_nth(struct aqm_queue *q, u32 i)
{
	return (struct aqm_inst *)(void *)((char *)q + q->at_inst + (size_t)i * q->stride);
}

static inline struct aqm_view *inst_views(struct aqm_inst *in)
{
	return (struct aqm_view *)(void *)(in + 1);
}

static inline struct aqm_lane *inst_lanes(const struct aqm_queue *q, struct aqm_inst *in)
{
	return (struct aqm_lane *)(void *)((char *)in + q->at_lanes);
}

static inline void *inst_state(const struct aqm_queue *q, struct aqm_inst *in)
{
	return (char *)in + q->at_state;
}

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

/* Member by member: a struct assignment is read back wider than it was written,
 * and the processor waits for the store. */
static inline void pkt_read(struct aqm_queue *q, aqm_h h, u32 lane, struct aqm_pkt *pkt)
{
	const struct aqm_keep *keep = host_keep(q->ctx, h);

	pkt->k.enq_ns = keep->enq_ns;
	pkt->k.flow = keep->flow;
	pkt->k.own = keep->own;
	pkt_fill(q, h, lane, pkt);
}

/* An arrival, as it is counted. What is written into the packet is not read back: a compiler
 * reads two members at once, and the processor would wait for both stores. */
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

#include "plain.h"
#include "change.h"
#include "tick.h"
#include "start.h"

/* ---- carrying out verdicts ---- */

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

/* A threshold of delay is a row of its own: it asks for marks whatever `ecn` says. */
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
	plain_open(q, inst_nth(q, 0));
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

/* From the newest to the oldest, so that the numbers stay those of the verdict. */
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

#define FQ_NONE U32_MAX

static void flows_flush(struct aqm_queue *q);

#include "stat.h"
#include "fat.h"
#include "fq.h"
#include "probe.h"

/* ---- a packet arrives ---- */

/* Join the queue, in which there is room. */
static inline bool queue_join(struct aqm_queue *q, struct aqm_inst *in, aqm_h h,
                              struct aqm_pkt *pkt, const struct aqm_verdict *v, u8 why)
{
	u32 lane = v->queue;

	if (lane >= q->algo->queues) {
		bad(q, AQM_BAD_QUEUE);
		lane = 0;
	}
	if (v->act == AQM_MARK)
		queue_mark(q, &inst_views(in)[lane], pkt, h, why);
	else if (v->act != AQM_PASS)
		bad(q, AQM_BAD_ACT);
	host_keep(q->ctx, h)->own = pkt->k.own;
	lane_push(q->ctx, &inst_lanes(q, in)[lane], h, pkt->len);
	q->pkts++;
	q->bytes += pkt->len;
	q->memory_bytes += host_mem(q->ctx, h); /* a mark may have moved its header */
	if (q->setup.flows)
		fq_join(q, in, pkt->k.flow);
	if (v->probe && q->algo->echo)
		probe_ask(q, in, lane);
	else if (v->probe)
		bad(q, AQM_BAD_PROBE);
	return true;
}

/* Hear the answer to an arrival, and its reason. Its victims leave at once. */
static inline u8 queue_hear(struct aqm_queue *q, struct aqm_inst *in, u64 now, u8 ev,
                            const struct aqm_pkt *pkt, const struct aqm_verdict *v)
{
	u8 why = why_of(q, v);

	trace(q, in, ev, now, pkt, v, 0);
	if (v->nvictims)
		queue_victims(q, in, now, v, why);
	return why;
}

/* Carry it out; false: the packet was refused. */
static inline bool queue_admit(struct aqm_queue *q, struct aqm_inst *in, aqm_h h,
                               struct aqm_pkt *pkt, const struct aqm_verdict *v, u8 why)
{
	if (v->act != AQM_DROP)
		return queue_join(q, in, h, pkt, v, why);
	if (v->probe)
		bad(q, AQM_BAD_PROBE);
	queue_free(q, in, h, pkt->len, why);
	return false;
}

/* Drop an arrival for which no victims make room; the algorithm gets no call. */
static bool queue_refuse(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                         const struct aqm_pkt *pkt)
{
	struct aqm_verdict v = aqm_drop(AQM_WHY_LIMIT);

	trace(q, in, AQM_EV_OVERFLOW, now, pkt, &v, 0);
	queue_free(q, in, h, pkt->len, AQM_WHY_LIMIT);
	return false;
}

/* Drop an arrival that the algorithm let in, and whose victims did not make room. */
static bool queue_crowd_out(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                            const struct aqm_pkt *pkt)
{
	trace(q, in, AQM_EV_GONE, now, pkt, NULL, AQM_WHY_LIMIT);
	if (q->algo->gone)
		q->algo->gone(inst_state(q, in), queue_conf(q), now, inst_views(in), pkt,
		              AQM_WHY_LIMIT);
	queue_free(q, in, h, pkt->len, AQM_WHY_LIMIT);
	return false;
}

/* Ask again while victims leave and are not enough. Each call takes one packet at least, so
 * the calls end, and nth does not wrap. */
static bool queue_overflow(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                           struct aqm_pkt *pkt)
{
	const struct aqm_algo *a = q->algo;
	struct aqm_verdict v = aqm_drop(AQM_WHY_LIMIT);
	u32 mem = host_mem(q->ctx, h), first = q->pkts, held;
	u8 why;

	_Static_assert(AQM_EVICTED < (u16)-1, "nth counts the calls in 16 bits");
	if (q->setup.flows || !fits_empty(q, pkt->len, mem))
		return queue_refuse(q, in, now, h, pkt);
	do {
		held = q->pkts;
		if (a->overflow)
			v = a->overflow(inst_state(q, in), queue_conf(q), now, inst_views(in),
			                pkt);
		why = queue_hear(q, in, now, AQM_EV_OVERFLOW, pkt, &v);
		pkt->nth++;
	} while (v.act != AQM_DROP && q->pkts < held && first - q->pkts < AQM_EVICTED &&
	         over_limit(q, pkt->len, mem));
	if (v.act == AQM_DROP || !over_limit(q, pkt->len, mem))
		return queue_admit(q, in, h, pkt, &v, why);
	if (first - q->pkts < AQM_EVICTED)
		bad(q, AQM_BAD_OVERFLOW);
	return queue_crowd_out(q, in, now, h, pkt);
}

/* Carry out the answer to an arrival for which there is room. */
static inline bool queue_answer(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                                struct aqm_pkt *pkt, const struct aqm_verdict *v)
{
	u8 why = queue_hear(q, in, now, AQM_EV_ENQUEUE, pkt, v);

	return queue_admit(q, in, h, pkt, v, why);
}

static inline bool queue_ask(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                             struct aqm_pkt *pkt)
{
	const struct aqm_algo *a = q->algo;
	struct aqm_verdict v = aqm_pass();

	if (a->enqueue)
		v = a->enqueue(inst_state(q, in), queue_conf(q), now, inst_views(in), pkt);
	return queue_answer(q, in, now, h, pkt, &v);
}

static bool plain_admit(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                        struct aqm_pkt *pkt, const struct aqm_verdict *v)
{
	return queue_answer(q, in, now, h, pkt, v);
}

/* A packet comes to one list, in which there is room and nothing is due. */
static inline bool queue_arrive_plain(struct aqm_queue *q, u64 now, aqm_h h)
{
	u32 len = host_len(q->ctx, h), mem = host_mem(q->ctx, h);
	struct aqm_inst *in = inst_nth(q, 0);
	const struct aqm_algo *a = q->algo;
	struct aqm_verdict v = aqm_pass();
	struct aqm_pkt pkt;

	in->ticks = 0;
	pkt_arrive(q, now, h, &pkt);
	trace_input(q, in, AQM_EV_ARRIVAL, now, &pkt, mem, 0);
	if (a->enqueue) {
		v = a->enqueue(inst_state(q, in), queue_conf(q), now, inst_views(in), &pkt);
		if (!is_plain_pass(&v))
			return plain_admit(q, in, now, h, &pkt, &v);
		host_keep(q->ctx, h)->own = pkt.k.own;
	}
	trace(q, in, AQM_EV_ENQUEUE, now, &pkt, &v, 0);
	plain_join(q, in, h, len, mem);
	return true;
}

static bool queue_arrive(struct aqm_queue *q, u64 now, aqm_h h)
{
	u32 mem = host_mem(q->ctx, h);
	struct aqm_inst *in;
	struct aqm_pkt pkt;
	bool joined;

	pkt_arrive(q, now, h, &pkt);
	in = inst_nth(q, fq_index(q, pkt.k.flow));
	trace_input(q, in, AQM_EV_ARRIVAL, now, &pkt, mem, 0);
	inst_begin(q, in, now);

	if (over_limit(q, pkt.len, mem) &&
	    !(q->setup.flows && fq_make_room(q, now, pkt.len, mem)))
		joined = queue_overflow(q, in, now, h, &pkt);
	else
		joined = queue_ask(q, in, now, h, &pkt);
	if (q->setup.flows)
		flow_end(q, in);
	return joined;
}

static inline bool aqm_enqueue(struct aqm_queue *q, u64 now, aqm_h h)
{
	if (is_plain(q, now) && !over_limit(q, host_len(q->ctx, h), host_mem(q->ctx, h)))
		return queue_arrive_plain(q, now, h);
	return queue_arrive(q, now, h);
}

/* ---- dequeue request ---- */

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

/* Offer head packets until the algorithm passes one or none is left; `nth` were offered. */
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
			plain_open(q, in);
			return h;
		}
		if (queue_offer(q, in, now, h, lane, nth))
			return h;
	}
	if (q->algo->empty)
		q->algo->empty(inst_state(q, in), queue_conf(q), now, inst_views(in));
	return AQM_NIL;
}

static bool plain_release(struct aqm_queue *q, struct aqm_inst *in, u64 now, aqm_h h,
                          const struct aqm_pkt *pkt, const struct aqm_verdict *v)
{
	return queue_release(q, in, now, h, 0, pkt, v);
}

/* The head of one list leaves, if it may; AQM_NIL: there is none, or it was dropped. */
static inline aqm_h queue_leave_plain(struct aqm_queue *q, u64 now)
{
	struct aqm_inst *in = inst_nth(q, 0);
	const struct aqm_algo *a = q->algo;
	struct aqm_verdict v = aqm_pass();
	aqm_h h = plain_leave(q, in);
	struct aqm_pkt pkt;

	if (h == AQM_NIL)
		return AQM_NIL;
	in->ticks = 0;
	pkt_read(q, h, 0, &pkt);
	if (a->dequeue) {
		v = a->dequeue(inst_state(q, in), queue_conf(q), now, inst_views(in), &pkt);
		if (!is_plain_pass(&v))
			return plain_release(q, in, now, h, &pkt, &v) ? h : AQM_NIL;
	}
	trace(q, in, AQM_EV_DEQUEUE, now, &pkt, &v, 0);
	q->count.out_pkts++;
	q->count.out_bytes += pkt.len;
	return h;
}

/* `nth` packets were offered in this dequeue. */
static aqm_h queue_leave(struct aqm_queue *q, u64 now, u32 nth)
{
	return q->setup.flows ? fq_dequeue(q, now) : queue_serve(q, inst_nth(q, 0), now, nth);
}

static inline aqm_h aqm_dequeue(struct aqm_queue *q, u64 now)
{
	u32 nth = 0;
	aqm_h h;

	trace(q, inst_nth(q, 0), AQM_EV_WISH, now, NULL, NULL, 0);
	if (is_plain(q, now)) {
		h = queue_leave_plain(q, now);
		if (h != AQM_NIL)
			return h;
		nth = 1; /* or none was there */
	}
	return queue_leave(q, now, nth);
}

#include "manage.h"

#endif
