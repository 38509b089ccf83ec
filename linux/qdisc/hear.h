/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hear.h: what a namespace hears of probes: answers, and the questions of others.
 *
 * Raw sockets of the namespace hear, as those of a program would: beside everybody else, and
 * behind its policies. They are open while a queue wants them; loading the module opens none.
 */
#ifndef SOJOURN_HEAR_H
#define SOJOURN_HEAR_H

#include <net/net_namespace.h>

struct sojourn_probes;

/* One more queue wants to hear echo replies; 0 or an error, and then nothing has changed.
 * Under RTNL. */
int hear_echo(struct net *net);
/* One queue less. */
void hear_echo_no_more(struct net *net);

/* Protocols that a queue wants to hear. */
#define HEAR_ECHO         1
#define HEAR_EXPERIMENTAL 2

/* As above, of some protocols. */
int hear_protocols(struct net *net, u8 protocols);
void hear_protocols_no_more(struct net *net, u8 protocols);
/* One more (1) or one less (-1) queue has `respond`. */
void hear_respond(struct net *net, int change);

/* Gives a queue's probes a number of their own, by which answers find them. */
int hear_for(struct sojourn_probes *p);
/* Probes may still be found until a grace period of RCU has passed. */
void hear_no_more(struct sojourn_probes *p);

int hear_start(void);
void hear_stop(void);

#endif
