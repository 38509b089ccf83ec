// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// host.c: a queue over an array of packets, fed a whole list of events at once.
//
// For the tests that set the core beside the models: one call replays
// thousands of events, so that Python's part is the model alone. Packets are
// numbered by arrival and never reused, which makes a double free visible.

#include <stdlib.h>
#include <string.h>

#include "aqm.h"
#include "field.h"
#include "setup.h"

/* Of the link, where an algorithm must know it and the case does not say. */
#define LINK_BYTES_S 1250000

struct tm_packet {
	struct aqm_keep keep;
	u32 next, len, flow;
	u8 ds, queued, probe;
};

enum { TM_DROPPED, TM_MARKED, TM_SENT };

struct tm_out {
	u32 event, packet;
	u8 what, why;
	u16 pad;
};

/* TM_LOOK: the ticks due by now are run, as before an arrival. TM_ANSWER: of a probe, len
 * nanoseconds after it joined. TM_ROW: the row with the number `flow` (tm_row) becomes len,
 * with ds above its 32 bits. */
enum { TM_ARRIVE, TM_REQUEST, TM_LIMIT, TM_RESET, TM_LOOK, TM_ANSWER, TM_ROW };

/* From here on numbers of rows are those of the algorithm. */
#define TM_ROWS_OF_QUEUE 64

struct tm_event {
	u64 now_ns;
	u32 kind, flow, len, ds;
};

struct tm_host {
	struct tm_packet *packets;
	struct tm_out *out;
	u32 event, outs, room, freed, queued;
	u8 why;    /* of the verdict that is carried out */
	u32 fault; /* a packet freed twice, or more outcomes than room */
};

typedef u32 aqm_h;
#define AQM_NIL 0xffffffffu
typedef struct tm_host *aqm_ctx;
struct aqm_event;

static struct aqm_keep *host_keep(aqm_ctx c, aqm_h h)
{
	return &c->packets[h].keep;
}
static u32 host_len(aqm_ctx c, aqm_h h)
{
	return c->packets[h].len;
}
static u32 host_mem(aqm_ctx c, aqm_h h)
{
	(void)c, (void)h;
	return 0;
}
static u32 host_flow(aqm_ctx c, aqm_h h)
{
	return c->packets[h].flow;
}
static u8 host_ds(aqm_ctx c, aqm_h h)
{
	return c->packets[h].ds;
}
static aqm_h host_next(aqm_ctx c, aqm_h h)
{
	return c->packets[h].next;
}
static void host_set_next(aqm_ctx c, aqm_h h, aqm_h next)
{
	c->packets[h].next = next;
}
static bool host_is_probe(aqm_ctx c, aqm_h h)
{
	return c->packets[h].probe;
}
static void host_trace(aqm_ctx c, const struct aqm_event *e);

static void note(aqm_ctx c, aqm_h h, u8 what, u8 why)
{
	if (c->outs < c->room)
		c->out[c->outs++] = (struct tm_out){c->event, h, what, why, 0};
	else
		c->fault = 1;
}

static void leave(aqm_ctx c, aqm_h h, u8 what, u8 why)
{
	if (!c->packets[h].queued)
		c->fault = 1;
	c->packets[h].queued = 0;
	c->queued--;
	note(c, h, what, why);
}

static void host_free(aqm_ctx c, aqm_h h, u8 why)
{
	leave(c, h, TM_DROPPED, why);
}

static bool host_mark(aqm_ctx c, aqm_h h)
{
	c->packets[h].ds |= AQM_CE;
	note(c, h, TM_MARKED, c->why);
	return true;
}

#include "queue.h"

/* A mark follows its verdict at once. */
static void host_trace(aqm_ctx c, const struct aqm_event *e)
{
	if (e->verdict)
		c->why = e->verdict->why;
}

struct tm_queue {
	struct tm_host host;
	struct aqm_queue *q;
	u32 arrivals, packets; /* behind them as many probes */
	char conf[4096];
	struct aqm_setup setup;
	const char *sentence;
};

static const char *set_rows(struct tm_queue *t, const struct aqm_algo *a, const char **names,
                            const u64 *values, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		const struct aqm_field *row = aqm_field_find(aqm_setup_rows, names[i]);
		void *base = &t->setup;
		const char *no;

		if (!row) {
			row = aqm_field_find(a->params, names[i]);
			base = t->conf;
		}
		no = row ? aqm_field_set(row, base, values[i]) : "no such row";
		if (no)
			return no;
	}
	return a->check ? a->check(t->conf) : NULL;
}

/* A queue that can see `packets` arrivals. Never NULL; see tm_sentence(). */
struct tm_queue *tm_open(const char *algo, const char **names, const u64 *values, u32 n,
                         u32 mtu, u64 seed, u64 start_ns, u32 packets)
{
	const struct aqm_algo *a = aqm_find(algo);
	struct tm_queue *t = calloc(1, sizeof(*t));
	struct aqm_refusal no;

	if (!a || a->conf_bytes > sizeof(t->conf)) {
		t->sentence = "no such algorithm";
		return t;
	}
	aqm_setup_defaults(a, &t->setup);
	if (a->flags & AQM_NEEDS_RATE)
		t->setup.bandwidth = LINK_BYTES_S;
	aqm_field_defaults(a->params, t->conf);
	t->sentence = set_rows(t, a, names, values, n);
	if (t->sentence)
		return t;
	no = aqm_setup_check(a, &t->setup, t->conf, NULL, NULL, 0);
	t->sentence = no.sentence;
	if (t->sentence)
		return t;
	t->packets = packets;
	t->host.packets = calloc(packets ? 2 * packets : 1, sizeof(*t->host.packets));
	t->q = calloc(1, aqm_queue_mem(a, &t->setup));
	aqm_queue_init(t->q, a, &t->setup, t->conf, mtu, start_ns, seed);
	return t;
}

const char *tm_sentence(const struct tm_queue *t)
{
	return t->sentence;
}

void tm_close(struct tm_queue *t)
{
	free(t->host.packets);
	free(t->q);
	free(t);
}

/* 28 bytes of IP behind an Ethernet header; as much further in the array for each packet. */
static void probe(struct tm_queue *t, u64 now, u32 asking)
{
	u32 h = t->packets + asking;

	t->host.packets[h] = (struct tm_packet){.len = 42, .queued = 1, .probe = 1};
	t->host.queued++;
	aqm_join_probe(t->q, now, h);
}

static void arrive(struct tm_queue *t, const struct tm_event *e)
{
	u32 h = t->arrivals++;

	if (h >= t->packets) {
		t->host.fault = 1;
		return;
	}
	t->host.packets[h] =
	        (struct tm_packet){.len = e->len, .flow = e->flow, .ds = (u8)e->ds};
	t->host.packets[h].queued = 1;
	t->host.queued++;
	aqm_enqueue(t->q, e->now_ns, h);
	if (aqm_probe_asked(t->q))
		probe(t, e->now_ns, h);
}

static void request(struct tm_queue *t, u64 now)
{
	u32 h = aqm_dequeue(t->q, now);

	if (h != AQM_NIL)
		leave(&t->host, h, TM_SENT, 0);
}

static void limit(struct tm_queue *t, u64 now, u32 pkts)
{
	struct aqm_setup setup = t->setup;

	setup.limit = pkts;
	t->setup = setup;
	aqm_queue_apply(t->q, now, &setup, t->conf);
}

static void change(struct tm_queue *t, const struct tm_event *e)
{
	bool own = e->flow >= TM_ROWS_OF_QUEUE;
	const struct aqm_field *row = own ? &t->q->algo->params[e->flow - TM_ROWS_OF_QUEUE]
	                                  : &aqm_setup_rows[e->flow];

	if (aqm_field_set(row, own ? (void *)t->conf : &t->setup, e->len | (u64)e->ds << 32) ||
	    aqm_setup_check(t->q->algo, &t->setup, t->conf, &t->q->setup, queue_conf(t->q),
	                    t->q->room)
	            .sentence)
		t->host.fault = 1;
	else
		aqm_queue_apply(t->q, e->now_ns, &t->setup, t->conf);
}

/* Packets and bytes that the queue says it holds are those it was given. */
static bool conserves(const struct tm_queue *t)
{
	return t->q->pkts == t->host.queued;
}

/*
 * Replay n events. Outcomes go to `out`, in order; after each event every
 * statistic to `stats`, n rows of tm_stats() numbers. Answers the number of
 * outcomes, or -1 after a broken rule: see tm_bad().
 */
s64 tm_run(struct tm_queue *t, const struct tm_event *events, u32 n, struct tm_out *out,
           u32 room, u64 *stats)
{
	const struct aqm_field *stat;
	u32 i;

	t->host.out = out;
	t->host.outs = 0;
	t->host.room = room;
	t->q->ctx = &t->host;
	for (i = 0; i < n; i++) {
		const struct tm_event *e = &events[i];

		t->host.event = i;
		if (e->kind == TM_ARRIVE)
			arrive(t, e);
		else if (e->kind == TM_REQUEST)
			request(t, e->now_ns);
		else if (e->kind == TM_LIMIT)
			limit(t, e->now_ns, e->len);
		else if (e->kind == TM_ANSWER)
			aqm_echo(t->q, e->now_ns, 0, e->len);
		else if (e->kind == TM_ROW)
			change(t, e);
		else if (e->kind == TM_RESET)
			aqm_queue_reset(t->q, e->now_ns);
		else
			run_ticks(t->q, inst_nth(t->q, 0), e->now_ns);
		for (stat = t->q->algo->stats; stat && stat->name; stat++)
			aqm_queue_stat(t->q, stat, stats++);
		if (t->host.fault || !conserves(t))
			return -1;
	}
	return t->host.outs;
}

u64 tm_bad(const struct tm_queue *t, u32 what)
{
	return t->q->count.bad[what];
}

static u32 number_in(const struct aqm_field *rows, const char *name)
{
	u32 n = 0;

	while (rows[n].name && strcmp(rows[n].name, name) != 0)
		n++;
	return rows[n].name ? n : U32_MAX;
}

/* The number of a row in an event. */
u32 tm_row(const char *algo, const char *name)
{
	u32 n = number_in(aqm_setup_rows, name);

	return n != U32_MAX ? n : TM_ROWS_OF_QUEUE + number_in(aqm_find(algo)->params, name);
}

u64 tm_default(const char *algo, const char *name)
{
	const struct aqm_algo *a = aqm_find(algo);
	const struct aqm_field *row = aqm_field_find(a->params, name);

	if (row)
		return row->def;
	row = aqm_field_find(aqm_setup_rows, name);
	return row ? aqm_setup_default(a, row) : AQM_NEVER;
}

bool tm_probes(const char *algo)
{
	return aqm_find(algo)->echo != NULL;
}

u32 tm_stats(const char *algo)
{
	const struct aqm_algo *a = aqm_find(algo);
	u32 n = 0;

	while (a->stats && a->stats[n].name)
		n++;
	return n;
}
const char *tm_stat_name(const char *algo, u32 n)
{
	return aqm_find(algo)->stats[n].name;
}

u32 tm_whys(void)
{
	return AQM_WHY_COUNT;
}

const char *tm_why_name(u32 why)
{
	return aqm_why_name(why);
}

#ifdef TM_COVERAGE
void __gcov_dump(void);
void tm_dump_coverage(void)
{
	__gcov_dump();
}
#endif
