// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// core.c: a queue of the core, see core.h.

#include <stdlib.h>

#include "aqm.h"
#include "core.h"

#define AQM_NIL U32_MAX
/* More than any limit of the test: numbers are used again when their packet is long gone. */
#define PACKETS (1u << 16)

typedef u32 aqm_h;
typedef void *aqm_ctx;
struct aqm_event;

static struct packet {
	struct aqm_keep keep;
	u32 len, flow, next;
	u8 ds;
	bool probe;
} packets[PACKETS];

static struct packet *at(u32 id)
{
	return &packets[id % PACKETS];
}

static struct aqm_keep *host_keep(aqm_ctx ctx, aqm_h h)
{
	(void)ctx;
	return &at(h)->keep;
}
static u32 host_len(aqm_ctx ctx, aqm_h h)
{
	(void)ctx;
	return at(h)->len;
}
static u32 host_mem(aqm_ctx ctx, aqm_h h)
{
	(void)ctx, (void)h;
	return 0;
}
static u32 host_flow(aqm_ctx ctx, aqm_h h)
{
	(void)ctx;
	return at(h)->flow;
}
static u8 host_ds(aqm_ctx ctx, aqm_h h)
{
	(void)ctx;
	return at(h)->ds;
}
static bool host_mark(aqm_ctx ctx, aqm_h h)
{
	(void)ctx;
	at(h)->ds |= AQM_CE;
	return true;
}
static aqm_h host_next(aqm_ctx ctx, aqm_h h)
{
	(void)ctx;
	return at(h)->next;
}
static void host_set_next(aqm_ctx ctx, aqm_h h, aqm_h next)
{
	(void)ctx;
	at(h)->next = next;
}
static void host_free(aqm_ctx ctx, aqm_h h, u8 why)
{
	(void)ctx, (void)why;
	core_freed(h);
}
static bool host_is_probe(aqm_ctx ctx, aqm_h h)
{
	(void)ctx;
	return at(h)->probe;
}
static void host_trace(aqm_ctx ctx, const struct aqm_event *event)
{
	(void)ctx, (void)event;
}

#include "queue.h"

static const struct aqm_algo *algo;
static struct aqm_setup setup;
static struct aqm_queue *q;
static void *conf;

void core_choose(const char *name)
{
	algo = aqm_find(name);
	conf = calloc(1, algo->conf_bytes);
	aqm_field_defaults(algo->params, conf);
	aqm_setup_defaults(algo, &setup);
	setup.memory_limit = U32_MAX;
	setup.flows = 0;
}

int core_row(const char *name, uint64_t value)
{
	const struct aqm_field *row = aqm_field_find(algo->params, name);

	if (!row || aqm_field_set(row, conf, value))
		return -1;
	return (int)(row - algo->params);
}

void core_make(uint32_t limit, bool ecn, uint64_t bandwidth, uint32_t mtu, uint64_t seed,
               uint64_t now)
{
	setup.limit = limit;
	setup.ecn = ecn;
	setup.bandwidth = bandwidth;
	if (aqm_setup_check(algo, &setup, conf, NULL, NULL, 0).sentence)
		abort();
	q = calloc(1, aqm_queue_mem(algo, &setup));
	aqm_queue_init(q, algo, &setup, conf, mtu, now, seed);
}

void core_change(uint32_t limit, bool ecn, uint64_t now)
{
	setup.limit = limit;
	setup.ecn = ecn;
	aqm_queue_apply(q, now, &setup, conf);
}

void core_reset(uint64_t now)
{
	aqm_queue_reset(q, now);
}

bool core_enqueue(uint32_t id, uint32_t len, uint32_t flow, uint8_t ds, uint64_t now)
{
	*at(id) = (struct packet){.len = len, .flow = flow, .ds = ds};
	return aqm_enqueue(q, now, id);
}

bool core_asked(void)
{
	bool asked = aqm_probe_asked(q);

	q->probe_asked = 0;
	return asked;
}

bool core_join_probe(uint32_t id, uint32_t len, uint64_t now)
{
	*at(id) = (struct packet){.len = len, .probe = true};
	return aqm_join_probe(q, now, id);
}

void core_echo(uint64_t rtt_ns, uint64_t now)
{
	aqm_echo(q, now, 0, rtt_ns);
}

void core_probes(uint64_t counts[5])
{
	counts[0] = q->probes.joined;
	counts[1] = q->probes.refused;
	counts[2] = q->probes.left;
	counts[3] = q->probes.freed;
	counts[4] = q->probes.answered;
}

int64_t core_dequeue(uint8_t *ds, uint64_t now)
{
	aqm_h h = aqm_dequeue(q, now);

	if (h == AQM_NIL)
		return -1;
	*ds = at(h)->ds;
	return h;
}

unsigned int core_stats(uint64_t *values)
{
	const struct aqm_field *row;
	unsigned int n = 0;

	for (row = algo->stats; row && row->name; row++)
		if (!aqm_queue_stat(q, row, &values[n++]))
			abort();
	return n;
}
