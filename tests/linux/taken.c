// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// taken.c: another module that has the probes' protocol, of IPv6 or of both families.

#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/protocol.h>

#define PROTOCOL 253

static bool both;
module_param(both, bool, 0444);

static int received(struct sk_buff *skb)
{
	consume_skb(skb);
	return 0;
}

static const struct net_protocol ipv4 = {.handler = received, .no_policy = 1};
static const struct inet6_protocol ipv6 = {.handler = received, .flags = INET6_PROTO_FINAL};

static int __init begin(void)
{
	int err = both ? inet_add_protocol(&ipv4, PROTOCOL) : 0;

	return err ?: inet6_add_protocol(&ipv6, PROTOCOL);
}

static void __exit end(void)
{
	inet6_del_protocol(&ipv6, PROTOCOL);
	if (both)
		inet_del_protocol(&ipv4, PROTOCOL);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Has IP protocol 253 before others");
MODULE_LICENSE("Dual MIT/GPL");
