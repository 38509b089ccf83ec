// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// probe_wire.c: the bytes of a probe and of its answer, see probe_wire.h.

#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>

#include "compat.h"
#include "ip_header.h"
#include "probe_wire.h"

static void put_ipv4(struct sk_buff *skb, const struct probe_head *head)
{
	struct iphdr *ip = skb_put_zero(skb, sizeof(*ip));

	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = head->ds;
	ip->tot_len = htons(sizeof(*ip) + PROBE_PAYLOAD);
	ip->frag_off = htons(IP_DF);
	ip->ttl = head->hops;
	ip->protocol = head->protocol;
	ip->saddr = head->from.s6_addr32[3];
	ip->daddr = head->to.s6_addr32[3];
	ip_send_check(ip);
}

static void put_ipv6(struct sk_buff *skb, const struct probe_head *head)
{
	struct ipv6hdr *ip = skb_put(skb, sizeof(*ip));

	ip6_flow_hdr(ip, head->ds, 0);
	ip->payload_len = htons(PROBE_PAYLOAD);
	ip->nexthdr = head->protocol;
	ip->hop_limit = head->hops;
	ip->saddr = head->from;
	ip->daddr = head->to;
}

/* ICMP and ICMPv6 have type, checksum, identifier and sequence number at the same places. */
static void put_echo(struct sk_buff *skb, const struct probe_head *head, u32 nonce)
{
	bool ipv4 = ipv6_addr_v4mapped(&head->to);
	struct icmphdr *icmp = skb_put_zero(skb, sizeof(*icmp));
	__wsum sum;

	BUILD_BUG_ON(sizeof(*icmp) != PROBE_PAYLOAD);
	icmp->type = ipv4 ? ICMP_ECHO : ICMPV6_ECHO_REQUEST;
	icmp->un.echo.id = htons(nonce >> 16);
	icmp->un.echo.sequence = htons((u16)nonce);
	sum = csum_partial(icmp, sizeof(*icmp), 0);
	icmp->checksum = ipv4 ? csum_fold(sum)
	                      : csum_ipv6_magic(&head->from, &head->to, PROBE_PAYLOAD,
	                                        IPPROTO_ICMPV6, sum);
}

static void put_nonce(struct sk_buff *skb, u64 nonce)
{
	__be64 payload = cpu_to_be64(nonce);

	skb_put_data(skb, &payload, sizeof(payload));
}

void probe_put(struct sk_buff *skb, const struct probe_head *head, u64 nonce)
{
	skb_reset_network_header(skb);
	if (ipv6_addr_v4mapped(&head->to)) {
		skb->protocol = htons(ETH_P_IP);
		put_ipv4(skb, head);
	} else {
		skb->protocol = htons(ETH_P_IPV6);
		put_ipv6(skb, head);
	}
	skb_set_transport_header(skb, skb->len);
	if (head->protocol == PROBE_PROTOCOL)
		put_nonce(skb, nonce);
	else
		put_echo(skb, head, (u32)nonce);
}

u32 probe_echo_nonce(const void *icmp)
{
	__be32 nonce;

	memcpy(&nonce, icmp + offsetof(struct icmphdr, un.echo.id), sizeof(nonce));
	return be32_to_cpu(nonce);
}

bool probe_read(const struct sk_buff *skb, u64 *nonce)
{
	struct ip_place ip = find_ip(skb);
	u8 room[PROBE_MAX];
	const u8 *header;

	if (!ip.bytes)
		return false;
	header = skb_header_pointer(skb, ip.at, ip.bytes + PROBE_PAYLOAD, room);
	if (!header)
		return false;
	*nonce = probe_echo_nonce(header + ip.bytes);
	if (ip_protocol(&ip, header) == PROBE_PROTOCOL)
		*nonce = get_unaligned_be64(header + ip.bytes);
	return true;
}
