// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// load.c: how the core itself lays out what a library must lay out alike.

#include "check/sizes.h"

extern const struct aqm_sizes core_sizes;

const struct aqm_sizes core_sizes = AQM_SIZES;
