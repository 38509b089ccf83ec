/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * stats.h: reads the statistics of an algorithm and of flows. Part of queue.h.
 *
 * A statistic is read as of the last event of its instance: reading runs no tick and visits
 * only the deferred flows (heap.h). With flows a counter (AQM_COUNTER) has one number, its sum.
 * A gauge of many flows has no one value.
 */
#ifndef AQM_QUEUE_STATS_H
#define AQM_QUEUE_STATS_H

#include "heap.h"
#include "instance.h"

/* A statistic's value, where there is one. */
static inline bool aqm_queue_stat(struct aqm_queue *q, const struct aqm_field *row, u64 *value)
{
	const struct aqm_field *before;
	const u64 *sum = stat_sums(q);

	if (q->insts == 1) {
		*value = aqm_field_get(row, inst_state(q, inst_nth(q, 0)));
		return true;
	}
	if (!(row->flags & AQM_COUNTER))
		return false;
	flows_flush(q);
	for (before = q->algo->stats; before != row; before++)
		sum += (before->flags & AQM_COUNTER) != 0;
	*value = *sum;
	return true;
}

static inline u64 mean_ns(const struct aqm_mean *mean)
{
	return mean->count ? div64(mean->sum_ns, mean->count) : 0;
}

/* Read the statistics of all flows together. A queue without flows has none. */
static inline struct aqm_flows aqm_flows(const struct aqm_queue *q)
{
	return (struct aqm_flows){
	        .new_flow_count = q->new_flow_count,
	        .new_flows_len = q->fresh_flows,
	        .old_flows_len = q->listed_flows - q->fresh_flows,
	        .collisions = q->collisions,
	        .delay_mean_ns = mean_ns(&q->delay),
	        .delay_sparse_ns = mean_ns(&q->sparse),
	        .delay_peak_ns = q->delay_peak_ns,
	        .memory_used_bytes = q->memory_bytes,
	};
}

/* Does this flow wait for its turn? */
static inline bool aqm_flow_listed(struct aqm_queue *q, u32 i)
{
	const struct aqm_inst *in = inst_nth(q, i);

	return q->setup.flows && inst_started(q, in) && in->listed;
}

/* Statistics of a flow, zero before its first packet. */
static inline struct aqm_flow aqm_flow(struct aqm_queue *q, u32 i)
{
	struct aqm_inst *in = inst_nth(q, i);
	struct aqm_flow flow = {0, 0, 0, 0};
	u32 lane;

	if (!inst_started(q, in))
		return flow;
	for (lane = 0; lane < q->algo->queues; lane++) {
		flow.pkts += inst_views(in)[lane].pkts;
		flow.bytes += inst_views(in)[lane].bytes;
	}
	flow.drops = in->drops;
	flow.credit_bytes = in->credit_bytes;
	return flow;
}

/* A statistic's value in one flow; false before its first packet. */
static inline bool aqm_flow_stat(struct aqm_queue *q, u32 i, const struct aqm_field *row,
                                 u64 *value)
{
	struct aqm_inst *in = inst_nth(q, i);

	if (!inst_started(q, in))
		return false;
	*value = aqm_field_get(row, inst_state(q, in));
	return true;
}

#endif
