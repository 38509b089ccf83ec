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

/*
 * A queue of this device wants routes. Under RTNL. The device goes on keeping them when the
 * queue is gone, as with the kernel's own filters by route: these may want them by then.
 */
void keep_routes(struct net_device *dev);

int keep_start(void);
void keep_stop(void);

#endif
