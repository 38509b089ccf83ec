/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * netlink.h: options and statistics on their way in and out.
 */
#ifndef SOJOURN_NETLINK_H
#define SOJOURN_NETLINK_H

#include <linux/netlink.h>

#include "setup.h"
#include "sojourn.h"

/* Everything that a user chooses. `conf` is the algorithm's, of its own size. */
struct sojourn_choice {
	const struct aqm_algo *algo;
	struct sojourn_conf host;
	struct aqm_setup setup;
	void *conf;
	bool anew; /* cannot be had by changing the rows of the old queue */
};

/*
 * Read options into `choice`, beginning with those of `old`, or with the defaults (NULL:
 * a new queue; or the options say so); `room` is that of aqm_setup_check(). When 0 is
 * answered the caller has choice->conf to kfree(); otherwise there is nothing left, and
 * the answer says why.
 */
int sojourn_choose(struct sojourn_choice *choice, const struct sojourn_choice *old, u32 room,
                   struct nlattr *options, struct netlink_ext_ack *extack);

/* Read what a queue is that is made without options, as in "codel" or "fq duk". When it can
 * be none, the log says why. */
int sojourn_set_default(const char *words);

/* 0, or -EMSGSIZE when there was not enough room. */
int sojourn_put_u64(struct sk_buff *skb, int type, u64 value);
int sojourn_put_choice(struct sk_buff *skb, const struct sojourn_choice *choice);
int sojourn_put_numbers(struct sk_buff *skb, int nest_type, const u64 *numbers, u32 count);

#endif
