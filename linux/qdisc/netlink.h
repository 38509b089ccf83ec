/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * netlink.h: reads options and writes statistics.
 */
#ifndef SOJOURN_NETLINK_H
#define SOJOURN_NETLINK_H

#include <linux/netlink.h>

#include "setup.h"
#include "sojourn.h"

/* All choices of a user. `conf` is the algorithm's, of its own size. */
struct sojourn_choice {
	const struct aqm_algo *algo;
	struct sojourn_conf host;
	struct aqm_setup setup;
	void *conf;
	bool anew; /* a change of the old queue's rows cannot give it */
};

/*
 * Read options into `choice`, beginning with those of `old`, or with the defaults (NULL:
 * a new queue; or the options say so); `room` is that of aqm_setup_check(). Returns 0, and
 * then the caller must kfree() choice->conf; or an error, and then nothing is left to
 * free.
 */
int sojourn_choose(struct sojourn_choice *choice, const struct sojourn_choice *old, u32 room,
                   struct nlattr *options, struct netlink_ext_ack *extack);

/* Read the choice for a queue without options, as in "codel" or "fq duk". If it is invalid,
 * the log gives the reason. */
int sojourn_set_default(const char *words);

/* 0, or -EMSGSIZE when there was not enough room. */
int sojourn_put_u64(struct sk_buff *skb, int type, u64 value);
int sojourn_put_choice(struct sk_buff *skb, const struct sojourn_choice *choice);
int sojourn_put_numbers(struct sk_buff *skb, int nest_type, const u64 *numbers, u32 count);

#endif
