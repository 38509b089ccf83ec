// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// probe.c: the book of a queue's probes, see probe.h and probe_book.h.
//
// A nonce has 12 bits for a slot in the table of its queue, 4 random ones and 16 for the queue.
// An experimental one has 30 further random ones, the bit that an echo's lacks, and the bit
// that marks an answer. An answer counts when slot, nonce and sender are those of a probe that
// has joined the queue, and for a next hop its device too; the first clears the slot. An answer
// that is forged, late or repeated changes nothing. Answers wait in a ring until the queue's
// next event, which passes them on with their times of arrival.

#include <linux/if_bridge.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/dst_metadata.h>
#include <net/inet_ecn.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/pkt_sched.h>
#include <net/route.h>
#include <net/sock.h>

#include "hear.h"
#include "ip_header.h"
#include "keep.h"
#include "probe_book.h"
#include "probe_wire.h"

/* An older one may have the link header of a neighbour that is gone. */
#define PARKED_NS_MAX NSEC_PER_SEC
/* Between two attempts to have the first ones parked; with the default ratio they serve the
 * first flight of a TCP connection. */
#define PRIME_NS (100 * NSEC_PER_MSEC)
#define PRIMES   4
/* A later answer tells nothing of the link as it is. The law bounds a round trip to as much. */
#define ANSWER_NS_MAX (60ull * NSEC_PER_SEC)

size_t sojourn_probes_bytes(void)
{
	return sizeof(struct sojourn_probes);
}

/* Its packets are known by it; it hears nothing: unhashed, no packet is given to it. */
static int open_owner(struct sojourn_probes *p)
{
	int family = ipv6_mod_enabled() ? AF_INET6 : AF_INET;
	int err = sock_create_kern(p->net, family, SOCK_RAW, IPPROTO_RAW, &p->owner);

	if (!err)
		p->owner->sk->sk_prot->unhash(p->owner->sk);
	return err;
}

struct sojourn_probes *sojourn_probes_new(struct Qdisc *sch)
{
	struct sojourn_probes *p = kvzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	int err;

	BUILD_BUG_ON(sizeof(struct probe_key) != 36);
	if (!p)
		return ERR_PTR(-ENOMEM);
	p->net = dev_net(qdisc_dev(sch));
	p->sch = sch;
	p->sequence = get_random_u16();
	get_random_bytes(&p->secret, sizeof(p->secret));
	spin_lock_init(&p->lock);
	probe_sender_init(p);
	err = open_owner(p);
	if (err)
		goto no_owner;
	err = hear_for(p);
	if (err)
		goto no_hearing;
	keep_routes(qdisc_dev(sch));
	return p;
no_hearing:
	sock_release(p->owner);
no_owner:
	kvfree(p);
	return ERR_PTR(err);
}

static void free_parked(struct sojourn_probes *p)
{
	while (p->parks)
		kfree_skb(p->parked[--p->parks].skb);
}

void sojourn_probes_free(struct sojourn_probes *p)
{
	if (!p)
		return;
	hear_no_more(p);
	probe_sender_end(p);
	free_parked(p);
	sock_release(p->owner);
	kvfree_rcu(p, rcu);
}

/* ---- which probe a packet asks for ---- */

int sojourn_check_responders(const struct sojourn_conf *conf, struct netlink_ext_ack *extack)
{
	__be32 to = htonl(conf->responder);
	struct in6_addr to6;

	memcpy(&to6, conf->responder6, sizeof(to6));
	if (ipv4_is_multicast(to) || ipv4_is_lbcast(to) || ipv4_is_loopback(to) ||
	    (!ipv6_addr_any(&to6) &&
	     (!(ipv6_addr_type(&to6) & IPV6_ADDR_UNICAST) ||
	      ipv6_addr_type(&to6) & (IPV6_ADDR_LOOPBACK | IPV6_ADDR_MAPPED)))) {
		NL_SET_ERR_MSG(extack, "responder: not the address of one other host");
		return -EADDRNOTAVAIL;
	}
	if (!ipv6_addr_any(&to6) && !ipv6_mod_enabled()) {
		NL_SET_ERR_MSG(extack, "responder: this kernel has no IPv6");
		return -EAFNOSUPPORT;
	}
	return 0;
}

static const u8 *ip_header_of(const struct sk_buff *skb, const struct ip_place *ip)
{
	const u8 *header = skb->data + ip->at;

	if (!ip->bytes || ip->at < 0 || ip->at + ip->bytes > skb_headlen(skb) ||
	    !is_version(ip, header))
		return NULL;
	return header;
}

static u8 echo_of(bool ipv4)
{
	return ipv4 ? IPPROTO_ICMP : IPPROTO_ICMPV6;
}

bool sojourn_probe_may_ask(const struct sk_buff *skb)
{
	struct ip_place ip = find_ip(skb);
	const u8 *header = ip_header_of(skb, &ip);
	u8 protocol = header ? ip_protocol(&ip, header) : 0;

	return !header || (protocol != echo_of(ip.bytes == sizeof(struct iphdr)) &&
	                   protocol != PROBE_PROTOCOL);
}

/* On a link with two ends the far one needs no address, and none may be known here. */
static bool has_neighbours(const struct net_device *dev)
{
	return !(dev->flags & IFF_POINTOPOINT) &&
	       (dev->type == ARPHRD_ETHER || !(dev->flags & IFF_NOARP));
}

/* A tunnel without a far end of its own finds it by the packet's route, which a parked probe
 * has no more. */
static bool wants_route(const struct net_device *dev)
{
	return !dev->header_ops && dev->flags & IFF_NOARP && !(dev->flags & IFF_POINTOPOINT);
}

/* A gateway, or a neighbour. */
static bool next_hop4(const struct dst_entry *dst, const struct iphdr *ip, struct in6_addr *to)
{
	const struct rtable *rt = container_of(dst, struct rtable, dst);

	if (rt->rt_type != RTN_UNICAST)
		return false;
	if (rt->rt_gw_family == AF_INET6) {
		*to = rt->rt_gw6;
		return true;
	}
	/* The kernel notes a learned MTU with the destination in the gateway's place. */
	if (!rt->rt_uses_gateway && !has_neighbours(dst->dev))
		return false;
	ipv6_addr_set_v4mapped(rt_nexthop(rt, ip->daddr), to);
	return true;
}

static bool next_hop6(const struct dst_entry *dst, const struct ipv6hdr *ip,
                      struct in6_addr *to)
{
	const struct rt6_info *rt = container_of(dst, struct rt6_info, dst);

	if (!(rt->rt6i_flags & RTF_GATEWAY) && !has_neighbours(dst->dev))
		return false;
	*to = *rt6_nexthop(rt, &ip->daddr);
	return ipv6_addr_type(to) & IPV6_ADDR_UNICAST;
}

static bool find_target(struct probe_key *key, const struct dst_entry *dst,
                        const struct ip_place *ip, const void *header,
                        const struct sojourn_conf *conf)
{
	bool ipv4 = ip->bytes == sizeof(struct iphdr);

	if (ipv4 && conf->responder) {
		ipv6_addr_set_v4mapped(htonl(conf->responder), &key->to);
		return true;
	}
	memcpy(&key->to, conf->responder6, sizeof(key->to));
	if (!ipv4 && !ipv6_addr_any(&key->to))
		return true;
	key->to_hop = 1;
	if (!dst || dst->ops->family != (ipv4 ? AF_INET : AF_INET6))
		return false;
	return ipv4 ? next_hop4(dst, header, &key->to) : next_hop6(dst, header, &key->to);
}

/* The device that chooses the route: a VLAN above this one, or the bridge of a port. It is one
 * of this namespace; the device of a route that was deleted is not. */
static const struct net_device *route_device(const struct sojourn_probes *p,
                                             const struct dst_entry *dst,
                                             const struct sk_buff *asking)
{
	const struct net_device *dev = dst ? dst->dev : asking->dev;

	if (netif_is_bridge_port(dev))
		dev = netdev_master_upper_dev_get_rcu((struct net_device *)dev);
	return dev && dev != blackhole_netdev && net_eq(dev_net(dev), p->net) ? dev : NULL;
}

static bool find_key(const struct sojourn_probes *p, const struct sk_buff *asking,
                     const struct sojourn_conf *conf, struct probe_key *key)
{
	/* A tunnel's metadata is no route. */
	const struct dst_entry *dst = skb_valid_dst(asking) ? skb_dst(asking) : NULL;
	const struct net_device *dev = route_device(p, dst, asking);
	struct ip_place ip = find_ip(asking);
	const u8 *header = ip_header_of(asking, &ip);

	if (!dev || !header || wants_route(dev) || !find_target(key, dst, &ip, header, conf))
		return false;
	key->mark = asking->mark;
	key->priority = sojourn_class_at_root(p->sch) ?: asking->priority;
	key->dev = dev->ifindex;
	key->tx_queue = skb_get_queue_mapping(asking);
	key->ds = read_ds(asking) & ~INET_ECN_MASK;
	key->protocol = echo_of(ipv6_addr_v4mapped(&key->to));
	if (conf->probe == SOJOURN_EXPERIMENTAL)
		key->protocol = PROBE_PROTOCOL;
	return true;
}

/* ---- asking, parking, joining ---- */

static u32 hash_of(const struct sojourn_probes *p, const void *data, size_t bytes)
{
	return siphash(data, bytes, &p->secret);
}

static struct probe_slot *slot_of(struct sojourn_probes *p, u64 nonce)
{
	return &p->slots[nonce % PROBE_SLOTS];
}

static bool is_of(const struct sojourn_probes *p, const struct probe_slot *slot, u64 nonce)
{
	return slot->state != SLOT_FREE && slot->epoch == p->epoch && slot->nonce == nonce;
}

/* Under the lock. */
static void joins(struct sojourn_probes *p, struct probe_slot *slot, u64 now,
                  const struct probe_place *place, u64 waited_ns)
{
	slot->state = SLOT_JOINED;
	slot->at_ns = now;
	slot->inst = place->inst;
	slot->lane = place->lane;
	p->counts.waited_ns += waited_ns;
	p->counts.waited_max_ns = max(p->counts.waited_max_ns, waited_ns);
}

/* The oldest are first. */
static struct sk_buff *unpark(struct sojourn_probes *p, u32 i)
{
	struct sk_buff *skb = p->parked[i].skb;

	memmove(p->parked + i, p->parked + i + 1, (--p->parks - i) * sizeof(p->parked[0]));
	return skb;
}

/* The oldest fresh one with this key. */
static struct sk_buff *take_parked(struct sojourn_probes *p, u32 key, u64 now, u32 *nonce)
{
	u32 i;

	while (p->parks && now - p->parked[0].at_ns >= PARKED_NS_MAX)
		kfree_skb(unpark(p, 0));
	for (i = 0; i < p->parks; i++) {
		*nonce = p->parked[i].nonce;
		if (p->parked[i].key == key)
			return unpark(p, i);
	}
	return NULL;
}

/* A parked probe joins behind the packet that asks. Its slot may have gone to a later one. */
static bool join_parked(struct sojourn_probes *p, u32 nonce, u64 now,
                        const struct probe_place *place)
{
	struct probe_slot *slot = slot_of(p, nonce);
	bool known = slot->state == SLOT_PARKED && slot->epoch == p->epoch &&
	             (u32)slot->nonce == nonce;

	if (known) {
		p->counts.ready++;
		joins(p, slot, now, place, 0);
	}
	return known;
}

static void want(struct sojourn_probes *p, const struct probe_ask *ask)
{
	if (p->asks_held < PROBE_ASKS)
		p->asks[(p->first_ask + p->asks_held++) % PROBE_ASKS] = *ask;
	else if (!ask->park)
		p->counts.unmade++;
}

struct sk_buff *sojourn_probe_ask(struct sojourn_probes *p, const struct sk_buff *asking,
                                  const struct sojourn_conf *conf, u64 now,
                                  struct probe_place place)
{
	struct probe_ask ask = {.at_ns = now, .place = place, .priority = asking->priority};
	struct sk_buff *skb = NULL;
	bool possible;
	u32 nonce;

	rcu_read_lock();
	possible = find_key(p, asking, conf, &ask.key);
	rcu_read_unlock();
	if (possible)
		skb = take_parked(p, hash_of(p, &ask.key, sizeof(ask.key)), now, &nonce);
	spin_lock(&p->lock);
	p->counts.asked++;
	p->counts.unmade += !possible;
	if (skb && !join_parked(p, nonce, now, &place)) {
		kfree_skb(skb);
		skb = NULL;
	}
	if (possible) {
		ask.epoch = p->epoch;
		if (!skb)
			want(p, &ask);
		ask.park = true;
		want(p, &ask);
		tasklet_schedule(&p->sender);
	}
	spin_unlock(&p->lock);
	if (skb)
		skb->priority = asking->priority;
	return skb;
}

/* The route of a packet from a device of another namespace would outlive that namespace in a
 * queue; what remains of a deleted device's does not tell whose it was. */
void sojourn_probes_drop_route(const struct sojourn_probes *p, struct sk_buff *skb)
{
	const struct net_device *dev;

	if (!skb_valid_dst(skb))
		return;
	rcu_read_lock();
	dev = skb_dst(skb)->dev;
	if (dev == blackhole_netdev || !net_eq(dev_net(dev), p->net))
		skb_dst_drop(skb);
	rcu_read_unlock();
}

/* Without it the first probe of a burst would begin when a route is found, behind the burst,
 * and the least round trip would be that of a queue already full. */
void sojourn_probe_prime(struct sojourn_probes *p, const struct sk_buff *coming,
                         const struct sojourn_conf *conf, u64 now)
{
	struct probe_ask ask = {.at_ns = now, .park = true};
	u32 i;

	if (p->parks && now - p->parked[p->parks - 1].at_ns < PARKED_NS_MAX)
		return;
	if (now - p->primed_ns < PRIME_NS || !sojourn_probe_may_ask(coming))
		return;
	p->primed_ns = now;
	rcu_read_lock();
	if (find_key(p, coming, conf, &ask.key)) {
		spin_lock(&p->lock);
		ask.epoch = p->epoch;
		for (i = 0; i < PRIMES; i++)
			want(p, &ask);
		tasklet_schedule(&p->sender);
		spin_unlock(&p->lock);
	}
	rcu_read_unlock();
}

bool probe_next_ask(struct sojourn_probes *p, struct probe_ask *ask)
{
	bool some;

	spin_lock_bh(&p->lock);
	some = p->asks_held;
	if (some) {
		*ask = p->asks[p->first_ask];
		p->first_ask = (p->first_ask + 1) % PROBE_ASKS;
		p->asks_held--;
	}
	spin_unlock_bh(&p->lock);
	return some;
}

void probe_unmade(struct sojourn_probes *p, const struct probe_ask *ask)
{
	spin_lock_bh(&p->lock);
	p->counts.unmade += !ask->park;
	spin_unlock_bh(&p->lock);
}

bool probe_may_go(struct sojourn_probes *p)
{
	bool may;

	spin_lock_bh(&p->lock);
	may = p->away < PROBE_AWAY || ktime_get_ns() - p->sent_ns >= PRIME_NS;
	spin_unlock_bh(&p->lock);
	return may;
}

/* A later probe takes the slot. */
static void count_lost(struct sojourn_probes *p, const struct probe_slot *slot)
{
	if (slot->epoch != p->epoch)
		return;
	p->counts.forgotten += slot->state == SLOT_JOINED;
	p->counts.strayed += slot->state == SLOT_SENT;
}

u64 probe_enter(struct sojourn_probes *p, const struct probe_ask *ask)
{
	u16 random = get_random_u16();
	struct probe_slot *slot;
	u64 nonce;

	spin_lock_bh(&p->lock);
	p->away++;
	p->sent_ns = ktime_get_ns();
	nonce = (u32)p->id << 16 | (random & ~(PROBE_SLOTS - 1)) | p->sequence++ % PROBE_SLOTS;
	if (ask->key.protocol == PROBE_PROTOCOL)
		nonce |= ((u64)get_random_u32() << 32 | PROBE_WIDE) & ~PROBE_ANSWER;
	slot = slot_of(p, nonce);
	count_lost(p, slot);
	*slot = (struct probe_slot){
	        .nonce = nonce,
	        .at_ns = ask->at_ns,
	        .to = hash_of(p, &ask->key.to, sizeof(ask->key.to)),
	        .dev = ask->key.to_hop ? ask->key.dev : 0,
	        .epoch = ask->epoch,
	        .key = hash_of(p, &ask->key, sizeof(ask->key)),
	        .inst = ask->place.inst,
	        .lane = ask->place.lane,
	        .state = SLOT_SENT,
	        .park = ask->park,
	        .priority = ask->priority,
	};
	spin_unlock_bh(&p->lock);
	return nonce;
}

bool sojourn_is_probe(const struct sojourn_probes *p, const struct sk_buff *skb)
{
	return skb->sk == p->owner->sk;
}

/* It may lie there for long, and holds nothing then: no route, no connection, no state of
 * IPsec. The oldest makes room. */
static void park(struct sojourn_probes *p, struct sk_buff *skb, u64 now, u32 nonce, u32 key)
{
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb_ext_reset(skb);
	if (p->parks == PROBE_PARKED_MAX)
		kfree_skb(unpark(p, 0));
	p->parked[p->parks++] = (struct probe_parked){skb, now, key, nonce};
}

enum probe_fate sojourn_probe_comes(struct sojourn_probes *p, struct sk_buff *skb, u64 now,
                                    struct probe_place *place)
{
	enum probe_fate fate = PROBE_STALE;
	struct probe_slot *slot;
	u32 key = 0, priority = 0;
	u64 nonce;

	if (!probe_read(skb, &nonce))
		return PROBE_STALE;
	spin_lock(&p->lock);
	p->away = 0;
	slot = slot_of(p, nonce);
	if (is_of(p, slot, nonce) && slot->state == SLOT_SENT) {
		fate = slot->park ? PROBE_PARKED : PROBE_JOINS;
		*place = (struct probe_place){slot->inst, slot->lane};
		key = slot->key;
		if (slot->park)
			slot->state = SLOT_PARKED;
		else
			joins(p, slot, now, place, now - slot->at_ns);
		priority = slot->priority;
	} else if (slot->state != SLOT_FREE && slot->nonce == nonce) {
		/* Of a reset queue, or a copy. What another one or an answer has taken the slot
		 * from was counted then. */
		p->counts.strayed++;
	}
	spin_unlock(&p->lock);
	if (fate == PROBE_JOINS)
		skb->priority = priority;
	if (fate == PROBE_PARKED)
		park(p, skb, now, (u32)nonce, key);
	return fate;
}

/* Nothing of ours stays in lower queues or drivers. */
void sojourn_probe_leaves(struct sojourn_probes *p, struct sk_buff *skb)
{
	p->counts.left_bytes += qdisc_pkt_len(skb);
	skb_orphan(skb);
}

/* ---- answers ---- */

static void keep_answer(struct sojourn_probes *p, const struct probe_slot *slot, u64 now)
{
	if (now - slot->at_ns > ANSWER_NS_MAX) {
		p->counts.forgotten++;
		return;
	}
	if (p->answers_held == PROBE_ANSWERS) {
		p->counts.unheard++;
		return;
	}
	p->answers[(p->first_answer + p->answers_held) % PROBE_ANSWERS] =
	        (struct sojourn_answer){now, now - slot->at_ns, slot->inst};
	WRITE_ONCE(p->answers_held, p->answers_held + 1);
}

static bool is_from(const struct sojourn_probes *p, const struct probe_slot *slot,
                    const struct in6_addr *from, const int dev[2])
{
	if (slot->to != hash_of(p, from, sizeof(*from)))
		return false;
	return !slot->dev || slot->dev == dev[0] || slot->dev == dev[1];
}

void probe_answered(struct sojourn_probes *p, u64 nonce, const struct in6_addr *from,
                    const int dev[2])
{
	struct probe_slot *slot = slot_of(p, nonce);
	u64 now = ktime_get_ns();

	/* A stranger's packet takes no lock. */
	if (READ_ONCE(slot->nonce) != nonce)
		return;
	spin_lock(&p->lock);
	if (is_of(p, slot, nonce) && is_from(p, slot, from, dev)) {
		if (slot->state == SLOT_JOINED)
			keep_answer(p, slot, now);
		p->counts.strayed += slot->state == SLOT_SENT;
		/* The answer to a parked probe is none of this machine's. */
		if (slot->state != SLOT_PARKED)
			slot->state = SLOT_FREE;
	}
	spin_unlock(&p->lock);
}

bool sojourn_probes_hear(struct sojourn_probes *p, struct sojourn_answer *answer)
{
	if (!READ_ONCE(p->answers_held))
		return false;
	spin_lock(&p->lock);
	*answer = p->answers[p->first_answer];
	p->first_answer = (p->first_answer + 1) % PROBE_ANSWERS;
	WRITE_ONCE(p->answers_held, p->answers_held - 1);
	spin_unlock(&p->lock);
	return true;
}

void sojourn_probes_forget(struct sojourn_probes *p)
{
	spin_lock_bh(&p->lock);
	p->epoch++;
	p->asks_held = 0;
	WRITE_ONCE(p->answers_held, 0);
	spin_unlock_bh(&p->lock);
	free_parked(p);
}

struct sojourn_probe_counts sojourn_probes_counts(struct sojourn_probes *p)
{
	struct sojourn_probe_counts counts;

	spin_lock_bh(&p->lock);
	counts = p->counts;
	spin_unlock_bh(&p->lock);
	return counts;
}
