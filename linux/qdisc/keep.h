/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * keep.h: devices whose packets keep their routes until they are queued.
 *
 * A probe goes to the next hop of a packet's route, which the kernel drops in front of a queue
 * unless the device keeps it. A device of another namespace may stand above, as a container's
 * VLAN. In the queues of this one its routes would outlive that namespace, so it drops them.
 */
#ifndef SOJOURN_KEEP_H
#define SOJOURN_KEEP_H

#include <linux/netdevice.h>

/* One more queue of this device wants routes; 0 or an error. Under RTNL, as is the next. */
int keep_routes(struct net_device *dev);
/* One less; with the last the device is as it was. */
void keep_routes_no_more(struct net_device *dev);

int keep_start(void);
void keep_stop(void);

#endif
