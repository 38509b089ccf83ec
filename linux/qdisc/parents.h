/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * parents.h: the counts that the classful qdiscs above a queue keep of it.
 *
 * A parent counts its child's packets. It adds a packet itself when the child has taken
 * one; the child reports every other change (drops, packets from splitting), once per call
 * and after its own numbers are right. A parent whose count falls to zero loses its class in
 * the one above, so the count must not be zero, even briefly, while there is a packet.
 */
#ifndef SOJOURN_PARENTS_H
#define SOJOURN_PARENTS_H

/* The root is in no list. The kernel does not export its own lookups to modules. */
static const struct Qdisc *parent_of(const struct Qdisc *sch)
{
	u32 handle = TC_H_MAJ(sch->parent);
	const struct Qdisc *q, *root;

	if (!handle || sch->parent == TC_H_ROOT || (sch->flags & TCQ_F_NOPARENT))
		return NULL;
	root = rcu_dereference(qdisc_dev(sch)->qdisc);
	if (root->handle == handle)
		return root;
	hash_for_each_possible_rcu(qdisc_dev(sch)->qdisc_hash, q, hash, handle)
		if (q->handle == handle)
			return q;
	return NULL;
}

u32 sojourn_class_at_root(const struct Qdisc *sch)
{
	u32 class = 0;

	rcu_read_lock();
	/* The child of mq has no class. */
	while (sch && sch->parent != TC_H_ROOT && TC_H_MIN(sch->parent) &&
	       !(sch->flags & TCQ_F_NOPARENT)) {
		class = sch->parent;
		sch = parent_of(sch);
	}
	rcu_read_unlock();
	return class;
}

/*
 * Has every parent counted the packets that it has enqueued? One that splits a segment (TBF)
 * counts the pieces after the last of them; where one peeks at an arrival (HFSC, QFQ), those
 * above it have not counted that yet. Losses would bring such a parent's count to zero, or
 * below, while its child holds packets. They are reported later. No parent counts the root.
 */
static bool parents_keep_up(const struct Qdisc *sch)
{
	const struct Qdisc *parent;
	bool all = true;

	rcu_read_lock();
	for (; all && (parent = parent_of(sch)) && parent->parent != TC_H_ROOT; sch = parent)
		all = parent->q.qlen >= sch->q.qlen;
	rcu_read_unlock();
	return all;
}

/* Reports all losses. */
static void tell_parents(struct Qdisc *sch)
{
	struct sojourn_sched *s = qdisc_priv(sch);
	u32 pkts = s->lost.pkts, bytes = s->lost.bytes;

	s->lost.pkts = s->lost.bytes = 0;
	sch->q.qlen -= pkts;
	sch->qstats.backlog -= bytes;
	if (pkts)
		qdisc_tree_reduce_backlog(sch, pkts, bytes);
}

/* As soon as the root's current call has ended. */
static void tell_later(struct tasklet_struct *teller)
{
	struct sojourn_sched *s = from_tasklet(s, teller, teller);
	/* The kernel's own way back has another name since 7.2. */
	struct Qdisc *sch = container_of((void *)s, struct Qdisc, privdata);
	spinlock_t *lock;

	rcu_read_lock();
	lock = qdisc_lock(qdisc_root_sleeping(sch));
	spin_lock(lock);
	tell_parents(sch);
	__netif_schedule(qdisc_root(sch));
	spin_unlock(lock);
	rcu_read_unlock();
}

#endif
