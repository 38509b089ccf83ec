// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* sockets.c: sockets in any network namespace, and what the kernel has counted of each. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "dump.h"
#include "sockets.h"

enum { MAX_SPACES = 1024, MAX_FILES = 1 << 18 };
/* Of one connection, and of all: a third of the guest's memory. */
enum { UNSENT_BYTES = 131072, ALL_UNSENT_BYTES = 256 << 20 };
/* Newer than the headers that programs are built with. */
enum { BIND_ADDRESS_NO_PORT = 24 };
/* As new: behind rcv_wnd and rehash. */
enum { TOTAL_RTO_AT = offsetof(struct tcp_info, tcpi_snd_wnd) + 12 };

_Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void allow_many_files(void)
{
	struct rlimit files = {MAX_FILES, MAX_FILES};

	if (setrlimit(RLIMIT_NOFILE, &files))
		die("RLIMIT_NOFILE");
}

static void enter(const char *space)
{
	static struct {
		char name[32];
		int fd;
	} known[MAX_SPACES];
	static int n, inside = -1;
	char path[64];
	int i;

	for (i = 0; i < n && strcmp(known[i].name, space); i++)
		;
	if (i == n) {
		snprintf(path, sizeof(path), "/run/netns/%s", space);
		if (n == MAX_SPACES || (known[n].fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
			die(path);
		snprintf(known[n++].name, sizeof(known->name), "%s", space);
	}
	if (i != inside && setns(known[i].fd, CLONE_NEWNET))
		die(space);
	inside = i;
}

void option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("setsockopt");
}

union endpoint endpoint_of(const char *text)
{
	union endpoint found = {.any.sa_family = strchr(text, ':') ? AF_INET6 : AF_INET};
	int v4 = found.any.sa_family == AF_INET;

	if (inet_pton(found.any.sa_family, text,
	              v4 ? (void *)&found.v4.sin_addr : (void *)&found.v6.sin6_addr) != 1) {
		fprintf(stderr, "'%s' is no address\n", text);
		exit(2);
	}
	return found;
}

socklen_t size_of(const union endpoint *endpoint)
{
	return endpoint->any.sa_family == AF_INET ? sizeof(endpoint->v4) : sizeof(endpoint->v6);
}

/* A listener hands it on to the sockets of its connections. */
static void set_dscp(int fd, int family, int dscp)
{
	if (dscp && family == AF_INET)
		option(fd, IPPROTO_IP, IP_TOS, dscp << 2);
	else if (dscp)
		option(fd, IPPROTO_IPV6, IPV6_TCLASS, dscp << 2);
}

int open_socket(const char *space, const union endpoint *like, const char *cc, int dscp)
{
	int udp = !strcmp(cc, "udp"), fd;

	enter(space);
	fd = socket(like->any.sa_family, (udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK, 0);
	if (fd < 0)
		die("socket");
	set_dscp(fd, like->any.sa_family, dscp);
	if (udp)
		return fd;
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die(cc);
	dump_note(fd, space, like->any.sa_family);
	return fd;
}

void hold_little(int fd, size_t flows)
{
	size_t fair = ALL_UNSENT_BYTES / (flows ? flows : 1);

	option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT,
	       fair < UNSENT_BYTES ? (int)fair : UNSENT_BYTES);
}

void draw_port_late(int fd)
{
	option(fd, IPPROTO_IP, BIND_ADDRESS_NO_PORT, 1);
}

void silence(int fd)
{
	option(fd, IPPROTO_TCP, TCP_REPAIR, 1);
}

struct counts counts_of(int fd, uint32_t *srtt_us)
{
	char info[512] = {0};
	const struct tcp_info *tcp = (void *)info;
	socklen_t size = sizeof(info);
	uint16_t timeouts = 0;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size))
		die("TCP_INFO");
	if (size >= TOTAL_RTO_AT + sizeof(timeouts))
		memcpy(&timeouts, info + TOTAL_RTO_AT, sizeof(timeouts));
	if (srtt_us)
		*srtt_us = tcp->tcpi_rtt;
	return (struct counts){tcp->tcpi_data_segs_out, tcp->tcpi_total_retrans, timeouts};
}

void add_counts(struct counts *sum, struct counts counts)
{
	sum->data_pkts += counts.data_pkts;
	sum->retransmitted_pkts += counts.retransmitted_pkts;
	sum->timeouts += counts.timeouts;
}
