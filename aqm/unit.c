// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// unit.c: what the numbers of rows stand for, see field.h.

#include "field.h"

const struct aqm_unit_info aqm_units[AQM_UNITS] = {
        [AQM_COUNT] = {"count", "number", 1, 1, NULL},
        [AQM_NS] = {"ns", "time", 1, 1, NULL},
        [AQM_PKTS] = {"pkts", "packets", 1, 1, NULL},
        [AQM_BYTES] = {"bytes", "size", 1, 1, NULL},
        [AQM_BYTES_PER_S] = {"bytes/s", "rate", 1, 8, NULL},
        [AQM_PROB] = {"q32", "share", 1ull << 32, 1, NULL},
        [AQM_HZ_16] = {"hz/16", "frequency", 16, 1, "sixteenths of a hertz"},
        [AQM_HZ_256] = {"hz/256", "frequency", 256, 1, "256ths of a hertz"},
        [AQM_LOG2] = {"log2", "number", 1, 1, "exponent of two"},
        [AQM_IPV4] = {"ipv4", "address", 1, 1, NULL},
};
