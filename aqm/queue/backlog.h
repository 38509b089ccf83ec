/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * backlog.h: the flow that holds the most bytes. Part of queue.h.
 *
 * A heap of the flows that hold packets. A flow's key is its bytes and then the
 * complement of its index, so no two are equal: the top depends on the backlog alone,
 * not on the order of arrivals, and of equally fat flows it is the first.
 * A node has four children: 65,536 flows make nine levels, and the children of a node
 * lie side by side.
 *
 * A few flows may be stale: their places follow an earlier backlog, and the sums of
 * statistics (sums.h) lack their counts since then, until the next read. While no more
 * flows than these are active, a packet needs no work on heap or sums.
 */
#ifndef AQM_QUEUE_BACKLOG_H
#define AQM_QUEUE_BACKLOG_H

#include "sums.h"

#define FAT_CHILDREN 4

static inline u64 *fat_heap(struct aqm_queue *q)
{
	return (u64 *)(void *)((char *)q + q->at_heap);
}

static inline u64 fat_key(struct aqm_inst *in)
{
	return (u64)inst_views(in)->bytes << 32 | (u32)~in->index;
}

static inline struct aqm_inst *fat_inst(struct aqm_queue *q, u64 key)
{
	return inst_nth(q, ~(u32)key);
}

static inline void fat_put(struct aqm_queue *q, u32 place, u64 key)
{
	fat_heap(q)[place] = key;
	fat_inst(q, key)->place = place;
}

static inline void fat_rise(struct aqm_queue *q, u32 place, u64 key)
{
	const u64 *heap = fat_heap(q);

	while (place) {
		u32 parent = (place - 1) / FAT_CHILDREN;

		AQM_STEP();
		if (heap[parent] > key)
			break;
		fat_put(q, place, heap[parent]);
		place = parent;
	}
	fat_put(q, place, key);
}

static inline u32 fat_largest_child(const u64 *heap, u32 first, u32 end)
{
	u32 largest = first, i;

	if (end > first + FAT_CHILDREN)
		end = first + FAT_CHILDREN;
	for (i = first + 1; i < end; i++)
		if (heap[i] > heap[largest])
			largest = i;
	return largest;
}

static inline void fat_sink(struct aqm_queue *q, u32 place, u64 key)
{
	const u64 *heap = fat_heap(q);
	u32 child;

	for (; place * FAT_CHILDREN + 1 < q->fat; place = child) {
		AQM_STEP();
		child = fat_largest_child(heap, place * FAT_CHILDREN + 1, q->fat);
		if (heap[child] < key)
			break;
		fat_put(q, place, heap[child]);
	}
	fat_put(q, place, key);
}

static inline void fat_move(struct aqm_queue *q, u32 place, u64 old, u64 key)
{
	if (key > old)
		fat_rise(q, place, key);
	else if (key < old)
		fat_sink(q, place, key);
}

static inline void fat_remove(struct aqm_queue *q, struct aqm_inst *in)
{
	u64 *heap = fat_heap(q), old = heap[in->place], last = heap[--q->fat];

	if (in->place < q->fat)
		fat_move(q, in->place, old, last);
	in->place = FQ_NONE;
}

static inline void fat_update(struct aqm_queue *q, struct aqm_inst *in)
{
	u64 key = fat_key(in);

	if (!inst_views(in)->pkts) {
		if (in->place != FQ_NONE)
			fat_remove(q, in);
	} else if (in->place == FQ_NONE) {
		fat_rise(q, q->fat++, key);
	} else {
		fat_move(q, in->place, fat_heap(q)[in->place], key);
	}
}

static void flows_flush(struct aqm_queue *q)
{
	while (q->stales) {
		struct aqm_inst *in = inst_nth(q, q->stale[--q->stales]);

		in->stale = 0;
		fat_update(q, in);
		if (q->counters)
			stat_add(q, in);
	}
}

/* An event of a flow is over. */
static inline void flow_end(struct aqm_queue *q, struct aqm_inst *in)
{
	if (in->stale)
		return;
	if (q->stales == FAT_STALE)
		flows_flush(q);
	in->stale = 1;
	q->stale[q->stales++] = in->index;
}

/* NULL when no flow holds a packet. */
static inline struct aqm_inst *fat_flow(struct aqm_queue *q)
{
	flows_flush(q);
	return q->fat ? fat_inst(q, fat_heap(q)[0]) : NULL;
}

#endif
