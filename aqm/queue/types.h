/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * types.h: defines the memory of a queue. Part of queue.h.
 *
 * After struct aqm_queue follow conf, the conf before it, instances, rings, heap and sums.
 * After each struct aqm_inst follow its views, lanes, state, and its part of the sums.
 */
#ifndef AQM_QUEUE_TYPES_H
#define AQM_QUEUE_TYPES_H

#include "../setup.h"

#ifndef AQM_STEP
#define AQM_STEP() ((void)0)
#endif

struct aqm_counters {
	u64 in_pkts, in_bytes; /* every arrival, before any decision */
	u64 out_pkts, out_bytes;
	u64 drop_bytes;
	u64 unmarkable; /* MARK that the host could not carry out; the packet passed */
	u64 drops[AQM_WHY_COUNT];
	u64 marks[AQM_WHY_COUNT];
	u64 bad[AQM_BAD_COUNT];
};

/* Counted apart: in = out + dropped + held holds for the packets without probes. */
struct aqm_probes {
	u64 joined, refused, left, freed, answered;
};

/* Statistics of the flows together; no decision depends on them. Delays are of all packets that
 * leave, probes too, since this epoch of the queue began. */
struct aqm_flows {
	u64 new_flow_count; /* how often a flow became busy with credit, and so a new one */
	u64 new_flows_len, old_flows_len; /* in the lists now */
	u64 collisions; /* packets that joined a flow whose newest packet has another hash */
	u64 delay_mean_ns;
	u64 delay_sparse_ns; /* the mean for packets of new flows */
	u64 delay_peak_ns;
	u64 memory_used_bytes; /* by the packets held */
};

/* Statistics of one flow in its present epoch. */
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
	u32 change;  /* of the queue, whose rows it has; see rows.h */
	u32 epoch;   /* of the queue, in which it started; see instance.h */
	u32 next;    /* in the round robin list; see flows.h */
	u32 place;   /* in the heap; see heap.h */
	u32 listed, index;
	u32 deferred; /* its updates of heap and sums; see heap.h */
	u32 hash;     /* of the packet that joined last */
	u32 drops;
	u64 round;        /* up to which it has received credit */
	s64 credit_bytes; /* a packet may be of any length, and is paid for in rounds */
};

/* Flows whose place in the heap may be out of date: bounds the moves of one call. */
#define DEFERRED_FLOWS 12

#define FQ_NONE U32_MAX

struct aqm_fq_list {
	u32 head, tail;
};

struct aqm_queue {
	u32 pkts, bytes;   /* in all lanes; first, where a host may look for them */
	u64 fast_until_ns; /* until when packets may take the fast path; see fast.h */
	const struct aqm_algo *algo;
	aqm_ctx ctx;
	struct aqm_setup setup;
	u32 insts, room; /* room: packets that the rings were made for */
	u32 at_lanes, at_state, at_summed, stride; /* in an instance */
	u32 at_old_conf, at_inst, at_heap, at_sums;
	u32 mtu_bytes, quantum_bytes;
	struct aqm_fq_list fresh, old;
	u32 heap_flows; /* flows in the heap */
	u32 deferred[DEFERRED_FLOWS], deferred_flows;
	u32 change;         /* counts changes of rows, and epochs */
	u32 epoch;          /* counts starts and resets */
	u32 counters;       /* of the algorithm's statistics */
	u64 epoch_start_ns; /* when this epoch began */
	u64 round;          /* of the round robin */
	u64 memory_bytes;   /* that the packets held occupy */
	struct aqm_mean delay, sparse;
	u64 delay_peak_ns;
	u64 new_flow_count, collisions;
	u32 fresh_flows, listed_flows; /* in the lists: of the first, of both */
	u64 seed;
	u32 probe_inst; /* that requested a probe, in the arrival just handled */
	u8 probe_lane, probe_asked;
	u8 fast; /* the queue has a fast path */
	struct aqm_counters count;
	struct aqm_probes probes;
	/* conf, the conf before it, instances, rings, heap and sums follow */
};

enum aqm_ev {
	AQM_EV_ARRIVAL, /* inputs: a packet, a dequeue request */
	AQM_EV_REQUEST,
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

#endif
