// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// bounds.c: cycles of the host's processor that one operation of a qdisc takes.
//
// A command is one line, written to `run` in debugfs's folder `bounds`; DEV's root qdisc is
// the one that is measured.
//
//   arrival DEV TRIES FLOWS HELD COMING       a packet that needs no room, then one that does,
//                                             of the first COMING flows
//   packet DEV TRIES FLOWS HELD TURNS         a dequeue and an enqueue, TURNS times
//   dequeue DEV TRIES FLOWS                   where most flows in line were emptied
//   send DEV TRIES FLOWS HELD SEGMENTS        one large packet into a queue of HELD, or none
//   statistics DEV TRIES FLOWS HELD EVERY     an hour after the link stopped; every EVERY
//                                             tries the queue is emptied and filled
//   options DEV                               the next two `tc qdisc change` are kept
//   change DEV TRIES FLOWS HELD SECONDS       the first of them, HELD packets, SECONDS, and
//                                             then the second, which is timed
//   reset DEV TRIES FLOWS HELD                of HELD packets
//
// HELD packets are of FLOWS flows, in turn; `arrival` finds a HELD of 0 by itself. Then
// `tries` holds a struct attempt for each. What happens under the root lock is timed; packets
// are made and freed outside. After each try the qdisc must hold what it was given less what it
// gave back and says that it dropped, and in the end run dry; else the command fails.
//
// The devices should be dummies that are down.

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/gen_stats.h>

#include "job.h"

static struct debugfs_blob_wrapper tries;
static struct dentry *folder;
static struct page *body;

/* What `options` keeps, and what the device's qdisc was before. */
static struct nlattr *kept[2];
static struct Qdisc_ops keeping;
static const struct Qdisc_ops *kept_ops;

/* ---- the operations ---- */

static int timed_arrival(struct job *job, struct attempt *it)
{
	u32 drops = root(job)->qstats.drops;
	int err = enqueue_flow(job, roll(job->more), &it->cycles);

	it->lost = root(job)->qstats.drops - drops;
	it->held = root(job)->q.qlen;
	return err;
}

/* A queue whose limit is of memory holds so many of our packets. */
static int find_limit(struct job *job)
{
	struct attempt one = {};
	u32 held;
	int err;

	do {
		held = root(job)->q.qlen;
		err = timed_arrival(job, &one);
	} while (!err && !one.lost);
	job->held = held;
	return err;
}

/* So many packets leave and come before the two that are timed: what a queue puts off until
 * it has to search is due then. */
#define MOVED_PKTS 16

static int move(struct job *job)
{
	u64 spent;
	int err = 0;

	/* cake may drop more at a dequeue, once it has dropped at its limit. */
	while (root(job)->q.qlen > job->held - MOVED_PKTS && dequeue(job))
		;
	while (!err && root(job)->q.qlen < job->held - 1)
		err = enqueue_flow(job, roll(job->more), &spent);
	return err;
}

static int try_arrival(struct job *job, struct attempt *it)
{
	int err = fill(job, job->flows, job->flows);

	if (!err && !job->held)
		err = find_limit(job);
	if (!err)
		err = fill(job, job->held - 1, job->more);
	if (!err)
		err = move(job);
	if (!err)
		err = timed_arrival(job, &it[0]);
	if (!err)
		err = timed_arrival(job, &it[1]);
	if (err || (!it[0].lost && it[1].lost))
		return err;
	pr_err("bounds: of two arrivals below and at %u packets the first lost %u, the second "
	       "%u\n",
	       job->held, it[0].lost, it[1].lost);
	return -ERANGE;
}

static int try_packet(struct job *job, struct attempt *it)
{
	struct Qdisc *sch = root(job);
	struct sk_buff *freed = NULL, *skb;
	int err = fill(job, job->held, job->flows);
	u64 began;
	u32 i;

	spin_lock_bh(qdisc_lock(sch));
	began = cycles();
	for (i = 0; i < job->more; i++) {
		skb = sch->dequeue(sch);
		if (unlikely(!skb))
			break;
		sch->enqueue(skb, sch, &freed);
	}
	it->cycles = cycles() - began;
	spin_unlock_bh(qdisc_lock(sch));
	kfree_skb_list(freed);
	it->held = sch->q.qlen;
	if (err || it->held == job->held)
		return err;
	pr_err("bounds: of %u packets that went round %u are there\n", job->held, it->held);
	return -ERANGE;
}

/* A packet in each flow, of which the queue holds few: the others were emptied by evictions,
 * and wait in line all the same. */
static int try_dequeue(struct job *job, struct attempt *it)
{
	u64 spent;
	u32 flow;
	int err = 0;

	empty(job);
	for (flow = 0; !err && flow < job->flows; flow++)
		err = enqueue_flow(job, flow, &spent);
	if (!err && !timed_dequeue(job, &it->cycles))
		err = -ENODATA;
	it->held = root(job)->q.qlen;
	return err;
}

static int try_send(struct job *job, struct attempt *it)
{
	struct sk_buff *skb;
	u32 drops;
	int err = 0;

	if (job->held)
		err = fill(job, job->held, job->flows);
	else
		empty(job);
	skb = err ? NULL : large_packet(job->dev, body, job->more);
	if (!skb)
		return -ENOMEM;
	drops = root(job)->qstats.drops;
	it->cycles = timed_enqueue(job, skb, job->more);
	it->lost = root(job)->qstats.drops - drops;
	it->held = root(job)->q.qlen;
	return 0;
}

#define HOUR_S 3600

static int try_statistics(struct job *job, struct attempt *it)
{
	struct Qdisc *sch = root(job);
	struct sk_buff *skb = alloc_skb(PAGE_SIZE, GFP_KERNEL);
	struct gnet_dump dump;
	int err = skb ? 0 : -ENOMEM;
	u64 began;

	if (!err && !(job->nth % job->more)) {
		empty(job);
		err = fill(job, job->held, job->flows);
	}
	rest(job, HOUR_S);
	if (!err)
		err = gnet_stats_start_copy_compat(skb, TCA_STATS2, TCA_STATS, TCA_XSTATS, NULL,
		                                   &dump, TCA_PAD);
	if (!err) {
		began = cycles();
		err = sch->ops->dump_stats(sch, &dump);
		it->cycles = cycles() - began;
		it->held = sch->q.qlen;
	}
	kfree_skb(skb);
	return err;
}

static int keep(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	u32 nth = kept[0] ? 1 : 0;

	kept[nth] = kmemdup(options, nla_total_size(nla_len(options)), GFP_KERNEL);
	if (nth || !kept[nth])
		sch->ops = kept_ops;
	return kept[nth] ? 0 : -ENOMEM;
}

/* Only tc knows how a change is written: it writes one, and nothing changes. */
static int keep_options(struct job *job)
{
	struct Qdisc *sch = root(job);

	kfree(kept[0]);
	kfree(kept[1]);
	kept[0] = kept[1] = NULL;
	kept_ops = sch->ops;
	keeping = *sch->ops;
	keeping.change = keep;
	sch->ops = &keeping;
	return 0;
}

static int try_change(struct job *job, struct attempt *it)
{
	struct Qdisc *sch = root(job);
	struct netlink_ext_ack extack = {};
	u32 held;
	u64 began;
	int err;

	if (!kept[1])
		return -ENODATA;
	err = sch->ops->change(sch, kept[0], &extack);
	if (err)
		return err;
	empty(job);
	err = fill_lasting(job);
	rest(job, job->more);
	held = sch->q.qlen;
	began = cycles();
	err = err ?: sch->ops->change(sch, kept[1], &extack);
	it->cycles = cycles() - began;
	it->held = sch->q.qlen;
	it->lost = held - it->held;
	free_lasting(job);
	/* fq_codel does not count them as dropped. */
	open_books(job);
	return err;
}

static int try_reset(struct job *job, struct attempt *it)
{
	struct Qdisc *sch = root(job);
	int err = fill(job, job->held, job->flows);
	u64 began;

	if (!err)
		err = check_books(job);
	it->lost = sch->q.qlen;
	sch_tree_lock(sch);
	began = cycles();
	qdisc_reset(sch);
	it->cycles = cycles() - began;
	sch_tree_unlock(sch);
	it->held = sch->q.qlen;
	open_books(job);
	return err;
}

/* ---- commands ---- */

static const struct command {
	const char *verb;
	int (*try)(struct job *, struct attempt *);
	u32 attempts, first;
} commands[] = {
        {"arrival", try_arrival, 2, 100},     {"packet", try_packet, 1, 100},
        {"dequeue", try_dequeue, 1, 1},       {"send", try_send, 1, 1},
        {"statistics", try_statistics, 1, 1}, {"change", try_change, 1, 1},
        {"reset", try_reset, 1, 1},           {},
};

static int run_try(struct job *job, const struct command *command, struct attempt *it)
{
	int err = command->try(job, it);

	if (!err)
		err = check_books(job);
	rest(job, 0);
	return err;
}

static int run_tries(struct job *job, const struct command *command)
{
	size_t bytes = command->attempts * sizeof(struct attempt);
	struct attempt *all = kvcalloc(job->tries, bytes, GFP_KERNEL);
	int err = all ? 0 : -ENOMEM;
	u32 i;

	kvfree(tries.data);
	tries.data = all;
	tries.size = job->tries * bytes;
	dice = 1;
	open_books(job);
	/* Code that never ran is in no cache: what comes first is not told. */
	for (i = 0; !err && i < command->first; i++)
		err = run_try(job, command, all);
	for (; !err && job->nth < job->tries; job->nth++)
		err = run_try(job, command, all + job->nth * command->attempts);
	return err ?: run_dry(job);
}

static int run_command(struct job *job, const char *verb)
{
	const struct command *command;

	if (!strcmp(verb, "options"))
		return keep_options(job);
	for (command = commands; command->verb; command++)
		if (!strcmp(verb, command->verb))
			return run_tries(job, command);
	return -EINVAL;
}

static int run(const char *line)
{
	struct job job = {.flows = 1, .more = 1};
	char verb[16], name[IFNAMSIZ];
	int words = sscanf(line, "%15s %15s %u %u %u %u", verb, name, &job.tries, &job.flows,
	                   &job.held, &job.more);
	int err;

	if (words < 2 || !job.flows || !job.more)
		return -EINVAL;
	job.dev = dev_get_by_name(&init_net, name);
	if (!job.dev)
		return -ENODEV;
	rtnl_lock();
	err = run_command(&job, verb);
	rtnl_unlock();
	dev_put(job.dev);
	if (err)
		pr_err("bounds: %s: %d\n", line, err);
	return err;
}

static ssize_t run_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	char line[128] = "";
	int err;

	if (bytes >= sizeof(line) || copy_from_user(line, from, bytes))
		return -EINVAL;
	err = run(strim(line));
	return err ?: (ssize_t)bytes;
}

static const struct file_operations run_ops = {
        .owner = THIS_MODULE,
        .write = run_write,
};

static int __init bounds_init(void)
{
	body = alloc_pages(GFP_KERNEL | __GFP_COMP | __GFP_ZERO, BODY_ORDER);
	if (!body)
		return -ENOMEM;
	folder = debugfs_create_dir("bounds", NULL);
	debugfs_create_file("run", 0200, folder, NULL, &run_ops);
	debugfs_create_blob("tries", 0400, folder, &tries);
	return 0;
}

static void __exit bounds_exit(void)
{
	debugfs_remove(folder);
	kvfree(tries.data);
	kfree(kept[0]);
	kfree(kept[1]);
	__free_pages(body, BODY_ORDER);
}

module_init(bounds_init);
module_exit(bounds_exit);
MODULE_DESCRIPTION("Cycles of one operation of a qdisc");
MODULE_AUTHOR("The Sojourn authors");
MODULE_LICENSE("Dual MIT/GPL");
