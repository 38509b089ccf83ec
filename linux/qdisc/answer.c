// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// answer.c: answers to other nodes' probes, see answer.h.
//
// A question comes in a softirq and is answered from a work item, which may look for a
// route. Both the questions that wait and the answers of a second are bounded, so that
// no traffic can cause more answers. An answer, or our own probe returned unchanged, is
// never answered: two modules cannot bounce one packet forever.

#include <linux/inet.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/route.h>

#include "answer.h"
#include "probe.h"
#include "probe6.h"

#define WAITING_MAX   64
#define ANSWERS_PER_S 10000
#define HOPS          64

/* Of one namespace. */
struct answers {
	struct net *net;
	atomic_t responders; /* queues with `respond` */
	spinlock_t lock;
	struct probe_question waiting[WAITING_MAX];
	u32 first, held;
	unsigned long second; /* in jiffies, when it began */
	u32 taken;            /* in it */
	struct work_struct work;
};

static unsigned int answers_id;

static struct answers *answers_of(struct net *net)
{
	return net_generic(net, answers_id);
}

void sojourn_respond(struct net *net, int change)
{
	atomic_add(change, &answers_of(net)->responders);
}

static bool may_take(struct answers *a)
{
	if (time_after_eq(jiffies, a->second + HZ)) {
		a->second = jiffies;
		a->taken = 0;
	}
	return a->taken < ANSWERS_PER_S && a->held < WAITING_MAX;
}

void answer_later(struct net *net, const struct sk_buff *skb,
                  const struct probe_question *question)
{
	struct answers *a = answers_of(net);

	/* A broadcast is addressed to no single node. */
	if (atomic_read(&a->responders) <= 0 || skb->pkt_type != PACKET_HOST)
		return;
	spin_lock(&a->lock);
	if (may_take(a)) {
		a->waiting[(a->first + a->held) % WAITING_MAX] = *question;
		a->held++;
		a->taken++;
		schedule_work(&a->work);
	}
	spin_unlock(&a->lock);
}

static bool next_question(struct answers *a, struct probe_question *q)
{
	bool some;

	spin_lock_bh(&a->lock);
	some = a->held != 0;
	if (some) {
		*q = a->waiting[a->first];
		a->first = (a->first + 1) % WAITING_MAX;
		a->held--;
	}
	spin_unlock_bh(&a->lock);
	return some;
}

static void put_ipv4(struct sk_buff *skb, const struct probe_ends *ends, u8 ds)
{
	struct iphdr *ip = skb_put_zero(skb, sizeof(*ip));

	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = ds;
	ip->tot_len = htons(sizeof(*ip) + sizeof(__be64));
	ip->frag_off = htons(IP_DF);
	ip->ttl = HOPS;
	ip->protocol = PROBE_PROTOCOL;
	ip->saddr = ends->from.s6_addr32[3];
	ip->daddr = ends->to.s6_addr32[3];
	ip_send_check(ip);
}

static void put_ipv6(struct sk_buff *skb, const struct probe_ends *ends, u8 ds)
{
	struct ipv6hdr *ip = skb_put(skb, sizeof(*ip));

	ip6_flow_hdr(ip, ds, 0);
	ip->payload_len = htons(sizeof(__be64));
	ip->nexthdr = PROBE_PROTOCOL;
	ip->hop_limit = HOPS;
	ip->saddr = ends->from;
	ip->daddr = ends->to;
}

static bool is_ipv4(const struct probe_ends *ends)
{
	return ipv6_addr_v4mapped(&ends->to);
}

void probe_put_ip(struct sk_buff *skb, const struct probe_ends *ends, u8 ds, u64 nonce)
{
	__be64 payload = cpu_to_be64(nonce);

	if (is_ipv4(ends))
		put_ipv4(skb, ends, ds);
	else
		put_ipv6(skb, ends, ds);
	skb_set_transport_header(skb, skb->len);
	skb_put_data(skb, &payload, sizeof(payload));
}

static void send_ipv4(struct net *net, struct sk_buff *skb, const struct probe_ends *ends)
{
	struct flowi4 flow = {
	        .daddr = ends->to.s6_addr32[3],
	        .saddr = ends->from.s6_addr32[3],
	        .flowi4_proto = PROBE_PROTOCOL,
	};
	struct rtable *route = ip_route_output_key(net, &flow);

	if (IS_ERR(route)) {
		kfree_skb(skb);
		return;
	}
	skb_dst_set(skb, &route->dst);
	ip_local_out(net, NULL, skb);
}

static void send_answer(struct net *net, const struct probe_question *q)
{
	struct probe_ends ends = {.from = q->ends.to, .to = q->ends.from};
	struct sk_buff *skb = alloc_skb(LL_MAX_HEADER + PROBE_BYTES_MAX, GFP_ATOMIC);

	if (!skb)
		return;
	skb_reserve(skb, LL_MAX_HEADER);
	skb_reset_network_header(skb);
	probe_put_ip(skb, &ends, q->ds & ~INET_ECN_MASK, q->nonce | PROBE_ANSWER);
	if (is_ipv4(&ends)) {
		skb->protocol = htons(ETH_P_IP);
		send_ipv4(net, skb, &ends);
	} else {
		skb->protocol = htons(ETH_P_IPV6);
		probe6_send(net, skb, &ends, q->dev);
	}
}

static void answer_all(struct work_struct *work)
{
	struct answers *a = container_of(work, struct answers, work);
	struct probe_question q;

	while (next_question(a, &q)) {
		local_bh_disable();
		send_answer(a->net, &q);
		local_bh_enable();
	}
}

static int __net_init answers_begin(struct net *net)
{
	struct answers *a = answers_of(net);

	a->net = net;
	a->second = jiffies;
	spin_lock_init(&a->lock);
	INIT_WORK(&a->work, answer_all);
	return 0;
}

static void __net_exit answers_end(struct net *net)
{
	cancel_work_sync(&answers_of(net)->work);
}

static struct pernet_operations answers_ops = {
        .init = answers_begin,
        .exit = answers_end,
        .id = &answers_id,
        .size = sizeof(struct answers),
};

int answers_start(void)
{
	return register_pernet_subsys(&answers_ops);
}

void answers_stop(void)
{
	unregister_pernet_subsys(&answers_ops);
}
