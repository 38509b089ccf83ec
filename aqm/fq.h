/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fq.h: flow queueing, deficit round robin after RFC 8290. Part of queue.h.
 *
 * Row `flows` makes that many instances of the algorithm. A flow that becomes
 * busy is served from the fresh list first; when its credit is spent, or when it
 * runs dry while others wait, it goes to the end of the old list. With the
 * limit reached the fattest flow (most bytes) loses packets from its head, half
 * its bytes or FQ_BATCH packets, and then the arrival is admitted; the search
 * over all flows is paid for by the batch.
 */
#ifndef AQM_FQ_H
#define AQM_FQ_H

#define FQ_BATCH 64
#define FQ_NONE  U32_MAX

static inline u32 fq_index(const struct aqm_queue *q, u32 flow)
{
	return q->setup.flows ? (u32)(((u64)flow * q->setup.flows) >> 32) : 0;
}

static inline u32 fq_quantum(const struct aqm_queue *q)
{
	return q->setup.quantum ? q->setup.quantum : q->mtu_bytes;
}

static inline void fq_append(struct aqm_queue *q, struct aqm_fq_list *list, u32 i)
{
	inst_nth(q, i)->next = FQ_NONE;
	if (list->head == FQ_NONE)
		list->head = i;
	else
		inst_nth(q, list->tail)->next = i;
	list->tail = i;
}

static inline void fq_pop(struct aqm_queue *q, struct aqm_fq_list *list)
{
	list->head = inst_nth(q, list->head)->next;
}

/* A packet joined this flow: serve it if it was not waiting already. */
static void fq_list_flow(struct aqm_queue *q, struct aqm_inst *in)
{
	if (in->listed)
		return;
	in->listed = 1;
	in->credit_bytes = (s32)fq_quantum(q);
	fq_append(q, &q->fresh, in->index);
}

static struct aqm_inst *fq_fattest(struct aqm_queue *q)
{
	struct aqm_inst *fattest = inst_nth(q, 0);
	u32 i;

	for (i = 1; i < q->insts; i++)
		if (inst_views(inst_nth(q, i))->bytes > inst_views(fattest)->bytes)
			fattest = inst_nth(q, i);
	return fattest;
}

/* Does a packet of `len` fit, after the fattest flow has paid for it? */
static bool fq_make_room(struct aqm_queue *q, u64 now, u32 len)
{
	struct aqm_inst *in;
	u32 half, i;

	if (len > q->setup.limit_bytes)
		return false;
	in = fq_fattest(q);
	half = inst_views(in)->bytes / 2;
	run_ticks(q, in, now);
	in->ticks = 0;
	for (i = 0; i < FQ_BATCH && inst_views(in)->bytes > half; i++)
		queue_evict(q, in, now, 0, 0, AQM_WHY_FAT);
	return !over_limit(q, len);
}

static inline aqm_h queue_serve(struct aqm_queue *q, struct aqm_inst *in, u64 now);

static aqm_h fq_dequeue(struct aqm_queue *q, u64 now)
{
	for (;;) {
		bool fresh = q->fresh.head != FQ_NONE;
		struct aqm_fq_list *list = fresh ? &q->fresh : &q->old;
		u32 i = list->head;
		struct aqm_inst *in;
		aqm_h h;

		if (i == FQ_NONE)
			return AQM_NIL;
		in = inst_nth(q, i);
		if (in->credit_bytes <= 0) {
			in->credit_bytes += (s32)fq_quantum(q);
			fq_pop(q, list);
			fq_append(q, &q->old, i);
			continue;
		}
		h = queue_serve(q, in, now);
		if (h != AQM_NIL) {
			in->credit_bytes -= (s32)host_len(q->ctx, h);
			return h;
		}
		/* A flow that runs dry while fresh waits once behind the others,
		 * else it could come back at once and starve them. */
		fq_pop(q, list);
		if (fresh && q->old.head != FQ_NONE)
			fq_append(q, &q->old, i);
		else
			in->listed = 0;
	}
}

#endif
