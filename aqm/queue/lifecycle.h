/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * lifecycle.h: makes, changes and resets a queue. Part of queue.h.
 */
#ifndef AQM_QUEUE_LIFECYCLE_H
#define AQM_QUEUE_LIFECYCLE_H

#include "flows.h"

static inline u32 round_up_8(u32 bytes)
{
	return (bytes + 7) & ~7u;
}

/* The memory layout; aqm_queue_mem also needs it, before there is any memory. */
static inline void queue_layout(struct aqm_queue *q, const struct aqm_algo *a,
                                const struct aqm_setup *setup)
{
	u32 views = a->queues * (u32)sizeof(struct aqm_view);
	u32 lanes = a->queues * (u32)sizeof(struct aqm_lane);

	q->at_old_conf = round_up_8((u32)sizeof(*q) + a->conf_bytes);
	q->at_inst = round_up_8(q->at_old_conf + a->conf_bytes);
	q->at_lanes = (u32)sizeof(struct aqm_inst) + round_up_8(views);
	q->at_state = q->at_lanes + round_up_8(lanes);
	q->at_summed = q->at_state + round_up_8(a->state_bytes);
	q->counters = setup->flows ? stat_counters(a) : 0;
	q->stride = q->at_summed + q->counters * (u32)sizeof(u64);
	q->insts = setup->flows ? setup->flows : 1;
	q->room = a->flags & AQM_SAMPLES ? ring_room(setup->limit) : 0;
}

static inline u64 insts_end(const struct aqm_queue *q)
{
	return q->at_inst + (u64)q->insts * q->stride;
}

static inline size_t aqm_queue_mem(const struct aqm_algo *a, const struct aqm_setup *setup)
{
	struct aqm_queue q;
	u64 bytes;

	queue_layout(&q, a, setup);
	bytes = insts_end(&q) + (u64)q.room * 2 * a->queues * sizeof(aqm_h) +
	        (u64)(setup->flows + q.counters) * sizeof(u64);
	return bytes > U32_MAX / 2 ? 0 : (size_t)bytes;
}

static inline void inst_lay_out(struct aqm_queue *q, u32 i, aqm_h *cells)
{
	struct aqm_inst *in = inst_nth(q, i);
	u32 n;

	in->index = i;
	in->epoch = in->change = 0;
	for (n = 0; n < q->algo->queues; n++) {
		struct aqm_lane *lane = &inst_lanes(q, in)[n];
		struct aqm_view *view = &inst_views(in)[n];

		aqm_zero(view, sizeof(*view));
		view->peek = queue_peek;
		view->all_bytes = &q->bytes;
		view->host = lane;
		*lane = (struct aqm_lane){
		        .q = q, .view = view, .number = n, .head = AQM_NIL, .tail = AQM_NIL};
		if (q->room) {
			lane->ring.cell = cells + (size_t)n * q->room * 2;
			lane->ring.mask = q->room * 2 - 1;
		}
	}
}

static inline void queue_use_setup(struct aqm_queue *q, const struct aqm_setup *setup)
{
	q->setup = *setup;
	q->quantum_bytes = setup->quantum ? setup->quantum : q->mtu_bytes;
}

/* Begin an epoch. A single instance starts at once, since its statistics may be read. */
static inline void queue_start(struct aqm_queue *q, u64 now)
{
	q->fresh = q->old = (struct aqm_fq_list){FQ_NONE, FQ_NONE};
	q->fresh_flows = q->listed_flows = 0;
	q->delay = q->sparse = (struct aqm_mean){0, 0};
	q->delay_peak_ns = 0;
	q->heap_flows = q->deferred_flows = 0;
	q->round = 0;
	q->epoch_start_ns = now;
	q->epoch++;
	q->change++;
	aqm_zero(stat_sums(q), q->counters * sizeof(u64));
	if (q->insts == 1)
		inst_start(q, inst_nth(q, 0));
}

static inline void aqm_queue_init(struct aqm_queue *q, const struct aqm_algo *a,
                                  const struct aqm_setup *setup, const void *conf,
                                  u32 mtu_bytes, u64 now, u64 seed)
{
	u32 i;

	aqm_zero(q, sizeof(*q));
	queue_layout(q, a, setup);
	q->at_heap = (u32)insts_end(q);
	q->at_sums = q->at_heap + setup->flows * (u32)sizeof(u64);
	q->algo = a;
	q->mtu_bytes = mtu_bytes < AQM_MTU_MIN   ? AQM_MTU_MIN
	               : mtu_bytes > AQM_MTU_MAX ? AQM_MTU_MAX
	                                         : mtu_bytes;
	queue_use_setup(q, setup);
	q->fast = has_fast_path(q);
	q->seed = seed;
	aqm_copy(queue_conf(q), conf, a->conf_bytes);
	for (i = 0; i < q->insts; i++)
		inst_lay_out(q, i, (aqm_h *)(void *)inst_nth(q, q->insts));
	queue_start(q, now);
}

/* Choose the lane that loses a packet to a lowered limit: the one with most bytes. An empty
 * lane gives way to packets of no length. */
static inline u32 fullest_lane(const struct aqm_queue *q, struct aqm_inst *in)
{
	const struct aqm_view *views = inst_views(in);
	u32 i, fullest = 0;

	for (i = 1; i < q->algo->queues; i++)
		if (views[i].bytes > views[fullest].bytes || !views[fullest].pkts)
			fullest = i;
	return fullest;
}

static inline bool over_held(const struct aqm_queue *q)
{
	return q->pkts > q->setup.limit || q->bytes > q->setup.limit_bytes ||
	       q->memory_bytes > q->setup.memory_limit;
}

static inline void shed_to_limit(struct aqm_queue *q, u64 now)
{
	u32 i;

	/* Packets that leave now were there at the ticks before. Flows may be too many for
	 * that: theirs happens at the first tick that is overdue. */
	if (!q->setup.flows && over_held(q))
		run_ticks(q, inst_nth(q, 0), now);
	while (over_held(q)) {
		struct aqm_inst *in = q->setup.flows ? heap_largest(q) : inst_nth(q, 0);

		for (i = 0; i < FQ_BATCH && over_held(q); i++) {
			AQM_STEP();
			if (!queue_evict(q, in, inst_clock(in, now), fullest_lane(q, in), 0,
			                 AQM_WHY_LOWERED))
				break;
		}
		if (q->setup.flows)
			flow_end(q, in);
	}
}

/* Rows that aqm_setup_check() has passed. Limits hold at once; each instance takes the
 * values at its next event. */
static inline void aqm_queue_apply(struct aqm_queue *q, u64 now, const struct aqm_setup *setup,
                                   const void *conf)
{
	u32 i;

	for (i = 0; i < q->insts; i++) {
		struct aqm_inst *in = inst_nth(q, i);

		AQM_STEP();
		if (inst_started(q, in) && in->change != q->change)
			inst_change(q, in, now);
	}
	aqm_copy(queue_old_conf(q), queue_conf(q), q->algo->conf_bytes);
	aqm_copy(queue_conf(q), conf, q->algo->conf_bytes);
	queue_use_setup(q, setup);
	q->change++;
	q->fast_until_ns = 0;
	shed_to_limit(q, now);
}

static inline void inst_drain(struct aqm_queue *q, struct aqm_inst *in)
{
	u32 lane;
	aqm_h h;

	for (lane = 0; lane < q->algo->queues; lane++)
		while ((h = queue_take(q, in, lane, 0)) != AQM_NIL) {
			AQM_STEP();
			if (is_probe(q, h))
				probe_free(q, h, AQM_WHY_RESET);
			else
				queue_free(q, in, h, host_len(q->ctx, h), AQM_WHY_RESET);
		}
}

/* Drop all packets and start again. It visits only the flows that hold packets. */
static inline void aqm_queue_reset(struct aqm_queue *q, u64 now)
{
	u32 i;

	if (!q->setup.flows)
		inst_drain(q, inst_nth(q, 0));
	flows_flush(q);
	for (i = 0; i < q->heap_flows; i++)
		inst_drain(q, heap_inst(q, heap_keys(q)[i]));
	queue_start(q, now);
}

#endif
