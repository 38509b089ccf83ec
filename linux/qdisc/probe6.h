/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * probe6.h: the parts of a kernel's IPv6 that probes need. A kernel may have none.
 */
#ifndef SOJOURN_PROBE6_H
#define SOJOURN_PROBE6_H

#include "answer.h"

#if IS_ENABLED(CONFIG_IPV6)

/* The ends of a probe behind this packet with this header; false: not known, or no answer
 * could be received. Does not sleep. */
bool probe6_ends(const struct sk_buff *asking, const struct ipv6hdr *ip,
                 struct probe_ends *ends);
/* Send the packet, an IPv6 header and its payload, by this device; 0: any. */
void probe6_send(struct net *net, struct sk_buff *skb, const struct probe_ends *ends, int dev);
void probe6_start(void);
void probe6_stop(void);

#else

static inline bool probe6_ends(const struct sk_buff *asking, const struct ipv6hdr *ip,
                               struct probe_ends *ends)
{
	return false;
}

static inline void probe6_send(struct net *net, struct sk_buff *skb,
                               const struct probe_ends *ends, int dev)
{
	kfree_skb(skb);
}

static inline void probe6_start(void)
{
}

static inline void probe6_stop(void)
{
}

#endif

#endif
