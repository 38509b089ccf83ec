/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * storm.h: random calls on a queue, for conservation tests and fuzzing.
 */
#ifndef STORM_H
#define STORM_H

#include "host.h"

/* Packets and bytes: in = out + dropped + held, and held is what the host sees. */
static inline bool conserved(const struct bench *b)
{
	const struct aqm_counters *c = &b->q->count;
	const struct aqm_probes *p = &b->q->probes;
	u64 inside = 0, bytes = 0, memory = 0, probes = 0, probe_bytes = 0;
	u32 i;

	for (i = 0; i < b->host->count; i++)
		if (b->host->packets[i].place == INSIDE) {
			inside++;
			bytes += b->host->packets[i].len;
			probes += b->host->packets[i].probe;
			probe_bytes += b->host->packets[i].probe * b->host->packets[i].len;
			memory += host_mem(b->host, i);
		}
	return c->in_pkts == c->out_pkts + drops(b) + b->q->pkts - probes &&
	       c->in_bytes == c->out_bytes + c->drop_bytes + b->q->bytes - probe_bytes &&
	       p->joined == p->left + p->freed + probes && inside == b->q->pkts &&
	       bytes == b->q->bytes && memory == b->q->memory_bytes;
}

static inline u32 listed_from(struct bench *b, u32 head)
{
	u32 n = 0;

	for (; head != FQ_NONE; head = inst_nth(b->q, head)->next)
		n++;
	return n;
}

/* The statistics of the flows are those of a walk over all flows. */
static inline bool flows_agree(struct bench *b)
{
	struct aqm_flows all = aqm_flows(b->q);
	u32 i, pkts = 0, bytes = 0, listed = 0;

	for (i = 0; i < b->q->setup.flows; i++) {
		struct aqm_flow flow = aqm_flow(b->q, i);

		pkts += flow.pkts;
		bytes += flow.bytes;
		listed += aqm_flow_listed(b->q, i);
		if (flow.pkts && !aqm_flow_listed(b->q, i))
			return false;
	}
	return !i || (pkts == b->q->pkts && bytes == b->q->bytes &&
	              listed == all.new_flows_len + all.old_flows_len &&
	              all.new_flows_len == listed_from(b, b->q->fresh.head) &&
	              all.old_flows_len == listed_from(b, b->q->old.head));
}

enum { STORM_CHANGES = 1, STORM_DUMPS = 2 };

/* Time passes: mostly a packet or so, now and then far more. */
static inline void storm_time(struct bench *b, struct aqm_rng *r)
{
	u32 kind = rng_below(r, 1000);

	if (kind == 0)
		b->now += (u64)rng_below(r, 100) * NS_PER_S;
	else if (kind < 10)
		b->now += rng_below(r, 1000) * NS_PER_MS;
	else
		b->now += rng_below(r, 200000);
}

static inline void storm_change(struct bench *b, struct aqm_rng *r)
{
	u32 most = b->q->room && b->q->room < 300 ? b->q->room : 300;

	set_row(b, "limit", 1 + rng_below(r, most));
	set_row(b, "limit_bytes", 1 + rng_below(r, 600000));
	set_row(b, "memory_limit", 1 + rng_below(r, 900000));
	set_row(b, "ecn", rng_below(r, 2));
	bench_change(b);
}

/* The requested probe; one in eight cannot be made. */
static inline aqm_h storm_probe(struct bench *b, struct aqm_rng *r)
{
	return rng_below(r, 8) ? join_probe(b) : AQM_NIL;
}

/* This probe has left. Answers come after any time, some never. */
static inline void storm_echo(struct bench *b, struct aqm_rng *r, aqm_h h)
{
	u64 any;

	if (!rng_below(r, 8))
		return;
	any = (u64)rng_u32(r) << 32;
	any |= rng_u32(r);
	aqm_echo(b->q, b->now, packet_of(b->host, h)->inst, any >> rng_below(r, 64));
}

static inline void storm_arrive(struct bench *b, struct aqm_rng *r, u32 flow)
{
	arrive(b, flow, 40 + rng_below(r, 1475), (u8)rng_below(r, 4));
	if (aqm_probe_asked(b->q))
		storm_probe(b, r);
}

static inline void storm_leave(struct bench *b, struct aqm_rng *r)
{
	aqm_h h = leave(b);

	if (h != AQM_NIL && packet_of(b->host, h)->probe)
		storm_echo(b, r, h);
}

/* One random call. A few flows send most, so that samples match. */
static inline void storm_step(struct bench *b, struct aqm_rng *r, u32 what)
{
	u32 kind = rng_below(r, 1000), i;

	storm_time(b, r);
	if (kind < 520) {
		u32 flow = rng_below(r, 3) ? rng_below(r, 4) << 30 : rng_u32(r);

		for (i = rng_below(r, 4); i < 4; i++)
			storm_arrive(b, r, flow);
	} else if (kind < 990) {
		for (i = rng_below(r, 4); i < 4; i++)
			storm_leave(b, r);
	} else if (kind < 998) {
		if (what & STORM_CHANGES)
			storm_change(b, r);
	} else if (kind == 998 && (what & STORM_CHANGES)) {
		aqm_queue_reset(b->q, b->now);
	}
}

/* Look at every statistic, as a dump does. Draws nothing from the storm. */
static inline void storm_dump(struct bench *b)
{
	const struct aqm_field *row;
	u64 value;

	for (row = b->algo->stats; row && row->name; row++)
		aqm_queue_stat(b->q, row, &value);
	aqm_flows(b->q);
}

#endif
