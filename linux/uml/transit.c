// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* transit.c: one-way delays of datagrams, and their differences. */
#include "transit.h"

static uint64_t longest_ns;

void note_arrival(struct transit *transit, uint64_t delay_ns)
{
	if (delay_ns > longest_ns)
		longest_ns = delay_ns;
	if (transit->arrived_pkts) {
		transit->differences++;
		transit->differences_ns += delay_ns > transit->last_ns
		                                   ? delay_ns - transit->last_ns
		                                   : transit->last_ns - delay_ns;
	}
	transit->arrived_pkts++;
	transit->delay_ns += delay_ns;
	transit->last_ns = delay_ns;
}

uint64_t longest_delay_ns(void)
{
	return longest_ns;
}
