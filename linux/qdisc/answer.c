// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// answer.c: answers to other nodes' experimental probes, see answer.h.
//
// As with the kernel's answers to echo requests the answer leaves at once, by the routes and
// policies of the question's VRF. Only a node on the link can ask: no router has seen the
// question (RFC 5082). An answer is never answered.

#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/l3mdev.h>
#include <net/route.h>

#include "answer.h"
#include "compat.h"
#include "probe6.h"
#include "probe_wire.h"

#define ANSWERS_PER_S 10000
/* Sources that share one have its answers between them; which do is a secret. */
#define SHARES 1024

struct answer_share {
	u32 second;
	atomic_t taken;
};

struct answer_budget {
	siphash_key_t secret;
	struct answer_share shares[SHARES];
};

struct answer_budget *answer_budget_new(void)
{
	struct answer_budget *budget = kvzalloc(sizeof(*budget), GFP_KERNEL_ACCOUNT);

	if (budget)
		get_random_bytes(&budget->secret, sizeof(budget->secret));
	return budget;
}

void answer_budget_free(struct answer_budget *budget)
{
	kvfree(budget);
}

static bool may_answer(struct answer_budget *budget, const struct in6_addr *from)
{
	u32 second = ktime_get_seconds();
	u32 which = siphash(from, sizeof(*from), &budget->secret) % SHARES;
	struct answer_share *share = &budget->shares[which];

	if (READ_ONCE(share->second) != second) {
		WRITE_ONCE(share->second, second);
		atomic_set(&share->taken, 0);
	}
	return atomic_add_unless(&share->taken, 1, ANSWERS_PER_S);
}

/* The VRF's device chooses the route, or for an address that every link has, the link's. */
static int route_by(struct net *net, const struct answer_ends *ends)
{
	struct net_device *dev = dev_get_by_index_rcu(net, ends->dev[1] ?: ends->dev[0]);

	if (!dev)
		return -1;
	if (ipv6_addr_type(&ends->from) & IPV6_ADDR_LINKLOCAL)
		return dev->ifindex;
	return l3mdev_master_ifindex_rcu(dev);
}

static struct dst_entry *route4(struct net *net, struct sk_buff *skb,
                                const struct in6_addr *from, const struct in6_addr *to, int dev)
{
	struct flowi4 flow = {
	        .daddr = to->s6_addr32[3],
	        .saddr = from->s6_addr32[3],
	        .flowi4_oif = dev,
	        .flowi4_mark = IP4_REPLY_MARK(net, skb->mark),
	        .flowi4_proto = PROBE_PROTOCOL,
	        .flowi4_uid = sock_net_uid(net, NULL),
	};
	struct rtable *route;

	security_skb_classify_flow(skb, flowi4_to_flowi_common(&flow));
	route = ip_route_output_flow(net, &flow, NULL);
	if (IS_ERR(route))
		return NULL;
	/* Neither a broadcast nor this machine. */
	if (route->rt_type == RTN_UNICAST)
		return &route->dst;
	ip_rt_put(route);
	return NULL;
}

void answer_question(struct net *net, struct answer_budget *budget, struct sk_buff *skb,
                     const struct answer_ends *ends, u64 nonce)
{
	const struct probe_head head = {
	        .from = ends->to,
	        .to = ends->from,
	        .ds = ends->ds & ~INET_ECN_MASK,
	        .hops = PROBE_HOPS,
	        .protocol = PROBE_PROTOCOL,
	};
	bool ipv4 = !ipv6_mod_enabled() || ipv6_addr_v4mapped(&head.to);
	int dev = route_by(net, ends);
	struct dst_entry *dst;
	struct sk_buff *answer;

	if (dev < 0 || ends->hops != PROBE_HOPS || !budget || !may_answer(budget, &ends->from))
		return;
	dst = ipv4 ? route4(net, skb, &head.from, &head.to, dev)
	           : probe6_answer_route(net, skb, &head.from, &head.to, dev);
	if (!dst)
		return;
	answer = alloc_skb(LL_RESERVED_SPACE(dst->dev) + dst->header_len + PROBE_MAX +
	                           dst->trailer_len + dst->dev->needed_tailroom,
	                   GFP_ATOMIC);
	if (!answer) {
		dst_release(dst);
		return;
	}
	skb_reserve(answer, LL_RESERVED_SPACE(dst->dev) + dst->header_len);
	probe_put(answer, &head, nonce | PROBE_ANSWER);
	answer->mark = ipv4 ? IP4_REPLY_MARK(net, skb->mark) : probe6_reply_mark(net, skb);
	skb_dst_set(answer, dst);
	if (ipv4)
		ip_local_out(net, NULL, answer);
	else
		probe6_output(net, NULL, answer);
}
