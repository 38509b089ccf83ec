/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * cold.h: keeps the rare paths of queue.h out of a host's enqueue and dequeue.
 *
 * A host that wants speed includes this before queue.h, when it has defined aqm_h. It makes its
 * own enqueue and dequeue AQM_FLAT: each becomes one function. The functions declared here stay
 * apart from them.
 */
#ifndef AQM_COLD_H
#define AQM_COLD_H

#include "deps.h"

#ifndef AQM_FLAT
#define AQM_FLAT __attribute__((__flatten__))
#endif
#define AQM_COLD  __attribute__((__noinline__, __cold__))
#define AQM_APART __attribute__((__noinline__)) AQM_FLAT

struct aqm_queue;
struct aqm_inst;
struct aqm_pkt;
struct aqm_verdict;

static AQM_COLD void queue_victims(struct aqm_queue *, struct aqm_inst *, u64 now,
                                   const struct aqm_verdict *, u8 why);
static AQM_COLD bool queue_overflow(struct aqm_queue *, struct aqm_inst *, u64 now, aqm_h,
                                    struct aqm_pkt *);
static AQM_COLD void run_due_ticks(struct aqm_queue *, struct aqm_inst *, u64 now);
static AQM_COLD bool fq_make_room(struct aqm_queue *, u64 now, u32 len, u32 mem);
static AQM_COLD void fq_skip_rounds(struct aqm_queue *);
static AQM_COLD void fq_note_hash(struct aqm_queue *, struct aqm_inst *, u32 hash);
static AQM_COLD void fq_pass_empty(struct aqm_queue *, struct aqm_inst *, u64 now, u32);
static AQM_COLD void flows_flush(struct aqm_queue *);
static AQM_COLD void inst_catch_up(struct aqm_queue *, struct aqm_inst *, u64 now);

static AQM_APART bool fast_admit(struct aqm_queue *, struct aqm_inst *, u64 now, aqm_h,
                                 struct aqm_pkt *, const struct aqm_verdict *);
static AQM_APART bool fast_release(struct aqm_queue *, struct aqm_inst *, u64 now, aqm_h,
                                   const struct aqm_pkt *, const struct aqm_verdict *);

#endif
