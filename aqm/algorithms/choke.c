// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// choke.c: CHOKe, Pan, Prabhakar and Psounis, "CHOKe: A Stateless Active Queue
// Management Scheme for Approximating Fair Bandwidth Allocation", INFOCOM 2000.

#include "law/choke.h"

static const struct aqm_field params[] = {CHOKE_ROWS, AQM_END};

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	return choke_answer(st, conf, now, view, pkt, 1);
}

/* Figure 1 has no limit: the comparison comes first, as in Linux. */
static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	return choke_at_limit(enqueue(st, conf, now, view, pkt));
}

const struct aqm_algo aqm_choke = {
        .name = "choke",
        .brief = "RED that drops an arrival and a random queued packet of the same flow",
        .source = "Pan, Prabhakar, Psounis, CHOKe, INFOCOM 2000",
        .abi = AQM_ABI,
        .flags = AQM_SAMPLES | AQM_MARKS | AQM_AT_TAIL,
        .queues = 1,
        .conf_bytes = sizeof(struct choke_conf),
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
