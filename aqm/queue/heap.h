/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * heap.h: finds the flow that holds the most bytes. Part of queue.h.
 *
 * A heap of the flows that hold packets. A flow's key is its bytes and then the complement of
 * its index, so no two keys are equal. The top depends on the backlog alone, not on the order
 * of arrivals; of equal backlogs the first flow is on top. A node has four children: 65,536
 * flows make nine levels, and the children of a node lie side by side.
 *
 * The updates of a few flows may be deferred. Their places then follow an earlier backlog, and
 * the sums of statistics (sums.h) lack their last counts until the next read. While no more
 * flows than these are active, a packet needs no work on heap or sums.
 */
#ifndef AQM_QUEUE_HEAP_H
#define AQM_QUEUE_HEAP_H

#include "sums.h"

#define HEAP_CHILDREN 4

static inline u64 *heap_keys(struct aqm_queue *q)
{
	return (u64 *)(void *)((char *)q + q->at_heap);
}

static inline u64 heap_key(struct aqm_inst *in)
{
	return (u64)inst_views(in)->bytes << 32 | (u32)~in->index;
}

static inline struct aqm_inst *heap_inst(struct aqm_queue *q, u64 key)
{
	return inst_nth(q, ~(u32)key);
}

static inline void heap_put(struct aqm_queue *q, u32 place, u64 key)
{
	heap_keys(q)[place] = key;
	heap_inst(q, key)->place = place;
}

static inline void heap_rise(struct aqm_queue *q, u32 place, u64 key)
{
	const u64 *heap = heap_keys(q);

	while (place) {
		u32 parent = (place - 1) / HEAP_CHILDREN;

		AQM_STEP();
		if (heap[parent] > key)
			break;
		heap_put(q, place, heap[parent]);
		place = parent;
	}
	heap_put(q, place, key);
}

static inline u32 heap_largest_child(const u64 *heap, u32 first, u32 end)
{
	u32 largest = first, i;

	if (end > first + HEAP_CHILDREN)
		end = first + HEAP_CHILDREN;
	for (i = first + 1; i < end; i++)
		if (heap[i] > heap[largest])
			largest = i;
	return largest;
}

static inline void heap_sink(struct aqm_queue *q, u32 place, u64 key)
{
	const u64 *heap = heap_keys(q);
	u32 child;

	for (; place * HEAP_CHILDREN + 1 < q->heap_flows; place = child) {
		AQM_STEP();
		child = heap_largest_child(heap, place * HEAP_CHILDREN + 1, q->heap_flows);
		if (heap[child] < key)
			break;
		heap_put(q, place, heap[child]);
	}
	heap_put(q, place, key);
}

static inline void heap_move(struct aqm_queue *q, u32 place, u64 old, u64 key)
{
	if (key > old)
		heap_rise(q, place, key);
	else if (key < old)
		heap_sink(q, place, key);
}

static inline void heap_remove(struct aqm_queue *q, struct aqm_inst *in)
{
	u64 *heap = heap_keys(q), old = heap[in->place], last = heap[--q->heap_flows];

	if (in->place < q->heap_flows)
		heap_move(q, in->place, old, last);
	in->place = FQ_NONE;
}

static inline void heap_update(struct aqm_queue *q, struct aqm_inst *in)
{
	u64 key = heap_key(in);

	if (!inst_views(in)->pkts) {
		if (in->place != FQ_NONE)
			heap_remove(q, in);
	} else if (in->place == FQ_NONE) {
		heap_rise(q, q->heap_flows++, key);
	} else {
		heap_move(q, in->place, heap_keys(q)[in->place], key);
	}
}

static void flows_flush(struct aqm_queue *q)
{
	while (q->deferred_flows) {
		struct aqm_inst *in = inst_nth(q, q->deferred[--q->deferred_flows]);

		in->deferred = 0;
		heap_update(q, in);
		if (q->counters)
			stat_add(q, in);
	}
}

/* An event of a flow is over. */
static inline void flow_end(struct aqm_queue *q, struct aqm_inst *in)
{
	if (in->deferred)
		return;
	if (q->deferred_flows == DEFERRED_FLOWS)
		flows_flush(q);
	in->deferred = 1;
	q->deferred[q->deferred_flows++] = in->index;
}

/* NULL when no flow holds a packet. */
static inline struct aqm_inst *heap_largest(struct aqm_queue *q)
{
	flows_flush(q);
	return q->heap_flows ? heap_inst(q, heap_keys(q)[0]) : NULL;
}

#endif
