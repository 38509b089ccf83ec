// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// codel.c: Controlled Delay, RFC 8289. Acts at the head, on time in the queue.

#include "law/codel_rows.h"

const struct aqm_algo aqm_codel = {
        .name = "codel",
        .brief = "signals at the head when delay stays above target for an interval",
        .source = "RFC 8289",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_HEAD,
        .queues = 1,
        .conf_bytes = sizeof(struct codel_rows),
        .state_bytes = sizeof(struct codel_state),
        .params = codel_params,
        .stats = codel_stats,
        .dequeue = codel_dequeue,
        .empty = codel_on_empty,
        .gone = codel_on_gone,
};
