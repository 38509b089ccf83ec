// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// probe.c: making probes and hearing their answers, see probe.h.
//
// A nonce is 12 bits for a slot in the table of its queue, 20 for the queue, 31 of a keyed
// hash, and the bit that tells an answer. An answer counts when slot, nonce, its sender and
// its receiver are those of a probe under way; the first clears the slot. So an answer that
// is forged, late or repeated changes nothing.
//
// Nothing here takes the lock of a queue. An answer waits in a short ring until the queue's
// next event, which hands it on with the time at which it came.

#include <linux/hashtable.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/protocol.h>
#include <net/route.h>

#include "answer.h"
#include "probe.h"

#define SLOTS      4096
#define ANSWERS    16
#define ID_BITS    20
#define ID_SHIFT   12
#define HASH_SHIFT 32

struct slot {
	u64 nonce; /* 0: free */
	u64 sent_ns;
	u32 inst;
	__be32 from, to;
};

struct sojourn_probes {
	struct hlist_node node;
	struct rcu_head rcu;
	struct net *net;
	u32 id;
	u64 sequence;
	siphash_key_t key;
	spinlock_t lock; /* of slots and answers */
	struct sojourn_answer answers[ANSWERS];
	u32 first, held;
	struct sojourn_probe_counts counts;
	struct slot slots[SLOTS];
};

static DEFINE_HASHTABLE(live, 8);
static DEFINE_SPINLOCK(live_lock);
static u32 next_id;
static bool heard;

bool sojourn_probes_are_heard(void)
{
	return heard;
}

struct sojourn_probes *sojourn_probes_new(struct net *net)
{
	struct sojourn_probes *p = kvzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);

	if (!p)
		return NULL;
	p->net = net;
	spin_lock_init(&p->lock);
	get_random_bytes(&p->key, sizeof(p->key));
	spin_lock_bh(&live_lock);
	p->id = next_id++ & (BIT(ID_BITS) - 1);
	hash_add_rcu(live, &p->node, p->id);
	spin_unlock_bh(&live_lock);
	return p;
}

void sojourn_probes_free(struct sojourn_probes *p)
{
	if (!p)
		return;
	spin_lock_bh(&live_lock);
	hash_del_rcu(&p->node);
	spin_unlock_bh(&live_lock);
	kvfree_rcu(p, rcu);
}

/* ---- asking ---- */

static void probe_destructor(struct sk_buff *skb)
{
}

bool sojourn_is_probe(const struct sk_buff *skb)
{
	return skb->destructor == probe_destructor;
}

void sojourn_probe_leaves(struct sk_buff *skb)
{
	skb->destructor = NULL;
}

static u64 next_nonce(struct sojourn_probes *p)
{
	u64 hash = siphash_1u64(p->sequence, &p->key) << 1 >> 1;
	u64 slot = p->sequence++ % SLOTS;

	return (hash >> HASH_SHIFT << HASH_SHIFT | (u64)p->id << ID_SHIFT | slot) &
	       ~PROBE_ANSWER;
}

static u64 remember(struct sojourn_probes *p, u64 now, u32 inst, __be32 from, __be32 to)
{
	u64 nonce;
	struct slot *slot;

	spin_lock(&p->lock);
	nonce = next_nonce(p);
	slot = &p->slots[nonce % SLOTS];
	p->counts.forgotten += slot->nonce != 0;
	*slot = (struct slot){nonce, now, inst, from, to};
	spin_unlock(&p->lock);
	return nonce;
}

static __be32 next_hop(const struct sk_buff *asking, const struct iphdr *ip)
{
	const struct dst_entry *dst = skb_dst(asking);

	/* Without a route, as in a bridge, nobody knows the far end but the user. */
	if (!dst || dst->ops->family != AF_INET)
		return 0;
	return rt_nexthop(skb_rtable(asking), ip->daddr);
}

/* The header in front of IP, VLAN tags included, is that of the packet that asked. */
static struct sk_buff *with_link_header(const struct sk_buff *asking, u32 bytes)
{
	struct sk_buff *skb = alloc_skb(PROBE_IP_BYTES + bytes + NET_SKB_PAD, GFP_ATOMIC);

	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD);
	skb_reset_mac_header(skb);
	skb_put_data(skb, asking->data, bytes);
	skb_set_network_header(skb, bytes);
	skb->protocol = asking->protocol;
	skb->dev = asking->dev;
	skb->priority = asking->priority;
	__vlan_hwaccel_copy_tag(skb, asking);
	return skb;
}

struct sk_buff *sojourn_probe_make(struct sojourn_probes *p, struct sk_buff *asking, __be32 to,
                                   u64 now, u32 inst)
{
	int bytes = skb_network_offset(asking);
	const struct iphdr *ip = ip_hdr(asking);
	struct sk_buff *skb = NULL;
	__be32 from;

	if (skb_protocol(asking, true) != htons(ETH_P_IP) || bytes < 0 ||
	    bytes + sizeof(*ip) > skb_headlen(asking))
		goto unmade;
	to = to ?: next_hop(asking, ip);
	from = to ? inet_select_addr(asking->dev, to, RT_SCOPE_LINK) : 0;
	if (!from)
		goto unmade;
	skb = with_link_header(asking, bytes);
	if (!skb)
		goto unmade;
	probe_put_ip(skb, from, to, ip->tos & ~INET_ECN_MASK, remember(p, now, inst, from, to));
	ip_send_check(ip_hdr(skb));
	skb->destructor = probe_destructor;
	return skb;
unmade:
	p->counts.unmade++;
	return NULL;
}

/* ---- hearing ---- */

static void keep_answer(struct sojourn_probes *p, const struct sojourn_answer *answer)
{
	if (p->held == ANSWERS) {
		p->counts.unheard++;
		return;
	}
	p->answers[(p->first + p->held) % ANSWERS] = *answer;
	WRITE_ONCE(p->held, p->held + 1);
}

/* An answer, to this address from that one. */
static void hear(struct net *net, u64 nonce, __be32 at, __be32 from)
{
	u64 now = ktime_get_ns();
	u32 id = nonce >> ID_SHIFT & (BIT(ID_BITS) - 1);
	struct sojourn_probes *p;
	struct slot *slot;

	hash_for_each_possible_rcu(live, p, node, id) {
		if (p->id != id || p->net != net)
			continue;
		spin_lock(&p->lock);
		slot = &p->slots[nonce % SLOTS];
		if (slot->nonce == nonce && slot->from == at && slot->to == from) {
			struct sojourn_answer answer = {now, now - slot->sent_ns, slot->inst};

			slot->nonce = 0;
			keep_answer(p, &answer);
		}
		spin_unlock(&p->lock);
	}
}

/* Is it one of our own that has come back as it went? */
static bool is_own(struct net *net, u64 nonce, __be32 from)
{
	u32 id = nonce >> ID_SHIFT & (BIT(ID_BITS) - 1);
	struct sojourn_probes *p;
	bool own = false;

	hash_for_each_possible_rcu(live, p, node, id) {
		if (p->id != id || p->net != net)
			continue;
		spin_lock(&p->lock);
		own |= p->slots[nonce % SLOTS].nonce == nonce &&
		       p->slots[nonce % SLOTS].from == from;
		spin_unlock(&p->lock);
	}
	return own;
}

/* Called in a softirq, under RCU. */
static int probe_received(struct sk_buff *skb)
{
	struct net *net = dev_net(skb->dev);
	const struct iphdr *ip = ip_hdr(skb);
	u64 nonce;

	if (skb->len == sizeof(__be64) && pskb_may_pull(skb, sizeof(__be64))) {
		ip = ip_hdr(skb);
		nonce = be64_to_cpup((__be64 *)skb->data);
		if (nonce & PROBE_ANSWER)
			hear(net, nonce & ~PROBE_ANSWER, ip->daddr, ip->saddr);
		else if (!is_own(net, nonce, ip->saddr))
			answer_later(net, skb, nonce);
	}
	consume_skb(skb);
	return 0;
}

bool sojourn_probes_hear(struct sojourn_probes *p, struct sojourn_answer *answer)
{
	if (!READ_ONCE(p->held))
		return false;
	spin_lock(&p->lock);
	*answer = p->answers[p->first];
	p->first = (p->first + 1) % ANSWERS;
	WRITE_ONCE(p->held, p->held - 1);
	spin_unlock(&p->lock);
	return true;
}

void sojourn_probes_forget(struct sojourn_probes *p)
{
	spin_lock_bh(&p->lock);
	memset(p->slots, 0, sizeof(p->slots));
	WRITE_ONCE(p->held, 0);
	spin_unlock_bh(&p->lock);
}

const struct sojourn_probe_counts *sojourn_probes_counts(const struct sojourn_probes *p)
{
	return &p->counts;
}

/* ---- the protocol ---- */

static const struct net_protocol probe_protocol = {
        .handler = probe_received,
        .no_policy = 1,
};

int sojourn_probes_start(void)
{
	int err = answers_start();

	if (err)
		return err;
	heard = !inet_add_protocol(&probe_protocol, PROBE_PROTOCOL);
	if (!heard)
		pr_warn("sch_sojourn: IP protocol %d is another's: no probes\n",
		        PROBE_PROTOCOL);
	return 0;
}

void sojourn_probes_stop(void)
{
	/* Waits for those who are in the handler. */
	if (heard)
		inet_del_protocol(&probe_protocol, PROBE_PROTOCOL);
	answers_stop();
	/* Memory that kvfree_rcu() has. */
	rcu_barrier();
}
