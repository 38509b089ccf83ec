// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// load.c: the core's own sizes of the structs that it shares with a library.

#include "check/sizes.h"

extern const struct aqm_sizes core_sizes;

const struct aqm_sizes core_sizes = AQM_SIZES;
