/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * packets.h: packets that nobody sent, of flows that can be chosen. Part of bounds.c.
 */
#ifndef PACKETS_H
#define PACKETS_H

#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

/* All packets occupy as much, whatever their length: cake's limit counts memory. */
#define LEAST_BYTES 60
#define MOST_BYTES  500
/* The shortest payload that a user may ask for in each segment. */
#define GSO_BYTES  8
#define BODY_ORDER 3

/* Xorshift (Marsaglia 2003): each command rolls the same numbers. */
static u32 dice;

static u32 roll(u32 sides)
{
	dice ^= dice << 13;
	dice ^= dice >> 17;
	dice ^= dice << 5;
	return (u32)(((u64)dice * sides) >> 32);
}

/* Flow `flow` of `flows`: the hash is in the middle of what a queue of so many flows gives
 * to one. cake looks at the addresses instead. */
static void give_head(struct sk_buff *skb, u8 protocol, u32 flow, u32 flows)
{
	struct iphdr *ip;

	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb_set_transport_header(skb, ETH_HLEN + sizeof(*ip));
	eth_hdr(skb)->h_proto = skb->protocol = htons(ETH_P_IP);
	ip = ip_hdr(skb);
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->ttl = 64;
	ip->protocol = protocol;
	ip->saddr = htonl(0x0a000001 + flow);
	ip->daddr = htonl(0x0b000001);
	skb_set_hash(skb, (u32)((((u64)flow << 32) + (1u << 31)) / flows), PKT_HASH_TYPE_L4);
}

static struct sk_buff *packet(struct net_device *dev, u32 flow, u32 flows)
{
	u32 bytes = LEAST_BYTES + roll(MOST_BYTES - LEAST_BYTES + 1);
	struct sk_buff *skb = alloc_skb(MOST_BYTES, GFP_KERNEL | __GFP_NOWARN);

	if (!skb)
		return NULL;
	skb_put_zero(skb, bytes);
	skb->dev = dev;
	give_head(skb, IPPROTO_UDP, flow, flows);
	ip_hdr(skb)->tot_len = htons(bytes - ETH_HLEN);
	udp_hdr(skb)->len = htons(bytes - ETH_HLEN - sizeof(struct iphdr));
	qdisc_skb_cb(skb)->pkt_len = bytes;
	return skb;
}

/* One page stands for the whole payload. */
static void give_body(struct sk_buff *skb, struct page *body, u32 bytes)
{
	u32 nth, part;

	for (nth = 0; bytes; nth++, bytes -= part) {
		part = min_t(u32, bytes, PAGE_SIZE << BODY_ORDER);
		get_page(body);
		skb_fill_page_desc(skb, nth, body, 0, part);
		skb->len += part;
		skb->data_len += part;
		skb->truesize += part;
	}
}

/* What a local sender may hand down at once: one TCP packet that stands for many. */
static struct sk_buff *large_packet(struct net_device *dev, struct page *body, u32 segments)
{
	u32 head_bytes = ETH_HLEN + sizeof(struct iphdr) + sizeof(struct tcphdr);
	struct sk_buff *skb = alloc_skb(head_bytes, GFP_KERNEL | __GFP_NOWARN);

	if (!skb)
		return NULL;
	skb_put_zero(skb, head_bytes);
	skb->dev = dev;
	give_head(skb, IPPROTO_TCP, 0, 1);
	tcp_hdr(skb)->doff = sizeof(struct tcphdr) / 4;
	tcp_hdr(skb)->ack = 1;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct tcphdr, check);
	give_body(skb, body, segments * GSO_BYTES);
	skb_shinfo(skb)->gso_type = SKB_GSO_TCPV4;
	skb_shinfo(skb)->gso_size = GSO_BYTES;
	skb_shinfo(skb)->gso_segs = segments;
	/* As the kernel reckons it: each segment with a head of its own. */
	qdisc_skb_cb(skb)->pkt_len = skb->len + (segments - 1) * head_bytes;
	return skb;
}

#endif
