/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * answer.h: the far end of an experimental probe's path.
 */
#ifndef SOJOURN_ANSWER_H
#define SOJOURN_ANSWER_H

#include <linux/in6.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

/* A received packet. An IPv4 address is in IPv4-mapped form. */
struct answer_ends {
	struct in6_addr from, to;
	int dev[2]; /* by which it came; the second is the one below a VRF */
	u8 ds, hops;
};

/* How many answers each source may still have. NULL: no memory. */
struct answer_budget;
struct answer_budget *answer_budget_new(void);
void answer_budget_free(struct answer_budget *budget);

/* Sends the answer, if the question comes from the link and its source has not had too many.
 * In a softirq, under RCU. */
void answer_question(struct net *net, struct answer_budget *budget, struct sk_buff *skb,
                     const struct answer_ends *ends, u64 nonce);

#endif
