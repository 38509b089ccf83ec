// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// fq_codel.c: FlowQueue-CoDel, RFC 8290. CoDel in each of many flows; the queue serves
// them (flows.h).

#include "law/codel_rows.h"

/* Sections 5.2.3, 5.2.5, 5.2.6. The quantum of 5.2.4 is the queue's own default. */
static const struct aqm_default defaults[] = {
        {"limit", 10240},
        {"flows", 1024},
        {"ecn", 1},
        {NULL, 0},
};

const struct aqm_algo aqm_fq_codel = {
        .name = "fq_codel",
        .brief = "CoDel in each of many flows, which take turns",
        .source = "RFC 8290",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_HEAD,
        .queues = 1,
        .conf_bytes = sizeof(struct codel_rows),
        .state_bytes = sizeof(struct codel_state),
        .params = codel_params,
        .stats = codel_stats,
        .defaults = defaults,
        .dequeue = codel_dequeue,
        .empty = codel_on_empty,
        .gone = codel_on_gone,
};
