/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * ring.h: keeps packets by slot number, for algorithms that sample inside the queue.
 *
 * Slot 0 is the head, slot span - 1 the newest. A packet taken from the middle
 * leaves a hole. Neither end is ever a hole, so an empty ring has span 0. Every
 * host uses this ring: a random slot means the same packet everywhere.
 */
#ifndef AQM_QUEUE_RING_H
#define AQM_QUEUE_RING_H

#include "types.h"

struct aqm_ring {
	aqm_h *cell; /* mask + 1 handles, twice the packets; AQM_NIL is a hole */
	u32 mask;    /* a power of two, less one */
	u32 first;   /* index of slot 0, before masking */
	u32 span;    /* slots in use, holes included */
};

/* The packets that a ring is made for, a power of two; it has twice as many cells. */
static inline u32 ring_room(u32 pkts)
{
	u32 n = 1;

	while (n < pkts)
		n <<= 1;
	return n;
}

static inline aqm_h *ring_at(const struct aqm_ring *r, u32 slot)
{
	return &r->cell[(r->first + slot) & r->mask];
}

/* Close the holes in a pass over the cells. One pass comes after as many arrivals as the ring
 * was made for. Without spare cells a pass would follow every few victims. */
static inline void ring_compact(struct aqm_ring *r)
{
	u32 from, to = 0;

	for (from = 0; from < r->span; from++) {
		aqm_h h = *ring_at(r, from);

		AQM_STEP();
		if (h != AQM_NIL)
			*ring_at(r, to++) = h;
	}
	r->span = to;
}

/* The caller keeps packets <= room; holes may still have used up the cells. */
static inline void ring_push(struct aqm_ring *r, aqm_h h)
{
	if (r->span > r->mask)
		ring_compact(r);
	*ring_at(r, r->span++) = h;
}

static inline void ring_trim(struct aqm_ring *r)
{
	while (r->span && *ring_at(r, r->span - 1) == AQM_NIL) {
		AQM_STEP();
		r->span--;
	}
	while (r->span && *ring_at(r, 0) == AQM_NIL) {
		AQM_STEP();
		r->first++;
		r->span--;
	}
}

/* Take the packet of a slot; AQM_NIL for a hole or beyond the newest. */
static inline aqm_h ring_take(struct aqm_ring *r, u32 slot)
{
	aqm_h h;

	if (slot >= r->span)
		return AQM_NIL;
	h = *ring_at(r, slot);
	*ring_at(r, slot) = AQM_NIL;
	ring_trim(r);
	return h;
}

#endif
