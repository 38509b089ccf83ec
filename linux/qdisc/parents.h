/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * parents.h: what the classful qdiscs above a queue count of it.
 *
 * A parent counts what its child holds. It adds a packet itself when the child has taken
 * one; every other change (drops, packets split in more) the child tells, once per call and
 * after its own numbers are right. A parent that comes to none loses its class in the one
 * above, so it must not come there while there is a packet, not for a moment.
 */
#ifndef SOJOURN_PARENTS_H
#define SOJOURN_PARENTS_H

/* The root is in no list. Lookups of the kernel's own are not for modules. */
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

/*
 * Has every parent counted what it has handed down? One that splits a segment (TBF) counts
 * the pieces behind the last of them; where one peeks at an arrival (HFSC, QFQ), those above
 * it have not counted that yet. Losses would take such a parent to none, or below, while
 * its child holds packets. It hears of them later. Nobody takes anything off the root.
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

/* They hear of all losses. */
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

/* As soon as the call of the root that is under way has ended. */
static void tell_later(struct tasklet_struct *teller)
{
	struct sojourn_sched *s = from_tasklet(s, teller, teller);
	struct Qdisc *sch = qdisc_from_priv(s);
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
