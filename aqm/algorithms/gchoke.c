// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// gchoke.c: gCHOKe, Eshete and Jiang, "Generalizing the CHOKe flow protection", Computer
// Networks 57(1), 2013: CHOKe that draws again after each match.

#include "law/choke.h"

struct gchoke_conf {
	struct choke_conf choke;
	u32 maxcomp;
};

/* clang-format off */
static const struct aqm_field params[] = {
	CHOKE_ROWS,
	/* The default is a choice: the paper's was not at hand. */
	AQM_ROW(7, AQM_U32, gchoke_conf, maxcomp, AQM_COUNT, 4, 1, AQM_VICTIMS, 0,
		"most packets drawn for an arrival; each match but the last leads to another"),
	AQM_END,
};
/* clang-format on */

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	const struct gchoke_conf *c = conf;

	return choke_answer(st, &c->choke, now, view, pkt, c->maxcomp);
}

static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	return choke_at_limit(enqueue(st, conf, now, view, pkt));
}

const struct aqm_algo aqm_gchoke = {
        .name = "gchoke",
        .brief = "CHOKe that draws again after each match, and drops all that matched",
        .source = "Eshete, Jiang, gCHOKe, Computer Networks 57(1), 2013",
        .abi = AQM_ABI,
        .flags = AQM_SAMPLES | AQM_MARKS | AQM_AT_TAIL,
        .queues = 1,
        .conf_bytes = sizeof(struct gchoke_conf),
        .state_bytes = sizeof(struct choke_state),
        .params = params,
        .stats = choke_stats,
        .check = choke_check,
        .start = choke_start,
        .enqueue = enqueue,
        .overflow = overflow,
        .dequeue = red_dequeue,
        .gone = red_gone,
};
