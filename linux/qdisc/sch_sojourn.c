// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// sch_sojourn.c: one queueing discipline for every algorithm of aqm/.
//
// The queue itself is aqm/queue.h; here are enqueue and dequeue, and the kernel's counts
// of them (parents.h).

#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "hear.h"
#include "host.h"
#include "keep.h"
#include "netlink.h"

/* A build that records events has no stack for large functions under KASAN. */
#ifdef SOJOURN_TRACE_EVENTS
#define AQM_FLAT
#endif

#include "cold.h"

static noinline AQM_FLAT aqm_h fq_dequeue(struct aqm_queue *, u64 now);

#include "queue.h"
#include "parents.h"
#include "trace.h"

/* 65536 flows of most algorithms; a local user may allocate this as often as any other
 * memory that is charged to him. */
#define MEM_MAX (64u << 20)

/* With the fields that no packet needs. */
struct sojourn_private {
	struct sojourn_sched s;
	struct aqm_counters past; /* of the queues that this one has replaced */
};

static void add_counts(struct aqm_counters *to, const struct aqm_counters *from)
{
	u64 *sum = (u64 *)to;
	const u64 *more = (const u64 *)from;
	u32 i;

	for (i = 0; i < sizeof(*to) / sizeof(*sum); i++)
		sum[i] += more[i];
}

/* The caller frees them. */
static struct sk_buff *take_dropped(struct sojourn_sched *s)
{
	struct sk_buff *first = s->lost.first;

	s->lost.first = NULL;
	return first;
}

/* ---- in ---- */

static bool enqueue_one(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	sojourn_cb(skb)->ds = read_ds(skb);
	trace_arrival(sch, skb);
	return trace_joined(sch, aqm_enqueue(s->queue, now, skb));
}

/*
 * Correct the parents' counts after `pkts` arrivals of so many bytes for one that a parent
 * knows as `len` bytes.
 *
 * A parent adds that one when we return success, and until then counts one less than we
 * hold. If it has counted a packet before and we hold a single packet now, its count would
 * be zero: its own parent would remove its class, and HFSC, which has peeked before, would
 * not restore it. We return congestion then, which adds nothing. A parent that has counted
 * nothing must get success, or it never serves us.
 */
static noinline __cold int settle_arrivals(struct Qdisc *sch, bool joined, u32 pkts, u32 bytes,
                                           u32 len, struct sk_buff **to_free)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sojourn_lost *lost = &s->lost;
	int less_pkts = lost->pkts - pkts, less_bytes = lost->bytes - bytes;
	bool later = less_pkts + joined > 0 && !parents_keep_up(sch);
	u32 counted = sch->q.qlen;

	if (lost->first) {
		lost->last->next = *to_free;
		*to_free = take_dropped(s);
	}
	lost->pkts = lost->bytes = 0;
	if (later && less_pkts) {
		lost->pkts = less_pkts;
		lost->bytes = less_bytes;
		tasklet_schedule(&s->teller);
		return NET_XMIT_CN;
	}
	sch->q.qlen -= less_pkts;
	sch->qstats.backlog -= less_bytes;
	/* Later arrivals may have evicted the earlier and then been refused. */
	joined = joined && !later && sch->q.qlen > (counted ? 1 : 0);
	if (joined) {
		less_pkts += 1;
		less_bytes += len;
	}
	if (less_pkts || less_bytes)
		qdisc_tree_reduce_backlog(sch, less_pkts, less_bytes);
	/* CN: sent and lost, as on a wire; a local sender does not try again. */
	return joined ? NET_XMIT_SUCCESS : NET_XMIT_CN;
}

static bool join_probe(struct Qdisc *sch, struct sk_buff *skb, u64 now,
                       const struct probe_place *place)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	s->queue->probe_inst = place->inst;
	s->queue->probe_lane = place->lane;
	sojourn_cb(skb)->ds = read_ds(skb);
	sojourn_cb(skb)->trace = (struct packet_trace){};
	trace_arrival(sch, skb);
	return trace_joined(sch, aqm_join_probe(s->queue, now, skb));
}

/*
 * The last arrival wants a probe, or an earlier one that may not ask did. Where one is parked
 * it joins at once, and parents count it as one more piece of a segment. Returns its bytes.
 */
static noinline __cold u32 ask_probe(struct Qdisc *sch, const struct sk_buff *asking, u64 now)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct aqm_queue *q = s->queue;
	struct sk_buff *skb;
	u32 bytes;

	if (aqm_probe_asked(q))
		s->due = (struct probe_place){q->probe_inst, q->probe_lane};
	q->probe_asked = 0;
	s->is_due = !sojourn_probe_may_ask(asking);
	if (s->is_due)
		return 0;
	skb = sojourn_probe_ask(s->probes, asking, &s->conf, now, s->due);
	if (!skb)
		return 0;
	bytes = qdisc_pkt_len(skb);
	join_probe(sch, skb, now, &s->due);
	return bytes;
}

/* A probe of this queue comes as any packet does. No parent counts it where it does not
 * join. */
static noinline __cold int enqueue_probe(struct Qdisc *sch, struct sk_buff *skb, u64 now,
                                         struct sk_buff **to_free)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	u32 len = qdisc_pkt_len(skb);
	struct probe_place place;
	bool joined;

	switch (sojourn_probe_comes(s->probes, skb, now, &place)) {
	case PROBE_STALE:
		__qdisc_drop(skb, to_free);
		fallthrough;
	case PROBE_PARKED:
		return NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
	case PROBE_JOINS:
		break;
	}
	joined = join_probe(sch, skb, now, &place);
	if (s->lost.pkts)
		return settle_arrivals(sch, joined, 1, len, len, to_free);
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
	return NET_XMIT_SUCCESS;
}

static bool wants_probe(const struct sojourn_sched *s, bool joined)
{
	return s->probes && (aqm_probe_asked(s->queue) || (s->is_due && joined));
}

/* Passes on the answers since the last event, each with its time of arrival. */
static noinline __cold void hear_answers(struct Qdisc *sch, u64 now)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sojourn_answer answer;

	while (sojourn_probes_hear(s->probes, &answer)) {
		u64 at = clamp(answer.at_ns, s->last_ns, now);

		aqm_echo(s->queue, at, answer.inst, answer.rtt_ns);
		s->last_ns = at;
	}
	s->last_ns = now;
}

/* A large segment as the packets of the wire. A segment that cannot be split is queued
 * whole. */
static noinline int enqueue_split(struct Qdisc *sch, struct sk_buff *skb, u64 now,
                                  struct sk_buff **to_free)
{
	const struct sojourn_sched *s = qdisc_priv(sch);
	netdev_features_t features = netif_skb_features(skb) & ~NETIF_F_GSO_MASK;
	struct sk_buff *segments, *segment, *next;
	u32 pkts = 0, bytes = 0, probe, len = qdisc_pkt_len(skb);
	bool joined = false, joins;

	/* Found once: the segments inherit it. */
	skb_get_hash(skb);
	segments = skb_gso_segment(skb, features);
	if (IS_ERR_OR_NULL(segments)) {
		joined = enqueue_one(sch, skb, now);
		return settle_arrivals(sch, joined, 1, len, len, to_free);
	}
	skb_list_walk_safe(segments, segment, next) {
		skb_mark_not_on_list(segment);
		set_pkt_len(segment, segment->len);
		pkts++;
		bytes += segment->len;
		joins = enqueue_one(sch, segment, now);
		joined |= joins;
		probe = wants_probe(s, joins) ? ask_probe(sch, segment, now) : 0;
		pkts += probe != 0;
		bytes += probe;
	}
	consume_skb(skb);
	return settle_arrivals(sch, joined, pkts, bytes, len, to_free);
}

/* A probe is to follow this packet, now or when the kernel has made one. */
static noinline __cold int enqueue_probed(struct Qdisc *sch, const struct sk_buff *skb,
                                          bool joined, u64 now, struct sk_buff **to_free)
{
	u32 len = qdisc_pkt_len(skb);
	u32 probe = ask_probe(sch, skb, now);

	return settle_arrivals(sch, joined, 1 + (probe != 0), len + probe, len, to_free);
}

static AQM_FLAT int sojourn_enqueue(struct sk_buff *skb, struct Qdisc *sch,
                                    struct sk_buff **to_free)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	bool joined;

	if (unlikely(s->probes)) {
		hear_answers(sch, now);
		if (sojourn_is_probe(s->probes, skb))
			return enqueue_probe(sch, skb, now, to_free);
		sojourn_probes_drop_route(s->probes, skb);
		sojourn_probe_prime(s->probes, skb, &s->conf, now);
	}
	if (s->conf.split_gso && unlikely(skb_is_gso(skb)))
		return enqueue_split(sch, skb, now, to_free);
	joined = enqueue_one(sch, skb, now);
	if (unlikely(wants_probe(s, joined)))
		return enqueue_probed(sch, skb, joined, now, to_free);
	if (unlikely(s->lost.pkts))
		return settle_arrivals(sch, joined, 1, qdisc_pkt_len(skb), qdisc_pkt_len(skb),
		                       to_free);
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
	return NET_XMIT_SUCCESS;
}

/* ---- out ---- */

static struct sk_buff *take(struct Qdisc *sch)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct sk_buff *skb;

	if (unlikely(s->probes))
		hear_answers(sch, now);
	skb = aqm_dequeue(s->queue, now);
	trace_left(sch, skb);
	if (skb) {
		if (host_is_probe(sch, skb))
			sojourn_probe_leaves(s->probes, skb);
		skb_mark_not_on_list(skb);
		sch->q.qlen--;
		qdisc_qstats_backlog_dec(sch, skb);
		qdisc_bstats_update(sch, skb);
	}
	return skb;
}

/*
 * The end of a dequeue or a peek that has dropped something. If nothing is left, the drops
 * cannot be reported to the calling parent yet: QFQ would choose its next class twice, and
 * lose the first. It gives up its turn, and is scheduled again when the counts are right.
 */
static noinline __cold void finish(struct Qdisc *sch, const struct sk_buff *skb)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	kfree_skb_list_reason(take_dropped(s), SKB_DROP_REASON_QDISC_DROP);
	if (skb && parents_keep_up(sch))
		tell_parents(sch);
	else
		tasklet_schedule(&s->teller);
}

static AQM_FLAT struct sk_buff *sojourn_dequeue(struct Qdisc *sch)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sk_buff *skb = take(sch);

	if (unlikely(s->lost.pkts))
		finish(sch, skb);
	return skb;
}

/* The kernel's own peek would report drops to the parent while no count includes the
 * peeked packet; the last drop would then remove a class. */
static struct sk_buff *sojourn_peek(struct Qdisc *sch)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sk_buff *skb = skb_peek(&sch->gso_skb);

	if (skb)
		return skb;
	skb = take(sch);
	if (skb) {
		__skb_queue_head(&sch->gso_skb, skb);
		sch->q.qlen++;
		qdisc_qstats_backlog_inc(sch, skb);
	}
	if (unlikely(s->lost.pkts))
		finish(sch, skb);
	return skb;
}

static void empty_queue(struct Qdisc *sch)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	u64 now = ktime_get_ns();

	trace_look(sch, now);
	trace_reset(sch, now);
	aqm_queue_reset(s->queue, now);
	s->is_due = false;
	if (s->probes)
		sojourn_probes_forget(s->probes);
	trace_look(sch, now);
}

/* Called more than once, and when init has failed: then there is no queue. The caller
 * sets the kernel's own counts to zero. */
static void sojourn_reset(struct Qdisc *sch)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	if (!s->queue)
		return;
	empty_queue(sch);
	/* A full queue is too much to free under the root lock. */
	rtnl_kfree_skbs(s->lost.first, s->lost.last);
	memset(&s->lost, 0, sizeof(s->lost));
}

/* ---- configuration ---- */

static struct sojourn_choice chosen(const struct sojourn_sched *s)
{
	return (struct sojourn_choice){
	        .algo = s->queue->algo,
	        .host = s->conf,
	        .setup = s->queue->setup,
	        .conf = queue_conf(s->queue),
	};
}

/* A queue that is not in use yet. */
struct made {
	struct aqm_queue *queue;
	struct sojourn_probes *probes;
	size_t bytes;
	u64 now;
};

static int make_queue(struct Qdisc *sch, struct made *made, const struct sojourn_choice *choice,
                      struct netlink_ext_ack *extack)
{
	size_t bytes = aqm_queue_mem(choice->algo, &choice->setup);

	made->bytes = bytes + (choice->algo->echo ? sojourn_probes_bytes() : 0);
	if (!bytes || made->bytes > MEM_MAX) {
		SAY(extack, "a queue of %zu MB is wanted, 64 MB is the most: fewer flows",
		    made->bytes >> 20);
		return -E2BIG;
	}
	/* No warning in the log: the caller gets the error. */
	made->queue = kvzalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!made->queue)
		return -ENOMEM;
	made->probes = NULL;
	if (choice->algo->echo) {
		made->probes = sojourn_probes_new(sch);
		if (IS_ERR(made->probes)) {
			kvfree(made->queue);
			return PTR_ERR(made->probes);
		}
	}
	made->now = ktime_get_ns();
	aqm_queue_init(made->queue, choice->algo, &choice->setup, choice->conf,
	               psched_mtu(qdisc_dev(sch)), made->now, get_random_u64());
	made->queue->ctx = sch;
	return 0;
}

static void use_conf(struct Qdisc *sch, const struct sojourn_conf *conf)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	if (conf->respond != s->conf.respond)
		hear_respond(dev_net(qdisc_dev(sch)), conf->respond ? 1 : -1);
	s->conf = *conf;
}

static u8 heard_by(const struct sojourn_choice *choice)
{
	bool echo = choice->host.probe == SOJOURN_ECHO;
	u8 own = echo ? HEAR_ECHO : HEAR_EXPERIMENTAL;

	return (choice->algo->echo ? own : 0) | (choice->host.respond ? HEAR_EXPERIMENTAL : 0);
}

static void use_queue(struct Qdisc *sch, const struct made *made,
                      const struct sojourn_choice *choice)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	s->queue = made->queue;
	s->queue_bytes = made->bytes;
	s->probes = made->probes;
	s->last_ns = made->now;
	use_conf(sch, &choice->host);
	trace_made(sch, choice, made->now);
}

static int sojourn_init(struct Qdisc *sch, struct nlattr *options,
                        struct netlink_ext_ack *extack)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sojourn_choice choice;
	struct made made;
	int err;

	/* The kernel calls destroy even if this fails. */
	tasklet_setup(&s->teller, tell_later);
	err = sojourn_choose(&choice, NULL, 0, options, extack);
	if (err)
		return err;
	err = hear_protocols(dev_net(qdisc_dev(sch)), heard_by(&choice));
	if (err)
		goto end;
	s->hears = heard_by(&choice);
	err = make_queue(sch, &made, &choice, extack);
	if (!err)
		use_queue(sch, &made, &choice);
end:
	kfree(choice.conf);
	return err;
}

static void sojourn_destroy(struct Qdisc *sch)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	tasklet_kill(&s->teller);
	if (s->conf.respond)
		hear_respond(dev_net(qdisc_dev(sch)), -1);
	sojourn_probes_free(s->probes);
	hear_protocols_no_more(dev_net(qdisc_dev(sch)), s->hears);
	kvfree(s->queue);
}

static void change_queue(struct Qdisc *sch, const struct sojourn_choice *choice)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	u64 now = ktime_get_ns();

	use_conf(sch, &choice->host);
	trace_change(sch, choice, now);
	aqm_queue_apply(s->queue, now, &choice->setup, choice->conf);
	trace_look(sch, now);
}

/* The packets of the old queue are dropped, and stay counted. */
static void replace_queue(struct Qdisc *sch, const struct made *made,
                          const struct sojourn_choice *choice)
{
	struct sojourn_private *p = qdisc_priv(sch);

	empty_queue(sch);
	add_counts(&p->past, &p->s.queue->count);
	use_queue(sch, made, choice);
}

/* The rows of `choice`, or where they do not suffice a new queue: the old one goes to `unused`.
 */
static int use_choice(struct Qdisc *sch, const struct sojourn_choice *choice,
                      struct made *unused, struct netlink_ext_ack *extack)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sk_buff *dropped;
	struct made made;
	int err;

	if (choice->anew) {
		err = make_queue(sch, &made, choice, extack);
		if (err)
			return err;
		*unused = (struct made){.queue = s->queue, .probes = s->probes};
	}
	sch_tree_lock(sch);
	if (choice->anew)
		replace_queue(sch, &made, choice);
	else
		change_queue(sch, choice);
	tell_parents(sch);
	dropped = take_dropped(s);
	sch_tree_unlock(sch);
	kfree_skb_list_reason(dropped, SKB_DROP_REASON_QDISC_DROP);
	return 0;
}

static int sojourn_change(struct Qdisc *sch, struct nlattr *options,
                          struct netlink_ext_ack *extack)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sojourn_choice old = chosen(s), choice;
	struct net *net = dev_net(qdisc_dev(sch));
	struct made unused = {};
	u8 hears, more;
	int err = sojourn_choose(&choice, &old, s->queue->room, options, extack);

	if (err)
		return err;
	hears = heard_by(&choice);
	more = hears & ~s->hears;
	err = hear_protocols(net, more);
	if (err)
		goto end;
	err = use_choice(sch, &choice, &unused, extack);
	hear_protocols_no_more(net, err ? more : s->hears & ~hears);
	if (err)
		goto end;
	s->hears = hears;
	sojourn_probes_free(unused.probes);
	kvfree(unused.queue);
end:
	kfree(choice.conf);
	return err;
}

/* ---- dumps ---- */

static int sojourn_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct sojourn_choice choice = chosen(qdisc_priv(sch));
	struct nlattr *options = nla_nest_start(skb, TCA_OPTIONS);

	if (!options)
		return -EMSGSIZE;
	if (sojourn_put_choice(skb, &choice)) {
		nla_nest_cancel(skb, options);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, options);
}

/* Room for the algorithm's nest and so many numbers beside it. */
static size_t algo_stats_bytes(const struct aqm_algo *algo, u32 numbers)
{
	const struct aqm_field *row;

	for (row = algo->stats; row && row->name; row++)
		numbers++;
	return nla_total_size(0) + numbers * nla_total_size_64bit(sizeof(u64));
}

static int put_algo_stats(struct sk_buff *skb, struct aqm_queue *q)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_SOJOURN_STATS_ALGO);
	const struct aqm_field *row;

	trace_look(q->ctx, ktime_get_ns());
	if (!nest)
		return -EMSGSIZE;
	for (row = q->algo->stats; row && row->name; row++) {
		u64 value;

		if (aqm_queue_stat(q, row, &value) && sojourn_put_u64(skb, row->attr, value))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_probes(struct sk_buff *skb, const struct sojourn_sched *s)
{
	struct {
		struct aqm_probes queue;
		struct sojourn_probe_counts wire;
	} counts = {s->queue->probes, {}};

	BUILD_BUG_ON(sizeof(counts) != SOJOURN_PROBES * sizeof(u64));
	if (!s->probes)
		return 0;
	counts.wire = sojourn_probes_counts(s->probes);
	return sojourn_put_numbers(skb, TCA_SOJOURN_STATS_PROBES, (const u64 *)&counts,
	                           SOJOURN_PROBES);
}

static int put_flows(struct sk_buff *skb, const struct aqm_queue *q)
{
	const struct aqm_flows flows = aqm_flows(q);

	BUILD_BUG_ON(sizeof(flows) != SOJOURN_FLOWS * sizeof(u64));
	if (!q->setup.flows)
		return 0;
	return sojourn_put_numbers(skb, TCA_SOJOURN_STATS_FLOWS, (const u64 *)&flows,
	                           SOJOURN_FLOWS);
}

static int put_stats(struct sk_buff *skb, const struct sojourn_private *p)
{
	const struct sojourn_sched *s = &p->s;
	struct aqm_counters count = p->past;

	BUILD_BUG_ON(offsetof(struct aqm_counters, drops) != SOJOURN_COUNTS * sizeof(u64));
	add_counts(&count, &s->queue->count);
	if (sojourn_put_numbers(skb, TCA_SOJOURN_STATS_COUNTS, &count.in_pkts,
	                        SOJOURN_COUNTS) ||
	    sojourn_put_numbers(skb, TCA_SOJOURN_STATS_DROPS, count.drops, AQM_WHY_COUNT) ||
	    sojourn_put_numbers(skb, TCA_SOJOURN_STATS_MARKS, count.marks, AQM_WHY_COUNT) ||
	    sojourn_put_numbers(skb, TCA_SOJOURN_STATS_BAD, count.bad, AQM_BAD_COUNT) ||
	    put_algo_stats(skb, s->queue) ||
	    sojourn_put_u64(skb, TCA_SOJOURN_STATS_MEMORY, s->queue_bytes) ||
	    put_probes(skb, s) || put_flows(skb, s->queue))
		return -EMSGSIZE;
	return 0;
}

/* With the heads of the nests. */
static size_t stats_bytes(const struct aqm_algo *algo)
{
	u32 nests = TCA_SOJOURN_STATS_FLOWS - TCA_SOJOURN_STATS_COUNTS;
	u32 numbers = sizeof(struct aqm_counters) / sizeof(u64) + 1 + SOJOURN_PROBES;

	numbers += SOJOURN_FLOWS;
	return (nests - 1) * nla_total_size(0) + algo_stats_bytes(algo, numbers);
}

static int sojourn_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sk_buff *skb = alloc_skb(stats_bytes(s->queue->algo), GFP_KERNEL);
	int err;

	if (!skb)
		return -ENOMEM;
	sch_tree_lock(sch);
	err = put_stats(skb, qdisc_priv(sch));
	sch_tree_unlock(sch);
	if (!err)
		err = gnet_stats_copy_app(dump, skb->data, skb->len);
	kfree_skb(skb);
	return err;
}

#include "classes.h"

static struct Qdisc_ops sojourn_ops __read_mostly = {
        .id = SOJOURN_KIND,
        .cl_ops = &class_ops,
        .priv_size = sizeof(struct sojourn_private),
        .enqueue = sojourn_enqueue,
        .dequeue = sojourn_dequeue,
        .peek = sojourn_peek,
        .init = sojourn_init,
        .reset = sojourn_reset,
        .destroy = sojourn_destroy,
        .change = sojourn_change,
        .dump = sojourn_dump,
        .dump_stats = sojourn_dump_stats,
        .owner = THIS_MODULE,
};

static char *default_words = "fq codel";
module_param_named(default, default_words, charp, 0444);
MODULE_PARM_DESC(default, "what a queue is that is made without options: codel, fq duk, ...");

static int __init sojourn_module_init(void)
{
	int err = sojourn_set_default(default_words);

	if (err)
		return err;
	err = trace_start();
	if (err)
		return err;
	err = probe_senders_start();
	if (err)
		goto no_senders;
	err = hear_start();
	if (err)
		goto no_hearing;
	err = keep_start();
	if (err)
		goto no_keeping;
	err = register_qdisc(&sojourn_ops);
	if (!err)
		return 0;
	keep_stop();
no_keeping:
	hear_stop();
no_hearing:
	probe_senders_stop();
no_senders:
	trace_stop();
	return err;
}

static void __exit sojourn_module_exit(void)
{
	unregister_qdisc(&sojourn_ops);
	keep_stop();
	hear_stop();
	probe_senders_stop();
	trace_stop();
}

module_init(sojourn_module_init);
module_exit(sojourn_module_exit);
MODULE_DESCRIPTION("Active queue management, one C file per algorithm");
MODULE_AUTHOR("The Sojourn authors");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION("0.1.0");
MODULE_ALIAS_NET_SCH(SOJOURN_KIND);
