/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * probe_wire.h: the bytes of a probe and of its answer.
 *
 * Behind an IP header without options are 8 bytes. With `echo` they are an echo request of
 * ICMP (RFC 792) or ICMPv6 (RFC 4443) without data: the low half of the nonce is its identifier
 * and its sequence number. With `experimental` they are a nonce of 64 bits under protocol 253
 * (RFC 3692), and the answer is that nonce with its highest bit set.
 */
#ifndef SOJOURN_PROBE_WIRE_H
#define SOJOURN_PROBE_WIRE_H

#include <linux/in6.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>

/* Statements with this name are in no stand-alone file (python/sojourn/linux/export/probes.py).
 */
#define PROBE_PROTOCOL 253
#define PROBE_ANSWER   BIT_ULL(63) /* of an experimental nonce */
#define PROBE_WIDE     BIT_ULL(62) /* in each of them; an echo has no high half */
#define PROBE_PAYLOAD  8
#define PROBE_MAX      (sizeof(struct ipv6hdr) + PROBE_PAYLOAD)
/* No router lies between two nodes whose packets still have it (RFC 5082). */
#define PROBE_HOPS 255

/* An IPv4 address is in IPv4-mapped form, which no packet on a wire has. */
struct probe_head {
	struct in6_addr from, to;
	u8 ds, hops, protocol;
};

/* Writes header and payload behind what the packet holds; its network header begins there. */
void probe_put(struct sk_buff *skb, const struct probe_head *head, u64 nonce);

/* The nonce of a probe that this machine made. False: truncated. */
bool probe_read(const struct sk_buff *skb, u64 *nonce);

/* The nonce of an answer by echo, from the 8 bytes of its ICMP header. */
u32 probe_echo_nonce(const void *icmp);

#endif
