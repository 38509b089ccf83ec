// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * load.c: traffic over real sockets, one epoll loop, asleep whenever it can be:
 * a guest that spins would stop virtual time.
 *
 *   load sink PORT                          accept for ever, discard
 *   load bulk ADDRESS PORT CC T0_NS MARKS_MS STARTS_US
 *       one endless sender for each of the comma-separated starts; at each mark
 *       the namespace's TCP counters are printed; the last mark ends the run.
 *       Starts and marks count from T0_NS of the wall clock, which is virtual.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { MAX_TIMES = 4096, FIRST_PORT = 20000, EVENTS = 64 };
/* Waking a reader for each packet would double the run's cost; eleven segments do. */
enum { READ_AT_LEAST_BYTES = 16384 };
/* Unsent data that a socket holds: never short of it, never megabytes ahead. */
enum { UNSENT_BYTES = 131072 };

static char payload[1 << 16];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void watch(int epoll, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die("epoll_ctl");
}

static int accept_one(int listener)
{
	int low = READ_AT_LEAST_BYTES;
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)))
		die("accept");
	return fd;
}

_Noreturn static void sink(const char *port)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int epoll = epoll_create1(0);
	struct epoll_event events[EVENTS];

	if (bind(listener, (void *)&here, sizeof(here)) || listen(listener, 4096))
		die("listen");
	watch(epoll, listener, EPOLLIN);
	for (;;) {
		int n = epoll_wait(epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			ssize_t bytes;

			if (fd == listener) {
				watch(epoll, accept_one(listener), EPOLLIN);
				continue;
			}
			bytes = recv(fd, NULL, 1 << 24, MSG_TRUNC);
			if (bytes == 0 || (bytes < 0 && errno != EAGAIN))
				close(fd);
		}
	}
}

static int times(char *list, uint64_t *out, uint64_t t0_ns, uint64_t unit_ns)
{
	int n = 0;

	for (char *word = strtok(list, ","); word && n < MAX_TIMES; word = strtok(NULL, ","))
		out[n++] = t0_ns + strtoull(word, NULL, 10) * unit_ns;
	return n;
}

static void print_counters(int mark)
{
	static const char *const files[] = {"/proc/net/snmp", "/proc/net/netstat"};

	for (int i = 0; i < 2; i++) {
		FILE *file = fopen(files[i], "r");
		char line[16384];

		if (!file)
			die(files[i]);
		while (fgets(line, sizeof(line), file))
			if (!strncmp(line, "Tcp", 3))
				printf("mark %d %s", mark, line);
		fclose(file);
	}
	fflush(stdout);
}

/* A fixed source port for each flow: the same flow hash in each run. */
static void start(int epoll, int index, const struct sockaddr_in *peer, const char *cc)
{
	struct sockaddr_in here = {.sin_family = AF_INET,
	                           .sin_port = htons(FIRST_PORT + index)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), unsent = UNSENT_BYTES;

	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent)) ||
	    bind(fd, (void *)&here, sizeof(here)))
		die("start");
	if (connect(fd, (const void *)peer, sizeof(*peer)) && errno != EINPROGRESS)
		die("connect");
	watch(epoll, fd, EPOLLOUT);
}

static void arm(int timer, uint64_t at_ns)
{
	struct itimerspec when = {.it_value = {at_ns / 1000000000, at_ns % 1000000000}};

	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL))
		die("timerfd_settime");
}

static int bulk(char **arg)
{
	static uint64_t marks[MAX_TIMES + 1], starts[MAX_TIMES + 1];
	struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(atoi(arg[1]))};
	uint64_t t0_ns = strtoull(arg[3], NULL, 10);
	int marked = 0, nmarks = times(arg[4], marks, t0_ns, 1000000);
	int started = 0, nstarts = times(arg[5], starts, t0_ns, 1000);
	int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_REALTIME, 0);
	struct epoll_event events[EVENTS];

	inet_pton(AF_INET, arg[0], &peer.sin_addr);
	marks[nmarks] = starts[nstarts] = UINT64_MAX;
	watch(epoll, timer, EPOLLIN);
	while (marked < nmarks) {
		uint64_t next =
		        starts[started] < marks[marked] ? starts[started] : marks[marked];
		uint64_t expired = 0;

		arm(timer, next);
		while (!expired) {
			int n = epoll_wait(epoll, events, EVENTS, -1);

			for (int i = 0; i < n; i++) {
				if (events[i].data.fd == timer) {
					if (read(timer, &expired, sizeof(expired)) < 0)
						die("timer");
					continue;
				}
				if (events[i].events & (EPOLLERR | EPOLLHUP))
					close(events[i].data.fd);
				else
					while (send(events[i].data.fd, payload, sizeof(payload),
					            0) > 0)
						;
			}
		}
		if (next == marks[marked])
			print_counters(marked++);
		else
			start(epoll, started++, &peer, arg[2]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "sink"))
		sink(argv[2]);
	if (argc == 8 && !strcmp(argv[1], "bulk"))
		return bulk(argv + 2);
	fprintf(stderr,
	        "load sink PORT | load bulk ADDRESS PORT CC T0_NS MARKS_MS STARTS_US\n");
	return 2;
}
