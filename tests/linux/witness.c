// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// witness.c: a qdisc with one child that records what its child is given and gives.
//
// For a kernel in virtual time, where a reading of the clock takes a fixed while: what
// the child reads first in a call is that much later than what stands in the record.
// Each packet gets a number, in its mark. What the child says of itself (its xstats) is
// recorded behind each call, and what else `shows` asks for: of RED the average, the drawn
// number and more; of SFB a packet's hashes. Read it from debugfs, `witness`.

#include <linux/debugfs.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <net/flow_dissector.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
#include <net/red.h>

enum { ARRIVED, ASKED, BEGAN };
enum { XSTATS_BYTES = 64 };
enum { SHOW_XSTATS = 1, SHOW_RED = 2, SHOW_FLOW_KEYS = 4, SHOW_HASHES = 8 };

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
	struct {
		u64 average; /* in units of 2^-Wlog */
		s64 idle_since_ns;
		s32 count;
		u32 drawn;
		u32 max_p;
	} __packed red;
	u32 victim;    /* a waiting packet that was lost at this arrival */
	u32 keys;      /* a hash of what names the flow on the wire */
	u32 hashes[2]; /* SFB's, for either set of bins */
} __packed;

static unsigned int records = 1u << 17;
module_param(records, uint, 0444);
MODULE_PARM_DESC(records, "how many records are kept at most");

static unsigned int shows = SHOW_XSTATS;
module_param(shows, uint, 0444);
MODULE_PARM_DESC(shows, "sum of: 1 the child's own statistics (not where that takes the root's "
                        "lock), 2 RED's variables, 4 flow keys, 8 SFB's hashes");

static struct debugfs_blob_wrapper kept;
static struct dentry *file;

struct witness {
	struct Qdisc *child;
	const struct red_parms *red; /* the child's, if it has any */
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

	if (!(shows & SHOW_XSTATS) || !child->ops->dump_stats)
		return;
	child->ops->dump_stats(child, &d);
	if (d.xstats)
		memcpy(r->xstats, d.xstats, min_t(int, d.xstats_len, XSTATS_BYTES));
	kfree(d.xstats);
}

static bool is_idle_table(const u8 *cells)
{
	int n;

	for (n = 1; n < RED_STAB_SIZE; n++)
		if (cells[n] < cells[n - 1])
			return false;
	return !cells[0] && cells[RED_STAB_SIZE - 1] == 31;
}

/* Where RED's parameters lie is the child's business; their table of shifts tells the place. */
static const struct red_parms *find_red(struct Qdisc *child)
{
	const u8 *priv = qdisc_priv(child);
	size_t at = offsetof(struct red_parms, Stab);

	for (; at + RED_STAB_SIZE <= child->ops->priv_size; at += __alignof__(struct red_parms))
		if (is_idle_table(priv + at))
			return (const void *)(priv + at - offsetof(struct red_parms, Stab));
	return NULL;
}

/* sch_red.c and sch_choke.c have the variables behind the parameters. */
static void keep_red(const struct red_parms *parms, struct record *r)
{
	const struct red_vars *v = PTR_ALIGN((const void *)(parms + 1), __alignof__(*v));

	r->red.average = v->qavg;
	r->red.idle_since_ns = v->qidlestart;
	r->red.count = v->qcount;
	r->red.drawn = v->qR;
	r->red.max_p = parms->max_P;
}

/* skb_get_hash() names a socket, and anew after a timeout; the keys are always the flow's. */
static u32 flow_keys_hash(struct sk_buff *skb)
{
	struct flow_keys_digest digest;
	struct flow_keys keys;

	skb_flow_dissect_flow_keys(skb, &keys, 0);
	make_flow_keys_digest(&digest, &keys);
	return jhash(&digest, sizeof(digest), 0);
}

static u32 other_in(struct sk_buff *from, const struct sk_buff *to, u32 packet)
{
	for (; from && from != to; from = from->next)
		if (from->mark != packet)
			return from->mark;
	return 0;
}

static void keep(const struct witness *w, struct record *r)
{
	struct Qdisc *child = w->child;

	r->jiffies = (u32)jiffies;
	r->drops = child->qstats.drops;
	r->held = child->q.qlen;
	keep_xstats(child, r);
	if (w->red)
		keep_red(w->red, r);
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
	struct sk_buff *freed = *to_free;
	int answer;

	skb->mark = r.packet;
	r.flow = skb_get_hash(skb);
	if (shows & SHOW_FLOW_KEYS)
		r.keys = flow_keys_hash(skb);
	r.ecn_before = ecn_of(skb);
	r.ns = ktime_get_ns();
	answer = qdisc_enqueue(skb, w->child, to_free);
	r.let_in = answer == NET_XMIT_SUCCESS;
	r.ecn_after = ecn_of(skb); /* one that was refused waits in to_free */
	r.victim = other_in(*to_free, freed, r.packet);
	if (shows & SHOW_HASHES)
		memcpy(r.hashes, qdisc_skb_cb(skb)->data, sizeof(r.hashes));
	keep(w, &r);
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
	keep(w, &r);
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
	w->red = NULL;
	if (new &&shows & SHOW_RED)
		w->red = find_red(new);
	if (new)
		keep(w, &r);
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
