// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// keep.c: devices whose packets keep their routes until they are queued, see keep.h.

#include <linux/if_vlan.h>
#include <linux/list.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "keep.h"

#define RELEASES (IFF_XMIT_DST_RELEASE | IFF_XMIT_DST_RELEASE_PERM)

/* A device above, whose flags are ours. */
struct upper {
	struct list_head node;
	struct net_device *dev;
	unsigned long had;
};

/* Of a device with queues that want routes, under RTNL. */
struct kept {
	struct list_head node;
	struct net_device *dev;
	unsigned long had; /* of RELEASES, before the first queue */
	u32 queues;
	struct list_head uppers;
};

static LIST_HEAD(all_kept);

static struct kept *kept_of(const struct net_device *dev)
{
	struct kept *kept;

	list_for_each_entry(kept, &all_kept, node) if (kept->dev == dev) return kept;
	return NULL;
}

static int is_foreign(struct net_device *upper, struct netdev_nested_priv *of)
{
	const struct net_device *dev = of->data;

	return !net_eq(dev_net(upper), dev_net(dev));
}

static bool stands_below_foreign(struct net_device *dev)
{
	struct netdev_nested_priv of = {.data = dev};
	bool below;

	rcu_read_lock();
	below = netdev_walk_all_upper_dev_rcu(dev, is_foreign, &of);
	rcu_read_unlock();
	return below;
}

static void give_back(struct kept *kept)
{
	struct upper *upper, *next;

	kept->dev->priv_flags |= kept->had;
	list_for_each_entry_safe(upper, next, &kept->uppers, node)
	{
		upper->dev->priv_flags |= upper->had;
		list_del(&upper->node);
		kfree(upper);
	}
}

/* It would drop the route before the device below has it. Without memory it goes on so. */
static int keep_upper(struct net_device *dev, struct netdev_nested_priv *of)
{
	struct kept *kept = of->data;
	struct upper *upper = kmalloc(sizeof(*upper), GFP_ATOMIC);

	if (!upper)
		return 0;
	*upper = (struct upper){.dev = dev, .had = dev->priv_flags & RELEASES};
	/* A VLAN is made like the device below it, which may have kept routes by then. */
	if (is_vlan_dev(dev))
		upper->had |= kept->had & IFF_XMIT_DST_RELEASE;
	list_add(&upper->node, &kept->uppers);
	netif_keep_dst(dev);
	return 0;
}

static void look_again(struct kept *kept)
{
	struct netdev_nested_priv of = {.data = kept};

	give_back(kept);
	if (!kept->queues || stands_below_foreign(kept->dev))
		return;
	netif_keep_dst(kept->dev);
	rcu_read_lock();
	netdev_walk_all_upper_dev_rcu(kept->dev, keep_upper, &of);
	rcu_read_unlock();
}

int keep_routes(struct net_device *dev)
{
	struct kept *kept = kept_of(dev);

	ASSERT_RTNL();
	if (!kept) {
		kept = kzalloc(sizeof(*kept), GFP_KERNEL_ACCOUNT);
		if (!kept)
			return -ENOMEM;
		kept->dev = dev;
		kept->had = dev->priv_flags & RELEASES;
		INIT_LIST_HEAD(&kept->uppers);
		list_add(&kept->node, &all_kept);
	}
	if (!kept->queues++)
		look_again(kept);
	return 0;
}

void keep_routes_no_more(struct net_device *dev)
{
	struct kept *kept = kept_of(dev);

	ASSERT_RTNL();
	if (--kept->queues)
		return;
	give_back(kept);
	list_del(&kept->node);
	kfree(kept);
}

static int look_at(struct net_device *dev, struct netdev_nested_priv *unused)
{
	struct kept *kept = kept_of(dev);

	if (kept)
		look_again(kept);
	return 0;
}

/* A device has come to another namespace, or stands above another one, or no longer does. */
static int changed(struct notifier_block *unused, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct netdev_nested_priv none = {};

	if (event == NETDEV_REGISTER || event == NETDEV_CHANGEUPPER) {
		look_at(dev, &none);
		netdev_walk_all_lower_dev(dev, look_at, &none);
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = {.notifier_call = changed};

int keep_start(void)
{
	return register_netdevice_notifier(&notifier);
}

void keep_stop(void)
{
	unregister_netdevice_notifier(&notifier);
}
