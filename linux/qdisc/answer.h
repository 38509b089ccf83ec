/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * answer.h: the far end of a probe's way, and the form that both ends know.
 */
#ifndef SOJOURN_ANSWER_H
#define SOJOURN_ANSWER_H

#include <linux/ip.h>
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/net_namespace.h>

#define PROBE_PROTOCOL 253
#define PROBE_ANSWER   BIT_ULL(63) /* of the nonce */
#define PROBE_IP_BYTES (sizeof(struct iphdr) + sizeof(__be64))

/* IP header and nonce at the end of a packet whose network header begins there. */
static inline void probe_put_ip(struct sk_buff *skb, __be32 from, __be32 to, u8 tos, u64 nonce)
{
	__be64 payload = cpu_to_be64(nonce);
	struct iphdr *ip = skb_put_zero(skb, sizeof(*ip));

	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = tos;
	ip->tot_len = htons(PROBE_IP_BYTES);
	ip->frag_off = htons(IP_DF);
	ip->ttl = 64;
	ip->protocol = PROBE_PROTOCOL;
	ip->saddr = from;
	ip->daddr = to;
	skb_set_transport_header(skb, skb->len);
	skb_put_data(skb, &payload, sizeof(payload));
}

/* Where a queue of this namespace lets probes be answered, answer this one, soon. */
void answer_later(struct net *net, const struct sk_buff *question, u64 nonce);

int answers_start(void);
void answers_stop(void);

#endif
