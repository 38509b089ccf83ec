/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * job.h: the qdisc that is measured, packets into it and out of it, and the books kept of
 * them. Part of bounds.c.
 */
#ifndef JOB_H
#define JOB_H

#include <linux/delay.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "packets.h"

struct attempt {
	u64 cycles;
	u32 lost; /* dropped, or missing afterwards */
	u32 held; /* afterwards */
};

struct job {
	struct net_device *dev;
	u32 tries, flows, held, more;
	u32 nth;               /* try */
	u32 in, out;           /* packets, since the books were opened */
	u32 dropped;           /* until then */
	struct sk_buff **also; /* NULL, or packets that stay here when the qdisc frees them */
	u32 alsos;
};

/* Nothing before it is still under way, and nothing behind it has begun. */
static inline u64 cycles(void)
{
	u32 low, high;

	asm volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (u64)high << 32 | low;
}

static struct Qdisc *root(const struct job *job)
{
	return rtnl_dereference(job->dev->qdisc);
}

/* ---- the books ---- */

static void open_books(struct job *job)
{
	job->in = root(job)->q.qlen;
	job->out = 0;
	job->dropped = root(job)->qstats.drops;
}

static int check_books(const struct job *job)
{
	const struct Qdisc *sch = root(job);
	u32 dropped = sch->qstats.drops - job->dropped;

	if (sch->q.qlen == job->in - job->out - dropped)
		return 0;
	pr_err("bounds: %s: %u in, %u out, %u dropped, but %u held\n", sch->ops->id, job->in,
	       job->out, dropped, sch->q.qlen);
	return -EBADMSG;
}

/* ---- packets in and out ---- */

static u64 timed_enqueue(struct job *job, struct sk_buff *skb, u32 packets)
{
	struct Qdisc *sch = root(job);
	struct sk_buff *freed = NULL;
	u64 began, ended;

	spin_lock_bh(qdisc_lock(sch));
	began = cycles();
	sch->enqueue(skb, sch, &freed);
	ended = cycles();
	spin_unlock_bh(qdisc_lock(sch));
	kfree_skb_list(freed);
	job->in += packets;
	return ended - began;
}

static int enqueue_flow(struct job *job, u32 flow, u64 *spent)
{
	struct sk_buff *skb = packet(job->dev, flow, job->flows);

	if (!skb)
		return -ENOMEM;
	if (job->also && job->alsos < job->held)
		job->also[job->alsos++] = skb_get(skb);
	*spent = timed_enqueue(job, skb, 1);
	return 0;
}

static bool timed_dequeue(struct job *job, u64 *spent)
{
	struct Qdisc *sch = root(job);
	struct sk_buff *skb;
	u64 began;

	/* Virtual time goes on where the clock is read, but not under a lock like this one;
	 * tbf needs some for its tokens. */
	ktime_get_ns();
	spin_lock_bh(qdisc_lock(sch));
	began = cycles();
	skb = sch->dequeue(sch);
	*spent = cycles() - began;
	spin_unlock_bh(qdisc_lock(sch));
	if (!skb)
		return false;
	kfree_skb(skb);
	job->out++;
	return true;
}

static bool dequeue(struct job *job)
{
	u64 spent;

	return timed_dequeue(job, &spent);
}

/* Packets of the first `flows`. An algorithm may refuse some before the limit: it gets three
 * times as many at most. */
static int fill(struct job *job, u32 held, u32 flows)
{
	u64 spent;
	u32 i;
	int err = 0;

	for (i = 0; !err && root(job)->q.qlen < held && i < 3 * held; i++)
		err = enqueue_flow(job, i % flows, &spent);
	return err;
}

/* As fill(), but what is freed then costs nothing yet, wherever it is done. */
static int fill_lasting(struct job *job)
{
	int err;

	job->also = kvcalloc(job->held, sizeof(*job->also), GFP_KERNEL);
	job->alsos = 0;
	err = job->also ? fill(job, job->held, job->flows) : -ENOMEM;
	return err ?: check_books(job);
}

static void free_lasting(struct job *job)
{
	while (job->alsos)
		kfree_skb(job->also[--job->alsos]);
	kvfree(job->also);
	job->also = NULL;
}

static void empty(struct job *job)
{
	struct Qdisc *sch = root(job);

	sch_tree_lock(sch);
	qdisc_reset(sch);
	sch_tree_unlock(sch);
	open_books(job);
}

static int run_dry(struct job *job)
{
	const struct Qdisc *sch = root(job);

	while (sch->q.qlen && dequeue(job))
		;
	if (!sch->q.qlen && !sch->qstats.backlog)
		return check_books(job);
	pr_err("bounds: %s: %u packets and %u bytes at the end\n", sch->ops->id, sch->q.qlen,
	       sch->qstats.backlog);
	return -EBADMSG;
}

/* Packets freed under RTNL are gone when it is given back. */
static void rest(struct job *job, u32 seconds)
{
	rtnl_unlock();
	if (seconds)
		msleep(seconds * MSEC_PER_SEC);
	rtnl_lock();
}

#endif
