/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * wire.h: probes of the exported qdisc and of the core's queue, on a wire that parks, delays,
 * loses and answers them. In a file of `asqm` these functions are in the place of those that
 * send and hear.
 */
#ifndef WIRE_H
#define WIRE_H

#define ON_WIRE 64

enum ask { ASK_NONE, ASK_LATER, ASK_READY };
static struct {
	u64 at_ns, rtt_ns;
} answers[ON_WIRE];
static u32 answers_held, answers_heard;
static u32 under_way; /* probes that left and may be answered */
static u32 asked;     /* probes that are still to come */
static u64 last_ns;   /* of the core's events */
static u64 rtt_ns = 50000000;
static bool is_due;
/* The core's part of an arrival, for the qdisc's. */
static bool wants;
static enum ask ask;
static struct sk_buff *probe;

/* A packet that may be another queue's probe. */
static bool may_ask(const struct sk_buff *skb)
{
	return skb->hash % 5;
}

/* What the core must hear, and the qdisc then hears for itself. */
static void core_hears(void)
{
	u32 i;

	for (i = 0; i < answers_held; i++) {
		u64 at = answers[i].at_ns;

		at = at < last_ns ? last_ns : at;
		core_echo(answers[i].rtt_ns, at);
		last_ns = at;
	}
	last_ns = clock_ns;
}

static void all_heard(void)
{
	same("the number of answers heard", answers_heard, answers_held);
	answers_heard = answers_held = 0;
}

static struct sk_buff *new_probe(void)
{
	return new_packet((struct sk_buff){.len = draw(2) ? 42 : 62, .probe = true});
}

/* As the module asks behind an arrival. */
static void core_asks(const struct sk_buff *skb, bool joined)
{
	wants = core_asked() || (is_due && joined);
	ask = ASK_NONE;
	if (!wants)
		return;
	is_due = !may_ask(skb);
	wants = !is_due;
	if (is_due)
		return;
	ask = (enum ask)draw(3);
	asked += ask == ASK_LATER;
	if (ask != ASK_READY)
		return;
	probe = new_probe();
	core_join_probe(probe->id, probe->len, clock_ns);
}

static void answer(void)
{
	/* It wanders across any target. */
	rtt_ns = clamp(rtt_ns, 9000000u, 250000000u) + draw(8000000) - draw(8000000);
	under_way--;
	if (draw(5) && answers_held < ON_WIRE) {
		answers[answers_held].at_ns = clock_ns;
		answers[answers_held++].rtt_ns = rtt_ns;
	}
}

#ifdef PROBES
static enum asqm_probe_fate fate;

struct asqm_probes {
	struct asqm_probe_counts counts;
} wire;

static struct asqm_probes *asqm_probes_new(struct Qdisc *sch)
{
	(void)sch;
	return &wire;
}
static void asqm_probes_free(struct asqm_probes *p)
{
	(void)p;
}
static int asqm_check_responders(const struct asqm_own_conf *conf, struct netlink_ext_ack *told)
{
	(void)conf, (void)told;
	return 0;
}
static bool asqm_probe_may_ask(const struct sk_buff *asking)
{
	return may_ask(asking);
}
static struct sk_buff *asqm_probe_ask(struct asqm_probes *p, const struct sk_buff *asking,
                                      const struct asqm_own_conf *conf, u64 now)
{
	(void)p, (void)asking, (void)conf;
	same("the time of an ask", now, clock_ns);
	same("a probe asked for", 1, wants);
	wants = false;
	return ask == ASK_READY ? probe : NULL;
}
static void asqm_probes_drop_route(const struct asqm_probes *p, struct sk_buff *skb)
{
	(void)p, (void)skb;
}
static void asqm_probe_prime(struct asqm_probes *p, const struct sk_buff *coming,
                             const struct asqm_own_conf *conf, u64 now)
{
	(void)p, (void)coming, (void)conf, (void)now;
}
static bool asqm_is_probe(const struct asqm_probes *p, const struct sk_buff *skb)
{
	(void)p;
	return skb->probe;
}
static enum asqm_probe_fate asqm_probe_comes(struct asqm_probes *p, struct sk_buff *skb,
                                             u64 now)
{
	(void)p, (void)skb, (void)now;
	return fate;
}
static void asqm_probe_leaves(struct asqm_probes *p, struct sk_buff *skb)
{
	(void)skb;
	p->counts.left_bytes++;
	under_way++;
}
static bool asqm_probes_hear(struct asqm_probes *p, struct asqm_answer *one)
{
	(void)p;
	if (answers_heard == answers_held)
		return false;
	one->at_ns = answers[answers_heard].at_ns;
	one->rtt_ns = answers[answers_heard++].rtt_ns;
	return true;
}
static void asqm_probes_forget(struct asqm_probes *p)
{
	(void)p;
	answers_held = under_way = asked = 0;
}
static struct asqm_probe_counts asqm_probes_counts(struct asqm_probes *p)
{
	return p->counts;
}
static int asqm_hear_echo(struct net *net)
{
	(void)net;
	return 0;
}
static void asqm_hear_echo_no_more(struct net *net)
{
	(void)net;
}
static int asqm_probe_senders_start(void)
{
	return 0;
}
static void asqm_probe_senders_stop(void)
{
}
static int asqm_hear_start(void)
{
	return 0;
}
static void asqm_hear_stop(void)
{
}
static int asqm_keep_start(void)
{
	return 0;
}
static void asqm_keep_stop(void)
{
}

/* A probe comes by the kernel's output: in time, to be parked, or too late. */
static void come(struct Qdisc *sch)
{
	struct sk_buff *skb = new_probe(), *to_free = NULL;
	bool joined = false;
	int status;

	asked--;
	fate = (enum asqm_probe_fate)draw(3);
	core_hears();
	if (fate == ASQM_PROBE_JOINS)
		joined = core_join_probe(skb->id, skb->len, clock_ns);
	else if (fate == ASQM_PROBE_STALE)
		core_freed(skb->id);
	status = registered->enqueue(skb, sch, &to_free);
	same("a probe joined", !status, joined);
	parent_pkts += !status;
	parent_bytes += status ? 0 : skb->len;
	all_heard();
}

static void same_probes(const u64 *here)
{
	static const char *const names[] = {"probes joined", "probes refused", "probes left",
	                                    "probes freed", "answers"};
	u64 there[5];
	u32 i;

	core_probes(there);
	for (i = 0; i < 5; i++)
		same(names[i], here[i], there[i]);
}
#else
static void come(struct Qdisc *sch)
{
	(void)sch;
}
static void same_probes(const u64 *here)
{
	(void)here;
}
#endif

#endif
