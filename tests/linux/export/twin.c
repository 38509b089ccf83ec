// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// twin.c: gives the same random events to an exported qdisc and to the core's queue. Each
// packet must have the same fate in both, and every statistic the same value.
//
//   twin ALGORITHM CALLS [ROW=VALUE ...]

#include <inttypes.h>
#include <stdio.h>

#include "core.h"
#include "kernel.h"

#include "exported.c"

#define PACKETS 65536
#define MTU     1514

static struct sk_buff packets[PACKETS];
/* Numbers of packets that were freed in the call under way, in the qdisc and in the core. */
static u32 ours[PACKETS], cores[PACKETS], our_count, core_count;
static u64 dumped[64], calls, drops, marks, sent;

static void freed(struct sk_buff *skb)
{
	ours[our_count++] = skb->id;
}

void core_freed(uint32_t id)
{
	cores[core_count++] = id;
}

static inline u64 *dumped_to(void)
{
	return dumped;
}

static u64 seed = 0x9e3779b97f4a7c15;

static u64 draw(u64 below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static _Noreturn void differ(const char *what, u64 here, u64 there)
{
	printf("call %" PRIu64 ": %s is %" PRIu64 " in the qdisc, %" PRIu64 " in the core\n",
	       calls, what, here, there);
	exit(1);
}

static void same(const char *what, u64 here, u64 there)
{
	if (here != there)
		differ(what, here, there);
}

static void same_freed(void)
{
	u32 i;

	same("the number of packets freed", our_count, core_count);
	for (i = 0; i < our_count; i++)
		same("a packet freed", ours[i], cores[i]);
	drops += our_count;
	our_count = core_count = 0;
}

/* ---- options, in the form of kernel.h ---- */

static struct {
	struct nlattr nest;
	char room[64 * 12];
} options;

static void option(u16 type, u64 value)
{
	char *at = options.room + options.nest.nla_len++ * 12;

	memcpy(at + 2, &type, sizeof(type));
	memcpy(at + 4, &value, sizeof(value));
}

static void take(int status, const char *what, struct netlink_ext_ack *extack)
{
	options.nest.nla_len = 0;
	if (!status)
		return;
	printf("%s: %s (%d)\n", what, extack->told ? extack->told : "no reason", status);
	exit(1);
}

static struct sk_buff *new_packet(struct sk_buff of)
{
	static u32 next;
	struct sk_buff *skb = &packets[next % PACKETS];

	*skb = of;
	skb->id = next++;
	return skb;
}

#include "wire.h"

/* ---- events ---- */

static u32 limit = 120;
static bool ecn = true;

static void arrive(struct Qdisc *sch)
{
	struct sk_buff *to_free = NULL,
	               *skb = new_packet((struct sk_buff){
	                       .len = (u32)(draw(4) ? MTU - draw(100) : 60 + draw(1000)),
	                       .hash = (u32)(draw(3) ? draw(16) : 7) * 2654435761u,
	                       .ds = (u8)draw(256)});
	bool joined;
	int status;

	core_hears();
	joined = core_enqueue(skb->id, skb->len, skb->hash, skb->ds, clock_ns);
	core_asks(skb, joined);
	status = registered->enqueue(skb, sch, &to_free);
	same("joined", !status, joined);
	same("a probe not asked for", wants, 0);
	parent_pkts += !status;
	parent_bytes += status ? 0 : skb->len;
	all_heard();
}

/* The packet that the qdisc gives, by either call, is the core's. */
static struct sk_buff *give(struct Qdisc *sch, struct sk_buff *(*call)(struct Qdisc *))
{
	struct sk_buff *skb;
	u64 told_before = told, empty_before = told_empty;
	u8 ds = 0;
	int64_t id;

	core_hears();
	skb = call(sch);
	id = core_dequeue(&ds, clock_ns);
	all_heard();
	same("a packet left", skb ? skb->id + 1ull : 0, (u64)(id + 1));
	if (skb)
		same("the DS field", skb->ds, ds);
	same("a class told empty by its own parent's call", told_empty, empty_before);
	if (!skb || call == registered->peek)
		same("reports to a parent that looks, or gets nothing", told, told_before);
	if (our_count && told == told_before)
		same("a report to come", scheduled != NULL, true);
	return skb;
}

/* A parent that peeks takes the packet later; until then it is one of the queue. */
static void peek(struct Qdisc *sch)
{
	if (sch->gso_skb)
		return same("a packet peeked again", registered->peek(sch) == sch->gso_skb, 1);
	give(sch, registered->peek);
}

/* As a kernel does, between two calls of the root. */
static void report(void)
{
	struct tasklet_struct *teller = scheduled;

	asked_again = false;
	scheduled = NULL;
	teller->call(teller);
	same("the root asked again", asked_again, true);
}

static struct sk_buff *take_peeked(struct Qdisc *sch)
{
	struct sk_buff *skb = sch->gso_skb;

	if (!skb)
		return NULL;
	sch->gso_skb = NULL;
	sch->q.qlen--;
	qdisc_qstats_backlog_dec(sch, skb);
	return skb;
}

static void leave(struct Qdisc *sch)
{
	struct sk_buff *skb = take_peeked(sch);

	if (!skb)
		skb = give(sch, registered->dequeue);
	if (!skb)
		return;
	parent_pkts--;
	parent_bytes -= skb->len;
	sent++;
	marks += (skb->ds & 3) == 3;
}

static void look(struct Qdisc *sch)
{
	struct gnet_dump d;
	u64 values[64];
	unsigned int i, n = core_stats(values);

	registered->dump_stats(sch, &d);
	for (i = 0; i < n; i++)
		same("a statistic", d.stats[i], values[i]);
	/* Behind what is dropped early, at the limit, and marked. */
	same_probes(d.stats + n + 3);
}

static void change(struct Qdisc *sch)
{
	struct netlink_ext_ack extack = {0};

	/* Never above the first: the ring of a queue that samples is made for that. */
	limit = draw(3) ? 120 : 20 + (u32)draw(100);
	ecn = draw(4) != 0;
	option(TCA_LIMIT, limit);
	option(TCA_ECN, ecn);
	take(registered->change(sch, &options.nest, &extack), "change", &extack);
	core_change(limit, ecn, clock_ns);
}

static void reset(struct Qdisc *sch)
{
	registered->reset(sch);
	core_reset(clock_ns);
	parent_pkts = parent_bytes = 0;
	is_due = false;
}

/* Bursts and lulls: each lasts some hundred events, with a rate of its own. */
static void play(struct Qdisc *sch)
{
	static u64 left, arrivals, gap_ns;

	if (!left--) {
		left = 50 + draw(2000);
		arrivals = 30 + draw(50);
		gap_ns = 1000ull << draw(12);
	}
	clock_ns += draw(5000) ? 1 + draw(gap_ns) : draw(3000000000);
	if (!draw(3000))
		change(sch);
	else if (!draw(40000))
		reset(sch);
	else if (asked && !draw(4))
		come(sch);
	else if (under_way && !draw(3))
		answer();
	else if (draw(100) < arrivals)
		arrive(sch);
	else if (draw(4))
		leave(sch);
	else
		peek(sch);
	same_freed();
	same("packets that a parent counts", parent_pkts, sch->q.qlen);
	same("bytes that a parent counts", parent_bytes, sch->qstats.backlog);
	if (scheduled && draw(3))
		report();
	if (!draw(20))
		look(sch);
}

int main(int argc, char **argv)
{
	struct Qdisc sch = {0};
	struct netlink_ext_ack extack = {0};
	u64 bandwidth = TCA_RATE ? 1250000 : 0, wanted = strtoull(argv[2], NULL, 10), probes[5];
	int i, row;

	clock_ns = 1000000000;
	random_u64 = 42;
	module_start();
	sch.priv = calloc(1, registered->priv_size);
	core_choose(argv[1]);
	option(TCA_LIMIT, limit);
	option(TCA_ECN, ecn);
	if (TCA_RATE)
		option(TCA_RATE, bandwidth);
	for (i = 3; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		*value++ = 0;
		row = core_row(argv[i], strtoull(value, NULL, 10));
		if (row < 0)
			return printf("no row %s of this value\n", argv[i]), 1;
		option((u16)(TCA_FIRST + row), strtoull(value, NULL, 10));
	}
	core_make(limit, ecn, bandwidth, MTU, random_u64, clock_ns);
	last_ns = clock_ns;
	take(registered->init(&sch, &options.nest, &extack), "init", &extack);
	registered->dump(&sch, packets);
	same("the limit dumped", dumped[TCA_LIMIT], limit);
	for (; calls < wanted; calls++)
		play(&sch);
	core_probes(probes);
	printf("calls %" PRIu64 " sent %" PRIu64 " drops %" PRIu64 " ce %" PRIu64
	       " joined %" PRIu64 " refused %" PRIu64 " freed %" PRIu64 " answered %" PRIu64
	       "\n",
	       calls, sent, drops, marks, probes[0], probes[1], probes[3], probes[4]);
	return argc < 3;
}
