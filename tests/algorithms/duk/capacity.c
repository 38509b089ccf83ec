// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// capacity.c: DUK's estimate of the link by itself, at times that a queue would hardly meet.

#include "deps.h"
#include "law/capacity.h"

enum { TM_DEPARTURE, TM_EMPTIED, TM_INTERVAL };

struct tm_moment {
	u64 ns;    /* now, or the length of the interval */
	u64 bytes; /* of the packet, or sent in the interval */
	u32 kind, left_pkts;
};

struct tm_estimate {
	u64 could, packet_ns;
};

// What happens at a link; `out` gets the estimate after each, for intervals of `interval_ns`.
void tm_capacity(const struct tm_moment *in, u32 n, u64 longest_ns, u64 interval_ns,
                 struct tm_estimate *out)
{
	struct capacity c = {0};
	u32 i;

	for (i = 0; i < n; i++) {
		const struct tm_moment *e = &in[i];

		if (e->kind == TM_DEPARTURE)
			capacity_departure(&c, e->ns, (u32)e->bytes, e->left_pkts, longest_ns);
		else if (e->kind == TM_EMPTIED)
			capacity_emptied(&c);
		else
			capacity_interval(&c, e->ns, e->bytes);
		out[i].could = capacity_bytes(&c, interval_ns);
		out[i].packet_ns = capacity_packet_ns(&c);
	}
}
