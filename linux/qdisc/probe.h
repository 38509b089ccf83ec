/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * probe.h: the probes of a queue's algorithm, on a wire.
 *
 * A probe is a packet of 28 bytes with IPv4 or 48 with IPv6, as the packet before it,
 * protocol 253 (for experiments, RFC 3692), Not-ECT, whose payload is a nonce of 64 bits. It
 * goes to the next hop of the packet before it, or with IPv4 to the address of the row
 * `responder`. The responder returns the nonce with its highest bit set.
 */
#ifndef SOJOURN_PROBE_H
#define SOJOURN_PROBE_H

#include <linux/skbuff.h>
#include <net/net_namespace.h>

struct sojourn_probes;

/* A received answer. */
struct sojourn_answer {
	u64 at_ns, rtt_ns;
	u32 inst;
};

/* The fate of probes, beside the queue's own counts. */
struct sojourn_probe_counts {
	u64 unmade;    /* no memory, no address, or no IP */
	u64 forgotten; /* not answered within the 4096 that followed */
	u64 unheard;   /* answers lost because no event of the queue took them */
};

/* False where another module has the protocol's number. */
bool sojourn_probes_are_heard(void);

/* Of one queue; NULL: no memory. */
struct sojourn_probes *sojourn_probes_new(struct net *net);
/* Freed after the last reader is done; NULL: none. */
void sojourn_probes_free(struct sojourn_probes *p);

/* The probe to follow this packet, or NULL. `to`, of IPv4: 0 is the next hop. */
struct sk_buff *sojourn_probe_make(struct sojourn_probes *p, struct sk_buff *asking, __be32 to,
                                   u64 now, u32 inst);
/* As long as the queue that made it holds it. */
bool sojourn_is_probe(const struct sk_buff *skb);
/* It leaves the queue: from here on it is an ordinary packet. */
void sojourn_probe_leaves(struct sk_buff *skb);

/* The next answer, in order of arrival. */
bool sojourn_probes_hear(struct sojourn_probes *p, struct sojourn_answer *answer);
/* Answers to probes in flight no longer count: the queue was reset. */
void sojourn_probes_forget(struct sojourn_probes *p);
const struct sojourn_probe_counts *sojourn_probes_counts(const struct sojourn_probes *p);

/* One more (1) or one less (-1) queue of this namespace has `respond`. */
void sojourn_respond(struct net *net, int change);

int sojourn_probes_start(void);
void sojourn_probes_stop(void);

#endif
