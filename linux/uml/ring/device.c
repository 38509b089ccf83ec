// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * device.c: a network device of the guest with a driver's ring: descriptors, a line of a rate,
 * and the kernel's limit of bytes in the ring (BQL). It stands above another device, which gets
 * each packet at its last bit.
 *
 *   insmod ring.ko rings=NAME/LOWER/PACKETS/RATE_BPS/BQL,...
 *   ip link add name NAME type ring
 *
 * PACKETS wait in the ring beside the one on the line. BQL is a number of bytes; 0: no limit;
 * -1: the limit adapts.
 *
 * Packets have the length that the qdisc above has counted. Of the device's statistics
 * tx_packets and tx_bytes count what has left. rx_bytes is the sum of ns that packets have
 * waited here.
 */
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/version.h>
#include <net/rtnetlink.h>
#include <net/sch_generic.h>

/* It uses what the others declare. */
#include <linux/dynamic_queue_limits.h>

#define MOST_RINGS 1024
#define SLACK_NS   5000
#define OFFLOADS   (NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_ALL_TSO | NETIF_F_RXCSUM)

static char *rings[MOST_RINGS];
static int rings_count;
module_param_array(rings, charp, &rings_count, 0444);
MODULE_PARM_DESC(rings, "NAME/LOWER/PACKETS/RATE_BPS/BQL of each");

struct ring {
	struct net_device *dev, *lower;
	struct hrtimer timer;
	struct sk_buff_head waiting;
	struct sk_buff *line; /* the packet that is being sent */
	struct dql dql;
	ktime_t end;   /* when its last bit leaves */
	u64 remainder; /* of a ns, in parts of the rate */
	ktime_t noted; /* up to then `waited_ns` counts */
	u64 waited_ns, sent_pkts, sent_bytes;
	u64 rate_bps;
	u32 packets;
	bool has_bql;
	char lower_name[IFNAMSIZ];
};

static bool has_room(const struct ring *ring)
{
	if (ring->line && skb_queue_len(&ring->waiting) >= ring->packets)
		return false;
	return !ring->has_bql || dql_avail(&ring->dql) >= 0;
}

/* The line is free at this time. */
static void begin(struct ring *ring, struct sk_buff *skb, ktime_t at)
{
	u64 parts = 8000000000ull * qdisc_pkt_len(skb) + ring->remainder;

	ring->line = skb;
	ring->end = ktime_add_ns(at, div64_u64_rem(parts, ring->rate_bps, &ring->remainder));
	hrtimer_start(&ring->timer, ring->end, HRTIMER_MODE_ABS_SOFT);
}

/* Before the number of those that wait changes. */
static void note_wait(struct ring *ring, ktime_t now)
{
	u64 since_ns = max_t(s64, 0, ktime_sub(now, ring->noted));

	ring->waited_ns += since_ns * skb_queue_len(&ring->waiting);
	ring->noted = now;
}

static netdev_tx_t ring_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct ring *ring = netdev_priv(dev);
	u32 bytes = qdisc_pkt_len(skb);
	ktime_t at = ktime_get();

	if (ring->has_bql)
		dql_queued(&ring->dql, bytes);
	if (ring->line) {
		note_wait(ring, at);
		__skb_queue_tail(&ring->waiting, skb);
	} else {
		/* What follows at once begins at the last bit: the clock moves when it is read.
		 */
		if (ktime_sub(at, ring->end) < SLACK_NS)
			at = ring->end;
		else
			ring->remainder = 0;
		begin(ring, skb, at);
	}
	if (!has_room(ring))
		netif_stop_queue(dev);
	return NETDEV_TX_OK;
}

/* At a packet's last bit. The lock is that of the transmit queue. */
static enum hrtimer_restart ring_done(struct hrtimer *timer)
{
	struct ring *ring = container_of(timer, struct ring, timer);
	struct net_device *dev = ring->dev;
	struct netdev_queue *queue = netdev_get_tx_queue(dev, 0);
	struct sk_buff *skb, *next;
	u32 bytes;

	__netif_tx_lock(queue, smp_processor_id());
	skb = ring->line;
	ring->line = NULL;
	if (!skb) {
		__netif_tx_unlock(queue);
		return HRTIMER_NORESTART;
	}
	bytes = qdisc_pkt_len(skb);
	ring->sent_pkts++;
	ring->sent_bytes += bytes;
	note_wait(ring, ring->end);
	next = __skb_dequeue(&ring->waiting);
	if (next)
		begin(ring, next, ring->end);
	if (ring->has_bql)
		dql_completed(&ring->dql, bytes);
	if (has_room(ring))
		netif_wake_queue(dev);
	__netif_tx_unlock(queue);
	skb->dev = ring->lower;
	dev_queue_xmit(skb);
	return HRTIMER_NORESTART;
}

static void ring_stats(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	struct ring *ring = netdev_priv(dev);
	struct netdev_queue *queue = netdev_get_tx_queue(dev, 0);

	__netif_tx_lock_bh(queue);
	note_wait(ring, ktime_get());
	stats->tx_packets = ring->sent_pkts;
	stats->tx_bytes = ring->sent_bytes;
	stats->rx_bytes = ring->waited_ns;
	__netif_tx_unlock_bh(queue);
}

static int ring_open(struct net_device *dev)
{
	struct ring *ring = netdev_priv(dev);

	ring->lower = dev_get_by_name(dev_net(dev), ring->lower_name);
	if (!ring->lower)
		return -ENODEV;
	netif_start_queue(dev);
	return 0;
}

static int ring_stop(struct net_device *dev)
{
	struct ring *ring = netdev_priv(dev);

	netif_stop_queue(dev);
	hrtimer_cancel(&ring->timer);
	kfree_skb(ring->line);
	ring->line = NULL;
	__skb_queue_purge(&ring->waiting);
	dev_put(ring->lower);
	ring->lower = NULL;
	return 0;
}

/* The words for this device; false: there are none. */
static bool find_words(struct ring *ring)
{
	size_t length = strlen(ring->dev->name);
	long long bql;
	int i;

	for (i = 0; i < rings_count; i++) {
		if (strncmp(rings[i], ring->dev->name, length) || rings[i][length] != '/')
			continue;
		if (sscanf(rings[i] + length, "/%15[^/]/%u/%llu/%lld", ring->lower_name,
		           &ring->packets, &ring->rate_bps, &bql) != 4)
			return false;
		ring->has_bql = bql;
		if (bql > 0) {
			ring->dql.min_limit = ring->dql.max_limit = bql;
			ring->dql.limit = ring->dql.adj_limit = bql;
		}
		return ring->rate_bps;
	}
	return false;
}

/* When it is registered, and has its name. */
static int ring_start(struct net_device *dev)
{
	struct ring *ring = netdev_priv(dev);

	ring->dev = dev;
	__skb_queue_head_init(&ring->waiting);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(&ring->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	ring->timer.function = ring_done;
#else
	hrtimer_setup(&ring->timer, ring_done, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
#endif
	dql_init(&ring->dql, HZ);
	return find_words(ring) ? 0 : -ENOENT;
}

static const struct net_device_ops ring_ops = {
        .ndo_init = ring_start,
        .ndo_open = ring_open,
        .ndo_stop = ring_stop,
        .ndo_start_xmit = ring_xmit,
        .ndo_get_stats64 = ring_stats,
        .ndo_set_mac_address = eth_mac_addr,
        .ndo_validate_addr = eth_validate_addr,
};

static void ring_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &ring_ops;
	dev->needs_free_netdev = true;
	dev->features |= OFFLOADS;
	dev->hw_features |= OFFLOADS;
}

static struct rtnl_link_ops ring_link = {
        .kind = "ring",
        .priv_size = sizeof(struct ring),
        .setup = ring_setup,
};

static int __init ring_init(void)
{
	return rtnl_link_register(&ring_link);
}

static void __exit ring_exit(void)
{
	rtnl_link_unregister(&ring_link);
}

module_init(ring_init);
module_exit(ring_exit);
MODULE_DESCRIPTION("a driver's ring for a kernel in virtual time");
MODULE_AUTHOR("The Sojourn authors");
MODULE_LICENSE("Dual MIT/GPL");
