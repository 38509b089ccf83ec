/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * flows.h: divides packets into flows after RFC 8290, and makes room for arrivals. Part of
 * queue.h.
 *
 * Row `flows` makes that many instances of the algorithm. A flow that becomes busy enters the
 * fresh list, or the old list if it is in debt. At the limit the flow with most bytes loses
 * packets from its head, half its bytes or `drop_batch` packets. Then the arrival joins.
 */
#ifndef AQM_QUEUE_FLOWS_H
#define AQM_QUEUE_FLOWS_H

#include "heap.h"
#include "instance.h"
#include "verdict.h"

/* Packets that a lowered limit takes from a flow at a time. */
#define FQ_BATCH 64

/* Delays that a mean is over. */
#define FQ_MEAN 256

static inline u32 fq_index(const struct aqm_queue *q, u32 flow)
{
	return q->setup.flows ? (u32)(((u64)flow * q->setup.flows) >> 32) : 0;
}

static inline void fq_append(struct aqm_queue *q, struct aqm_fq_list *list, struct aqm_inst *in)
{
	in->next = FQ_NONE;
	if (list->head == FQ_NONE)
		list->head = in->index;
	else
		inst_nth(q, list->tail)->next = in->index;
	list->tail = in->index;
}

/* Take the first flow of a list out. */
static inline void fq_pop(struct aqm_queue *q, struct aqm_inst *in, bool fresh)
{
	if (fresh) {
		q->fresh.head = in->next;
		q->fresh_flows--;
	} else {
		q->old.head = in->next;
	}
}

static inline void fq_pay(struct aqm_queue *q, struct aqm_inst *in, u64 rounds)
{
	in->credit_bytes += (s64)rounds * q->quantum_bytes;
	in->round += rounds;
	if (in->round > q->round)
		q->round = in->round;
}

/* Put a flow that has got a packet into a list, if it is in none. It is paid for the rounds
 * since it left. It is new only if that covers its debt. */
static void fq_list_flow(struct aqm_queue *q, struct aqm_inst *in)
{
	if (in->listed)
		return;
	in->listed = 1;
	q->listed_flows++;
	fq_pay(q, in, min64(q->round - in->round, 2 * AQM_MTU_MAX));
	in->round = q->round;
	if (in->credit_bytes <= 0) {
		fq_append(q, &q->old, in);
		return;
	}
	in->credit_bytes = q->quantum_bytes;
	q->new_flow_count++;
	q->fresh_flows++;
	fq_append(q, &q->fresh, in);
}

/* Count a collision where the packet before this one had another hash and is still held: two
 * flows of the network share this one. */
static void fq_note_hash(struct aqm_queue *q, struct aqm_inst *in, u32 hash)
{
	if (held_by(q, in) > 1)
		q->collisions++;
	in->hash = hash;
}

/* Note that a packet has joined this flow. It is counted among those held. */
static inline void fq_join(struct aqm_queue *q, struct aqm_inst *in, u32 hash)
{
	if (in->hash != hash)
		fq_note_hash(q, in, hash);
	fq_list_flow(q, in);
}

/* Add a delay to the mean. The first FQ_MEAN delays weigh alike. Each later one replaces one
 * mean, and so its weight halves every 177 packets. */
static inline void fq_average(struct aqm_mean *mean, u64 delay_ns)
{
	if (mean->count < FQ_MEAN)
		mean->count++;
	else
		mean->sum_ns -= mean->sum_ns / FQ_MEAN;
	mean->sum_ns += delay_ns;
}

/* Note the delay of a packet that leaves. `fresh`: its flow is new. */
static inline void fq_note_delay(struct aqm_queue *q, u64 delay_ns, bool fresh)
{
	fq_average(&q->delay, delay_ns);
	if (fresh)
		fq_average(&q->sparse, delay_ns);
	if (delay_ns > q->delay_peak_ns)
		q->delay_peak_ns = delay_ns;
}

/* The cost of a packet to its flow. A parent's size table can make it 2^31 bytes, too many
 * rounds for the flows behind it; no interface takes more than this at once. */
static inline u32 fq_charge(u32 len)
{
	return len < AQM_MTU_MAX ? len : AQM_MTU_MAX;
}

/* Evict half the bytes of a flow, at most `drop_batch` packets and at least one. Return how
 * many packets left. */
static u32 fq_evict_batch(struct aqm_queue *q, struct aqm_inst *in, u64 now)
{
	u32 half = inst_views(in)->bytes / 2, n = 0;

	while (n < q->setup.drop_batch && (!n || inst_views(in)->bytes > half) &&
	       queue_evict(q, in, inst_clock(in, now), 0, 0, AQM_WHY_FAT))
		n++;
	flow_end(q, in);
	return n;
}

/* Evict packets of the largest flows until a packet of `len` fits; false: it does not. */
static bool fq_make_room(struct aqm_queue *q, u64 now, u32 len, u32 mem)
{
	u32 evicted = 0;

	if (!fits_empty(q, len, mem))
		return false;
	while (over_limit(q, len, mem) && q->pkts && evicted < AQM_EVICTED)
		evicted += fq_evict_batch(q, heap_largest(q), now);
	return !over_limit(q, len, mem);
}

#endif
