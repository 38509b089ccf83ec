/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/duk_level.h: computes DUK's level of congestion, Eq. 10, and its shortest interval.
 *
 * P = 100 (M - C) / M in whole percent, with M the rate at which packets can come and C
 * that at which they can go, in any one unit. P is held within 0 and DUK_LEVELS - 1.
 */
#ifndef AQM_LAW_DUK_LEVEL_H
#define AQM_LAW_DUK_LEVEL_H

#include "../fixed.h"

#define DUK_LEVELS    100
#define DUK_TICKS_MAX 1024

static inline u32 duk_level(u64 ingress, u64 egress)
{
	if (ingress <= egress)
		return 0;
	return (u32)min64(muldiv64(100, ingress - egress, ingress), DUK_LEVELS - 1);
}

/* Shortest interval in which a packet can be served, in ticks: 1 to DUK_TICKS_MAX. */
static inline u32 duk_shortest(u64 packet_ns, u64 tick_ns)
{
	return (u32)max64(1, min64(div64(packet_ns + tick_ns - 1, tick_ns), DUK_TICKS_MAX));
}

#endif
