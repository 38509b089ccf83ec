// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// probe_send.c: sends the probes that a queue has asked for.
//
// A tasklet sends, right behind the call that asked. It may not search for a route: with
// 30,000 addresses IPv6's choice of a source takes 5 ms. A work item searches, and the tasklet
// goes on when it has ended, so one of the two has the routes at any time.

#include <linux/icmp.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/route.h>
#include <net/sock.h>

#include "probe6.h"
#include "probe_book.h"
#include "probe_wire.h"

/* Where a responder is not on the link, as far as most systems send. */
#define HOPS_FAR 64

static struct workqueue_struct *searches;

/* ---- routes ---- */

static bool same_way(const struct probe_key *a, const struct probe_key *b)
{
	return ipv6_addr_equal(&a->to, &b->to) && a->dev == b->dev && a->mark == b->mark &&
	       a->ds == b->ds && a->protocol == b->protocol && a->to_hop == b->to_hop;
}

static bool is_valid(const struct probe_route *route)
{
	struct dst_entry *dst = route->dst;

	if (!dst)
		return time_before(jiffies, route->until);
	return !dst->obsolete || dst->ops->check(dst, route->cookie);
}

static struct probe_route *route_of(struct sojourn_probes *p, const struct probe_key *key)
{
	u32 i;

	for (i = 0; i < PROBE_ROUTES; i++) {
		struct probe_route *route = &p->routes[i];

		if (route->known && same_way(&route->key, key))
			return is_valid(route) ? route : NULL;
	}
	return NULL;
}

/* The place of this key, or of the one that came first. */
static struct probe_route *place_for(struct sojourn_probes *p, const struct probe_key *key)
{
	u32 i;

	for (i = 0; i < PROBE_ROUTES; i++)
		if (p->routes[i].known && same_way(&p->routes[i].key, key))
			return &p->routes[i];
	return &p->routes[p->next_route++ % PROBE_ROUTES];
}

/* A source, one node, this device, and no IPsec, which would hide the nonce from the queue. */
static bool is_usable(const struct dst_entry *dst, const struct probe_key *key)
{
	bool here;

	rcu_read_lock();
	here = dst->dev->ifindex == key->dev;
	rcu_read_unlock();
	return here && !dst_xfrm(dst);
}

static struct dst_entry *search4(struct sojourn_probes *p, struct probe_route *found)
{
	const struct probe_key *key = &found->key;
	struct sock *sk = p->owner->sk;
	/* The next hop is a neighbour, whatever route a table may have for it. */
	u8 scope = key->to_hop ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
	struct flowi4 flow = {};
	struct rtable *route;

	flowi4_init_output(&flow, key->dev, key->mark, key->ds, scope, key->protocol, 0,
	                   key->to.s6_addr32[3], 0, 0, 0, sock_net_uid(p->net, NULL));
	if (key->protocol != PROBE_PROTOCOL)
		flow.fl4_icmp_type = ICMP_ECHO;
	security_sk_classify_flow(sk, flowi4_to_flowi_common(&flow));
	route = ip_route_output_flow(p->net, &flow, sk);
	if (IS_ERR(route))
		return NULL;
	if (!flow.saddr || route->rt_type != RTN_UNICAST || !is_usable(&route->dst, key)) {
		ip_rt_put(route);
		return NULL;
	}
	ipv6_addr_set_v4mapped(flow.saddr, &found->from);
	return &route->dst;
}

static struct dst_entry *search6(struct sojourn_probes *p, struct probe_route *found)
{
	struct dst_entry *dst;

	if (!ipv6_mod_enabled())
		return NULL;
	dst = probe6_search(p->net, p->owner->sk, found);
	if (dst && !is_usable(dst, &found->key)) {
		dst_release(dst);
		dst = NULL;
	}
	return dst;
}

/* In a work item, with no lock. */
static void search_route(struct work_struct *work)
{
	struct sojourn_probes *p = container_of(work, struct sojourn_probes, search);
	struct probe_route *route = place_for(p, &p->ask.key);

	dst_release(route->dst);
	*route = (struct probe_route){.key = p->ask.key, .known = true};
	route->dst = ipv6_addr_v4mapped(&route->key.to) ? search4(p, route) : search6(p, route);
	route->until = jiffies + HZ;
	spin_lock_bh(&p->lock);
	p->searching = false;
	if (!p->dying)
		tasklet_schedule(&p->sender);
	spin_unlock_bh(&p->lock);
}

static void begin_search(struct sojourn_probes *p)
{
	spin_lock(&p->lock);
	if (!p->dying) {
		p->searching = true;
		queue_work(searches, &p->search);
	}
	spin_unlock(&p->lock);
}

/* ---- packets ---- */

/* As IP's own output expects it; its device may want room in front of its header. */
static struct sk_buff *new_probe(const struct dst_entry *dst)
{
	u32 front = LL_RESERVED_SPACE(dst->dev);
	struct sk_buff *skb =
	        alloc_skb(front + PROBE_MAX + dst->dev->needed_tailroom, GFP_ATOMIC);

	if (skb)
		skb_reserve(skb, front);
	return skb;
}

static u8 hops_of(const struct probe_key *key)
{
	if (key->protocol == PROBE_PROTOCOL)
		return PROBE_HOPS;
	return key->to_hop ? 1 : HOPS_FAR;
}

static void send_probe(struct sojourn_probes *p, const struct probe_ask *ask,
                       const struct probe_route *route)
{
	const struct probe_key *key = &ask->key;
	struct sock *sk = p->owner->sk;
	struct probe_head head = {
	        .from = route->from,
	        .to = key->to,
	        .ds = key->ds,
	        .hops = hops_of(key),
	        .protocol = key->protocol,
	};
	struct sk_buff *skb = NULL;

	rcu_read_lock();
	if (route->dst && probe_may_go(p))
		skb = new_probe(route->dst);
	rcu_read_unlock();
	if (!skb) {
		probe_unmade(p, ask);
		return;
	}
	probe_put(skb, &head, probe_enter(p, ask));
	skb->priority = key->priority;
	skb->mark = key->mark;
	/* The device's own choice of a transmit queue takes that of the socket. */
	sk_tx_queue_set(sk, key->tx_queue);
	skb_set_owner_w(skb, sk);
	skb_dst_set(skb, dst_clone(route->dst));
	if (!ipv6_mod_enabled() || skb->protocol == htons(ETH_P_IP))
		ip_local_out(p->net, sk, skb);
	else
		probe6_output(p->net, sk, skb);
}

static bool may_run(struct sojourn_probes *p)
{
	bool may;

	spin_lock(&p->lock);
	may = !p->dying && !p->searching;
	spin_unlock(&p->lock);
	return may;
}

/* As many in one run as can wait; an ask that comes later has scheduled another run. */
static void send_probes(struct tasklet_struct *sender)
{
	struct sojourn_probes *p = from_tasklet(p, sender, sender);
	struct probe_route *route;
	u32 sent;

	if (!may_run(p))
		return;
	for (sent = 0; sent <= PROBE_ASKS; sent++) {
		p->has_ask = p->has_ask || probe_next_ask(p, &p->ask);
		if (!p->has_ask)
			return;
		route = route_of(p, &p->ask.key);
		if (!route) {
			begin_search(p);
			return;
		}
		p->has_ask = false;
		send_probe(p, &p->ask, route);
	}
}

void probe_sender_init(struct sojourn_probes *p)
{
	tasklet_setup(&p->sender, send_probes);
	INIT_WORK(&p->search, search_route);
}

/* The search takes no lock that its caller may hold, as RTNL. */
void probe_sender_end(struct sojourn_probes *p)
{
	u32 i;

	spin_lock_bh(&p->lock);
	p->dying = true;
	spin_unlock_bh(&p->lock);
	tasklet_kill(&p->sender);
	cancel_work_sync(&p->search);
	for (i = 0; i < PROBE_ROUTES; i++)
		dst_release(p->routes[i].dst);
}

int probe_senders_start(void)
{
	/* Of any processor, and fair among queues: a search takes as long as a namespace's
	 * addresses make it. */
	searches = alloc_workqueue("sojourn_probes", WQ_UNBOUND, 0);
	return searches ? 0 : -ENOMEM;
}

void probe_senders_stop(void)
{
	destroy_workqueue(searches);
}
