/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * events.h: a queue's events as records, written once for recorder and replayer.
 *
 * A template behind queue.h; the host defines
 *
 *   void record_put(aqm_ctx, struct sojourn_record *);   it fills in `queue`
 *   u32  record_number(aqm_ctx, aqm_h);                  of a packet
 */
#ifndef SOJOURN_EVENTS_H
#define SOJOURN_EVENTS_H

#include "record.h"

/* Not inlined into a flattened caller in a kernel, whose stack has no room for a record at
 * each place that writes one. */
#ifdef __KERNEL__
#define APART noinline
#else
#define APART
#endif

static struct sojourn_record record_of(u8 what)
{
	struct sojourn_record r;

	/* All of it, the longer half of the union too: records are compared whole. */
	aqm_zero(&r, sizeof(r));
	r.what = what;
	return r;
}

static void record_packet(struct sojourn_record *r, const struct aqm_pkt *pkt)
{
	r->value = pkt->k.enq_ns;
	r->flow = pkt->k.flow;
	r->own = pkt->k.own;
	r->len = pkt->len;
	r->ds = (u8)(pkt->dscp << 2 | pkt->ecn);
	r->nth = pkt->nth;
}

static void record_verdict(struct sojourn_record *r, const struct aqm_verdict *v)
{
	u32 i;

	r->act = v->act;
	r->why = v->why;
	r->lane = v->queue;
	r->vqueue = v->vqueue;
	r->nvictims = v->nvictims;
	r->probe = v->probe;
	for (i = 0; i < v->nvictims && i < AQM_VICTIMS; i++)
		r->victim[i] = v->victim[i];
}

static APART void record_event(aqm_ctx ctx, const struct aqm_event *event)
{
	struct sojourn_record r = record_of(RECORD_EVENT);

	r.now = event->now;
	r.ev = event->ev;
	r.why = event->why;
	r.inst = event->inst;
	r.pkts = event->views->pkts;
	r.bytes = event->views->bytes;
	if (event->pkt)
		record_packet(&r, event->pkt);
	if (event->verdict)
		record_verdict(&r, event->verdict);
	if (event->ev == AQM_EV_ARRIVAL || event->ev == AQM_EV_PROBE)
		r.mem = event->mem;
	if (event->ev == AQM_EV_ECHO)
		r.value = event->rtt_ns;
	record_put(ctx, &r);
}

static APART void record_fate(aqm_ctx ctx, u8 what, u32 packet, bool ok, u8 why)
{
	struct sojourn_record r = record_of(what);

	r.packet = packet;
	r.ok = ok;
	r.why = why;
	record_put(ctx, &r);
}

static APART void record_marked(aqm_ctx ctx, aqm_h h, bool done)
{
	struct sojourn_record r = record_of(RECORD_MARKED);

	r.packet = record_number(ctx, h);
	r.ok = done;
	r.mem = host_mem(ctx, h);
	record_put(ctx, &r);
}

static APART void record_left(aqm_ctx ctx, struct aqm_queue *q, aqm_h h)
{
	struct sojourn_record r = record_of(RECORD_LEFT);
	struct aqm_pkt pkt;

	r.ok = h != AQM_NIL;
	if (r.ok) {
		pkt_read(q, h, 0, &pkt);
		record_packet(&r, &pkt);
		r.packet = record_number(ctx, h);
	}
	record_put(ctx, &r);
}

static APART void record_number_of(aqm_ctx ctx, u8 what, u8 table, u16 row, u64 value)
{
	struct sojourn_record r = record_of(what);

	r.table = table;
	r.row = row;
	r.value = value;
	record_put(ctx, &r);
}

/* ---- all state of a queue ---- */

static u64 digest(u64 sum, u64 word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
	return sum ^ sum >> 29;
}

static u64 digest_packet(u64 sum, struct aqm_queue *q, aqm_h h)
{
	struct aqm_pkt pkt;

	if (h == AQM_NIL)
		return digest(sum, ~0ull);
	pkt_read(q, h, 0, &pkt);
	sum = digest(sum, record_number(q->ctx, h));
	sum = digest(sum, pkt.k.enq_ns);
	return digest(sum, pkt.k.own | (u64)pkt.ecn << 32);
}

static u64 digest_lane(u64 sum, struct aqm_queue *q, const struct aqm_lane *lane)
{
	u32 i;
	aqm_h h;

	sum = digest(sum, lane->view->pkts | (u64)lane->view->bytes << 32);
	sum = digest(sum, lane->view->slots);
	if (lane->ring.cell)
		for (i = 0; i < lane->ring.span; i++)
			sum = digest_packet(sum, q, *ring_at(&lane->ring, i));
	else
		for (h = lane->head; h != AQM_NIL; h = host_next(q->ctx, h))
			sum = digest_packet(sum, q, h);
	return sum;
}

static u64 digest_inst(u64 sum, struct aqm_queue *q, struct aqm_inst *in)
{
	const u8 *state = inst_state(q, in);
	u32 i;

	sum = digest(sum, in->tick_ns);
	sum = digest(sum, in->ticks | (u64)in->listed << 32);
	sum = digest(sum, in->change);
	sum = digest(sum, (u64)in->credit_bytes);
	sum = digest(sum, in->round);
	for (i = 0; i < q->algo->state_bytes; i++)
		sum = digest(sum, state[i]);
	for (i = 0; i < q->algo->queues; i++)
		sum = digest_lane(sum, q, &inst_lanes(q, in)[i]);
	return sum;
}

static u64 digest_list(u64 sum, struct aqm_queue *q, const struct aqm_fq_list *list)
{
	u32 i;

	for (i = list->head; i != FQ_NONE; i = inst_nth(q, i)->next)
		sum = digest(sum, i);
	return digest(sum, FQ_NONE);
}

static u64 digest_queue(struct aqm_queue *q)
{
	u64 sum = digest(0, q->pkts | (u64)q->bytes << 32);
	u32 i;

	for (i = 0; i < q->insts; i++)
		if (inst_started(q, inst_nth(q, i)))
			sum = digest_inst(sum, q, inst_nth(q, i));
	if (q->setup.flows) {
		sum = digest_list(sum, q, &q->fresh);
		sum = digest_list(sum, q, &q->old);
	}
	return sum;
}

static void record_counts(aqm_ctx ctx, u8 table, const u64 *counts, u16 n)
{
	u16 i;

	for (i = 0; i < n; i++)
		record_number_of(ctx, RECORD_NUMBER, table, i, counts[i]);
}

static APART void record_look(aqm_ctx ctx, struct aqm_queue *q, u64 now)
{
	const struct aqm_counters *count = &q->count;
	struct sojourn_record r = record_of(RECORD_LOOK);
	const struct aqm_field *row;
	u64 value;

	r.now = now;
	record_put(ctx, &r);
	for (row = q->algo->stats; row && row->name; row++)
		if (aqm_queue_stat(q, row, &value))
			record_number_of(ctx, RECORD_NUMBER, TCA_SOJOURN_STATS_ALGO, row->attr,
			                 value);
	record_counts(ctx, TCA_SOJOURN_STATS_COUNTS, &count->in_pkts, SOJOURN_COUNTS);
	record_counts(ctx, TCA_SOJOURN_STATS_DROPS, count->drops, AQM_WHY_COUNT);
	record_counts(ctx, TCA_SOJOURN_STATS_MARKS, count->marks, AQM_WHY_COUNT);
	record_counts(ctx, TCA_SOJOURN_STATS_BAD, count->bad, AQM_BAD_COUNT);
	r = record_of(RECORD_STATE);
	r.value = digest_queue(q);
	r.pkts = q->pkts;
	r.bytes = q->bytes;
	record_put(ctx, &r);
}

#endif
