// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// landmark.c: CFD's cache of flows by itself, with more flows than a queue would hold.

#include "deps.h"
#include "law/landmark.h"

struct tm_meeting {
	u32 hit, asked; /* flows */
};

struct tm_told {
	u32 share, sum, live, top;
};

// A hit each; `out` gets the share of the flow asked for, and the cache's numbers.
void tm_landmark(const struct tm_meeting *in, u32 n, u32 records, u32 age, u64 seed,
                 struct tm_told *out)
{
	struct landmark m = {.sum_max = age};
	u32 i;

	landmark_begin(&m, records, seed);
	for (i = 0; i < n; i++) {
		landmark_hit(&m, in[i].hit);
		out[i].share = landmark_share_q32(&m, in[i].asked);
		out[i].sum = m.sum;
		out[i].live = m.live;
		out[i].top = m.top;
	}
}
