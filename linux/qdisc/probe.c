// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// probe.c: sends probes and receives their answers, see probe.h.
//
// A nonce is 12 bits for a slot in the table of its queue, 20 for the queue, 31 of a keyed
// hash, and the bit that marks an answer. An answer counts when slot, nonce, its sender and
// its receiver are those of a probe in flight; the first clears the slot. An answer that
// is forged, late or repeated changes nothing.
//
// Nothing here takes the lock of a queue. An answer waits in a short ring until the queue's
// next event, which passes it on with its time of arrival.

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
#include "ip_header.h"
#include "probe.h"
#include "probe6.h"

#define SLOTS      4096
#define ANSWERS    16
#define ID_BITS    20
#define ID_SHIFT   12
#define HASH_SHIFT 32

struct slot {
	u64 nonce; /* 0: free */
	u64 sent_ns;
	struct probe_ends ends;
	u32 inst;
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

/* ---- probes out ---- */

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

static u64 remember(struct sojourn_probes *p, u64 now, u32 inst, const struct probe_ends *ends)
{
	u64 nonce;
	struct slot *slot;

	spin_lock(&p->lock);
	nonce = next_nonce(p);
	slot = &p->slots[nonce % SLOTS];
	p->counts.forgotten += slot->nonce != 0;
	*slot = (struct slot){nonce, now, *ends, inst};
	spin_unlock(&p->lock);
	return nonce;
}

static __be32 next_hop(const struct sk_buff *asking, const struct iphdr *ip)
{
	const struct dst_entry *dst = skb_dst(asking);

	/* Without a route, as in a bridge, only the user knows the far end. */
	if (!dst || dst->ops->family != AF_INET)
		return 0;
	return rt_nexthop(skb_rtable(asking), ip->daddr);
}

static bool probe4_ends(const struct sk_buff *asking, const struct iphdr *ip, __be32 to,
                        struct probe_ends *ends)
{
	__be32 from;

	to = to ?: next_hop(asking, ip);
	from = to ? inet_select_addr(route_dev(asking), to, RT_SCOPE_LINK) : 0;
	ipv6_addr_set_v4mapped(from, &ends->from);
	ipv6_addr_set_v4mapped(to, &ends->to);
	return from;
}

/* The header in front of IP, VLAN tags included, is that of the packet before it. */
static struct sk_buff *with_link_header(const struct sk_buff *asking, u32 bytes)
{
	struct sk_buff *skb = alloc_skb(PROBE_BYTES_MAX + bytes + NET_SKB_PAD, GFP_ATOMIC);

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

/* Its probe's source and destination; false: unknown. */
static bool find_ends(const struct sk_buff *asking, const struct ip_place *ip, __be32 to,
                      struct probe_ends *ends)
{
	const void *header = asking->data + ip->at;

	if (!ip->bytes || ip->at < 0 || ip->at + ip->bytes > skb_headlen(asking) ||
	    !is_version(ip, header))
		return false;
	if (ip->bytes == sizeof(struct iphdr))
		return probe4_ends(asking, header, to, ends);
	return probe6_ends(asking, header, ends);
}

struct sk_buff *sojourn_probe_make(struct sojourn_probes *p, struct sk_buff *asking, __be32 to,
                                   u64 now, u32 inst)
{
	struct ip_place ip = find_ip(asking);
	struct probe_ends ends;
	struct sk_buff *skb;

	if (!find_ends(asking, &ip, to, &ends))
		goto unmade;
	skb = with_link_header(asking, ip.at);
	if (!skb)
		goto unmade;
	probe_put_ip(skb, &ends, read_ds(asking) & ~INET_ECN_MASK,
	             remember(p, now, inst, &ends));
	skb->destructor = probe_destructor;
	return skb;
unmade:
	p->counts.unmade++;
	return NULL;
}

/* ---- answers in ---- */

static void keep_answer(struct sojourn_probes *p, const struct sojourn_answer *answer)
{
	if (p->held == ANSWERS) {
		p->counts.unheard++;
		return;
	}
	p->answers[(p->first + p->held) % ANSWERS] = *answer;
	WRITE_ONCE(p->held, p->held + 1);
}

static bool is_answer(const struct probe_ends *answer, const struct probe_ends *probe)
{
	return ipv6_addr_equal(&answer->from, &probe->to) &&
	       ipv6_addr_equal(&answer->to, &probe->from);
}

/* Is a probe with this nonce in flight? A packet between these ends may answer it. */
static bool find_probe(struct net *net, u64 nonce, const struct probe_ends *answer)
{
	u64 now = ktime_get_ns();
	u32 id = nonce >> ID_SHIFT & (BIT(ID_BITS) - 1);
	struct sojourn_probes *p;
	bool found = false;

	hash_for_each_possible_rcu(live, p, node, id) {
		struct slot *slot = &p->slots[nonce % SLOTS];

		if (p->id != id || p->net != net)
			continue;
		spin_lock(&p->lock);
		if (nonce && slot->nonce == nonce) {
			found = true;
			if (answer && is_answer(answer, &slot->ends)) {
				keep_answer(p, &(struct sojourn_answer){
				                       now, now - slot->sent_ns, slot->inst});
				slot->nonce = 0;
			}
		}
		spin_unlock(&p->lock);
	}
	return found;
}

/* In a softirq, under RCU. */
void probe_received(struct sk_buff *skb, struct probe_question *question)
{
	struct net *net = dev_net(skb->dev);
	u64 nonce;

	if (skb->len == sizeof(__be64) && pskb_may_pull(skb, sizeof(__be64))) {
		nonce = be64_to_cpup((__be64 *)skb->data);
		question->nonce = nonce;
		if (nonce & PROBE_ANSWER)
			find_probe(net, nonce & ~PROBE_ANSWER, &question->ends);
		else if (!find_probe(net, nonce, NULL)) /* our own returned probes are none */
			answer_later(net, skb, question);
	}
	consume_skb(skb);
}

static int received(struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);
	struct probe_question question = {.ds = ip->tos};

	ipv6_addr_set_v4mapped(ip->saddr, &question.ends.from);
	ipv6_addr_set_v4mapped(ip->daddr, &question.ends.to);
	probe_received(skb, &question);
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

static const struct net_protocol protocol = {
        .handler = received,
        .no_policy = 1,
};

int sojourn_probes_start(void)
{
	int err = answers_start();

	if (err)
		return err;
	heard = !inet_add_protocol(&protocol, PROBE_PROTOCOL);
	if (heard)
		probe6_start();
	else
		pr_warn("sch_sojourn: IP protocol %d is another's: no probes\n",
		        PROBE_PROTOCOL);
	return 0;
}

void sojourn_probes_stop(void)
{
	/* Waits until no handler is running. */
	if (heard) {
		probe6_stop();
		inet_del_protocol(&protocol, PROBE_PROTOCOL);
	}
	answers_stop();
	/* Memory that kvfree_rcu() has. */
	rcu_barrier();
}
