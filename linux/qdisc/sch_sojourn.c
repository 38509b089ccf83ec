// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// sch_sojourn.c: one queueing discipline for every algorithm of aqm/.
//
// The queue itself is aqm/queue.h; here are a packet's way in and out, and the books
// that the kernel keeps of them. A parent counts what its child holds. It is told of
// every other change (drops, packets split in more) by qdisc_tree_reduce_backlog(),
// once per call and after our own numbers are right: with them at zero it takes the
// class off its list, and would do so wrongly a packet too early.

#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "host.h"
#include "netlink.h"

/* What queue.h seldom has to do stays out of the way of a packet that just passes; here
 * the compiler hears of it first, and puts the rest of queue.h into enqueue and dequeue. */
struct aqm_inst;
struct aqm_pkt;
struct aqm_verdict;
static noinline __cold void queue_victims(struct aqm_queue *, struct aqm_inst *, u64 now,
                                          const struct aqm_verdict *, u8 why);
static noinline __cold bool queue_overflow(struct aqm_queue *, struct aqm_inst *, u64 now,
                                           aqm_h, struct aqm_pkt *);
static noinline __cold void run_due_ticks(struct aqm_queue *, struct aqm_inst *, u64 now);
static noinline __cold bool fq_make_room(struct aqm_queue *, u64 now, u32 len);
static noinline __flatten aqm_h fq_dequeue(struct aqm_queue *, u64 now);

#include "queue.h"
#include "trace.h"

/* 65536 flows of most algorithms; a local user may ask for this as often as for any
 * other memory that is accounted to him. */
#define MEM_MAX (64u << 20)

/* More than all counters and 32 statistics of an algorithm, with their heads. */
#define STATS_BYTES 2048

/* What a call has dropped. */
struct lost {
	struct sk_buff *list;
	u32 pkts, bytes;
};

/* Most packets just pass: they are counted at once, and only after drops is it looked up
 * how many there were. All of them are in the list of freed packets, before `end`. */
static noinline __cold void count_lost(struct lost *lost, const struct sk_buff *end)
{
	const struct sk_buff *skb;

	for (skb = lost->list; skb != end; skb = skb->next) {
		lost->pkts++;
		lost->bytes += qdisc_pkt_len(skb);
	}
}

/* ---- in ---- */

static bool enqueue_one(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	int ds = skb_get_dsfield(skb);

	sojourn_cb(skb)->ds = ds < 0 ? 0 : ds;
	trace_arrival(sch, skb);
	return trace_joined(sch, aqm_enqueue(s->queue, now, skb));
}

/* Settle the books after `pkts` arrivals of so many bytes for one that a parent knows as
 * `len` bytes. */
static noinline __cold int settle_arrivals(struct Qdisc *sch, bool joined, u32 pkts, u32 bytes,
                                           u32 len, const struct sk_buff *end)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct lost lost = {.list = *s->freed};
	int more_pkts, more_bytes;

	count_lost(&lost, end);
	more_pkts = pkts - lost.pkts;
	more_bytes = bytes - lost.bytes;
	sch->q.qlen += more_pkts;
	sch->qstats.backlog += more_bytes;
	/* Later arrivals may have pushed the earlier out and then been refused. */
	joined = joined && s->queue->pkts;
	/* A parent will add one packet of this length if it hears of success. */
	if (joined) {
		more_pkts -= 1;
		more_bytes -= len;
	}
	if (more_pkts || more_bytes)
		qdisc_tree_reduce_backlog(sch, -more_pkts, -more_bytes);
	/* CN: sent and lost, as on a wire; a local sender does not try again. */
	return joined ? NET_XMIT_SUCCESS : NET_XMIT_CN;
}

/* A large segment as the packets that the wire will see. What cannot be split is
 * queued whole. */
static noinline int enqueue_split(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	netdev_features_t features = netif_skb_features(skb) & ~NETIF_F_GSO_MASK;
	struct sk_buff *segments = skb_gso_segment(skb, features), *segment, *next;
	const struct sk_buff *end = *s->freed;
	u32 pkts = 0, bytes = 0, len = qdisc_pkt_len(skb);
	bool joined = false;

	if (IS_ERR_OR_NULL(segments)) {
		joined = enqueue_one(sch, skb, now);
		return settle_arrivals(sch, joined, 1, len, len, end);
	}
	skb_list_walk_safe(segments, segment, next) {
		skb_mark_not_on_list(segment);
		set_pkt_len(segment, segment->len);
		pkts++;
		bytes += segment->len;
		joined |= enqueue_one(sch, segment, now);
	}
	consume_skb(skb);
	return settle_arrivals(sch, joined, pkts, bytes, len, end);
}

static __flatten int sojourn_enqueue(struct sk_buff *skb, struct Qdisc *sch,
                                     struct sk_buff **to_free)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	const struct sk_buff *end = *to_free;
	u64 now = ktime_get_ns();
	bool joined;

	s->freed = to_free;
	if (s->conf.split_gso && unlikely(skb_is_gso(skb)))
		return enqueue_split(sch, skb, now);
	joined = enqueue_one(sch, skb, now);
	if (unlikely(!joined || *to_free != end))
		return settle_arrivals(sch, joined, 1, qdisc_pkt_len(skb), qdisc_pkt_len(skb),
		                       end);
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
	return NET_XMIT_SUCCESS;
}

/* ---- out ---- */

static noinline __cold void settle_lost(struct Qdisc *sch, struct lost *lost)
{
	count_lost(lost, NULL);
	sch->q.qlen -= lost->pkts;
	sch->qstats.backlog -= lost->bytes;
}

static struct sk_buff *take(struct Qdisc *sch, struct lost *lost)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sk_buff *skb;

	s->freed = &lost->list;
	skb = aqm_dequeue(s->queue, ktime_get_ns());
	trace_left(sch, skb);
	if (skb) {
		skb_mark_not_on_list(skb);
		sch->q.qlen--;
		qdisc_qstats_backlog_dec(sch, skb);
		qdisc_bstats_update(sch, skb);
	}
	if (unlikely(lost->list))
		settle_lost(sch, lost);
	return skb;
}

static noinline __cold void free_lost(struct Qdisc *sch, struct lost *lost)
{
	qdisc_tree_reduce_backlog(sch, lost->pkts, lost->bytes);
	kfree_skb_list_reason(lost->list, SKB_DROP_REASON_QDISC_DROP);
}

/* The end of a dequeue or a peek. A parent that found nothing where it counted packets
 * gives up, and nobody would ask it again for what its other children hold. */
static void finish(struct Qdisc *sch, const struct sk_buff *skb, struct lost *lost)
{
	if (likely(!lost->list))
		return;
	free_lost(sch, lost);
	if (!skb)
		__netif_schedule(qdisc_root(sch));
}

static __flatten struct sk_buff *sojourn_dequeue(struct Qdisc *sch)
{
	struct lost lost = {};
	struct sk_buff *skb = take(sch, &lost);

	finish(sch, skb, &lost);
	return skb;
}

/* The kernel's own peek would tell the parent of drops while the packet that is peeked
 * at is in nobody's count; the last one would cost a class its place. */
static struct sk_buff *sojourn_peek(struct Qdisc *sch)
{
	struct sk_buff *skb = skb_peek(&sch->gso_skb);
	struct lost lost = {};

	if (skb)
		return skb;
	skb = take(sch, &lost);
	if (skb) {
		__skb_queue_head(&sch->gso_skb, skb);
		sch->q.qlen++;
		qdisc_qstats_backlog_inc(sch, skb);
	}
	finish(sch, skb, &lost);
	return skb;
}

/* Called more than once, and when init has failed: then there is no queue. The caller
 * sets the kernel's own counts to zero. */
static void sojourn_reset(struct Qdisc *sch)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sk_buff *list = NULL, *skb, *next;
	u64 now;

	if (!s->queue)
		return;
	s->freed = &list;
	now = ktime_get_ns();
	trace_look(sch, now);
	trace_reset(sch, now);
	aqm_queue_reset(s->queue, now);
	trace_look(sch, now);
	/* A full queue is too much to free under the root lock. */
	skb_list_walk_safe(list, skb, next)
		rtnl_kfree_skbs(skb, skb);
}

/* ---- being configured ---- */

static struct sojourn_choice chosen(const struct sojourn_sched *s)
{
	return (struct sojourn_choice){
	        .algo = s->queue->algo,
	        .host = s->conf,
	        .setup = s->queue->setup,
	        .conf = queue_conf(s->queue),
	};
}

static int make_queue(struct Qdisc *sch, const struct sojourn_choice *choice,
                      struct netlink_ext_ack *extack)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	size_t bytes = aqm_queue_mem(choice->algo, &choice->setup);
	u64 now;

	if (!bytes || bytes > MEM_MAX) {
		SAY(extack, "a queue of %zu MB is wanted, 64 MB is the most: fewer flows",
		    bytes >> 20);
		return -E2BIG;
	}
	/* Without a word in the log: whoever asked for so much is told. */
	s->queue = kvzalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!s->queue)
		return -ENOMEM;
	s->queue_bytes = bytes;
	s->conf = choice->host;
	now = ktime_get_ns();
	aqm_queue_init(s->queue, choice->algo, &choice->setup, choice->conf,
	               psched_mtu(qdisc_dev(sch)), now, get_random_u64());
	s->queue->ctx = sch;
	trace_init(sch, choice, now);
	return 0;
}

static int sojourn_init(struct Qdisc *sch, struct nlattr *options,
                        struct netlink_ext_ack *extack)
{
	struct sojourn_choice choice;
	int err = sojourn_choose(&choice, NULL, 0, options, extack);

	if (err)
		return err;
	err = make_queue(sch, &choice, extack);
	kfree(choice.conf);
	return err;
}

static void sojourn_destroy(struct Qdisc *sch)
{
	struct sojourn_sched *s = qdisc_priv(sch);

	kvfree(s->queue);
}

static int sojourn_change(struct Qdisc *sch, struct nlattr *options,
                          struct netlink_ext_ack *extack)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	struct sojourn_choice old = chosen(s), choice;
	struct lost lost = {};
	u64 now;
	int err = sojourn_choose(&choice, &old, s->queue->room, options, extack);

	if (err)
		return err;
	sch_tree_lock(sch);
	s->freed = &lost.list;
	s->conf = choice.host;
	now = ktime_get_ns();
	trace_change(sch, &choice, now);
	aqm_queue_apply(s->queue, now, &choice.setup, choice.conf);
	trace_look(sch, now);
	settle_lost(sch, &lost);
	if (lost.pkts)
		qdisc_tree_reduce_backlog(sch, lost.pkts, lost.bytes);
	sch_tree_unlock(sch);
	kfree_skb_list_reason(lost.list, SKB_DROP_REASON_QDISC_DROP);
	kfree(choice.conf);
	return 0;
}

/* ---- being looked at ---- */

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

/* A statistic is brought up to now, which runs the ticks that are due. */
static int put_algo_stats(struct sk_buff *skb, struct aqm_queue *q)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_SOJOURN_STATS_ALGO);
	const struct aqm_field *row;
	u64 now = ktime_get_ns();

	trace_look(q->ctx, now);
	if (!nest)
		return -EMSGSIZE;
	for (row = q->algo->stats; row && row->name; row++) {
		u64 value = aqm_queue_stat(q, now, row);

		if (nla_put(skb, row->attr, sizeof(value), &value))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_stats(struct sk_buff *skb, struct sojourn_sched *s)
{
	const struct aqm_counters *count = &s->queue->count;
	u64 bytes = s->queue_bytes;

	BUILD_BUG_ON(offsetof(struct aqm_counters, drops) != SOJOURN_COUNTS * sizeof(u64));
	if (sojourn_put_numbers(skb, TCA_SOJOURN_STATS_COUNTS, &count->in_pkts,
	                        SOJOURN_COUNTS) ||
	    sojourn_put_numbers(skb, TCA_SOJOURN_STATS_DROPS, count->drops, AQM_WHY_COUNT) ||
	    sojourn_put_numbers(skb, TCA_SOJOURN_STATS_MARKS, count->marks, AQM_WHY_COUNT) ||
	    sojourn_put_numbers(skb, TCA_SOJOURN_STATS_BAD, count->bad, AQM_BAD_COUNT) ||
	    put_algo_stats(skb, s->queue) ||
	    nla_put(skb, TCA_SOJOURN_STATS_MEMORY, sizeof(bytes), &bytes))
		return -EMSGSIZE;
	return 0;
}

static int sojourn_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct sk_buff *skb = alloc_skb(STATS_BYTES, GFP_KERNEL);
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

static struct Qdisc_ops sojourn_ops __read_mostly = {
        .id = SOJOURN_KIND,
        .priv_size = sizeof(struct sojourn_sched),
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

static int __init sojourn_module_init(void)
{
	int err = trace_start();

	if (err)
		return err;
	err = register_qdisc(&sojourn_ops);
	if (err)
		trace_stop();
	return err;
}

static void __exit sojourn_module_exit(void)
{
	unregister_qdisc(&sojourn_ops);
	trace_stop();
}

module_init(sojourn_module_init);
module_exit(sojourn_module_exit);
MODULE_DESCRIPTION("Active queue management, one C file per algorithm");
MODULE_AUTHOR("The Sojourn authors");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_ALIAS_NET_SCH(SOJOURN_KIND);
