// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// fifo.c: first in, first out. The limit of the queue, in packets or bytes, decides when a
// packet is lost, and a row which one.

#include "aqm.h"

struct fifo_conf {
	u32 drop;
};

enum { FIFO_TAIL, FIFO_HEAD };

static const char *const fifo_drops[] = {"tail", "head"};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW_OF_CHOICES(1, fifo_conf, drop, fifo_drops, FIFO_TAIL, FIFO_HEAD, 0,
		"a full queue loses the packet that arrives, or those that have waited longest"),
	AQM_END,
};
/* clang-format on */

static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	const struct fifo_conf *c = conf;

	(void)st, (void)now, (void)view, (void)pkt;
	if (c->drop == FIFO_TAIL)
		return aqm_drop(AQM_WHY_LIMIT);
	return (struct aqm_verdict){.act = AQM_PASS, .why = AQM_WHY_LIMIT, .nvictims = 1};
}

const struct aqm_algo aqm_fifo = {
        .name = "fifo",
        .brief = "first in, first out, drops at the tail or the head when the limit is reached",
        .source = "drop tail",
        .abi = AQM_ABI,
        .queues = 1,
        .conf_bytes = sizeof(struct fifo_conf),
        .params = params,
        .overflow = overflow,
};
