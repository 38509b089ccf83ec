// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// keep.c: devices whose packets keep their routes until they are queued, see keep.h.

#include <linux/list.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "keep.h"

#define RELEASES (IFF_XMIT_DST_RELEASE | IFF_XMIT_DST_RELEASE_PERM)

/* Under RTNL. */
struct kept {
	struct list_head node;
	struct net_device *dev;
	unsigned long had; /* of RELEASES, before the first queue */
	u32 queues;
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

static int keep_dst(struct net_device *upper, struct netdev_nested_priv *unused)
{
	netif_keep_dst(upper);
	return 0;
}

/* A device above would drop the route first, unless it keeps routes too. It goes on so: the
 * one below drops them then. */
static void keep(struct net_device *dev)
{
	struct netdev_nested_priv unused = {};

	netif_keep_dst(dev);
	rcu_read_lock();
	netdev_walk_all_upper_dev_rcu(dev, keep_dst, &unused);
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
		list_add(&kept->node, &all_kept);
	}
	kept->queues++;
	if (!stands_below_foreign(dev))
		keep(dev);
	return 0;
}

void keep_routes_no_more(struct net_device *dev)
{
	struct kept *kept = kept_of(dev);

	ASSERT_RTNL();
	if (--kept->queues)
		return;
	dev->priv_flags |= kept->had;
	list_del(&kept->node);
	kfree(kept);
}

static int look_again(struct net_device *dev, struct netdev_nested_priv *unused)
{
	struct kept *kept = kept_of(dev);

	if (kept && stands_below_foreign(dev))
		dev->priv_flags |= kept->had;
	return 0;
}

/* A device has come to another namespace, or to stand above another one. */
static int changed(struct notifier_block *unused, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct netdev_nested_priv none = {};

	if (event == NETDEV_REGISTER || event == NETDEV_CHANGEUPPER) {
		look_again(dev, &none);
		netdev_walk_all_lower_dev(dev, look_again, &none);
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
