// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// fifo.c: drop tail. The limit of the queue, in packets or bytes, is all there is.

#include "aqm.h"

const struct aqm_algo aqm_fifo = {
        .name = "fifo",
        .brief = "first in, first out, drops at the tail when the limit is reached",
        .source = "drop tail",
        .abi = AQM_ABI,
        .queues = 1,
};
