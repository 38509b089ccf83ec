// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// witness.c: a qdisc with one child that records what its child is given and gives.
//
// For a kernel in virtual time, where a reading of the clock takes a fixed while: what
// the child reads first in a call is that much later than what stands in the record.
// Each packet gets a number, in its mark. What the child says of itself (its xstats) is
// recorded behind each call. Read it from debugfs, `witness`.

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>

enum { ARRIVED, ASKED, BEGAN };
enum { XSTATS_BYTES = 64 };

struct record {
	u64 ns;
	u32 jiffies;
	u32 packet; /* 0: none */
	u32 len, flow;
	u32 drops; /* of the child, until now */
	u32 held;  /* by the child, packets */
	u8 kind, let_in;
	u8 ecn_before, ecn_after;
	u8 xstats[XSTATS_BYTES];
} __packed;

static unsigned int records = 1u << 18;
module_param(records, uint, 0444);
MODULE_PARM_DESC(records, "how many records are kept at most");

static bool xstats = true;
module_param(xstats, bool, 0444);
MODULE_PARM_DESC(xstats,
                 "ask the child for its own statistics (not where that takes the root's lock)");

static struct debugfs_blob_wrapper kept;
static struct dentry *file;

struct witness {
	struct Qdisc *child;
	u32 packets;
};

static u8 ecn_of(struct sk_buff *skb)
{
	int field = skb_get_dsfield(skb);

	return field < 0 ? 0 : field & INET_ECN_MASK;
}

static void keep_xstats(struct Qdisc *child, struct record *r)
{
	struct gnet_dump d = {.compat_xstats = TCA_XSTATS};

	if (!xstats || !child->ops->dump_stats)
		return;
	child->ops->dump_stats(child, &d);
	if (d.xstats)
		memcpy(r->xstats, d.xstats, min_t(int, d.xstats_len, XSTATS_BYTES));
	kfree(d.xstats);
}

static void keep(struct Qdisc *child, struct record *r)
{
	r->jiffies = (u32)jiffies;
	r->drops = child->qstats.drops;
	r->held = child->q.qlen;
	keep_xstats(child, r);
	if (kept.size + sizeof(*r) > records * sizeof(*r))
		return;
	memcpy((char *)kept.data + kept.size, r, sizeof(*r));
	kept.size += sizeof(*r);
}

static int witness_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct witness *w = qdisc_priv(sch);
	u32 len = qdisc_pkt_len(skb);
	struct record r = {.kind = ARRIVED, .packet = ++w->packets, .len = len};
	int answer;

	skb->mark = r.packet;
	r.flow = skb_get_hash(skb);
	r.ecn_before = ecn_of(skb);
	r.ns = ktime_get_ns();
	answer = qdisc_enqueue(skb, w->child, to_free);
	r.let_in = answer == NET_XMIT_SUCCESS;
	r.ecn_after = ecn_of(skb); /* one that was refused waits in to_free */
	keep(w->child, &r);
	if (r.let_in) {
		sch->qstats.backlog += len;
		sch->q.qlen++;
	} else if (net_xmit_drop_count(answer)) {
		qdisc_qstats_drop(sch);
	}
	return answer;
}

static struct sk_buff *witness_dequeue(struct Qdisc *sch)
{
	struct witness *w = qdisc_priv(sch);
	struct record r = {.kind = ASKED, .ns = ktime_get_ns()};
	struct sk_buff *skb = w->child->ops->dequeue(w->child);

	if (skb) {
		r.packet = skb->mark;
		r.len = qdisc_pkt_len(skb);
		r.ecn_after = ecn_of(skb);
		qdisc_bstats_update(sch, skb);
		qdisc_qstats_backlog_dec(sch, skb);
		sch->q.qlen--;
	}
	keep(w->child, &r);
	return skb;
}

static int witness_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct witness *w = qdisc_priv(sch);

	w->child = &noop_qdisc;
	return 0;
}

static void witness_reset(struct Qdisc *sch)
{
	struct witness *w = qdisc_priv(sch);

	qdisc_reset(w->child);
}

static void witness_destroy(struct Qdisc *sch)
{
	struct witness *w = qdisc_priv(sch);

	qdisc_put(w->child);
}

static int witness_graft(struct Qdisc *sch, unsigned long arg, struct Qdisc *new,
                         struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct witness *w = qdisc_priv(sch);
	struct record r = {.kind = BEGAN};

	*old = qdisc_replace(sch, new ?: &noop_qdisc, &w->child);
	r.ns = ktime_get_ns();
	if (new)
		keep(new, &r);
	return 0;
}

static struct Qdisc *witness_leaf(struct Qdisc *sch, unsigned long arg)
{
	struct witness *w = qdisc_priv(sch);

	return w->child;
}

static unsigned long witness_find(struct Qdisc *sch, u32 classid)
{
	return 1;
}

static void witness_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (!walker->stop)
		tc_qdisc_stats_dump(sch, 1, walker);
}

static int witness_dump_class(struct Qdisc *sch, unsigned long arg, struct sk_buff *skb,
                              struct tcmsg *tcm)
{
	struct witness *w = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(1);
	tcm->tcm_info = w->child->handle;
	return 0;
}

static const struct Qdisc_class_ops class_ops = {
        .graft = witness_graft,
        .leaf = witness_leaf,
        .find = witness_find,
        .walk = witness_walk,
        .dump = witness_dump_class,
};

static struct Qdisc_ops ops __read_mostly = {
        .cl_ops = &class_ops,
        .id = "witness",
        .priv_size = sizeof(struct witness),
        .enqueue = witness_enqueue,
        .dequeue = witness_dequeue,
        .peek = qdisc_peek_dequeued,
        .init = witness_init,
        .reset = witness_reset,
        .destroy = witness_destroy,
        .owner = THIS_MODULE,
};

static int __init witness_load(void)
{
	int err;

	kept.data = vzalloc(records * sizeof(struct record));
	if (!kept.data)
		return -ENOMEM;
	file = debugfs_create_blob("witness", 0400, NULL, &kept);
	err = register_qdisc(&ops);
	if (err) {
		debugfs_remove(file);
		vfree(kept.data);
	}
	return err;
}

static void __exit witness_unload(void)
{
	unregister_qdisc(&ops);
	debugfs_remove(file);
	vfree(kept.data);
}

module_init(witness_load);
module_exit(witness_unload);
MODULE_DESCRIPTION("records what a queueing discipline is given and gives");
MODULE_LICENSE("Dual MIT/GPL");
