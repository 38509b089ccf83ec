// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// probe6.c: IPv6 under probes and answers, see probe6.h.
//
// All that refers to symbols of the kernel's IPv6 is here, and left out where it has none.

#include <net/addrconf.h>
#include <net/dsfield.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/protocol.h>

#include "probe6.h"

static bool heard;

/* The next hop of a packet's route. Without one, as in a bridge, it is not known. */
static const struct in6_addr *next_hop(const struct sk_buff *asking, const struct ipv6hdr *ip)
{
	const struct dst_entry *dst = skb_dst(asking);

	if (!dst || dst->ops->family != AF_INET6)
		return NULL;
	return rt6_nexthop(container_of(dst, struct rt6_info, dst), &ip->daddr);
}

/* Called in enqueue: under the root lock, with softirqs off. The choice of a source takes
 * only RCU. Its time grows with the namespace's addresses. */
bool probe6_ends(const struct sk_buff *asking, const struct ipv6hdr *ip,
                 struct probe_ends *ends)
{
	const struct in6_addr *to = heard ? next_hop(asking, ip) : NULL;

	if (!to || !(ipv6_addr_type(to) & IPV6_ADDR_UNICAST))
		return false;
	ends->to = *to;
	return !ipv6_dev_get_saddr(dev_net(asking->dev), route_dev(asking), to, 0, &ends->from);
}

void probe6_send(struct net *net, struct sk_buff *skb, const struct probe_ends *ends, int dev)
{
	struct flowi6 flow = {
	        .daddr = ends->to,
	        .saddr = ends->from,
	        .flowi6_oif = dev,
	        .flowi6_proto = PROBE_PROTOCOL,
	};
	struct dst_entry *dst = ip6_route_output(net, NULL, &flow);

	skb_dst_set(skb, dst);
	if (dst->error)
		kfree_skb(skb);
	else
		ip6_local_out(net, NULL, skb);
}

/* Called in a softirq, under RCU, behind all extension headers. Every packet of the protocol
 * is accepted: no ICMPv6 error. */
static int received(struct sk_buff *skb)
{
	const struct ipv6hdr *ip = ipv6_hdr(skb);
	struct probe_question question = {
	        .ends = {.from = ip->saddr, .to = ip->daddr},
	        .ds = ipv6_get_dsfield(ip),
	};

	if (ipv6_addr_type(&ip->saddr) & IPV6_ADDR_LINKLOCAL)
		question.dev = inet6_iif(skb);
	if (ipv6_addr_type(&ip->saddr) & ipv6_addr_type(&ip->daddr) & IPV6_ADDR_UNICAST)
		probe_received(skb, &question);
	else
		consume_skb(skb);
	return 0;
}

static const struct inet6_protocol protocol = {
        .handler = received,
        .flags = INET6_PROTO_NOPOLICY | INET6_PROTO_FINAL,
};

void probe6_start(void)
{
	heard = !inet6_add_protocol(&protocol, PROBE_PROTOCOL);
	if (!heard)
		pr_warn("sch_sojourn: IPv6 protocol %d is another's: probes by IPv4 only\n",
		        PROBE_PROTOCOL);
}

void probe6_stop(void)
{
	/* Waits until no handler is running. */
	if (heard)
		inet6_del_protocol(&protocol, PROBE_PROTOCOL);
}
