// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// search.c: DUK's search by itself, fed with what no queue here would bring it.

#include <stdlib.h>

#include "deps.h"
#include "law/duk_interval.h"

struct tm_interval {
	u64 ns, arrived, sent, could, packet_ns, tick_ns;
	u32 mtu_bytes, signals;
};

struct tm_answer {
	u32 ticks, level;
};

// DUK's search over n intervals: `out` gets its n answers, after the one that it starts from.
void tm_duk_search(const struct tm_interval *in, u32 n, struct tm_answer *out)
{
	struct duk_interval *d = calloc(1, sizeof(*d));
	u32 i;

	duk_interval_start(d);
	out[0] = (struct tm_answer){duk_ticks(d, d->rung), d->level};
	for (i = 0; i < n; i++) {
		const struct tm_interval *e = &in[i];
		struct duk_interval_sample sample = {e->ns,        e->arrived,   e->sent,
		                                     e->could,     e->packet_ns, e->tick_ns,
		                                     e->mtu_bytes, e->signals};

		out[i + 1].ticks = duk_interval_next(d, &sample);
		out[i + 1].level = d->level;
	}
	free(d);
}
