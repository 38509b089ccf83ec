/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * answer.h: the far end of a probe's path, and the packet format of both ends.
 */
#ifndef SOJOURN_ANSWER_H
#define SOJOURN_ANSWER_H

#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <net/dst.h>
#include <net/net_namespace.h>

#define PROBE_PROTOCOL  253
#define PROBE_ANSWER    BIT_ULL(63) /* of the nonce */
#define PROBE_BYTES_MAX (sizeof(struct ipv6hdr) + sizeof(__be64))

/* Of one packet. An IPv4 address is in IPv4-mapped form, which no packet on a wire has. */
struct probe_ends {
	struct in6_addr from, to;
};

/* A device above this one, as a VLAN, may have the packet's address. */
static inline const struct net_device *route_dev(const struct sk_buff *skb)
{
	return skb_dst(skb) ? skb_dst(skb)->dev : skb->dev;
}

/* IP header and nonce at the end of a packet whose network header begins there. */
void probe_put_ip(struct sk_buff *skb, const struct probe_ends *ends, u8 ds, u64 nonce);

/* A received question. `dev` is its device, if the sender's address alone does not give it. */
struct probe_question {
	struct probe_ends ends;
	u64 nonce;
	int dev; /* 0: any */
	u8 ds;
};

/* The protocol's handler passes on a packet's payload here. Fills in all of a question but
 * the nonce. */
void probe_received(struct sk_buff *skb, struct probe_question *question);

/* If a queue of this namespace has `respond`, answer this probe soon. */
void answer_later(struct net *net, const struct sk_buff *skb,
                  const struct probe_question *question);

int answers_start(void);
void answers_stop(void);

#endif
