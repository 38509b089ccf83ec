/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * probe.h: the probes of a queue's algorithm, on a wire.
 *
 * The queue only asks. The kernel's own IP output makes a probe, so its route, source address,
 * VRF and neighbour are chosen there, without the root lock. A socket of the queue owns
 * the probe, and by that socket the queue knows it when it comes. The queue then parks it: the
 * next packet that asks has a probe right behind it at once.
 */
#ifndef SOJOURN_PROBE_H
#define SOJOURN_PROBE_H

#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>

#include "sojourn.h"

struct sojourn_probes;

/* A received answer. */
struct sojourn_answer {
	u64 at_ns, rtt_ns;
	u32 inst;
};

/* The fate of probes, beside the queue's own counts. */
struct sojourn_probe_counts {
	u64 unmade;     /* asked, but none could be sent, or too many asks wait already */
	u64 forgotten;  /* not answered before 4096 later ones, or after a minute: refused and
	                 * freed ones too, to which no answer comes */
	u64 unheard;    /* answers lost because no event of the queue took them */
	u64 left_bytes; /* of those that left, with their link headers */
	u64 asked;      /* by packets */
	u64 ready;      /* of these, joined at once */
	u64 strayed;    /* made, to join or to park, but did not come to this queue in time */
	u64 waited_ns;  /* from asking to joining, over all that joined or were refused */
	u64 waited_max_ns; /* its largest */
};

/* What becomes of a probe that comes to its queue. */
enum probe_fate {
	PROBE_JOINS,
	PROBE_PARKED, /* the packet is no longer the caller's */
	PROBE_STALE   /* of an earlier epoch: to be dropped */
};

/* The instance that a probe is for, and the lane that it joins. */
struct probe_place {
	u32 inst;
	u8 lane;
};

/* Of one queue, or an error. Under RTNL. */
struct sojourn_probes *sojourn_probes_new(struct Qdisc *sch);
/* NULL: none. No packet may reach the queue any more. Under RTNL. */
void sojourn_probes_free(struct sojourn_probes *p);
size_t sojourn_probes_bytes(void);

/* An address that no single other host has is a mistake. */
int sojourn_check_responders(const struct sojourn_conf *conf, struct netlink_ext_ack *extack);

/* The class of the root qdisc below which this queue stands; 0: none. A qdisc of HTB's kind
 * takes its number before it asks its filters. */
u32 sojourn_class_at_root(const struct Qdisc *sch);

/* What the senders of all queues share. */
int probe_senders_start(void);
void probe_senders_stop(void);

/* ---- under the root lock: their work is constant ---- */

/* May this packet ask for a probe? One that may be a probe of another queue, its answer or
 * its consequence may not: two queues would cause each other's probes for ever. */
bool sojourn_probe_may_ask(const struct sk_buff *skb);
/* A probe to follow this packet now; NULL: one will come, or none can be sent. */
struct sk_buff *sojourn_probe_ask(struct sojourn_probes *p, const struct sk_buff *asking,
                                  const struct sojourn_conf *conf, u64 now,
                                  struct probe_place place);
/* Drops a route that this queue may not hold. */
void sojourn_probes_drop_route(const struct sojourn_probes *p, struct sk_buff *skb);
/* Where no fresh probe is parked, this packet has some parked for those that will ask. */
void sojourn_probe_prime(struct sojourn_probes *p, const struct sk_buff *coming,
                         const struct sojourn_conf *conf, u64 now);
/* Is it a probe of this queue, on its way to it or in it? */
bool sojourn_is_probe(const struct sojourn_probes *p, const struct sk_buff *skb);
enum probe_fate sojourn_probe_comes(struct sojourn_probes *p, struct sk_buff *skb, u64 now,
                                    struct probe_place *place);
/* It leaves the queue: from here on it is an ordinary packet. */
void sojourn_probe_leaves(struct sojourn_probes *p, struct sk_buff *skb);
/* The next answer, in order of arrival. */
bool sojourn_probes_hear(struct sojourn_probes *p, struct sojourn_answer *answer);
/* All probes under way no longer count: the queue was reset. */
void sojourn_probes_forget(struct sojourn_probes *p);
struct sojourn_probe_counts sojourn_probes_counts(struct sojourn_probes *p);

#endif
