// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * traffic.c: the flows of a scenario over real sockets, both ends in one process, which
 * is asleep whenever possible: a guest that spins would stop virtual time.
 *
 *   traffic T0_NS < FLOWS > COUNTS       times are after T0_NS of the wall clock
 *
 *   edge NS                              read all counters then; the last one ends the run
 *   steps, group                         see steps.h
 *   flow FROM TO SOURCE TARGET CC BYTES RATE_BPS START_NS STOP_NS AGAIN
 *       FROM and TO are network namespaces, SOURCE and TARGET addresses in them. A CC
 *       sends BYTES (0: without end) by TCP, and AGAIN a new transfer when all of it is
 *       acknowledged and the peer has closed. The word `udp` sends datagrams of BYTES, as
 *       many as make RATE_BPS.
 *
 *   count EDGE FLOW DELIVERED_BYTES DATA_PKTS RETRANSMITTED_PKTS TIMEOUTS SRTT_US
 *       ARRIVED_PKTS DELAY_NS DIFFERENCES DIFFERENCES_NS
 *       the last four of datagrams: how many arrived, the sum of their delays, and how
 *       many differences between successive delays there are, and their sum
 *   done FLOW AT_NS TOOK_NS              a transfer whose last byte has arrived
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "steps.h"

enum { MAX_EDGES = 4096, MAX_SPACES = 1024, EVENTS = 64, FIRST_PORT = 1024 };
/* Waking a reader for each packet would double the run's cost; eleven segments do. */
enum { READ_AT_LEAST_BYTES = 16384 };
/* Unsent data that a socket holds: enough never to starve it, but no megabytes. */
enum { UNSENT_BYTES = 131072 };
/* Newer than the headers that programs are built with: behind rcv_wnd and rehash. */
enum { TOTAL_RTO_AT = offsetof(struct tcp_info, tcpi_snd_wnd) + 12 };
enum end { LISTENER, CLIENT, SERVER, TIMER };

struct counts {
	uint64_t data_pkts, retransmitted_pkts, timeouts;
};

struct transit {
	uint64_t arrived_pkts, delay_ns, differences, differences_ns, last_ns;
};

struct flow {
	char from[32], to[32], cc[16];
	struct sockaddr_in source, target;
	uint64_t bytes, rate_bps, start_ns, stop_ns, due_ns;
	int again, udp, listener, client, server;
	uint64_t left, arrived, opened_ns, delivered, sequence;
	struct counts past; /* of connections that are over */
	struct transit transit;
	uint32_t srtt_us;
};

static struct flow *flows;
static size_t nflows;
static uint64_t edges_ns[MAX_EDGES], t0_ns;
static uint64_t longest_ns; /* delay of any datagram so far */
static int nedges, epoll;
static char payload[1 << 16];

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
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

static void watch(int fd, enum end end, size_t flow, uint32_t events, int how)
{
	struct epoll_event event = {.events = events, .data.u64 = flow << 2 | end};

	if (epoll_ctl(epoll, how, fd, &event))
		die("epoll_ctl");
}

static void option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("setsockopt");
}

static int open_socket(const struct flow *flow, const char *space)
{
	int fd;

	enter(space);
	fd = socket(AF_INET, (flow->udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK, 0);
	if (fd < 0)
		die("socket");
	if (!flow->udp &&
	    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, flow->cc, strlen(flow->cc)))
		die(flow->cc);
	return fd;
}

static void receive_from(struct flow *flow)
{
	int fd = open_socket(flow, flow->to);

	if (bind(fd, (void *)&flow->target, sizeof(flow->target)))
		die("bind");
	if (!flow->udp && listen(fd, 64))
		die("listen");
	flow->client = flow->server = -1;
	*(flow->udp ? &flow->server : &flow->listener) = fd;
	watch(fd, flow->udp ? SERVER : LISTENER, flow - flows, EPOLLIN, EPOLL_CTL_ADD);
}

static struct counts counts_of(struct flow *flow)
{
	struct counts counts = flow->past;
	char info[512] = {0};
	const struct tcp_info *tcp = (void *)info;
	socklen_t size = sizeof(info);
	uint16_t timeouts = 0;

	if (flow->udp)
		counts.data_pkts = flow->sequence;
	if (flow->udp || flow->client < 0)
		return counts;
	if (getsockopt(flow->client, IPPROTO_TCP, TCP_INFO, info, &size))
		die("TCP_INFO");
	if (size >= TOTAL_RTO_AT + sizeof(timeouts))
		memcpy(&timeouts, info + TOTAL_RTO_AT, sizeof(timeouts));
	counts.data_pkts += tcp->tcpi_data_segs_out;
	counts.retransmitted_pkts += tcp->tcpi_total_retrans;
	counts.timeouts += timeouts;
	flow->srtt_us = tcp->tcpi_rtt;
	return counts;
}

static void start(struct flow *flow)
{
	flow->client = open_socket(flow, flow->from);
	flow->left = flow->bytes ? flow->bytes : UINT64_MAX;
	flow->arrived = 0;
	flow->opened_ns = now_ns();
	/* The port is drawn when the peer is known: more connections than ports. */
	option(flow->client, IPPROTO_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, 1);
	if (!flow->udp)
		option(flow->client, IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_BYTES);
	if (bind(flow->client, (void *)&flow->source, sizeof(flow->source)))
		die("bind");
	if (connect(flow->client, (void *)&flow->target, sizeof(flow->target)) &&
	    errno != EINPROGRESS)
		die("connect");
	if (!flow->udp)
		watch(flow->client, CLIENT, flow - flows, EPOLLOUT, EPOLL_CTL_ADD);
}

static void leave(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The connection is over: everything is acknowledged, or it was reset. */
static void over(struct flow *flow)
{
	int broken = flow->left > 0;

	flow->past = counts_of(flow);
	leave(&flow->client);
	if (flow->again || broken)
		start(flow);
}

static void on_client(struct flow *flow, uint32_t events)
{
	size_t most;
	ssize_t sent;

	if (flow->left == 0 || events & (EPOLLERR | EPOLLHUP)) {
		ssize_t bytes = recv(flow->client, payload, sizeof(payload), 0);

		if (bytes == 0 || (bytes < 0 && errno != EAGAIN))
			over(flow);
		return;
	}
	/* A short write means that the buffer is full: no further call to confirm it. */
	do {
		most = flow->left < sizeof(payload) ? flow->left : sizeof(payload);
		sent = send(flow->client, payload, most, MSG_NOSIGNAL);
		if (sent > 0 && flow->bytes)
			flow->left -= (uint64_t)sent;
	} while (flow->left && sent == (ssize_t)most);
	if (flow->left == 0) {
		shutdown(flow->client, SHUT_WR);
		watch(flow->client, CLIENT, flow - flows, EPOLLIN, EPOLL_CTL_MOD);
	}
}

static void read_at_least(const struct flow *flow)
{
	uint64_t left = flow->bytes - flow->arrived;

	if (!flow->bytes || left > READ_AT_LEAST_BYTES)
		left = READ_AT_LEAST_BYTES;
	if (left)
		option(flow->server, SOL_SOCKET, SO_RCVLOWAT, (int)left);
}

static void on_listener(struct flow *flow)
{
	leave(&flow->server);
	flow->server = accept4(flow->listener, NULL, NULL, SOCK_NONBLOCK);
	if (flow->server < 0)
		return; /* reset before it was taken */
	read_at_least(flow);
	watch(flow->server, SERVER, flow - flows, EPOLLIN, EPOLL_CTL_ADD);
}

/* When the n-th datagram is due, the first being number 0. As the engine computes it. */
static uint64_t sent_ns(const struct flow *flow, uint64_t n)
{
	unsigned __int128 bits = (unsigned __int128)n * flow->bytes * 8;

	return flow->start_ns + (uint64_t)(bits * 1000000000 / flow->rate_bps);
}

static void on_datagram(struct flow *flow, uint64_t delay_ns)
{
	struct transit *transit = &flow->transit;

	if (delay_ns > longest_ns)
		longest_ns = delay_ns;
	if (transit->arrived_pkts) {
		transit->differences++;
		transit->differences_ns += delay_ns > transit->last_ns
		                                   ? delay_ns - transit->last_ns
		                                   : transit->last_ns - delay_ns;
	}
	transit->arrived_pkts++;
	transit->delay_ns += delay_ns;
	transit->last_ns = delay_ns;
}

static void take_datagrams(struct flow *flow)
{
	uint64_t number = 0;
	ssize_t bytes;

	while ((bytes = recv(flow->server, &number, sizeof(number), MSG_TRUNC)) > 0) {
		flow->delivered += (uint64_t)bytes;
		on_datagram(flow, now_ns() - sent_ns(flow, number));
	}
}

static void on_server(struct flow *flow)
{
	ssize_t bytes;

	if (flow->udp) {
		take_datagrams(flow);
		return;
	}
	while ((bytes = recv(flow->server, NULL, 1 << 24, MSG_TRUNC)) > 0) {
		flow->delivered += (uint64_t)bytes;
		flow->arrived += (uint64_t)bytes;
		if (flow->bytes && flow->arrived == flow->bytes) {
			uint64_t at_ns = now_ns();

			printf("done %zu %llu %llu\n", flow - flows,
			       (unsigned long long)(at_ns - t0_ns),
			       (unsigned long long)(at_ns - flow->opened_ns));
		} else if (flow->bytes - flow->arrived < READ_AT_LEAST_BYTES) {
			read_at_least(flow);
		}
		if (!flow->bytes)
			return; /* the socket is empty; later data is another event */
	}
	if (bytes == 0 || errno != EAGAIN)
		leave(&flow->server);
}

/* Without a packet to the peer, as in the engine: repair mode sends no reset. */
static void stop(struct flow *flow)
{
	flow->past = counts_of(flow);
	flow->stop_ns = flow->due_ns = UINT64_MAX;
	if (!flow->udp && flow->client >= 0)
		option(flow->client, IPPROTO_TCP, TCP_REPAIR, 1);
	if (!flow->udp && flow->server >= 0)
		option(flow->server, IPPROTO_TCP, TCP_REPAIR, 1);
	leave(&flow->client);
	leave(&flow->server);
}

static void on_due(struct flow *flow)
{
	flow->due_ns = UINT64_MAX;
	if (flow->client < 0)
		start(flow);
	if (!flow->udp)
		return;
	/* No two datagrams are equal: taps identify them by their content. The receiver also
	 * reads from it when they were due. */
	memcpy(payload, &flow->sequence, sizeof(flow->sequence));
	flow->sequence++;
	flow->due_ns = sent_ns(flow, flow->sequence);
	if (send(flow->client, payload, flow->bytes, 0) < 0 && errno != EAGAIN)
		die("send");
}

/* Datagrams sent longer ago than the longest delay so far: they have arrived, or are
 * lost. */
static uint64_t expected_pkts(const struct flow *flow)
{
	uint64_t begin = flow->start_ns + longest_ns, at = now_ns();
	unsigned __int128 bits;

	if (!flow->udp || at <= begin)
		return 0;
	/* The first number that is due later, by sent_ns(). */
	bits = (unsigned __int128)(at - begin) * flow->rate_bps / 1000000000;
	bits = bits / (flow->bytes * 8) + 1;
	return bits < flow->sequence ? (uint64_t)bits : flow->sequence;
}

static void print_counts(int edge)
{
	for (size_t i = 0; i < nflows; i++) {
		struct counts counts;

		if (flows[i].server >= 0)
			on_server(&flows[i]);
		counts = counts_of(&flows[i]);
		printf("count %d %zu %llu %llu %llu %llu %u %llu %llu %llu %llu %llu\n", edge,
		       i, (unsigned long long)flows[i].delivered,
		       (unsigned long long)counts.data_pkts,
		       (unsigned long long)counts.retransmitted_pkts,
		       (unsigned long long)counts.timeouts, flows[i].srtt_us,
		       (unsigned long long)flows[i].transit.arrived_pkts,
		       (unsigned long long)flows[i].transit.delay_ns,
		       (unsigned long long)flows[i].transit.differences,
		       (unsigned long long)flows[i].transit.differences_ns,
		       (unsigned long long)expected_pkts(&flows[i]));
	}
}

static void print_step(void)
{
	for (size_t i = 0; i < nflows; i++) {
		const struct flow *flow = &flows[i];

		steps_flow((unsigned)i, 0, flow->delivered);
		if (!flow->udp && flow->client >= 0)
			steps_socket((unsigned)i, 0, flow->client);
		if (!flow->udp && flow->server >= 0)
			steps_socket((unsigned)i, 1, flow->server);
	}
	steps_print();
}

static uint64_t next_ns(int edge)
{
	uint64_t next = edges_ns[edge];

	if (steps_next_ns() < next)
		next = steps_next_ns();

	for (size_t i = 0; i < nflows; i++) {
		next = flows[i].due_ns < next ? flows[i].due_ns : next;
		next = flows[i].stop_ns < next ? flows[i].stop_ns : next;
	}
	return next;
}

static void handle(const struct epoll_event *event)
{
	struct flow *flow = &flows[event->data.u64 >> 2];

	switch ((enum end)(event->data.u64 & 3)) {
	case LISTENER:
		on_listener(flow);
		break;
	case CLIENT:
		if (flow->client >= 0)
			on_client(flow, event->events);
		break;
	case SERVER:
		if (flow->server >= 0)
			on_server(flow);
		break;
	case TIMER:
		break;
	}
}

static void sleep_until(int timer, uint64_t at_ns)
{
	struct itimerspec when = {.it_value = {at_ns / 1000000000, at_ns % 1000000000}};
	struct epoll_event events[EVENTS];

	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL))
		die("timerfd_settime");
	for (;;) {
		int n = epoll_wait(epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			uint64_t expired;

			if ((events[i].data.u64 & 3) != TIMER)
				handle(&events[i]);
			else if (read(timer, &expired, sizeof(expired)) > 0)
				return;
		}
	}
}

static void run(void)
{
	int timer = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);

	watch(timer, TIMER, 0, EPOLLIN, EPOLL_CTL_ADD);
	for (int edge = 0; edge < nedges;) {
		uint64_t next = next_ns(edge);

		sleep_until(timer, next);
		/* A reading comes before what happens at its time, as in the engine. */
		if (next == steps_next_ns())
			print_step();
		if (next == edges_ns[edge])
			print_counts(edge++);
		for (size_t i = 0; i < nflows; i++) {
			if (flows[i].stop_ns <= next)
				stop(&flows[i]);
			if (flows[i].due_ns <= next)
				on_due(&flows[i]);
		}
	}
}

static int read_flow(const char *line)
{
	struct flow *flow;
	char source[32], target[32];
	unsigned long long bytes, rate_bps, start_ns, stop_ns;

	flows = realloc(flows, (nflows + 1) * sizeof(*flows));
	if (!flows)
		die("flows");
	flow = memset(&flows[nflows], 0, sizeof(*flow));
	if (sscanf(line, "flow %31s %31s %31s %31s %15s %llu %llu %llu %llu %d", flow->from,
	           flow->to, source, target, flow->cc, &bytes, &rate_bps, &start_ns, &stop_ns,
	           &flow->again) != 10)
		return -1;
	flow->udp = !strcmp(flow->cc, "udp");
	flow->source.sin_family = flow->target.sin_family = AF_INET;
	inet_pton(AF_INET, source, &flow->source.sin_addr);
	inet_pton(AF_INET, target, &flow->target.sin_addr);
	/* A port for each flow: the listener's port identifies the connection's flow. */
	flow->target.sin_port = htons((uint16_t)(FIRST_PORT + nflows % 30000));
	flow->bytes = bytes;
	flow->rate_bps = rate_bps;
	flow->start_ns = flow->due_ns = t0_ns + start_ns;
	flow->stop_ns = stop_ns ? t0_ns + stop_ns : UINT64_MAX;
	nflows++;
	return 0;
}

int main(int argc, char **argv)
{
	char line[512];

	if (argc != 2) {
		fprintf(stderr, "traffic T0_NS < FLOWS\n");
		return 2;
	}
	t0_ns = strtoull(argv[1], NULL, 10);
	epoll = epoll_create1(0);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long long ns;

		if (sscanf(line, "edge %llu", &ns) == 1 && nedges < MAX_EDGES) {
			edges_ns[nedges++] = t0_ns + ns;
		} else if (steps_line(line, t0_ns)) {
			continue;
		} else if (read_flow(line)) {
			fprintf(stderr, "traffic: what is '%s'?\n", line);
			return 2;
		}
	}
	for (size_t i = 0; i < nflows; i++)
		receive_from(&flows[i]);
	run();
	return 0;
}
