/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * classes.h: each flow that waits for its turn is a class, with statistics alone.
 *
 * The minor number of a class is the index of its flow and one more. It has 16 bits, so the
 * last of 65,536 flows is no class. Users can neither make a class nor attach anything to it.
 */
#ifndef SOJOURN_CLASSES_H
#define SOJOURN_CLASSES_H

#include <net/gen_stats.h>

#define CLASS_MAX 0xffffu

/* Packets wait while flows are searched: so many are, then the lock is released. */
#define SEARCHED_FLOWS 64

/* The first flow from `i` on that is a class, or the number of those that may be. */
static u32 next_class_flow(struct Qdisc *sch, u32 i)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	u32 flows = min(s->queue->setup.flows, CLASS_MAX), end;

	while (i < flows) {
		end = min(i + SEARCHED_FLOWS, flows);
		sch_tree_lock(sch);
		while (i < end && !aqm_flow_listed(s->queue, i))
			i++;
		sch_tree_unlock(sch);
		if (i < end)
			return i;
	}
	return flows;
}

/* The walker's count is a flow here, with which a later part of a dump goes on. */
static void class_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	const struct sojourn_sched *s = qdisc_priv(sch);
	u32 i = next_class_flow(sch, walker->skip);

	while (i < s->queue->setup.flows && i < CLASS_MAX) {
		if (walker->fn(sch, i + 1, walker) < 0) {
			walker->stop = 1;
			break;
		}
		i = next_class_flow(sch, i + 1);
	}
	walker->count = i;
}

static unsigned long class_find(struct Qdisc *sch, u32 id)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	u32 class = TC_H_MIN(id);
	bool listed;

	if (!class || class > s->queue->setup.flows)
		return 0;
	sch_tree_lock(sch);
	listed = aqm_flow_listed(s->queue, class - 1);
	sch_tree_unlock(sch);
	return listed ? class : 0;
}

static struct Qdisc *class_leaf(struct Qdisc *sch, unsigned long class)
{
	return NULL;
}

static int class_graft(struct Qdisc *sch, unsigned long class, struct Qdisc *child,
                       struct Qdisc **old, struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "a class is a flow of the queue; no qdisc can be below it");
	return -EOPNOTSUPP;
}

static int class_change(struct Qdisc *sch, u32 id, u32 parent, struct nlattr **tb,
                        unsigned long *class, struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "a class is a flow of the queue; the row flows says how many");
	return -EOPNOTSUPP;
}

static int class_delete(struct Qdisc *sch, unsigned long class, struct netlink_ext_ack *extack)
{
	return class_change(sch, 0, 0, NULL, NULL, extack);
}

/* The algorithm, whose rows the statistics are. */
static int class_dump(struct Qdisc *sch, unsigned long class, struct sk_buff *skb,
                      struct tcmsg *head)
{
	const struct sojourn_sched *s = qdisc_priv(sch);
	struct nlattr *options = nla_nest_start(skb, TCA_OPTIONS);

	head->tcm_handle |= TC_H_MIN(class);
	if (!options)
		return -EMSGSIZE;
	if (nla_put_string(skb, TCA_SOJOURN_ALGO, s->queue->algo->name)) {
		nla_nest_cancel(skb, options);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, options);
}

static int put_flow_stats(struct sk_buff *skb, struct aqm_queue *q, u32 i)
{
	const struct aqm_field *row;
	struct nlattr *nest;
	u64 value;

	if (sojourn_put_u64(skb, TCA_SOJOURN_STATS_DEFICIT, aqm_flow(q, i).credit_bytes))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, TCA_SOJOURN_STATS_ALGO);
	if (!nest)
		return -EMSGSIZE;
	for (row = q->algo->stats; row && row->name; row++)
		if (aqm_flow_stat(q, i, row, &value) && sojourn_put_u64(skb, row->attr, value))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int class_dump_stats(struct Qdisc *sch, unsigned long class, struct gnet_dump *dump)
{
	struct aqm_queue *q = ((struct sojourn_sched *)qdisc_priv(sch))->queue;
	struct sk_buff *skb = alloc_skb(algo_stats_bytes(q->algo, 1), GFP_KERNEL);
	struct gnet_stats_queue held = {};
	struct aqm_flow flow;
	int err;

	if (!skb)
		return -ENOMEM;
	sch_tree_lock(sch);
	flow = aqm_flow(q, class - 1);
	err = put_flow_stats(skb, q, class - 1);
	sch_tree_unlock(sch);
	held.qlen = flow.pkts;
	held.backlog = flow.bytes;
	held.drops = flow.drops;
	if (!err)
		err = gnet_stats_copy_queue(dump, NULL, &held, held.qlen);
	if (!err)
		err = gnet_stats_copy_app(dump, skb->data, skb->len);
	kfree_skb(skb);
	return err;
}

static const struct Qdisc_class_ops class_ops = {
        .find = class_find,
        .walk = class_walk,
        .leaf = class_leaf,
        .graft = class_graft,
        .change = class_change,
        .delete = class_delete,
        .dump = class_dump,
        .dump_stats = class_dump_stats,
};

#endif
