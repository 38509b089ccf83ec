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
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "attribute.h"

enum { MAX_QUEUES = 1024, ALGORITHM = 5 /* TCA_SOJOURN_STATS_ALGO of sojourn.h */ };

static struct queue {
	int socket, index;
	uint32_t handle;
} queues[MAX_QUEUES];
/* A dump of a namespace's qdiscs, of which there are few. */
static _Alignas(struct nlmsghdr) char answer[1 << 17];

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct queue find(const char *space, const char *device, uint32_t major)
{
	char path[64];
	int file;
	struct queue queue = {.handle = major << 16};

	snprintf(path, sizeof(path), "/run/netns/%s", space);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || setns(file, CLONE_NEWNET))
		die(path);
	close(file);
	queue.index = (int)if_nametoindex(device);
	if (!queue.index)
		die(device);
	queue.socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (queue.socket < 0)
		die("netlink");
	return queue;
}

static void print(size_t queue, unsigned long sample, const struct nlmsghdr *head)
{
	const struct tcmsg *message = NLMSG_DATA(head);
	const void *first = (const char *)message + NLMSG_ALIGN(sizeof(*message));
	size_t bytes = NLMSG_PAYLOAD(head, sizeof(*message));
	const struct rtattr *kind = attribute(first, bytes, TCA_KIND);
	const struct rtattr *own = inside(attribute(first, bytes, TCA_STATS2), TCA_STATS_APP);
	const char *name = kind ? RTA_DATA(kind) : "?";

	if (message->tcm_ifindex != queues[queue].index ||
	    message->tcm_handle != queues[queue].handle)
		return;
	if (!strcmp(name, "sojourn"))
		own = inside(own, ALGORITHM);
	printf("read %zu %lu %s ", queue, sample, name);
	for (size_t i = 0; own && i < RTA_PAYLOAD(own); i++)
		printf("%02x", ((const unsigned char *)RTA_DATA(own))[i]);
	puts(own && RTA_PAYLOAD(own) ? "" : "-");
}

static void read_queue(size_t queue, unsigned long sample)
{
	struct {
		struct nlmsghdr head;
		struct tcmsg body;
	} request = {
	        .head = {sizeof(request), RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP,
	                 (uint32_t)sample, 0},
	        .body = {.tcm_ifindex = queues[queue].index},
	};

	if (send(queues[queue].socket, &request, sizeof(request), 0) < 0)
		die("send");
	for (;;) {
		ssize_t bytes = recv(queues[queue].socket, answer, sizeof(answer), 0);
		size_t left = (size_t)bytes;

		if (bytes < 0)
			die("recv");
		for (struct nlmsghdr *head = (void *)answer; NLMSG_OK(head, left);
		     head = NLMSG_NEXT(head, left)) {
			if (head->nlmsg_type == NLMSG_ERROR)
				die("the kernel refused");
			if (head->nlmsg_type == NLMSG_DONE)
				return;
			if (head->nlmsg_type == RTM_NEWQDISC)
				print(queue, sample, head);
		}
	}
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
		queues[count++] = find(space, device, major);
	}
	for (unsigned long sample = 1; sample <= strtoul(argv[3], NULL, 10); sample++) {
		uint64_t at_ns = t0_ns + sample * every_ns;
		struct timespec at = {(time_t)(at_ns / 1000000000), (long)(at_ns % 1000000000)};

		clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL);
		for (size_t i = 0; i < count; i++)
			read_queue(i, sample);
	}
	return 0;
}
