// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * load.c: traffic over real sockets, one epoll loop, asleep whenever possible:
 * a guest that spins would stop virtual time.
 *
 *   load sink PORT T0_NS SECONDS RCVBUF_BYTES FILE
 *       accept and discard; at each second from T0_NS on note how much each flow has
 *       delivered in order, and after the last one write FILE: a line for each flow, its
 *       number, then its bytes in each second. RCVBUF_BYTES 0: the kernel sizes buffers.
 *   load bulk ADDRESS PORT CC T0_NS MARKS_MS STARTS_US
 *       one endless sender for each of the comma-separated starts; at each mark
 *       the namespace's TCP counters are printed; the last mark ends the run.
 *       Starts and marks count from T0_NS of the wall clock, which is virtual.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { MAX_TIMES = 4096, FIRST_PORT = 20000, EVENTS = 64, MAX_SINKS = 1024 };
/* Waking a reader for each packet would double the run's cost; eleven segments do. */
enum { READ_AT_LEAST_BYTES = 16384 };
/* Unsent data that a socket holds: enough never to starve it, but no megabytes. */
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

/* Bytes that one flow has delivered by each second. */
struct arrived {
	int fd, flow;
	uint64_t *bytes;
};

static struct arrived arrivals[MAX_SINKS];
static int narrivals;

static int accept_one(int listener, int seconds)
{
	struct arrived *one = &arrivals[narrivals++];
	struct sockaddr_in peer;
	socklen_t size = sizeof(peer);
	int low = READ_AT_LEAST_BYTES;

	if (narrivals > MAX_SINKS) {
		fprintf(stderr, "load: more than %d connections\n", MAX_SINKS);
		exit(1);
	}
	one->fd = accept4(listener, (void *)&peer, &size, SOCK_NONBLOCK);
	if (one->fd < 0 || setsockopt(one->fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)))
		die("accept");
	one->flow = ntohs(peer.sin_port) - FIRST_PORT;
	one->bytes = calloc((size_t)seconds + 1, sizeof(*one->bytes));
	if (!one->bytes)
		die("accept");
	return one->fd;
}

static void note(int second)
{
	for (int i = 0; i < narrivals; i++) {
		struct tcp_info info = {0};
		socklen_t size = sizeof(info);

		if (getsockopt(arrivals[i].fd, IPPROTO_TCP, TCP_INFO, &info, &size))
			die("TCP_INFO");
		arrivals[i].bytes[second] = info.tcpi_bytes_received;
	}
}

static void write_arrivals(const char *path, int seconds)
{
	FILE *file = fopen(path, "w");

	if (!file)
		die(path);
	for (int i = 0; i < narrivals; i++) {
		const struct arrived *one = &arrivals[i];

		fprintf(file, "%d", one->flow);
		for (int s = 1; s <= seconds; s++)
			fprintf(file, " %llu",
			        (unsigned long long)(one->bytes[s] - one->bytes[s - 1]));
		fprintf(file, "\n");
	}
	if (fclose(file))
		die(path);
}

static int listen_at(const char *port, int rcvbuf_bytes)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (rcvbuf_bytes && setsockopt(listener, SOL_SOCKET, SO_RCVBUFFORCE, &rcvbuf_bytes,
	                               sizeof(rcvbuf_bytes)))
		die("SO_RCVBUFFORCE");
	if (bind(listener, (void *)&here, sizeof(here)) || listen(listener, 4096))
		die("listen");
	return listener;
}

static int each_second(uint64_t t0_ns)
{
	int timer = timerfd_create(CLOCK_REALTIME, 0);
	struct itimerspec when = {
	        .it_value = {t0_ns / 1000000000 + 1, t0_ns % 1000000000},
	        .it_interval = {.tv_sec = 1},
	};

	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL))
		die("timerfd_settime");
	return timer;
}

static int sink(char **arg)
{
	int listener = listen_at(arg[0], atoi(arg[3])), timer;
	int seconds = atoi(arg[2]), second = 0, epoll = epoll_create1(0);
	struct epoll_event events[EVENTS];

	timer = each_second(strtoull(arg[1], NULL, 10));
	watch(epoll, timer, EPOLLIN);
	watch(epoll, listener, EPOLLIN);
	while (second < seconds) {
		int n = epoll_wait(epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;
			uint64_t expired;

			if (fd == listener) {
				watch(epoll, accept_one(listener, seconds), EPOLLIN);
			} else if (fd == timer) {
				if (read(timer, &expired, sizeof(expired)) < 0 || expired != 1)
					die("a second was missed");
				if (second < seconds)
					note(++second);
			} else if (recv(fd, NULL, 1 << 24, MSG_TRUNC) < 0 && errno != EAGAIN) {
				die("recv");
			}
		}
	}
	write_arrivals(arg[4], seconds);
	return 0;
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
	if (argc == 7 && !strcmp(argv[1], "sink"))
		return sink(argv + 2);
	if (argc == 8 && !strcmp(argv[1], "bulk"))
		return bulk(argv + 2);
	fprintf(stderr, "load sink PORT T0_NS SECONDS RCVBUF_BYTES FILE\n"
	                "load bulk ADDRESS PORT CC T0_NS MARKS_MS STARTS_US\n");
	return 2;
}
