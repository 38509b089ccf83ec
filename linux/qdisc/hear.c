// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// hear.c: what a namespace hears of probes, see hear.h.
//
// A socket's packets are taken in the softirq that brings them, so its buffer never fills: a
// stranger's load takes nobody's answers.

#include <linux/icmp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ip.h>
#include <net/netns/generic.h>
#include <net/raw.h>
#include <net/sock.h>

#include "hear.h"
#include "hear_book.h"
#include "probe6.h"
#include "probe_book.h"
#include "probe_wire.h"

static unsigned int hearing_id;

struct hearing *hearing_of(const struct net *net)
{
	return net_generic(net, hearing_id);
}

/* ---- packets ---- */

void heard_answer(struct hearing *h, u64 nonce, const struct in6_addr *from, const int dev[2])
{
	struct sojourn_probes *p = xa_load(&h->queues, (u32)nonce >> 16);

	if (p)
		probe_answered(p, nonce, from, dev);
}

/* A raw socket of IPv4 has the packet from its IP header on, and before ICMP has tested its
 * checksum. The kernel's note of the device has become the message's. */
static void heard_ipv4(struct hearing *h, struct sk_buff *skb)
{
	int at = ip_hdrlen(skb), ifindex = PKTINFO_SKB_CB(skb)->ipi_ifindex;
	const struct iphdr *ip = ip_hdr(skb);
	int dev[2] = {ifindex, ifindex};
	u8 room[PROBE_PAYLOAD];
	struct in6_addr from;
	const u8 *payload;

	if (skb->len != at + PROBE_PAYLOAD)
		return;
	payload = skb_header_pointer(skb, at, PROBE_PAYLOAD, room);
	if (!payload)
		return;
	ipv6_addr_set_v4mapped(ip->saddr, &from);
	if (ip->protocol == PROBE_PROTOCOL)
		heard_experimental(h, skb, payload, &from, dev);
	else if (payload[0] == ICMP_ECHOREPLY && !ip_compute_csum(payload, PROBE_PAYLOAD))
		heard_answer(h, probe_echo_nonce(payload), &from, dev);
}

/* A raw socket of IPv6 has the packet behind all headers of IP; ICMPv6's checksum is tested. */
static void heard_ipv6(struct hearing *h, struct sk_buff *skb)
{
	const struct in6_addr *from = &ipv6_hdr(skb)->saddr;
	int dev[2] = {inet6_iif(skb), inet6_sdif(skb)};
	u8 room[PROBE_PAYLOAD];
	const u8 *payload;

	if (skb->len != PROBE_PAYLOAD)
		return;
	payload = skb_header_pointer(skb, skb_transport_offset(skb), PROBE_PAYLOAD, room);
	if (!payload)
		return;
	if (inet_sk(skb->sk)->inet_num == PROBE_PROTOCOL)
		heard_experimental(h, skb, payload, from, dev);
	else
		heard_answer(h, probe_echo_nonce(payload), from, dev);
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
			heard_ipv6(h, skb);
		consume_skb(skb);
	}
	rcu_read_unlock();
}

/* ---- sockets ---- */

static void attach(struct hearing *h, struct sock *sk)
{
	if (sk->sk_family == AF_INET) {
		if (inet_sk(sk)->inet_num != PROBE_PROTOCOL)
			raw_sk(sk)->filter.data = ~(1u << ICMP_ECHOREPLY);
		/* Of a VRF only this tells the device below it. */
		ip_sock_set_pktinfo(sk);
	} else if (ipv6_mod_enabled()) {
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

static int open_socket(struct hearing *h, struct socket **sock, int family, int protocol)
{
	int err = 0;

	if (*sock || (family == AF_INET6 && !ipv6_mod_enabled()))
		return 0;
	err = sock_create_kern(h->net, family, SOCK_RAW, protocol, sock);
	if (!err)
		attach(h, (*sock)->sk);
	else
		*sock = NULL;
	return err;
}

int ears_open(struct hearing *h, struct ears *ears, int protocol4, int protocol6)
{
	int err;

	mutex_lock(&h->lock);
	err = open_socket(h, &ears->sockets[0], AF_INET, protocol4);
	if (!err)
		err = open_socket(h, &ears->sockets[1], AF_INET6, protocol6);
	ears->users += !err;
	mutex_unlock(&h->lock);
	/* One of the two may be open. */
	if (err)
		schedule_work(&h->closing);
	return err;
}

void ears_leave(struct hearing *h, struct ears *ears)
{
	mutex_lock(&h->lock);
	ears->users--;
	mutex_unlock(&h->lock);
	schedule_work(&h->closing);
}

int hear_echo(struct net *net)
{
	struct hearing *h = hearing_of(net);

	return ears_open(h, &h->echo, IPPROTO_ICMP, IPPROTO_ICMPV6);
}

void hear_echo_no_more(struct net *net)
{
	struct hearing *h = hearing_of(net);

	ears_leave(h, &h->echo);
}

/* Both sockets, or those that no queue wants. Outside the lock: to close a raw socket of ICMPv6
 * may take RTNL, which is held where the lock is taken. */
static void close_ears(struct hearing *h, struct ears *ears, bool all)
{
	struct socket *unused[2] = {};

	mutex_lock(&h->lock);
	if (all || !ears->users) {
		swap(unused[0], ears->sockets[0]);
		swap(unused[1], ears->sockets[1]);
	}
	mutex_unlock(&h->lock);
	close_socket(unused[0]);
	close_socket(unused[1]);
}

static void close_sockets(struct hearing *h, bool all)
{
	close_ears(h, &h->echo, all);
	close_ears(h, &h->experimental, all);
}

static void close_unused(struct work_struct *work)
{
	close_sockets(container_of(work, struct hearing, closing), false);
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
	hear_experimental_end(h);
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
