// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// datapath.c: what a packet costs from a qdisc's enqueue to its dequeue, in ns.
//
//   insmod datapath.ko dev=a,b,... [backlog=1000] [packets=10000] [rounds=1000]
//
// Each device's root qdisc in turn is filled with the same packets; then the head is
// taken and put in again at the tail, so often, and nothing is allocated or sent. Two
// loops more have no qdisc: `list` does as much with a bare list of packets, `clock`
// also reads the clock as often as a qdisc with time stamps has to. A round is one turn
// of each loop. At the end a line for each in the kernel's log, of nanoseconds a turn:
// "datapath: NAME LEAST MEDIAN".
//
// The devices should be dummies that are down. Nobody else can configure the network
// while this runs.

#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/rtnetlink.h>
#include <linux/sort.h>
#include <linux/udp.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define DEVICES      16
#define PACKET_BYTES 1514

static char *dev[DEVICES];
static unsigned int devs;
module_param_array(dev, charp, &devs, 0444);
static unsigned int backlog = 1000;
module_param(backlog, uint, 0444);
static unsigned int packets = 10000;
module_param(packets, uint, 0444);
static unsigned int rounds = 1000;
module_param(rounds, uint, 0444);

static struct sk_buff *packet(u32 nth)
{
	struct sk_buff *skb = alloc_skb(PACKET_BYTES, GFP_KERNEL);
	struct iphdr *ip;

	if (!skb)
		return NULL;
	skb_put_zero(skb, PACKET_BYTES);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb_set_transport_header(skb, ETH_HLEN + sizeof(*ip));
	eth_hdr(skb)->h_proto = skb->protocol = htons(ETH_P_IP);
	ip = ip_hdr(skb);
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->protocol = IPPROTO_UDP;
	ip->tot_len = htons(PACKET_BYTES - ETH_HLEN);
	udp_hdr(skb)->len = htons(PACKET_BYTES - ETH_HLEN - sizeof(*ip));
	skb_set_hash(skb, nth * 2654435761u, PKT_HASH_TYPE_L4);
	qdisc_skb_cb(skb)->pkt_len = PACKET_BYTES;
	return skb;
}

static u64 spin_list(struct sk_buff_head *list)
{
	u64 start = ktime_get_ns();
	u32 i;

	for (i = 0; i < packets; i++)
		__skb_queue_tail(list, __skb_dequeue(list));
	return ktime_get_ns() - start;
}

static u64 spin_clock(struct sk_buff_head *list)
{
	u64 start = ktime_get_ns();
	u32 i;

	for (i = 0; i < packets; i++) {
		ktime_get_ns();
		__skb_queue_tail(list, __skb_dequeue(list));
		ktime_get_ns();
	}
	return ktime_get_ns() - start;
}

/* The packets go in, round and out again. One that was dropped is missing at the end. */
static u64 spin_qdisc(struct sk_buff_head *list, struct Qdisc *sch)
{
	struct sk_buff *freed = NULL, *skb;
	u64 start, spent;
	u32 i;

	while ((skb = __skb_dequeue(list)))
		sch->enqueue(skb, sch, &freed);
	start = ktime_get_ns();
	for (i = 0; i < packets; i++) {
		skb = sch->dequeue(sch);
		if (unlikely(!skb))
			break;
		sch->enqueue(skb, sch, &freed);
	}
	spent = ktime_get_ns() - start;
	while ((skb = sch->dequeue(sch)))
		__skb_queue_tail(list, skb);
	kfree_skb_list(freed);
	return spent;
}

static int turn(struct sk_buff_head *list, const char *name, u64 *spent)
{
	struct net_device *device = dev_get_by_name(&init_net, name);
	struct Qdisc *sch;

	if (!device)
		return -ENODEV;
	sch = rtnl_dereference(device->qdisc);
	spin_lock_bh(qdisc_lock(sch));
	*spent = spin_qdisc(list, sch);
	spin_unlock_bh(qdisc_lock(sch));
	dev_put(device);
	return skb_queue_len(list) == backlog ? 0 : -ENOBUFS;
}

/* Each loop has its row of `spent`: list, clock, then the devices. */
static int all_turns(struct sk_buff_head *list, u64 *spent)
{
	u32 round, i;
	int err = 0;

	for (round = 0; !err && round < rounds; round++) {
		local_bh_disable();
		spent[round] = spin_list(list);
		spent[rounds + round] = spin_clock(list);
		local_bh_enable();
		for (i = 0; !err && i < devs; i++)
			err = turn(list, dev[i], &spent[(2 + i) * rounds + round]);
		cond_resched();
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void tell(const char *name, u64 *spent)
{
	sort(spent, rounds, sizeof(*spent), compare, NULL);
	pr_info("datapath: %s %llu %llu\n", name, spent[0], spent[rounds / 2]);
}

static int measure(struct sk_buff_head *list)
{
	u64 *spent = kvmalloc_array((2 + devs) * rounds, sizeof(*spent), GFP_KERNEL);
	int err;
	u32 i;

	if (!spent)
		return -ENOMEM;
	rtnl_lock();
	err = all_turns(list, spent);
	rtnl_unlock();
	if (!err) {
		tell("list", spent);
		tell("clock", spent + rounds);
		for (i = 0; i < devs; i++)
			tell(dev[i], spent + (2 + i) * rounds);
	}
	kvfree(spent);
	return err;
}

static int __init datapath_init(void)
{
	struct sk_buff_head list;
	int err = rounds ? 0 : -EINVAL;
	u32 i;

	__skb_queue_head_init(&list);
	for (i = 0; !err && i < backlog; i++) {
		struct sk_buff *skb = packet(i);

		if (skb)
			__skb_queue_tail(&list, skb);
		else
			err = -ENOMEM;
	}
	if (!err)
		err = measure(&list);
	__skb_queue_purge(&list);
	return err;
}

static void __exit datapath_exit(void)
{
}

module_init(datapath_init);
module_exit(datapath_exit);
MODULE_DESCRIPTION("Time from enqueue to dequeue of qdiscs");
MODULE_AUTHOR("The Sojourn authors");
MODULE_LICENSE("Dual MIT/GPL");
