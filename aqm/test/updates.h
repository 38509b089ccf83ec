/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * updates.h: periodic updates of an algorithm, one by one (tick) or many at once (idle).
 */
#ifndef UPDATES_H
#define UPDATES_H

#include "begin.h"

/* The next `ticks` updates of a queue without flows, `at_once` in one call. */
static inline void run_updates(struct bench *b, u64 tick_ns, u64 ticks, u64 at_once)
{
	struct aqm_inst *in = inst_nth(b->q, 0);
	void *st = inst_state(b->q, in);
	u64 t = in->tick_ns, i, n;

	for (i = 0; i < ticks; i += n) {
		n = at_once < ticks - i ? at_once : ticks - i;
		if (n == 1)
			t = b->algo->tick(st, b->conf, t, inst_views(in));
		else
			t = b->algo->idle(st, b->conf, inst_views(in), t,
			                  t + (n - 1) * tick_ns + tick_ns / 3);
		CHECK_EQ(t, in->tick_ns + (i + n) * tick_ns);
	}
}

#endif
