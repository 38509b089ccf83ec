// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* dump.c: sockets by their inodes, in the dumps of sock_diag(7). */
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "dump.h"
#include "sockets.h"

/* States of a connection, as the kernel numbers them. */
enum {
	ESTABLISHED = 1,
	SYN_SENT,
	SYN_RECV,
	FIN_WAIT1,
	FIN_WAIT2,
	CLOSE_WAIT = 8,
	LAST_ACK,
	CLOSING = 11
};
enum { MAX_PLACES = 2048 };

static const uint32_t STATES = 1 << ESTABLISHED | 1 << SYN_SENT | 1 << SYN_RECV |
                               1 << FIN_WAIT1 | 1 << FIN_WAIT2 | 1 << CLOSE_WAIT |
                               1 << LAST_ACK | 1 << CLOSING;

static struct place {
	char space[32];
	int family, socket;
} places[MAX_PLACES];
static size_t nplaces, nfiles, ntold, room;
static int wanted;
static uint32_t *inodes; /* by number of the file */
static struct told *told;
static _Alignas(struct nlmsghdr) char answer[1 << 17];

void dump_wanted(void)
{
	wanted = 1;
}

void dump_note_accepted(int fd)
{
	struct stat status;

	if (!wanted)
		return;
	if ((size_t)fd >= nfiles) {
		size_t more = 2 * (size_t)fd + 64;

		inodes = realloc(inodes, more * sizeof(*inodes));
		if (!inodes)
			die("inodes");
		memset(inodes + nfiles, 0, (more - nfiles) * sizeof(*inodes));
		nfiles = more;
	}
	if (fstat(fd, &status))
		die("fstat");
	inodes[fd] = (uint32_t)status.st_ino;
}

void dump_note(int fd, const char *space, int family)
{
	struct place *place = places;

	dump_note_accepted(fd);
	if (!wanted)
		return;
	for (; place < places + nplaces; place++)
		if (place->family == family && !strcmp(place->space, space))
			return;
	if (nplaces++ == MAX_PLACES)
		die("namespaces");
	place->family = family;
	snprintf(place->space, sizeof(place->space), "%s", space);
	place->socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (place->socket < 0)
		die("sock_diag");
}

static void take(const struct inet_diag_msg *of, size_t bytes)
{
	const struct rtattr *a = (const void *)(of + 1);
	struct told one = {.inode = of->idiag_inode};
	int state = of->idiag_state;

	/* Orphans have no file; they are nobody's. */
	if (!one.inode)
		return;
	if (state != SYN_SENT && state != SYN_RECV)
		one.unread_bytes = of->idiag_rqueue;
	/* The end of the stream takes a number of the sequence. */
	if (one.unread_bytes && (state == CLOSE_WAIT || state == LAST_ACK || state == CLOSING))
		one.unread_bytes--;
	for (; RTA_OK(a, bytes); a = RTA_NEXT(a, bytes)) {
		struct tcp_info info = {0};
		size_t known = RTA_PAYLOAD(a);

		if (a->rta_type != INET_DIAG_INFO)
			continue;
		memcpy(&info, RTA_DATA(a), known < sizeof(info) ? known : sizeof(info));
		one.rtt_us = info.tcpi_rtt;
		one.cwnd_pkts = info.tcpi_snd_cwnd;
	}
	if (ntold == room) {
		room = room ? 2 * room : 1024;
		told = realloc(told, room * sizeof(*told));
		if (!told)
			die("sockets");
	}
	told[ntold++] = one;
}

static void ask(const struct place *place)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 of;
	} question = {
	        .head = {.nlmsg_len = sizeof(question),
	                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
	                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	        .of = {.sdiag_family = (uint8_t)place->family,
	               .sdiag_protocol = IPPROTO_TCP,
	               .idiag_ext = 1 << (INET_DIAG_INFO - 1),
	               .idiag_states = STATES},
	};

	if (send(place->socket, &question, sizeof(question), 0) < 0)
		die("sock_diag");
	for (;;) {
		ssize_t got = recv(place->socket, answer, sizeof(answer), 0);
		const struct nlmsghdr *head = (const void *)answer;
		size_t left = got > 0 ? (size_t)got : 0;

		if (got <= 0)
			die("sock_diag");
		for (; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
			if (head->nlmsg_type == NLMSG_DONE)
				return;
			if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
				die("sock_diag");
			take(NLMSG_DATA(head),
			     head->nlmsg_len - NLMSG_LENGTH(sizeof(struct inet_diag_msg)));
		}
	}
}

static int by_inode(const void *left, const void *right)
{
	uint32_t a = ((const struct told *)left)->inode,
	         b = ((const struct told *)right)->inode;

	return (a > b) - (a < b);
}

void dump_all(void)
{
	ntold = 0;
	for (size_t i = 0; i < nplaces; i++)
		ask(&places[i]);
	if (ntold)
		qsort(told, ntold, sizeof(*told), by_inode);
}

const struct told *told_of(int fd)
{
	struct told key = {.inode = (size_t)fd < nfiles ? inodes[fd] : 0};

	return ntold ? bsearch(&key, told, ntold, sizeof(*told), by_inode) : NULL;
}
