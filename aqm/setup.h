/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * setup.h: defines the rows that belong to the queue, not to its algorithm.
 */
#ifndef AQM_SETUP_H
#define AQM_SETUP_H

#include "aqm.h"

/* The row's bound; 2^24 packets in a list need no memory of the queue itself. */
#define AQM_LIMIT_MAX (1u << 24)
/* A sampling algorithm has a ring for this many packets at most (2 MB). */
#define AQM_RING_MAX  (1u << 17)
#define AQM_FLOWS_MAX (1u << 16)
#define AQM_BATCH_MAX 1024u
/* An arrival for which that many packets have left evicts no more, and is lost if it still does
 * not fit. The last batch or verdict may take a few more. */
#define AQM_EVICTED AQM_BATCH_MAX
/* A device may claim any MTU; rounds and thresholds are counted in one between
 * these, the bounds that Linux sets to a quantum. */
#define AQM_MTU_MIN 256u
#define AQM_MTU_MAX (1u << 20)

struct aqm_setup {
	u32 limit;       /* packets in all flows together */
	u32 limit_bytes; /* bytes in all flows together */
	u32 ecn;
	u32 flows;        /* 0: one queue; else that many, served by deficit round robin */
	u32 quantum;      /* bytes per round; 0: the MTU */
	u32 memory_limit; /* bytes of memory that all packets together may occupy */
	u64 bandwidth;    /* bytes per second of the link; 0: unknown */
	u32 drop_batch;   /* packets that the fattest flow loses at once, at most */
};

extern const struct aqm_field aqm_setup_rows[];

/* The default of a queue's row with this algorithm. */
u64 aqm_setup_default(const struct aqm_algo *algo, const struct aqm_field *row);

/* All rows at their defaults. `setup` is zeroed by the caller. */
void aqm_setup_defaults(const struct aqm_algo *algo, struct aqm_setup *setup);

/* Which row was refused (NULL: the rows together), and why. */
struct aqm_refusal {
	const struct aqm_field *row;
	const char *sentence; /* NULL: nothing was refused */
};

/*
 * Can this algorithm run with these rows? Each row is within its own range
 * already. With `old_setup` and `old_conf` (else NULL) it is a change of a
 * running queue whose rings were made for `room` packets.
 */
struct aqm_refusal aqm_setup_check(const struct aqm_algo *algo, const struct aqm_setup *setup,
                                   const void *conf, const struct aqm_setup *old_setup,
                                   const void *old_conf, u32 room);

#endif
