// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// hear.c: what a namespace hears of probes, see hear.h.
//
// A socket's packets are taken in the softirq that brings them, so its buffer never fills: a
// stranger's load takes nobody's answers.

#include <linux/icmp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/netns/generic.h>
#include <net/raw.h>
#include <net/sock.h>

#include "answer.h"
#include "compat.h"
#include "hear.h"
#include "probe6.h"
#include "probe_book.h"
#include "probe_wire.h"

#define PROTOCOLS 2 /* HEAR_ECHO, HEAR_EXPERIMENTAL */

/* Of one namespace. */
struct hearing {
	struct net *net;
	struct xarray queues; /* probes by their number */
	struct mutex lock;    /* of the next two */
	u32 users[PROTOCOLS];
	struct socket *sockets[PROTOCOLS][2]; /* IPv4, IPv6 */
	struct work_struct closing;
	atomic_t responders;
	struct answer_budget *budget; /* once a queue has heard questions */
};

static unsigned int hearing_id;

static struct hearing *hearing_of(const struct net *net)
{
	return net_generic(net, hearing_id);
}

/* ---- packets ---- */

static void answered(struct hearing *h, u64 nonce, bool echo, const struct answer_ends *ends)
{
	struct sojourn_probes *p = xa_load(&h->queues, (u32)nonce >> 16);

	if (p)
		probe_answered(p, nonce, echo, &ends->from, ends->dev, ends->hops);
}

static void heard_experimental(struct hearing *h, struct sk_buff *skb, const __be64 *payload,
                               struct answer_ends *ends)
{
	u64 nonce = get_unaligned_be64(payload);

	if (nonce & PROBE_ANSWER)
		answered(h, nonce & ~PROBE_ANSWER, false, ends);
	else if (atomic_read(&h->responders) > 0 && skb->pkt_type == PACKET_HOST)
		answer_question(h->net, READ_ONCE(h->budget), skb, ends, nonce);
}

/* A raw socket of IPv4 has the packet from its IP header on, and before ICMP has tested its
 * checksum. The kernel's note of the device has become the message's. */
static void heard_ipv4(struct hearing *h, struct sk_buff *skb)
{
	int at = ip_hdrlen(skb), dev = PKTINFO_SKB_CB(skb)->ipi_ifindex;
	const struct iphdr *ip = ip_hdr(skb);
	struct answer_ends ends = {.dev = {dev, dev}, .ds = ip->tos, .hops = ip->ttl};
	u8 room[PROBE_PAYLOAD];
	const u8 *payload;

	if (skb->len != at + PROBE_PAYLOAD)
		return;
	payload = skb_header_pointer(skb, at, PROBE_PAYLOAD, room);
	if (!payload)
		return;
	ipv6_addr_set_v4mapped(ip->saddr, &ends.from);
	ipv6_addr_set_v4mapped(ip->daddr, &ends.to);
	if (ip->protocol == PROBE_PROTOCOL)
		heard_experimental(h, skb, (const __be64 *)payload, &ends);
	else if (payload[0] == ICMP_ECHOREPLY && !ip_compute_csum(payload, PROBE_PAYLOAD))
		answered(h, probe_echo_nonce(payload), true, &ends);
}

/* A raw socket of IPv6 has the packet behind all headers of IP; ICMPv6's checksum is tested. */
static void heard_ipv6(struct hearing *h, struct sk_buff *skb, bool echo)
{
	const struct ipv6hdr *ip = ipv6_hdr(skb);
	struct answer_ends ends = {
	        .from = ip->saddr,
	        .to = ip->daddr,
	        .dev = {inet6_iif(skb), inet6_sdif(skb)},
	        .ds = ipv6_get_dsfield(ip),
	        .hops = ip->hop_limit,
	};
	u8 room[PROBE_PAYLOAD];
	const u8 *payload;

	if (skb->len != PROBE_PAYLOAD)
		return;
	payload = skb_header_pointer(skb, skb_transport_offset(skb), PROBE_PAYLOAD, room);
	if (!payload)
		return;
	if (echo)
		answered(h, probe_echo_nonce(payload), true, &ends);
	else
		heard_experimental(h, skb, (const __be64 *)payload, &ends);
}

static void data_ready(struct sock *sk)
{
	struct sk_buff *skb;
	struct hearing *h;

	rcu_read_lock();
	h = rcu_dereference_sk_user_data(sk);
	while ((skb = skb_dequeue(&sk->sk_receive_queue))) {
		if (h && sk->sk_family == AF_INET)
			heard_ipv4(h, skb);
		else if (h)
			heard_ipv6(h, skb, inet_sk(sk)->inet_num != PROBE_PROTOCOL);
		consume_skb(skb);
	}
	rcu_read_unlock();
}

/* ---- sockets ---- */

static void attach(struct hearing *h, struct sock *sk)
{
	if (sk->sk_family == AF_INET) {
		if (inet_sk(sk)->inet_num == IPPROTO_ICMP)
			raw_sk(sk)->filter.data = ~(1u << ICMP_ECHOREPLY);
		/* Of a VRF only this tells the device below it. */
		ip_sock_set_pktinfo(sk);
	} else {
		probe6_filter(sk);
	}
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, h);
	sk->sk_data_ready = data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
}

static void close_socket(struct socket *sock)
{
	if (!sock)
		return;
	rcu_assign_sk_user_data(sock->sk, NULL);
	sock_release(sock);
}

static int open_socket(struct hearing *h, u32 which, bool ipv6)
{
	static const int numbers[PROTOCOLS][2] = {
	        {IPPROTO_ICMP, IPPROTO_ICMPV6},
	        {PROBE_PROTOCOL, PROBE_PROTOCOL},
	};
	struct socket **sock = &h->sockets[which][ipv6];
	int err = 0;

	if (*sock || (ipv6 && !ipv6_mod_enabled()))
		return 0;
	err = sock_create_kern(h->net, ipv6 ? AF_INET6 : AF_INET, SOCK_RAW,
	                       numbers[which][ipv6], sock);
	if (!err)
		attach(h, (*sock)->sk);
	else
		*sock = NULL;
	return err;
}

static int open_protocol(struct hearing *h, u32 which)
{
	int err = 0;

	if (BIT(which) == HEAR_EXPERIMENTAL && !h->budget)
		smp_store_release(&h->budget, answer_budget_new());
	if (BIT(which) == HEAR_EXPERIMENTAL && !h->budget)
		err = -ENOMEM;
	if (!err)
		err = open_socket(h, which, false);
	if (!err)
		err = open_socket(h, which, true);
	h->users[which] += !err;
	return err;
}

int hear_protocols(struct net *net, u8 protocols)
{
	struct hearing *h = hearing_of(net);
	u8 opened = 0;
	u32 which;
	int err = 0;

	if (!protocols)
		return 0;
	mutex_lock(&h->lock);
	for (which = 0; which < PROTOCOLS && !err; which++) {
		if (!(protocols & BIT(which)))
			continue;
		err = open_protocol(h, which);
		opened |= err ? 0 : BIT(which);
	}
	mutex_unlock(&h->lock);
	if (err) {
		hear_protocols_no_more(net, opened);
		/* The protocol that failed may have one of its two sockets. */
		schedule_work(&h->closing);
	}
	return err;
}

void hear_protocols_no_more(struct net *net, u8 protocols)
{
	struct hearing *h = hearing_of(net);
	u32 which;

	if (!protocols)
		return;
	mutex_lock(&h->lock);
	for (which = 0; which < PROTOCOLS; which++)
		h->users[which] -= !!(protocols & BIT(which));
	mutex_unlock(&h->lock);
	schedule_work(&h->closing);
}

/* All sockets, or those that no queue wants. Outside the lock: to close a raw socket of ICMPv6
 * may take RTNL, which is held where the lock is taken. */
static void close_sockets(struct hearing *h, bool all)
{
	struct socket *unused[PROTOCOLS][2] = {};
	u32 which;

	mutex_lock(&h->lock);
	for (which = 0; which < PROTOCOLS; which++) {
		if (h->users[which] && !all)
			continue;
		swap(unused[which][0], h->sockets[which][0]);
		swap(unused[which][1], h->sockets[which][1]);
	}
	mutex_unlock(&h->lock);
	for (which = 0; which < PROTOCOLS; which++) {
		close_socket(unused[which][0]);
		close_socket(unused[which][1]);
	}
}

static void close_unused(struct work_struct *work)
{
	close_sockets(container_of(work, struct hearing, closing), false);
}

void hear_respond(struct net *net, int change)
{
	atomic_add(change, &hearing_of(net)->responders);
}

/* ---- numbers ---- */

/* Random, so that a stranger does not know them. There are 65,536; half of them can be found
 * with few tries. */
int hear_for(struct sojourn_probes *p)
{
	struct hearing *h = hearing_of(p->net);
	int tries, err = -EBUSY;

	for (tries = 0; tries < 64 && err == -EBUSY; tries++) {
		p->id = get_random_u16();
		err = xa_insert(&h->queues, p->id, p, GFP_KERNEL_ACCOUNT);
	}
	return err;
}

void hear_no_more(struct sojourn_probes *p)
{
	xa_erase(&hearing_of(p->net)->queues, p->id);
}

/* ---- namespaces ---- */

static int __net_init hearing_begin(struct net *net)
{
	struct hearing *h = hearing_of(net);

	h->net = net;
	xa_init(&h->queues);
	mutex_init(&h->lock);
	INIT_WORK(&h->closing, close_unused);
	return 0;
}

/* A grace period of RCU follows, which packets on their way through the sockets take. */
static void __net_exit hearing_stop(struct net *net)
{
	close_sockets(hearing_of(net), true);
}

/* Its devices, and so all of its queues, are gone. */
static void __net_exit hearing_end(struct net *net)
{
	struct hearing *h = hearing_of(net);

	cancel_work_sync(&h->closing);
	WARN_ON(!xa_empty(&h->queues));
	xa_destroy(&h->queues);
	answer_budget_free(h->budget);
}

static struct pernet_operations hearing_ops = {
        .init = hearing_begin,
        .pre_exit = hearing_stop,
        .exit = hearing_end,
        .id = &hearing_id,
        .size = sizeof(struct hearing),
};

int hear_start(void)
{
	return register_pernet_subsys(&hearing_ops);
}

/* A work item may have closed a socket just now, and packets run this module's text. */
void hear_stop(void)
{
	unregister_pernet_subsys(&hearing_ops);
	synchronize_net();
}
