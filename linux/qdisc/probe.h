/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * probe.h: the probes that a queue's algorithm asks for, on a wire.
 *
 * A probe is a packet of 28 bytes with IPv4 or 48 with IPv6, as the packet that asked,
 * protocol 253 (for experiments, RFC 3692), Not-ECT, whose payload is a nonce of 64 bits. It
 * goes to the next hop of the packet that asked, or with IPv4 to the address of the row
 * `responder`. Who answers sends the nonce back with its highest bit set.
 */
#ifndef SOJOURN_PROBE_H
#define SOJOURN_PROBE_H

#include <linux/skbuff.h>
#include <net/net_namespace.h>

struct sojourn_probes;

/* An answer that has come. */
struct sojourn_answer {
	u64 at_ns, rtt_ns;
	u32 inst;
};

/* What became of the probes, beside what the queue counts. */
struct sojourn_probe_counts {
	u64 unmade;    /* no memory, no address, or no IP */
	u64 forgotten; /* not answered within the 4096 that followed */
	u64 unheard;   /* answers that no event of the queue came to take */
};

/* False where another module has the protocol's number. */
bool sojourn_probes_are_heard(void);

/* Of one queue; NULL: no memory. */
struct sojourn_probes *sojourn_probes_new(struct net *net);
/* Freed when nobody can look at them any more; NULL: none. */
void sojourn_probes_free(struct sojourn_probes *p);

/* The probe that this packet wants behind it, or NULL. `to`, of IPv4: 0 is the next hop. */
struct sk_buff *sojourn_probe_make(struct sojourn_probes *p, struct sk_buff *asking, __be32 to,
                                   u64 now, u32 inst);
/* As long as the queue that made it holds it. */
bool sojourn_is_probe(const struct sk_buff *skb);
/* It leaves the queue: to everybody else it is a packet as any. */
void sojourn_probe_leaves(struct sk_buff *skb);

/* The next answer, in order of arrival. */
bool sojourn_probes_hear(struct sojourn_probes *p, struct sojourn_answer *answer);
/* What is under way will not be answered: the queue was reset. */
void sojourn_probes_forget(struct sojourn_probes *p);
const struct sojourn_probe_counts *sojourn_probes_counts(const struct sojourn_probes *p);

/* One queue more (1) or less (-1) of this namespace lets probes of others be answered. */
void sojourn_respond(struct net *net, int change);

int sojourn_probes_start(void);
void sojourn_probes_stop(void);

#endif
