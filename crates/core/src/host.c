// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// host.c: the simulator as a host of queue.h. A packet is a slot number.
//
// Freed packets are chained through their slots' own link, which the queue no
// longer needs, so that no list of unknown length has to be passed out.

#include "aqm.h"
#include "field.h"

#define AQM_NIL U32_MAX

struct slot {
	struct aqm_keep keep;
	u32 len_bytes, next, mem_bytes;
	u8 ecn, dscp, why;
	u8 probe;
};

typedef u32 aqm_h;
typedef struct core_queue *aqm_ctx;

struct aqm_event;

static inline struct slot *slot_of(aqm_ctx ctx, aqm_h h);

static inline struct aqm_keep *host_keep(aqm_ctx ctx, aqm_h h)
{
	return &slot_of(ctx, h)->keep;
}

static inline u32 host_len(aqm_ctx ctx, aqm_h h)
{
	return slot_of(ctx, h)->len_bytes;
}

static inline u32 host_mem(aqm_ctx ctx, aqm_h h)
{
	return slot_of(ctx, h)->mem_bytes;
}

static inline u32 host_flow(aqm_ctx ctx, aqm_h h)
{
	return slot_of(ctx, h)->keep.flow;
}

static inline u8 host_ds(aqm_ctx ctx, aqm_h h)
{
	const struct slot *s = slot_of(ctx, h);

	return (u8)(s->dscp << 2 | (s->ecn & 3));
}

static inline bool host_mark(aqm_ctx ctx, aqm_h h)
{
	slot_of(ctx, h)->ecn = AQM_CE;
	return true;
}

static inline aqm_h host_next(aqm_ctx ctx, aqm_h h);
static inline void host_free(aqm_ctx ctx, aqm_h h, u8 why);

static inline void host_set_next(aqm_ctx ctx, aqm_h h, aqm_h next)
{
	slot_of(ctx, h)->next = next;
}

static inline bool host_is_probe(aqm_ctx ctx, aqm_h h)
{
	return slot_of(ctx, h)->probe;
}

static inline void host_trace(aqm_ctx ctx, const struct aqm_event *event)
{
	(void)ctx, (void)event;
}

#include "cold.h"
#include "queue.h"

/* What Rust reads after a call stands first; `ffi.rs` mirrors it. */
struct core_queue {
	struct slot *slots;
	u32 nslots, freed_count;
	u32 freed_first, freed_last;
	u32 probe_asked; /* instance that wants a probe behind the last arrival; or AQM_NIL */
	struct aqm_queue q; /* begins with the backlog; last, as its memory goes on behind it */
};

/* For the mirrors in Rust, as aqm_layouts. */
#define SIZE(name_, type_)                                                                     \
	{                                                                                      \
		name_, sizeof(struct type_)                                                    \
	}
#define PLACE(name_, type_, member_)                                                           \
	{                                                                                      \
		name_ "." #member_, offsetof(struct type_, member_)                            \
	}
/* The front ends with the two counts that a queue begins with. */
#define FRONT_BYTES (offsetof(struct core_queue, q) + 2 * sizeof(u32))

extern const struct aqm_layout core_layouts[];
/* clang-format off */
const struct aqm_layout core_layouts[] = {
	SIZE("aqm_counters", aqm_counters),
	PLACE("aqm_counters", aqm_counters, in_pkts), PLACE("aqm_counters", aqm_counters, in_bytes),
	PLACE("aqm_counters", aqm_counters, out_pkts), PLACE("aqm_counters", aqm_counters, out_bytes),
	PLACE("aqm_counters", aqm_counters, drop_bytes),
	PLACE("aqm_counters", aqm_counters, unmarkable), PLACE("aqm_counters", aqm_counters, drops),
	PLACE("aqm_counters", aqm_counters, marks), PLACE("aqm_counters", aqm_counters, bad),
	SIZE("slot", slot),
	PLACE("slot", slot, keep.enq_ns), PLACE("slot", slot, keep.flow),
	PLACE("slot", slot, keep.own), PLACE("slot", slot, len_bytes), PLACE("slot", slot, next),
	PLACE("slot", slot, mem_bytes), PLACE("slot", slot, ecn), PLACE("slot", slot, dscp),
	PLACE("slot", slot, why), PLACE("slot", slot, probe),
	{"front", FRONT_BYTES},
	PLACE("front", core_queue, freed_count), PLACE("front", core_queue, freed_first),
	PLACE("front", core_queue, probe_asked),
	SIZE("aqm_probes", aqm_probes),
	PLACE("aqm_probes", aqm_probes, joined), PLACE("aqm_probes", aqm_probes, refused),
	PLACE("aqm_probes", aqm_probes, left), PLACE("aqm_probes", aqm_probes, freed),
	PLACE("aqm_probes", aqm_probes, answered),
	SIZE("aqm_flows", aqm_flows),
	PLACE("aqm_flows", aqm_flows, new_flow_count), PLACE("aqm_flows", aqm_flows, new_flows_len),
	PLACE("aqm_flows", aqm_flows, old_flows_len), PLACE("aqm_flows", aqm_flows, collisions),
	PLACE("aqm_flows", aqm_flows, delay_mean_ns), PLACE("aqm_flows", aqm_flows, delay_sparse_ns),
	PLACE("aqm_flows", aqm_flows, delay_peak_ns),
	PLACE("aqm_flows", aqm_flows, memory_used_bytes),
	{"front.pkts", offsetof(struct core_queue, q.pkts)},
	{"front.bytes", offsetof(struct core_queue, q.bytes)},
	{NULL, 0},
};
/* clang-format on */

static inline struct slot *slot_of(aqm_ctx ctx, aqm_h h)
{
	return &ctx->slots[h];
}

/* The link lies in memory that safe Rust may write: never believe it. */
static inline aqm_h host_next(aqm_ctx ctx, aqm_h h)
{
	u32 next = slot_of(ctx, h)->next;

	return next < ctx->nslots ? next : AQM_NIL;
}

static inline void host_free(aqm_ctx ctx, aqm_h h, u8 why)
{
	slot_of(ctx, h)->why = why;
	slot_of(ctx, h)->next = AQM_NIL;
	if (ctx->freed_count++)
		slot_of(ctx, ctx->freed_last)->next = h;
	else
		ctx->freed_first = h;
	ctx->freed_last = h;
}

static inline void enter(struct core_queue *c, struct slot *slots, u32 nslots)
{
	c->slots = slots;
	c->nslots = nslots;
	c->freed_count = 0;
}

size_t core_mem(const struct aqm_algo *algo, const struct aqm_setup *setup);
void core_init(struct core_queue *c, const struct aqm_algo *algo, const struct aqm_setup *setup,
               const void *conf, u32 mtu_bytes, u64 now, u64 seed);
bool core_enqueue(struct core_queue *c, struct slot *slots, u32 nslots, u64 now, u32 packet);
bool core_join_probe(struct core_queue *c, struct slot *slots, u32 nslots, u64 now, u32 inst,
                     u32 packet);
void core_echo(struct core_queue *c, u64 now, u32 inst, u64 rtt_ns);
u32 core_dequeue(struct core_queue *c, struct slot *slots, u32 nslots, u64 now);
struct aqm_refusal core_change(struct core_queue *c, struct slot *slots, u32 nslots, u64 now,
                               const struct aqm_setup *setup, const void *conf);
void core_reset(struct core_queue *c, struct slot *slots, u32 nslots, u64 now);
bool core_stat(struct core_queue *c, const struct aqm_field *row, u64 *value);
const struct aqm_counters *core_counters(const struct core_queue *c);
const struct aqm_probes *core_probes(const struct core_queue *c);
struct aqm_flows core_flows(const struct core_queue *c);
const struct aqm_setup *core_setup(const struct core_queue *c);
const void *core_conf(struct core_queue *c);

size_t core_mem(const struct aqm_algo *algo, const struct aqm_setup *setup)
{
	size_t bytes = aqm_queue_mem(algo, setup);

	return bytes ? bytes + offsetof(struct core_queue, q) : 0;
}

void core_init(struct core_queue *c, const struct aqm_algo *algo, const struct aqm_setup *setup,
               const void *conf, u32 mtu_bytes, u64 now, u64 seed)
{
	enter(c, NULL, 0);
	c->probe_asked = AQM_NIL;
	aqm_queue_init(&c->q, algo, setup, conf, mtu_bytes, now, seed);
	c->q.ctx = c;
}

AQM_FLAT bool core_enqueue(struct core_queue *c, struct slot *slots, u32 nslots, u64 now,
                           u32 packet)
{
	bool joined;

	enter(c, slots, nslots);
	slots[packet].probe = 0; /* where it comes from, it may have been one */
	joined = aqm_enqueue(&c->q, now, packet);
	c->probe_asked = aqm_probe_asked(&c->q) ? c->q.probe_inst : AQM_NIL;
	return joined;
}

bool core_join_probe(struct core_queue *c, struct slot *slots, u32 nslots, u64 now, u32 inst,
                     u32 packet)
{
	enter(c, slots, nslots);
	c->q.probe_inst = inst < c->q.insts ? inst : 0;
	slots[packet].probe = 1;
	c->probe_asked = AQM_NIL;
	return aqm_join_probe(&c->q, now, packet);
}

void core_echo(struct core_queue *c, u64 now, u32 inst, u64 rtt_ns)
{
	if (inst < c->q.insts)
		aqm_echo(&c->q, now, inst, rtt_ns);
}

AQM_FLAT u32 core_dequeue(struct core_queue *c, struct slot *slots, u32 nslots, u64 now)
{
	u32 packet;

	enter(c, slots, nslots);
	packet = aqm_dequeue(&c->q, now);
	/* The one behind has waited for long: fetch it before it is asked for. */
	if (packet < nslots)
		__builtin_prefetch(&slots[slots[packet].next]);
	return packet;
}

struct aqm_refusal core_change(struct core_queue *c, struct slot *slots, u32 nslots, u64 now,
                               const struct aqm_setup *setup, const void *conf)
{
	struct aqm_refusal no = aqm_setup_check(c->q.algo, setup, conf, &c->q.setup,
	                                        queue_conf(&c->q), c->q.room);

	enter(c, slots, nslots);
	if (!no.sentence)
		aqm_queue_apply(&c->q, now, setup, conf);
	return no;
}

void core_reset(struct core_queue *c, struct slot *slots, u32 nslots, u64 now)
{
	enter(c, slots, nslots);
	aqm_queue_reset(&c->q, now);
}

bool core_stat(struct core_queue *c, const struct aqm_field *row, u64 *value)
{
	return aqm_queue_stat(&c->q, row, value);
}

const struct aqm_counters *core_counters(const struct core_queue *c)
{
	return &c->q.count;
}

const struct aqm_probes *core_probes(const struct core_queue *c)
{
	return &c->q.probes;
}

struct aqm_flows core_flows(const struct core_queue *c)
{
	return aqm_flows(&c->q);
}

const struct aqm_setup *core_setup(const struct core_queue *c)
{
	return &c->q.setup;
}

const void *core_conf(struct core_queue *c)
{
	return queue_conf(&c->q);
}
