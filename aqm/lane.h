/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * lane.h: packets in order of arrival, with the view that an algorithm has.
 *
 * A lane is a ring where an algorithm samples (AQM_SAMPLES, one flow) and a
 * list through host_next() otherwise: a ring per flow would cost the whole
 * limit for each. In a list a slot is found by walking from the head, and there
 * are no holes, so a sampler draws other packets there; in every host the same.
 */
#ifndef AQM_LANE_H
#define AQM_LANE_H

#include "ring.h"

struct aqm_queue;

struct aqm_lane {
	struct aqm_queue *q;
	struct aqm_view *view;
	aqm_h head, tail;
	struct aqm_ring ring; /* cell == NULL: this lane is a list */
};

static inline void lane_push(aqm_ctx ctx, struct aqm_lane *lane, aqm_h h, u32 len)
{
	struct aqm_view *view = lane->view;

	if (lane->ring.cell) {
		ring_push(&lane->ring, h);
		view->slots = lane->ring.span;
	} else {
		host_set_next(ctx, h, AQM_NIL);
		if (lane->head == AQM_NIL)
			lane->head = h;
		else
			host_set_next(ctx, lane->tail, h);
		lane->tail = h;
		view->slots++;
	}
	view->pkts++;
	view->bytes += len;
}

static inline aqm_h list_at(aqm_ctx ctx, const struct aqm_lane *lane, u32 slot, aqm_h *before)
{
	aqm_h h = lane->head;

	*before = AQM_NIL;
	while (slot-- && h != AQM_NIL) {
		*before = h;
		h = host_next(ctx, h);
	}
	return h;
}

static inline aqm_h list_take(aqm_ctx ctx, struct aqm_lane *lane, u32 slot)
{
	aqm_h before, next, h = list_at(ctx, lane, slot, &before);

	if (h == AQM_NIL)
		return AQM_NIL;
	next = host_next(ctx, h);
	if (before == AQM_NIL)
		lane->head = next;
	else
		host_set_next(ctx, before, next);
	if (next == AQM_NIL)
		lane->tail = before;
	lane->view->slots--;
	return h;
}

/* Remove the packet of a slot; AQM_NIL if there is none. */
static inline aqm_h lane_take(aqm_ctx ctx, struct aqm_lane *lane, u32 slot)
{
	struct aqm_view *view = lane->view;
	aqm_h h;

	if (lane->ring.cell) {
		h = ring_take(&lane->ring, slot);
		view->slots = lane->ring.span;
	} else {
		h = list_take(ctx, lane, slot);
	}
	if (h != AQM_NIL) {
		view->pkts--;
		view->bytes -= host_len(ctx, h);
	}
	return h;
}

static inline aqm_h lane_at(aqm_ctx ctx, const struct aqm_lane *lane, u32 slot)
{
	aqm_h before;

	if (slot >= lane->view->slots)
		return AQM_NIL;
	if (lane->ring.cell)
		return *ring_at(&lane->ring, slot);
	return list_at(ctx, lane, slot, &before);
}

#endif
