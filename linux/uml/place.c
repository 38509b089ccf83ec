// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* place.c: a device in a network namespace, and questions to rtnetlink there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "place.h"

/* A part of a dump. */
static _Alignas(struct nlmsghdr) char answer[1 << 17];

_Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

struct place place_of(const char *space, const char *device)
{
	char path[64];
	int file;
	struct place place;

	snprintf(path, sizeof(path), "/run/netns/%s", space);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || setns(file, CLONE_NEWNET))
		die(path);
	close(file);
	place.index = (int)if_nametoindex(device);
	if (!place.index)
		die(device);
	place.socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (place.socket < 0)
		die("netlink");
	return place;
}

void ask(const struct place *place, const void *request, uint16_t type,
         void (*give)(const struct nlmsghdr *head, void *of), void *of)
{
	const struct nlmsghdr *asked = request;

	if (send(place->socket, request, asked->nlmsg_len, 0) < 0)
		die("send");
	for (;;) {
		ssize_t bytes = recv(place->socket, answer, sizeof(answer), 0);
		size_t left = (size_t)bytes;

		if (bytes < 0)
			die("recv");
		for (struct nlmsghdr *head = (void *)answer; NLMSG_OK(head, left);
		     head = NLMSG_NEXT(head, left)) {
			if (head->nlmsg_type == NLMSG_ERROR)
				die("the kernel refused");
			if (head->nlmsg_type == NLMSG_DONE)
				return;
			if (head->nlmsg_type == type)
				give(head, of);
		}
	}
}

void sleep_until(uint64_t at_ns)
{
	struct timespec at = {(time_t)(at_ns / 1000000000), (long)(at_ns % 1000000000)};

	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL);
}
