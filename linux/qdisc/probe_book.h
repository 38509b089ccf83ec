/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * probe_book.h: what the parts of a queue's probes share: probe.c keeps the book of them,
 * probe_send.c sends them, hear.c hears their answers.
 */
#ifndef SOJOURN_PROBE_BOOK_H
#define SOJOURN_PROBE_BOOK_H

#include <linux/in6.h>
#include <linux/interrupt.h>
#include <linux/net.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/dst.h>

#include "probe.h"

/* At 500 Mbit/s and with the default ratio, 0.4 s of probes. */
#define PROBE_SLOTS 4096
/* Sent since the last one came to its queue. Beyond it a few go in a second: they may wait in
 * somebody's memory, or go astray. */
#define PROBE_AWAY 256
/* Asked and not sent yet: a segment of 64 kB asks for 43 at once, and for as many to park. */
#define PROBE_ASKS       128
#define PROBE_PARKED_MAX 64
#define PROBE_ANSWERS    64
/* Of the last kinds of packets: next hops, marks, code points. */
#define PROBE_ROUTES 8

/* All that a probe has of the packet that asked. Hashed whole: no holes. */
struct probe_key {
	struct in6_addr to; /* IPv4-mapped for IPv4 */
	u32 mark, priority;
	int dev; /* through which it leaves */
	u16 tx_queue;
	u8 ds, protocol;
	u32 to_hop; /* 1: to the next hop, on the link */
};

struct probe_ask {
	struct probe_key key;
	u64 at_ns;
	struct probe_place place;
	u32 priority; /* of the packet that asked */
	u16 epoch;
	bool park;
};

/* The route of a kind of packets; without `dst` there was none, until then. */
struct probe_route {
	struct probe_key key;
	struct in6_addr from;
	struct dst_entry *dst;
	u32 cookie;
	unsigned long until; /* in jiffies */
	bool known;
};

enum slot_state { SLOT_FREE, SLOT_SENT, SLOT_PARKED, SLOT_JOINED };

/* A probe under way. */
struct probe_slot {
	u64 nonce;
	u64 at_ns; /* when it was asked for; once it joined, when it did */
	u32 inst;
	u32 key;      /* hash of its key */
	u32 to;       /* hash of the address that answers */
	int dev;      /* by which the answer comes; 0: by any */
	u32 priority; /* of the packet that asked */
	u16 epoch;
	u8 lane;
	u8 state : 2, park : 1;
};

struct probe_parked {
	struct sk_buff *skb;
	u64 at_ns;
	u32 key, nonce;
};

struct sojourn_probes {
	struct rcu_head rcu;
	struct net *net;
	struct Qdisc *sch;
	struct socket *owner;
	u16 id;
	siphash_key_t secret;
	/* Under the root lock. */
	struct probe_parked parked[PROBE_PARKED_MAX];
	u32 parks;
	u64 primed_ns;
	/* Of the sender alone: its tasklet, or while `searching` its work item. */
	struct tasklet_struct sender;
	struct work_struct search;
	struct probe_ask ask; /* that is being sent */
	bool has_ask;
	struct probe_route routes[PROBE_ROUTES];
	u32 next_route;

	spinlock_t lock; /* of all below but counts.left_bytes, the root lock's */
	bool dying, searching;
	struct probe_ask asks[PROBE_ASKS];
	u32 first_ask, asks_held;
	struct sojourn_answer answers[PROBE_ANSWERS];
	u32 first_answer, answers_held;
	u16 epoch, sequence;
	u32 away;
	u64 sent_ns; /* the last one */
	struct sojourn_probe_counts counts;
	struct probe_slot slots[PROBE_SLOTS];
};

/* ---- probe.c ---- */

/* The next probe that is asked for. */
bool probe_next_ask(struct sojourn_probes *p, struct probe_ask *ask);
/* May another one be sent? */
bool probe_may_go(struct sojourn_probes *p);
/* No probe can be sent for it. */
void probe_unmade(struct sojourn_probes *p, const struct probe_ask *ask);
/* Enters a probe that is about to be sent; its nonce. */
u64 probe_enter(struct sojourn_probes *p, const struct probe_ask *ask);
/* An answer that came by one of these devices. In a softirq, under RCU. */
void probe_answered(struct sojourn_probes *p, u64 nonce, const struct in6_addr *from,
                    const int dev[2]);

/* ---- probe_send.c ---- */

void probe_sender_init(struct sojourn_probes *p);
void probe_sender_end(struct sojourn_probes *p);

#endif
