// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// probe6.c: IPv6 under probes and answers, see probe6.h.

#include <linux/icmpv6.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/rawv6.h>

#include "probe6.h"
#include "probe_wire.h"

/* A route that leads to this machine itself, or to nobody in particular, is none. */
static struct dst_entry *usable(struct dst_entry *dst, const struct flowi6 *flow)
{
	const struct rt6_info *route;

	if (IS_ERR(dst))
		return NULL;
	route = container_of(dst, struct rt6_info, dst);
	if (!ipv6_addr_any(&flow->saddr) && !ipv6_addr_is_multicast(&flow->saddr) &&
	    !(route->rt6i_flags & (RTF_LOCAL | RTF_REJECT)) &&
	    ipv6_addr_type(&flow->daddr) & IPV6_ADDR_UNICAST)
		return dst;
	dst_release(dst);
	return NULL;
}

struct dst_entry *probe6_search(struct net *net, struct sock *sk, struct probe_route *found)
{
	const struct probe_key *key = &found->key;
	struct flowi6 flow = {
	        .daddr = key->to,
	        .flowi6_oif = key->dev,
	        .flowi6_mark = key->mark,
	        .flowi6_proto = key->protocol,
	        .flowlabel = ip6_make_flowinfo(key->ds, 0),
	        .flowi6_uid = sock_net_uid(net, NULL),
	};
	struct dst_entry *dst;

	if (key->protocol != PROBE_PROTOCOL)
		flow.fl6_icmp_type = ICMPV6_ECHO_REQUEST;
	security_sk_classify_flow(sk, flowi6_to_flowi_common(&flow));
	dst = usable(ip6_dst_lookup_flow(net, sk, &flow, NULL), &flow);
	if (dst) {
		found->from = flow.saddr;
		found->cookie = rt6_get_cookie(container_of(dst, struct rt6_info, dst));
	}
	return dst;
}

void probe6_output(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	ip6_local_out(net, sk, skb);
}

u32 probe6_reply_mark(struct net *net, const struct sk_buff *skb)
{
	return IP6_REPLY_MARK(net, skb->mark);
}

struct dst_entry *probe6_answer_route(struct net *net, struct sk_buff *skb,
                                      const struct in6_addr *from, const struct in6_addr *to,
                                      int dev)
{
	struct flowi6 flow = {
	        .daddr = *to,
	        .saddr = *from,
	        .flowi6_oif = dev,
	        .flowi6_mark = probe6_reply_mark(net, skb),
	        .flowi6_proto = PROBE_PROTOCOL,
	        .flowi6_uid = sock_net_uid(net, NULL),
	};

	security_skb_classify_flow(skb, flowi6_to_flowi_common(&flow));
	return usable(ip6_dst_lookup_flow(net, NULL, &flow, NULL), &flow);
}

void probe6_filter(struct sock *sk)
{
	struct icmp6_filter *filter = &raw6_sk(sk)->filter;

	if (inet_sk(sk)->inet_num == PROBE_PROTOCOL)
		return;
	memset(filter, 0xff, sizeof(*filter));
	filter->data[ICMPV6_ECHO_REPLY >> 5] &= ~(1u << (ICMPV6_ECHO_REPLY & 31));
}
