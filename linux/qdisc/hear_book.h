/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hear_book.h: what the parts of a namespace's hearing share: hear.c hears echoes,
 * hear_experimental.c the experimental protocol.
 */
#ifndef SOJOURN_HEAR_BOOK_H
#define SOJOURN_HEAR_BOOK_H

#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

struct answer_budget;

/* The sockets of one protocol. */
struct ears {
	u32 users;
	struct socket *sockets[2]; /* IPv4, IPv6 */
};

/* Of one namespace. */
struct hearing {
	struct net *net;
	struct xarray queues; /* probes by their number */
	struct mutex lock;    /* of all ears */
	struct ears echo;
	struct ears experimental;
	struct work_struct closing;
	atomic_t responders;
	struct answer_budget *budget; /* once a queue has heard questions */
};

/* ---- hear.c ---- */

struct hearing *hearing_of(const struct net *net);
/* One more queue wants these; 0 or an error, and then nothing has changed. */
int ears_open(struct hearing *h, struct ears *ears, int protocol4, int protocol6);
/* One queue less. */
void ears_leave(struct hearing *h, struct ears *ears);
/* An answer that came by one of these devices. */
void heard_answer(struct hearing *h, u64 nonce, const struct in6_addr *from, const int dev[2]);

/* ---- hear_experimental.c ---- */

/* The 8 bytes behind all headers, and who has sent them. */
void heard_experimental(struct hearing *h, struct sk_buff *skb, const u8 *payload,
                        const struct in6_addr *from, const int dev[2]);
void hear_experimental_end(struct hearing *h);

#endif
