// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * statistics.c: reads what qdiscs tell of themselves at regular times, as `tc -s` does, but in
 * one process: one for each sample would cost more than the traffic.
 *
 *   statistics T0_NS EVERY_NS SAMPLES < QUEUES   the first sample is EVERY_NS after T0_NS
 *
 *   SPACE DEVICE HANDLE                  network namespace, device in it, major number in hex
 *
 *   read QUEUE SAMPLE KIND HEX           number of the line from 0, of the sample from 1, and
 *       the bytes of its own statistics: of `sojourn` only the algorithm's; - where it has
 * none
 */
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute.h"
#include "place.h"

enum { MAX_QUEUES = 1024, ALGORITHM = 5 /* TCA_SOJOURN_STATS_ALGO of sojourn.h */ };

static struct queue {
	struct place place;
	uint32_t handle;
	size_t number;
	unsigned long sample;
} queues[MAX_QUEUES];

static void print(const struct nlmsghdr *head, void *of)
{
	const struct queue *queue = of;
	const struct tcmsg *message = NLMSG_DATA(head);
	const void *first = (const char *)message + NLMSG_ALIGN(sizeof(*message));
	size_t bytes = NLMSG_PAYLOAD(head, sizeof(*message));
	const struct rtattr *kind = attribute(first, bytes, TCA_KIND);
	const struct rtattr *own = inside(attribute(first, bytes, TCA_STATS2), TCA_STATS_APP);
	const char *name = kind ? RTA_DATA(kind) : "?";

	if (message->tcm_ifindex != queue->place.index || message->tcm_handle != queue->handle)
		return;
	if (!strcmp(name, "sojourn"))
		own = inside(own, ALGORITHM);
	printf("read %zu %lu %s ", queue->number, queue->sample, name);
	for (size_t i = 0; own && i < RTA_PAYLOAD(own); i++)
		printf("%02x", ((const unsigned char *)RTA_DATA(own))[i]);
	puts(own && RTA_PAYLOAD(own) ? "" : "-");
}

static void read_queue(struct queue *queue, unsigned long sample)
{
	struct {
		struct nlmsghdr head;
		struct tcmsg body;
	} request = {
	        .head = {sizeof(request), RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP,
	                 (uint32_t)sample, 0},
	        .body = {.tcm_ifindex = queue->place.index},
	};

	queue->sample = sample;
	ask(&queue->place, &request, RTM_NEWQDISC, print, queue);
}

int main(int argc, char **argv)
{
	char space[32], device[32];
	unsigned major;
	size_t count = 0;
	uint64_t t0_ns, every_ns;

	if (argc != 4) {
		fprintf(stderr, "statistics T0_NS EVERY_NS SAMPLES < QUEUES\n");
		return 2;
	}
	t0_ns = strtoull(argv[1], NULL, 10);
	every_ns = strtoull(argv[2], NULL, 10);
	while (scanf("%31s %31s %x", space, device, &major) == 3) {
		if (count == MAX_QUEUES) {
			fprintf(stderr, "statistics: more than %d queues\n", MAX_QUEUES);
			return 2;
		}
		queues[count] = (struct queue){place_of(space, device), major << 16, count, 0};
		count++;
	}
	for (unsigned long sample = 1; sample <= strtoul(argv[3], NULL, 10); sample++) {
		sleep_until(t0_ns + sample * every_ns);
		for (size_t i = 0; i < count; i++)
			read_queue(&queues[i], sample);
	}
	return 0;
}
