// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// keep.c: devices whose packets keep their routes until they are queued, see keep.h.

#include <linux/if_macvlan.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>

#include "keep.h"

/* It keeps routes, and stands below a device of another namespace. */
static int would_hold(struct net_device *lower, struct netdev_nested_priv *of)
{
	const struct net_device *upper = of->data;

	return !(lower->priv_flags & IFF_XMIT_DST_RELEASE) &&
	       !net_eq(dev_net(lower), dev_net(upper));
}

/*
 * Lets packets of a foreign device lose their routes before they come to a queue of another
 * namespace. A tunnel needs them, and puts a route of its own in their place.
 */
static int release_above(struct net_device *dev, struct netdev_nested_priv *unused)
{
	struct netdev_nested_priv of = {.data = dev};

	if ((is_vlan_dev(dev) || netif_is_macvlan(dev)) &&
	    netdev_walk_all_lower_dev(dev, would_hold, &of))
		dev->priv_flags |= IFF_XMIT_DST_RELEASE;
	return 0;
}

/* One of this namespace would drop the route before the device below has it. It goes on so. */
static int keep_upper(struct net_device *upper, struct netdev_nested_priv *of)
{
	const struct net_device *dev = of->data;

	if (net_eq(dev_net(upper), dev_net(dev)))
		netif_keep_dst(upper);
	return 0;
}

static void look_above(struct net_device *dev,
                       int (*look)(struct net_device *upper, struct netdev_nested_priv *of))
{
	struct netdev_nested_priv of = {.data = dev};

	rcu_read_lock();
	netdev_walk_all_upper_dev_rcu(dev, look, &of);
	rcu_read_unlock();
}

void keep_routes(struct net_device *dev)
{
	ASSERT_RTNL();
	netif_keep_dst(dev);
	release_above(dev, NULL);
	look_above(dev, keep_upper);
	look_above(dev, release_above);
}

/* A device has come to another namespace, or stands above another one. */
static int device_changed(struct notifier_block *unused, unsigned long event, void *info)
{
	const struct netdev_notifier_changeupper_info *change = info;
	struct net_device *dev = netdev_notifier_info_to_dev(info);

	if (event == NETDEV_CHANGEUPPER && change->linking)
		dev = change->upper_dev;
	else if (event != NETDEV_REGISTER)
		return NOTIFY_DONE;
	release_above(dev, NULL);
	look_above(dev, release_above);
	return NOTIFY_DONE;
}

static struct notifier_block notifier = {.notifier_call = device_changed};

int keep_start(void)
{
	return register_netdevice_notifier(&notifier);
}

void keep_stop(void)
{
	unregister_netdevice_notifier(&notifier);
}
