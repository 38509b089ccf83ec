// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// hear_experimental.c: what a namespace hears of the experimental protocol, see hear.h.

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/dsfield.h>
#include <net/ipv6.h>

#include "answer.h"
#include "compat.h"
#include "hear.h"
#include "hear_book.h"
#include "probe_wire.h"

/* In place of the devices of an answer that a router has seen: it is of no next hop. */
static const int nowhere[2];

void heard_experimental(struct hearing *h, struct sk_buff *skb, const u8 *payload,
                        const struct in6_addr *from, const int dev[2])
{
	struct answer_ends ends = {.from = *from, .dev = {dev[0], dev[1]}};
	u64 nonce = get_unaligned_be64(payload);

	if (ipv6_addr_v4mapped(from)) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &ends.to);
		ends.ds = ip_hdr(skb)->tos;
		ends.hops = ip_hdr(skb)->ttl;
	} else {
		ends.to = ipv6_hdr(skb)->daddr;
		ends.ds = ipv6_get_dsfield(ipv6_hdr(skb));
		ends.hops = ipv6_hdr(skb)->hop_limit;
	}
	/* An echo's nonce is none of these. */
	if (nonce & PROBE_ANSWER && nonce & PROBE_WIDE)
		heard_answer(h, nonce & ~PROBE_ANSWER, from,
		             ends.hops == PROBE_HOPS ? dev : nowhere);
	else if (!(nonce & PROBE_ANSWER) && atomic_read(&h->responders) > 0 &&
	         skb->pkt_type == PACKET_HOST)
		answer_question(h->net, READ_ONCE(h->budget), skb, &ends, nonce);
}

static int hear_experimental(struct hearing *h)
{
	/* Under RTNL; a socket that hears questions may be open already. */
	if (!h->budget)
		smp_store_release(&h->budget, answer_budget_new());
	if (!h->budget)
		return -ENOMEM;
	return ears_open(h, &h->experimental, PROBE_PROTOCOL, PROBE_PROTOCOL);
}

int hear_protocols(struct net *net, u8 protocols)
{
	struct hearing *h = hearing_of(net);
	int err = protocols & HEAR_ECHO ? hear_echo(net) : 0;

	if (err || !(protocols & HEAR_EXPERIMENTAL))
		return err;
	err = hear_experimental(h);
	if (err)
		hear_protocols_no_more(net, protocols & HEAR_ECHO);
	return err;
}

void hear_protocols_no_more(struct net *net, u8 protocols)
{
	struct hearing *h = hearing_of(net);

	if (protocols & HEAR_ECHO)
		hear_echo_no_more(net);
	if (protocols & HEAR_EXPERIMENTAL)
		ears_leave(h, &h->experimental);
}

void hear_respond(struct net *net, int change)
{
	atomic_add(change, &hearing_of(net)->responders);
}

void hear_experimental_end(struct hearing *h)
{
	answer_budget_free(h->budget);
}
