/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * core.h: a queue of the core, for a test that has another world of types.
 */
#ifndef CORE_H
#define CORE_H

#include <stdbool.h>
#include <stdint.h>

/* What becomes of a packet. */
void core_freed(uint32_t id);

/* Makes the queue of this algorithm; its rows are given before by core_row(). */
void core_choose(const char *name);
/* The place of a row in the algorithm's table, from 0; it gets this value at the next call that
 * makes or changes. -1: no such row. */
int core_row(const char *name, uint64_t value);
void core_make(uint32_t limit, bool ecn, uint64_t bandwidth, uint32_t mtu, uint64_t seed,
               uint64_t now);
void core_change(uint32_t limit, bool ecn, uint64_t now);
void core_reset(uint64_t now);
bool core_enqueue(uint32_t id, uint32_t len, uint32_t flow, uint8_t ds, uint64_t now);
/* Has the last arrival asked for a probe? */
bool core_asked(void);
bool core_join_probe(uint32_t id, uint32_t len, uint64_t now);
void core_echo(uint64_t rtt_ns, uint64_t now);
/* Probes that joined, were refused, left, were freed, and answers. */
void core_probes(uint64_t counts[5]);
/* Its number, or -1. */
int64_t core_dequeue(uint8_t *ds, uint64_t now);
/* The statistics in the order of their table; the number of them. */
unsigned int core_stats(uint64_t *values);

#endif
