/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rounds.h: serves flows by deficit round robin after RFC 8290. Part of queue.h.
 *
 * The fresh list comes first. A flow goes to the end of the old list when its credit is spent,
 * or when it becomes empty while others wait.
 */
#ifndef AQM_QUEUE_ROUNDS_H
#define AQM_QUEUE_ROUNDS_H

#include "departure.h"
#include "flows.h"

/* Bounds the empty flows that run their due ticks in one dequeue: a flow can be a thousand
 * ticks behind, and an eviction leaves up to 65,536 empty flows in the lists. */
#define FQ_EMPTY_TICKED 16

/* No flow had credit in a whole round, and all are in the old list: give each at once
 * the rounds that the flow nearest to credit still lacks. */
static void fq_skip_rounds(struct aqm_queue *q)
{
	s64 most = inst_nth(q, q->old.head)->credit_bytes;
	u64 rounds;
	u32 i;

	for (i = q->old.head; i != FQ_NONE; i = inst_nth(q, i)->next) {
		AQM_STEP();
		most = inst_nth(q, i)->credit_bytes > most ? inst_nth(q, i)->credit_bytes
		                                           : most;
	}
	if (most > 0)
		return;
	rounds = div64((u64)-most, q->quantum_bytes) + 1;
	for (i = q->old.head; i != FQ_NONE; i = inst_nth(q, i)->next)
		fq_pay(q, inst_nth(q, i), rounds);
}

/* Call `empty` for the `nth` empty flow of a dequeue. */
static void fq_pass_empty(struct aqm_queue *q, struct aqm_inst *in, u64 now, u32 nth)
{
	const struct aqm_algo *a = q->algo;

	if (nth < FQ_EMPTY_TICKED)
		inst_begin(q, in, now);
	if (a->empty)
		a->empty(inst_state(q, in), inst_conf(q, in), inst_clock(in, now),
		         inst_views(in));
}

static aqm_h fq_dequeue(struct aqm_queue *q, u64 now)
{
	u32 round = FQ_NONE; /* the flow with which a round without credit began */
	u32 empty_flows = 0;

	for (;;) {
		u32 i = q->fresh.head;
		bool fresh = i != FQ_NONE;
		struct aqm_inst *in;
		aqm_h h;

		if (!fresh)
			i = q->old.head;
		if (i == FQ_NONE)
			return AQM_NIL;
		AQM_STEP();
		in = inst_nth(q, i);
		/* RFC 8290, 4.2: credit first, and an empty flow stays for a round. A debt
		 * of more than a round would keep it long: in the old list it does not wait. */
		if (in->credit_bytes <= 0 && (fresh || inst_views(in)->pkts ||
		                              in->credit_bytes > -(s64)q->quantum_bytes)) {
			if (round == i) {
				fq_skip_rounds(q);
				round = FQ_NONE;
				continue;
			}
			if (round == FQ_NONE)
				round = i;
			fq_pay(q, in, 1);
			fq_pop(q, in, fresh);
			fq_append(q, &q->old, in);
			continue;
		}
		round = FQ_NONE;
		h = AQM_NIL;
		if (inst_views(in)->pkts)
			h = queue_serve(q, in, now, 0);
		else
			fq_pass_empty(q, in, now, empty_flows++);
		flow_end(q, in);
		if (h != AQM_NIL) {
			in->credit_bytes -= fq_charge(host_len(q->ctx, h));
			fq_note_delay(q, now - host_keep(q->ctx, h)->enq_ns, fresh);
			return h;
		}
		/* A flow that becomes empty while fresh waits once behind the others,
		 * else it could come back at once and starve them. */
		fq_pop(q, in, fresh);
		if (fresh && q->old.head != FQ_NONE) {
			fq_append(q, &q->old, in);
		} else {
			q->listed_flows--;
			in->listed = 0;
		}
	}
}

/* `nth` packets were offered in this dequeue. */
static aqm_h queue_leave(struct aqm_queue *q, u64 now, u32 nth)
{
	return q->setup.flows ? fq_dequeue(q, now) : queue_serve(q, inst_nth(q, 0), now, nth);
}

#endif
