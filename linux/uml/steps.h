/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * steps.h: what play.c and traffic.c tell of groups of flows at steps of time. They have the
 * flows, and call it: a line of their input goes to steps_line(), the time that steps_next_ns()
 * tells wakes them, and then they add up what each flow has and call steps_print().
 *
 *   steps STEP_NS STEPS MOST             readings at 0 and at so many steps; of a group's flows
 *       at most MOST have their connections looked at, each time others
 *   group NUMBER FIRST COUNT             its flows by number, behind the line above
 *
 *   step STEP GROUP ANSWERED_BYTES DELIVERED_BYTES FLOWS LOOKED_AT CONNECTIONS CWND_PKTS
 * SRTT_US delivered so far to the ends 0 and 1; sums over the open connections of the flows
 * that were looked at, as their ends 0 see them
 */
#ifndef STEPS_H
#define STEPS_H

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

struct steps_group {
	unsigned number, first, count, stride;
	unsigned long long delivered[2], looked_at, connections, cwnd_pkts, srtt_us;
};

static struct {
	unsigned long long step_ns, count, most, next;
	uint64_t t0_ns;
	struct steps_group *groups;
	size_t ngroups;
} steps;

/* Whether the line is one of steps. */
static int steps_line(const char *line, uint64_t t0_ns)
{
	struct steps_group group = {0};

	steps.t0_ns = t0_ns;
	if (sscanf(line, "steps %llu %llu %llu", &steps.step_ns, &steps.count, &steps.most) ==
	    3)
		return 1;
	if (sscanf(line, "group %u %u %u", &group.number, &group.first, &group.count) != 3)
		return 0;
	group.stride = (unsigned)((group.count + steps.most - 1) / steps.most);
	steps.groups = realloc(steps.groups, (steps.ngroups + 1) * sizeof(group));
	if (!steps.groups) {
		perror("groups");
		exit(1);
	}
	steps.groups[steps.ngroups++] = group;
	return 1;
}

static uint64_t steps_next_ns(void)
{
	if (!steps.ngroups || steps.next > steps.count)
		return UINT64_MAX;
	return steps.t0_ns + steps.next * steps.step_ns;
}

/* Groups follow each other. */
static struct steps_group *steps_group_of(unsigned flow)
{
	size_t low = 0, high = steps.ngroups;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (steps.groups[middle].first <= flow)
			low = middle;
		else
			high = middle;
	}
	return &steps.groups[low];
}

static int steps_looks_at(const struct steps_group *group, unsigned flow)
{
	return (flow - group->first) % group->stride == steps.next % group->stride;
}

/* A flow, and what its ends have read so far. */
static void steps_flow(unsigned flow, uint64_t answered, uint64_t delivered)
{
	struct steps_group *group = steps_group_of(flow);

	group->delivered[0] += answered;
	group->delivered[1] += delivered;
	group->looked_at += (unsigned)steps_looks_at(group, flow);
}

/* A socket of TCP at an end of it. What it holds was delivered too; reading it now would let
 * TCP tell its peer of a window that it would not have had yet. */
static void steps_socket(unsigned flow, int end, int fd)
{
	struct steps_group *group = steps_group_of(flow);
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);
	int unread = 0;

	if (!ioctl(fd, FIONREAD, &unread))
		group->delivered[end] += (unsigned)unread;
	if (end || !steps_looks_at(group, flow))
		return;
	/* Without a round trip yet it is not open. */
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) || !info.tcpi_rtt)
		return;
	group->connections++;
	group->cwnd_pkts += info.tcpi_snd_cwnd;
	group->srtt_us += info.tcpi_rtt;
}

static void steps_print(void)
{
	for (size_t i = 0; i < steps.ngroups; i++) {
		struct steps_group *group = &steps.groups[i];

		printf("step %llu %u %llu %llu %u %llu %llu %llu %llu\n", steps.next,
		       group->number, group->delivered[0], group->delivered[1], group->count,
		       group->looked_at, group->connections, group->cwnd_pkts, group->srtt_us);
		memset(group->delivered, 0, sizeof(group->delivered));
		group->looked_at = group->connections = group->cwnd_pkts = group->srtt_us = 0;
	}
	steps.next++;
}

#endif
