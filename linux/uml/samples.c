// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* samples.c: groups of flows, and sums over each. */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "dump.h"
#include "samples.h"
#include "sockets.h"

struct group {
	unsigned number, first, count, stride;
	unsigned long long delivered[2], looked_at, connections, cwnd_pkts, srtt_us;
};

static struct group *groups;
static size_t ngroups;
static unsigned long long every_ns, last, most, next;
static uint64_t begin_ns;
static int is_dumped;

int samples_line(const char *line, uint64_t t0_ns)
{
	struct group group = {0};

	begin_ns = t0_ns;
	if (sscanf(line, "samples %llu %llu %llu", &every_ns, &last, &most) == 3) {
		dump_wanted();
		return 1;
	}
	if (sscanf(line, "group %u %u %u", &group.number, &group.first, &group.count) != 3)
		return 0;
	group.stride = (unsigned)((group.count + most - 1) / most);
	groups = realloc(groups, (ngroups + 1) * sizeof(group));
	if (!groups)
		die("groups");
	groups[ngroups++] = group;
	return 1;
}

uint64_t next_sample_ns(void)
{
	return ngroups && next <= last ? begin_ns + next * every_ns : UINT64_MAX;
}

/* Groups follow each other. */
static struct group *group_of(unsigned flow)
{
	size_t low = 0, high = ngroups;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (groups[middle].first <= flow)
			low = middle;
		else
			high = middle;
	}
	return &groups[low];
}

static int looks_at(const struct group *group, unsigned flow)
{
	return (flow - group->first) % group->stride == next % group->stride;
}

void sample_flow(unsigned flow, uint64_t answered, uint64_t delivered)
{
	struct group *group = group_of(flow);

	group->delivered[0] += answered;
	group->delivered[1] += delivered;
	group->looked_at += (unsigned)looks_at(group, flow);
}

/* A socket by itself: one that was reset is in no dump, and may hold data. */
static struct told asked(int fd)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);
	int unread = 0;

	if (ioctl(fd, FIONREAD, &unread))
		unread = 0;
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
		info.tcpi_rtt = 0;
	return (struct told){0, (uint32_t)unread, info.tcpi_rtt, info.tcpi_snd_cwnd};
}

void sample_socket(unsigned flow, int end, int fd)
{
	struct group *group = group_of(flow);
	const struct told *told;
	struct told of;

	if (!is_dumped)
		dump_all();
	is_dumped = 1;
	told = told_of(fd);
	of = told ? *told : asked(fd);
	group->delivered[end] += of.unread_bytes;
	/* Without a round trip yet it is not open. */
	if (end || !looks_at(group, flow) || !of.rtt_us)
		return;
	group->connections++;
	group->cwnd_pkts += of.cwnd_pkts;
	group->srtt_us += of.rtt_us;
}

void print_sample(void)
{
	for (size_t i = 0; i < ngroups; i++) {
		struct group *group = &groups[i];

		printf("sample %llu %u %llu %llu %u %llu %llu %llu %llu\n", next, group->number,
		       group->delivered[0], group->delivered[1], group->count, group->looked_at,
		       group->connections, group->cwnd_pkts, group->srtt_us);
		memset(group->delivered, 0, sizeof(group->delivered));
		group->looked_at = group->connections = group->cwnd_pkts = group->srtt_us = 0;
	}
	next++;
	is_dumped = 0;
}
