/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * host.h: a host of queue.h in user space, for tests and fuzzing.
 *
 * Packets lie in one array; each knows where it is, so that a packet queued twice or
 * freed twice aborts at once. All memory is allocated in its exact size, so that a
 * sanitizer sees every step beyond it.
 */
#ifndef HOST_H
#define HOST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aqm.h"

typedef u32 aqm_h;
#define AQM_NIL U32_MAX
typedef struct host *aqm_ctx;

enum place { OUTSIDE, INSIDE };

struct packet {
	struct aqm_keep keep;
	u32 len, flow, next;
	u32 moved; /* memory that a mark has added */
	u32 inst;  /* of a probe: the instance that requested it */
	u8 ds, place, why, probe;
};

struct host {
	struct packet *packets;
	u32 count;
	bool refuses_marks;
	u64 freed;
	u64 events[16]; /* by their kind, enum aqm_ev */
	u32 last_freed;
	u64 digest; /* of every event, in order */
};

struct aqm_event;

static inline void broken(const char *rule)
{
	fprintf(stderr, "the queue broke a rule of its host: %s\n", rule);
	abort();
}

static inline struct packet *packet_of(aqm_ctx host, aqm_h h)
{
	if (h >= host->count)
		broken("a handle is one of ours");
	return &host->packets[h];
}

static inline struct aqm_keep *host_keep(aqm_ctx host, aqm_h h)
{
	return &packet_of(host, h)->keep;
}

static inline u32 host_len(aqm_ctx host, aqm_h h)
{
	return packet_of(host, h)->len;
}

/* A buffer and what a kernel keeps beside it. */
static inline u32 host_mem(aqm_ctx host, aqm_h h)
{
	return packet_of(host, h)->len + 600 + packet_of(host, h)->moved;
}

static inline u32 host_flow(aqm_ctx host, aqm_h h)
{
	return packet_of(host, h)->flow;
}

static inline u8 host_ds(aqm_ctx host, aqm_h h)
{
	return packet_of(host, h)->ds;
}

static inline bool host_mark(aqm_ctx host, aqm_h h)
{
	if (host->refuses_marks)
		return false;
	packet_of(host, h)->ds |= AQM_CE;
	packet_of(host, h)->moved = 512; /* a shared header is copied */
	return true;
}

static inline aqm_h host_next(aqm_ctx host, aqm_h h)
{
	return packet_of(host, h)->next;
}

static inline void host_set_next(aqm_ctx host, aqm_h h, aqm_h next)
{
	packet_of(host, h)->next = next;
}

static inline void host_free(aqm_ctx host, aqm_h h, u8 why)
{
	struct packet *p = packet_of(host, h);

	if (p->place != INSIDE)
		broken("a packet is freed once");
	p->place = OUTSIDE;
	p->why = why;
	host->freed++;
	host->last_freed = h;
}

static inline bool host_is_probe(aqm_ctx host, aqm_h h)
{
	return packet_of(host, h)->probe;
}

static inline void digest(aqm_ctx host, u64 word)
{
	host->digest = (host->digest ^ word) * 0x9e3779b97f4a7c15ull;
	host->digest ^= host->digest >> 29;
}

static void host_trace(aqm_ctx host, const struct aqm_event *event);

/* Turns of the queue's loops: its work, without a clock. */
static u64 steps;
#define AQM_STEP() (steps++)

#include "queue.h"

static inline void digest_verdict(aqm_ctx host, const struct aqm_verdict *v)
{
	u32 i;

	digest(host, v->act | (u64)v->why << 8 | (u64)v->queue << 16 | (u64)v->probe << 24 |
	                     (u64)v->nvictims << 32 | (u64)v->vqueue << 40);
	for (i = 0; i < v->nvictims && i < AQM_VICTIMS; i++)
		digest(host, v->victim[i]);
}

/* Time enters as sojourn only, so that two runs at other times can be equal. */
static void host_trace(aqm_ctx host, const struct aqm_event *event)
{
	host->events[event->ev]++;
	digest(host, event->ev | (u64)event->why << 8 | (u64)event->inst << 16);
	digest(host, event->views->pkts | (u64)event->views->bytes << 32);
	if (event->pkt)
		digest(host,
		       (event->now - event->pkt->k.enq_ns) ^ (u64)event->pkt->k.flow << 32);
	if (event->verdict)
		digest_verdict(host, event->verdict);
}

static inline struct host *host_new(u32 count)
{
	struct host *host = calloc(1, sizeof(*host));

	host->packets = calloc(count, sizeof(*host->packets));
	host->count = count;
	return host;
}

/* A queue, its host and its rows. */
struct bench {
	struct host *host;
	struct aqm_queue *q;
	struct aqm_setup setup;
	void *conf;
	const struct aqm_algo *algo;
	u64 now;
	u32 mtu_bytes;
};

static inline void set_row(struct bench *b, const char *name, u64 value)
{
	const struct aqm_field *own = aqm_field_find(aqm_setup_rows, name);
	const struct aqm_field *row = own ? own : aqm_field_find(b->algo->params, name);
	const char *sentence;

	if (!row)
		broken(name);
	sentence = aqm_field_set(row, own ? (void *)&b->setup : b->conf, value);
	if (sentence)
		broken(sentence);
}

/* Rows at their defaults; set_row() changes some, then bench_start(). */
static inline struct bench bench_new(const struct aqm_algo *algo, u32 packets, u64 now)
{
	struct bench b = {
	        .host = host_new(packets), .algo = algo, .now = now, .mtu_bytes = 1514};

	b.conf = calloc(1, algo->conf_bytes ? algo->conf_bytes : 1);
	aqm_setup_defaults(algo, &b.setup);
	if (algo->flags & AQM_NEEDS_RATE)
		b.setup.bandwidth = 1250000;
	aqm_field_defaults(algo->params, b.conf);
	return b;
}

static inline struct aqm_refusal bench_start(struct bench *b, u64 seed)
{
	struct aqm_refusal no = aqm_setup_check(b->algo, &b->setup, b->conf, NULL, NULL, 0);

	if (no.sentence)
		return no;
	b->q = malloc(aqm_queue_mem(b->algo, &b->setup));
	aqm_queue_init(b->q, b->algo, &b->setup, b->conf, b->mtu_bytes, b->now, seed);
	b->q->ctx = b->host;
	return no;
}

static inline struct aqm_refusal bench_change(struct bench *b)
{
	struct aqm_refusal no = aqm_setup_check(b->algo, &b->setup, b->conf, &b->q->setup,
	                                        queue_conf(b->q), b->q->room);

	if (!no.sentence)
		aqm_queue_apply(b->q, b->now, &b->setup, b->conf);
	return no;
}

static inline void bench_end(struct bench *b)
{
	free(b->q);
	free(b->conf);
	free(b->host->packets);
	free(b->host);
}

/* Any packet outside the queue, dressed anew; AQM_NIL when there is none. */
static inline aqm_h packet_new(struct bench *b, u32 flow, u32 len, u8 ecn)
{
	static u32 turn;
	u32 i;

	for (i = 0; i < b->host->count; i++) {
		aqm_h h = turn++ % b->host->count;
		struct packet *p = &b->host->packets[h];

		if (p->place == OUTSIDE) {
			*p = (struct packet){.len = len, .flow = flow, .ds = ecn};
			return h;
		}
	}
	return AQM_NIL;
}

/* A packet arrives; AQM_NIL when it was refused, or when there is none left. */
static inline aqm_h arrive(struct bench *b, u32 flow, u32 len, u8 ecn)
{
	aqm_h h = packet_new(b, flow, len, ecn);

	if (h == AQM_NIL)
		return AQM_NIL;
	packet_of(b->host, h)->place = INSIDE;
	return aqm_enqueue(b->q, b->now, h) ? h : AQM_NIL;
}

/* The probe that the last arrival requested: 28 bytes of IP behind an Ethernet header. */
static inline aqm_h join_probe(struct bench *b)
{
	aqm_h h = packet_new(b, 7, 42, AQM_NOT_ECT);

	if (h == AQM_NIL)
		return AQM_NIL;
	packet_of(b->host, h)->place = INSIDE;
	packet_of(b->host, h)->probe = 1;
	packet_of(b->host, h)->inst = b->q->probe_inst;
	return aqm_join_probe(b->q, b->now, h) ? h : AQM_NIL;
}

static inline aqm_h leave(struct bench *b)
{
	aqm_h h = aqm_dequeue(b->q, b->now);

	if (h != AQM_NIL) {
		if (packet_of(b->host, h)->place != INSIDE)
			broken("a packet leaves once");
		packet_of(b->host, h)->place = OUTSIDE;
	}
	return h;
}

static inline u64 stat(struct bench *b, const char *name)
{
	u64 value = 0;
	const struct aqm_field *row = aqm_field_find(b->algo->stats, name);

	if (!row || !aqm_queue_stat(b->q, row, &value))
		broken(name);
	return value;
}

/* Run the ticks due by now, as the next arrival would. */
static inline void catch_up(struct bench *b)
{
	run_ticks(b->q, inst_nth(b->q, 0), b->now);
}

static inline u64 total(const u64 *counts, u32 n)
{
	u64 all = 0;

	while (n--)
		all += counts[n];
	return all;
}

static inline u64 drops(const struct bench *b)
{
	return total(b->q->count.drops, AQM_WHY_COUNT);
}

static inline u64 marks(const struct bench *b)
{
	return total(b->q->count.marks, AQM_WHY_COUNT);
}

static inline u64 bad_verdicts(const struct bench *b)
{
	return total(b->q->count.bad, AQM_BAD_COUNT);
}

#endif
