// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// twin.c: for tests. Two queues, of which only the first is ever joined.
//
// No published algorithm here has several queues; the refusal of flows wants one.

#include "aqm.h"

extern const struct aqm_algo aqm_twin;
const struct aqm_algo aqm_twin = {
        .name = "twin",
        .brief = "two queues, for tests",
        .source = "none",
        .abi = AQM_ABI,
        .queues = 2,
};
