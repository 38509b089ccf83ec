// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * classes.c: reads the counters of classes and of drivers' rings at given times, as
 * `tc -s class show` and `ip -s link` do.
 *
 *   classes T0_NS < LINES
 *
 *   edge NS                    a time after T0_NS, in order
 *   classes SPACE DEVICE       of all qdiscs of this device
 *   ring SPACE DEVICE          see ring/device.c
 *
 *   class EDGE DEVICE CLASSID SENT_PKTS SENT_BYTES LENT BORROWED
 *       the edge's number from 0; the last two of HTB (else 0)
 *   ring EDGE DEVICE SENT_PKTS SENT_BYTES PKTS_NS
 *       the last: packets that waited, times how long
 */
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute.h"
#include "place.h"

enum { MAX_DEVICES = 1024, MAX_EDGES = 4096 };

static struct device {
	struct place place;
	int is_ring;
	size_t edge;
	char name[32];
} devices[MAX_DEVICES];
static uint64_t edges_ns[MAX_EDGES];

/* Copies as much of an attribute as there is. */
static void copy(void *to, size_t bytes, const struct rtattr *from)
{
	size_t there = from ? RTA_PAYLOAD(from) : 0;

	memset(to, 0, bytes);
	if (there)
		memcpy(to, RTA_DATA(from), there < bytes ? there : bytes);
}

static void print_class(const struct nlmsghdr *head, void *of)
{
	const struct device *device = of;
	const struct tcmsg *message = NLMSG_DATA(head);
	const void *first = (const char *)message + NLMSG_ALIGN(sizeof(*message));
	size_t bytes = NLMSG_PAYLOAD(head, sizeof(*message));
	const struct rtattr *kind = attribute(first, bytes, TCA_KIND);
	const struct rtattr *stats = attribute(first, bytes, TCA_STATS2);
	struct gnet_stats_basic sent;
	struct tc_htb_xstats htb = {0};
	uint64_t pkts = 0;

	if (message->tcm_ifindex != device->place.index)
		return;
	copy(&sent, sizeof(sent), inside(stats, TCA_STATS_BASIC));
	copy(&pkts, sizeof(pkts), inside(stats, TCA_STATS_PKT64));
	if (kind && !strcmp(RTA_DATA(kind), "htb"))
		copy(&htb, sizeof(htb), inside(stats, TCA_STATS_APP));
	printf("class %zu %s %x:%x %llu %llu %u %u\n", device->edge, device->name,
	       message->tcm_handle >> 16, message->tcm_handle & 0xffff,
	       (unsigned long long)(pkts ? pkts : sent.packets), (unsigned long long)sent.bytes,
	       htb.lends, htb.borrows);
}

static void print_ring(const struct nlmsghdr *head, void *of)
{
	const struct device *device = of;
	const struct ifinfomsg *message = NLMSG_DATA(head);
	const void *first = (const char *)message + NLMSG_ALIGN(sizeof(*message));
	struct rtnl_link_stats64 stats;

	if (message->ifi_index != device->place.index)
		return;
	copy(&stats, sizeof(stats),
	     attribute(first, NLMSG_PAYLOAD(head, sizeof(*message)), IFLA_STATS64));
	printf("ring %zu %s %llu %llu %llu\n", device->edge, device->name,
	       (unsigned long long)stats.tx_packets, (unsigned long long)stats.tx_bytes,
	       (unsigned long long)stats.rx_bytes);
}

static void read_device(struct device *device, size_t edge)
{
	struct {
		struct nlmsghdr head;
		struct tcmsg body;
	} of_classes = {
	        .head = {sizeof(of_classes), RTM_GETTCLASS, NLM_F_REQUEST | NLM_F_DUMP,
	                 (uint32_t)edge, 0},
	        .body = {.tcm_ifindex = device->place.index},
	};
	struct {
		struct nlmsghdr head;
		struct ifinfomsg body;
	} of_links = {
	        .head = {sizeof(of_links), RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP,
	                 (uint32_t)edge, 0},
	};

	device->edge = edge;
	if (device->is_ring)
		ask(&device->place, &of_links, RTM_NEWLINK, print_ring, device);
	else
		ask(&device->place, &of_classes, RTM_NEWTCLASS, print_class, device);
}

int main(int argc, char **argv)
{
	char line[256], space[32], name[32], kind[16];
	size_t count = 0, edges = 0;
	unsigned long long ns;

	if (argc != 2) {
		fprintf(stderr, "classes T0_NS < LINES\n");
		return 2;
	}
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "edge %llu", &ns) == 1 && edges < MAX_EDGES) {
			edges_ns[edges++] = strtoull(argv[1], NULL, 10) + ns;
		} else if (sscanf(line, "%15s %31s %31s", kind, space, name) == 3 &&
		           count < MAX_DEVICES) {
			struct device *device = &devices[count++];

			device->place = place_of(space, name);
			device->is_ring = !strcmp(kind, "ring");
			strcpy(device->name, name);
		} else {
			fprintf(stderr, "classes: what is '%s'?\n", line);
			return 2;
		}
	}
	for (size_t edge = 0; edge < edges; edge++) {
		sleep_until(edges_ns[edge]);
		for (size_t i = 0; i < count; i++)
			read_device(&devices[i], edge);
	}
	return 0;
}
