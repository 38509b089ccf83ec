// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// answer.c: sending probes of others back, see answer.h.
//
// A question comes in a softirq and is answered from a work item, which may look for a
// route. Both the questions that wait and the answers of a second are bounded, so that
// nobody can be made to send more than that. An answer, and what comes back as it went, is
// never answered: two of us cannot play with one packet.

#include <linux/inet.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/netns/generic.h>
#include <net/route.h>

#include "answer.h"
#include "probe.h"

#define WAITING_MAX   64
#define ANSWERS_PER_S 10000

struct question {
	u64 nonce;
	__be32 from, at;
	u8 tos;
};

/* Of one namespace. */
struct answers {
	struct net *net;
	atomic_t responders; /* queues that want probes answered */
	spinlock_t lock;
	struct question waiting[WAITING_MAX];
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

void answer_later(struct net *net, const struct sk_buff *skb, u64 nonce)
{
	const struct iphdr *ip = ip_hdr(skb);
	struct answers *a = answers_of(net);

	/* What came by broadcast asks nobody in particular. */
	if (atomic_read(&a->responders) <= 0 || skb->pkt_type != PACKET_HOST)
		return;
	spin_lock(&a->lock);
	if (may_take(a)) {
		a->waiting[(a->first + a->held) % WAITING_MAX] =
		        (struct question){nonce, ip->saddr, ip->daddr, ip->tos};
		a->held++;
		a->taken++;
		schedule_work(&a->work);
	}
	spin_unlock(&a->lock);
}

static bool next_question(struct answers *a, struct question *q)
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

static void send_answer(struct net *net, const struct question *q)
{
	struct flowi4 flow = {.daddr = q->from, .saddr = q->at, .flowi4_proto = PROBE_PROTOCOL};
	struct rtable *route = ip_route_output_key(net, &flow);
	struct sk_buff *skb;

	if (IS_ERR(route))
		return;
	skb = alloc_skb(LL_MAX_HEADER + PROBE_IP_BYTES, GFP_KERNEL);
	if (!skb) {
		ip_rt_put(route);
		return;
	}
	skb_reserve(skb, LL_MAX_HEADER);
	skb_reset_network_header(skb);
	probe_put_ip(skb, q->at, q->from, q->tos & ~INET_ECN_MASK, q->nonce | PROBE_ANSWER);
	skb->protocol = htons(ETH_P_IP);
	skb_dst_set(skb, &route->dst);
	ip_local_out(net, NULL, skb);
}

static void answer_all(struct work_struct *work)
{
	struct answers *a = container_of(work, struct answers, work);
	struct question q;

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
