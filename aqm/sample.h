/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sample.h: draws a random packet from the queue.
 */
#ifndef AQM_SAMPLE_H
#define AQM_SAMPLE_H

#include "aqm.h"
#include "rng.h"

/* A packet other than these; AQM_VICTIMS of them at most, which are about to leave. */
static inline bool sample_look(const struct aqm_view *view, const u32 *taken, u32 n, u32 slot,
                               struct aqm_pkt *pkt)
{
	while (n)
		if (taken[--n] == slot)
			return false;
	return view->peek(view, slot, pkt);
}

/* A hole, or one that is taken, is drawn again, twice at most; then the head stands in, which
 * is never a hole. False: the queue is empty, or nothing else was found. */
static inline bool sample_other(struct aqm_rng *rng, const struct aqm_view *view,
                                const u32 *taken, u32 n, u32 *slot, struct aqm_pkt *pkt)
{
	u32 tries;

	if (!view->slots)
		return false;
	for (tries = 0; tries < 3; tries++) {
		*slot = rng_below(rng, view->slots);
		if (sample_look(view, taken, n, *slot, pkt))
			return true;
	}
	*slot = 0;
	return sample_look(view, taken, n, 0, pkt);
}

/* Any packet. */
static inline bool sample_slot(struct aqm_rng *rng, const struct aqm_view *view, u32 *slot,
                               struct aqm_pkt *pkt)
{
	return sample_other(rng, view, NULL, 0, slot, pkt);
}

#endif
