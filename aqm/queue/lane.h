/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * lane.h: keeps packets in order of arrival, with the view that an algorithm has.
 *
 * A lane is a ring where an algorithm samples (AQM_SAMPLES), and a list through
 * host_next() otherwise. A list answers for its head only: a walk to another slot
 * would take time that grows with the backlog.
 */
#ifndef AQM_QUEUE_LANE_H
#define AQM_QUEUE_LANE_H

#include "ring.h"

struct aqm_lane {
	struct aqm_queue *q;
	struct aqm_view *view;
	u32 number; /* among those of its instance */
	aqm_h head, tail;
	struct aqm_ring ring; /* cell == NULL: this lane is a list */
};

static inline void list_push(aqm_ctx ctx, struct aqm_lane *lane, aqm_h h)
{
	host_set_next(ctx, h, AQM_NIL);
	if (lane->head == AQM_NIL)
		lane->head = h;
	else
		host_set_next(ctx, lane->tail, h);
	lane->tail = h;
	lane->view->slots++;
}

static inline void lane_count(struct aqm_lane *lane, u32 len)
{
	struct aqm_view *view = lane->view;

	view->pkts++;
	view->bytes += len;
}

static inline void lane_push(aqm_ctx ctx, struct aqm_lane *lane, aqm_h h, u32 len)
{
	if (lane->ring.cell) {
		ring_push(&lane->ring, h);
		lane->view->slots = lane->ring.span;
	} else {
		list_push(ctx, lane, h);
	}
	lane_count(lane, len);
}

static inline aqm_h list_pop(aqm_ctx ctx, struct aqm_lane *lane)
{
	aqm_h h = lane->head;

	if (h == AQM_NIL)
		return AQM_NIL;
	lane->head = host_next(ctx, h);
	if (lane->head == AQM_NIL)
		lane->tail = AQM_NIL;
	lane->view->slots--;
	return h;
}

/* Remove the packet of a slot; AQM_NIL if there is none, or if it cannot be reached. */
static inline aqm_h lane_take(aqm_ctx ctx, struct aqm_lane *lane, u32 slot)
{
	struct aqm_view *view = lane->view;
	aqm_h h;

	if (lane->ring.cell) {
		h = ring_take(&lane->ring, slot);
		view->slots = lane->ring.span;
	} else {
		h = slot ? AQM_NIL : list_pop(ctx, lane);
	}
	if (h != AQM_NIL) {
		view->pkts--;
		view->bytes -= host_len(ctx, h);
	}
	return h;
}

static inline aqm_h lane_at(const struct aqm_lane *lane, u32 slot)
{
	if (slot >= lane->view->slots)
		return AQM_NIL;
	if (lane->ring.cell)
		return *ring_at(&lane->ring, slot);
	return slot ? AQM_NIL : lane->head;
}

#endif
