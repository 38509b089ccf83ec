/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* transit.h: one-way delays of datagrams, and their differences (RFC 3550 §6.4.1's are
 * smoothed, these are not). */
#ifndef SOJOURN_UML_TRANSIT_H
#define SOJOURN_UML_TRANSIT_H

#include <stdint.h>

struct transit {
	uint64_t arrived_pkts, delay_ns, differences, differences_ns, last_ns;
};

void note_arrival(struct transit *transit, uint64_t delay_ns);

/* Delay of any datagram so far. What was sent longer ago has arrived, or is lost. */
uint64_t longest_delay_ns(void);

#endif
