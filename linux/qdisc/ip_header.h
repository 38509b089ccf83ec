/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * ip_header.h: a frame's IP header, and the DS field in it.
 *
 * The network header is right where the type in front of it is skb->protocol. Where that is
 * a tag (VLANs in VLANs) it points at the header, or, in a frame from a bridge, behind the
 * first tag. A raw socket on a VLAN device sends a tagged frame with the protocol behind its
 * tags and a network header that points into the first. The types in the frame itself
 * decide: the wire and all receivers use them.
 */
#ifndef SOJOURN_IP_HEADER_H
#define SOJOURN_IP_HEADER_H

#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/inet_ecn.h>

/* The kernel itself skips 8; each costs a read. */
#define TAGS_MAX 32

/* Its offset in the packet and its length without options; length 0: there is none. */
struct ip_place {
	int at;
	u32 bytes;
};

static inline struct ip_place ip_at(int at, __be16 type)
{
	if (type == htons(ETH_P_IP))
		return (struct ip_place){at, sizeof(struct iphdr)};
	if (type == htons(ETH_P_IPV6))
		return (struct ip_place){at, sizeof(struct ipv6hdr)};
	return (struct ip_place){};
}

static noinline __cold struct ip_place ip_behind_tags(const struct sk_buff *skb)
{
	int at = skb_mac_offset(skb) + 2 * ETH_ALEN;
	const __be16 *type;
	__be16 room;
	u32 tags;

	if (!skb_mac_header_was_set(skb) || skb->dev->type != ARPHRD_ETHER)
		return ip_at(skb_network_offset(skb), skb->protocol);
	for (tags = 0; tags <= TAGS_MAX; tags++, at += VLAN_HLEN) {
		type = skb_header_pointer(skb, at, sizeof(room), &room);
		if (!type)
			break;
		if (!eth_type_vlan(*type))
			return ip_at(at + sizeof(room), *type);
	}
	return (struct ip_place){};
}

/* Does the type in front of the network header agree? On a device without frame types it
 * may not, and there the header is right. */
static inline bool type_agrees(const struct sk_buff *skb)
{
	const struct ethhdr *front = (const void *)(skb_network_header(skb) - ETH_HLEN);

	return skb->network_header >= sizeof(__be16) && front->h_proto == skb->protocol;
}

static inline struct ip_place find_ip(const struct sk_buff *skb)
{
	if (unlikely(eth_type_vlan(skb->protocol) || !type_agrees(skb)))
		return ip_behind_tags(skb);
	return ip_at(skb_network_offset(skb), skb->protocol);
}

/* A header whose version differs from the type in front of it is none. */
static inline bool is_version(const struct ip_place *ip, const u8 *header)
{
	return header[0] >> 4 == (ip->bytes == sizeof(struct iphdr) ? 4 : 6);
}

/* The protocol that the header names. */
static inline u8 ip_protocol(const struct ip_place *ip, const u8 *header)
{
	return header[ip->bytes == sizeof(struct iphdr) ? offsetof(struct iphdr, protocol)
	                                                : offsetof(struct ipv6hdr, nexthdr)];
}

static noinline u8 read_any_ds(const struct sk_buff *skb)
{
	struct ip_place ip = find_ip(skb);
	u8 room[sizeof(struct ipv6hdr)];
	const u8 *header;

	if (!ip.bytes)
		return 0;
	header = skb_header_pointer(skb, ip.at, ip.bytes, room);
	if (!header || !is_version(&ip, header))
		return 0;
	return header[0] >> 4 == 4 ? header[1] : header[0] << 4 | header[1] >> 4;
}

/* 0 without a readable header: such a packet is never marked. Most packets are IPv4 with
 * the whole header in linear memory. */
static inline u8 read_ds(const struct sk_buff *skb)
{
	const struct iphdr *header = (const void *)skb_network_header(skb);

	if (likely(skb->protocol == htons(ETH_P_IP) && type_agrees(skb) &&
	           (const u8 *)(header + 1) <= skb_tail_pointer(skb) && header->version == 4))
		return header->tos;
	return read_any_ds(skb);
}

/* Other holders of the packet or its bytes, as taps on the device, must not see the mark.
 * False: it cannot be set. */
static inline bool set_ce(struct sk_buff *skb)
{
	struct ip_place ip = find_ip(skb);
	void *header;

	if (!ip.bytes || skb_shared(skb) || skb_ensure_writable(skb, ip.at + ip.bytes))
		return false;
	header = skb->data + ip.at;
	if (!is_version(&ip, header))
		return false;
	return ip.bytes == sizeof(struct iphdr) ? IP_ECN_set_ce(header)
	                                        : IP6_ECN_set_ce(skb, header);
}

#endif
