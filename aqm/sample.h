/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sample.h: a random packet out of the queue.
 */
#ifndef AQM_SAMPLE_H
#define AQM_SAMPLE_H

#include "aqm.h"
#include "rng.h"

/* A hole is drawn again, twice at most; then the head stands in, which is never
 * one. False: the queue is empty. */
static inline bool sample_slot(struct aqm_rng *rng, const struct aqm_view *view, u32 *slot,
                               struct aqm_pkt *pkt)
{
	u32 tries;

	if (!view->slots)
		return false;
	for (tries = 0; tries < 3; tries++) {
		*slot = rng_below(rng, view->slots);
		if (view->peek(view, *slot, pkt))
			return true;
	}
	*slot = 0;
	return view->peek(view, 0, pkt);
}

#endif
