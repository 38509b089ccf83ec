/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * samples.h: what play.c tells of groups of flows at regular times. It has the flows, and calls
 * these: a line of its input goes to samples_line(), the time that
 * next_sample_ns() tells wakes them, and then they add up what each flow has and call
 * print_sample().
 *
 *   samples EVERY_NS COUNT MOST          samples at 0 and then so many; of a group's flows at
 *       most MOST have their connections looked at, each time others
 *   group NUMBER FIRST COUNT             its flows by number, behind the line above
 *
 *   sample SAMPLE GROUP ANSWERED_BYTES DELIVERED_BYTES FLOWS LOOKED_AT CONNECTIONS CWND_PKTS
 *       SRTT_US
 *       delivered so far to the ends 0 and 1; sums over the open connections of the flows that
 *       were looked at, as their ends 0 see them
 */
#ifndef SOJOURN_UML_SAMPLES_H
#define SOJOURN_UML_SAMPLES_H

#include <stdint.h>

/* Whether the line is one of these. */
int samples_line(const char *line, uint64_t t0_ns);

/* UINT64_MAX: there is none. */
uint64_t next_sample_ns(void);

/* A flow, and what its ends have read so far. */
void sample_flow(unsigned flow, uint64_t answered, uint64_t delivered);

/* A socket of TCP at an end of it. What it holds was delivered too; reading it now would let
 * TCP tell its peer of a window that it would not have had yet. */
void sample_socket(unsigned flow, int end, int fd);

void print_sample(void);

#endif
