/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * probe6.h: all that refers to symbols of the kernel's IPv6. A kernel without it has none, and
 * there ipv6_mod_enabled() is a constant: the compiler drops the calls behind it.
 */
#ifndef SOJOURN_PROBE6_H
#define SOJOURN_PROBE6_H

#include <linux/ipv6.h>

#include "probe_book.h"

/* The route of found->key, its source and cookie; NULL: there is none. */
struct dst_entry *probe6_search(struct net *net, struct sock *sk, struct probe_route *found);
void probe6_output(struct net *net, struct sock *sk, struct sk_buff *skb);
/* The route of an answer between these ends, or NULL. `dev`: the question's, 0 unless the
 * addresses alone do not tell it. */
struct dst_entry *probe6_answer_route(struct net *net, struct sk_buff *skb,
                                      const struct in6_addr *from, const struct in6_addr *to,
                                      int dev);
u32 probe6_reply_mark(struct net *net, const struct sk_buff *skb);
/* A raw socket hears of ICMPv6 only echo replies. */
void probe6_filter(struct sock *sk);

#endif
