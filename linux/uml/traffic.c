// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * traffic.c: the flows of a scenario over real sockets, both ends in one process, which
 * is asleep whenever possible: a guest that spins would stop virtual time.
 *
 *   traffic T0_NS < FLOWS > COUNTS       times are after T0_NS of the wall clock
 *
 *   edge NS                              read all counters then; the last one ends the run
 *   samples, group                       see samples.h
 *   transfers                            each transfer is told, with when its first byte came
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
 *   transfer FLOW VISIT 1 1 OPENED_NS BEGUN_NS FIRST_NS LAST_NS BYTES
 *       as play.c tells it; each is a visit with one connection
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "dump.h"
#include "samples.h"
#include "sockets.h"
#include "transit.h"

enum { MAX_EDGES = 4096, EVENTS = 64, FIRST_PORT = 1024 };
/* Room for so many datagrams is made at a time, a bit for each. */
enum { CAME_BYTES = 1024 };
enum end { LISTENER, CLIENT, SERVER, TIMER };

struct flow {
	char from[32], to[32], cc[16];
	union endpoint source, target;
	uint64_t bytes, rate_bps, start_ns, stop_ns, due_ns;
	int again, udp, listener, client, server;
	uint64_t left, arrived, opened_ns, first_ns, visits, delivered, sequence;
	int unfinished;
	struct counts past; /* of connections that are over */
	struct transit transit;
	unsigned char *came;
	uint32_t srtt_us;
};

static struct flow *flows;
static size_t nflows;
static uint64_t edges_ns[MAX_EDGES], t0_ns;
static int nedges, epoll, tells_transfers;
static char payload[1 << 16];

static void watch(int fd, enum end end, size_t flow, uint32_t events, int how)
{
	struct epoll_event event = {.events = events, .data.u64 = flow << 2 | end};

	if (epoll_ctl(epoll, how, fd, &event))
		die("epoll_ctl");
}

static void receive_from(struct flow *flow)
{
	int fd = open_socket(flow->to, &flow->target, flow->cc);

	if (bind(fd, &flow->target.any, size_of(&flow->target)))
		die("bind");
	if (!flow->udp && listen(fd, 64))
		die("listen");
	flow->client = flow->server = -1;
	*(flow->udp ? &flow->server : &flow->listener) = fd;
	watch(fd, flow->udp ? SERVER : LISTENER, flow - flows, EPOLLIN, EPOLL_CTL_ADD);
}

static struct counts counted(struct flow *flow)
{
	struct counts counts = flow->past;

	if (flow->udp)
		counts.data_pkts = flow->sequence;
	else if (flow->client >= 0)
		add_counts(&counts, counts_of(flow->client, &flow->srtt_us));
	return counts;
}

static long long since_t0(uint64_t at_ns)
{
	return at_ns ? (long long)(at_ns - t0_ns) : -1;
}

/* Once of each: when it is complete, or when it is plain that it will not be. */
static void tell_transfer(struct flow *flow, uint64_t last_ns)
{
	long long opened_ns = since_t0(flow->opened_ns);

	if (tells_transfers && flow->unfinished)
		printf("transfer %zu %llu 1 1 %lld %lld %lld %lld %llu\n", flow - flows,
		       (unsigned long long)flow->visits, opened_ns, opened_ns,
		       since_t0(flow->first_ns), since_t0(last_ns),
		       (unsigned long long)flow->bytes);
	flow->unfinished = 0;
}

static void start(struct flow *flow)
{
	flow->client = open_socket(flow->from, &flow->source, flow->cc);
	flow->left = flow->bytes ? flow->bytes : UINT64_MAX;
	flow->arrived = 0;
	flow->opened_ns = now_ns();
	flow->first_ns = 0;
	flow->visits++;
	flow->unfinished = !flow->udp && flow->bytes;
	draw_port_late(flow->client);
	if (!flow->udp)
		hold_little(flow->client, nflows);
	if (bind(flow->client, &flow->source.any, size_of(&flow->source)))
		die("bind");
	if (connect(flow->client, &flow->target.any, size_of(&flow->target)) &&
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

	flow->past = counted(flow);
	leave(&flow->client);
	if (broken)
		tell_transfer(flow, 0);
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
	if (tells_transfers && flow->bytes && !flow->arrived)
		left = 1;
	if (left)
		option(flow->server, SOL_SOCKET, SO_RCVLOWAT, (int)left);
}

static void on_listener(struct flow *flow)
{
	leave(&flow->server);
	flow->server = accept4(flow->listener, NULL, NULL, SOCK_NONBLOCK);
	if (flow->server < 0)
		return; /* reset before it was taken */
	dump_note_accepted(flow->server);
	read_at_least(flow);
	watch(flow->server, SERVER, flow - flows, EPOLLIN, EPOLL_CTL_ADD);
}

/* When the n-th datagram is due, the first being number 0. As the engine computes it. */
static uint64_t sent_ns(const struct flow *flow, uint64_t n)
{
	unsigned __int128 bits = (unsigned __int128)n * flow->bytes * 8;

	return flow->start_ns + (uint64_t)(bits * 1000000000 / flow->rate_bps);
}

/* A bit for each datagram: whether it has arrived. */
static void note_sent(struct flow *flow)
{
	if (flow->sequence % (8 * CAME_BYTES) == 0) {
		size_t bytes = flow->sequence / 8;

		flow->came = realloc(flow->came, bytes + CAME_BYTES);
		if (!flow->came)
			die("memory");
		memset(flow->came + bytes, 0, CAME_BYTES);
	}
}

static void take_datagrams(struct flow *flow)
{
	uint64_t number = 0;
	ssize_t bytes;

	while ((bytes = recv(flow->server, &number, sizeof(number), MSG_TRUNC)) > 0) {
		flow->delivered += (uint64_t)bytes;
		flow->came[number / 8] |= (unsigned char)(1 << number % 8);
		note_arrival(&flow->transit, now_ns() - sent_ns(flow, number));
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
		int is_first = !flow->arrived;

		flow->delivered += (uint64_t)bytes;
		flow->arrived += (uint64_t)bytes;
		if (tells_transfers && is_first)
			flow->first_ns = now_ns();
		if (flow->bytes && flow->arrived == flow->bytes) {
			uint64_t at_ns = now_ns();

			printf("done %zu %llu %llu\n", flow - flows,
			       (unsigned long long)(at_ns - t0_ns),
			       (unsigned long long)(at_ns - flow->opened_ns));
			tell_transfer(flow, at_ns);
		} else if (flow->bytes - flow->arrived < READ_AT_LEAST_BYTES ||
		           (tells_transfers && is_first)) {
			read_at_least(flow);
		}
		if (!flow->bytes)
			return; /* the socket is empty; later data is another event */
	}
	if (bytes == 0 || errno != EAGAIN)
		leave(&flow->server);
}

static void stop(struct flow *flow)
{
	tell_transfer(flow, 0);
	flow->past = counted(flow);
	flow->stop_ns = flow->due_ns = UINT64_MAX;
	if (!flow->udp && flow->client >= 0)
		silence(flow->client);
	if (!flow->udp && flow->server >= 0)
		silence(flow->server);
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
	note_sent(flow);
	flow->sequence++;
	flow->due_ns = sent_ns(flow, flow->sequence);
	if (send(flow->client, payload, flow->bytes, 0) < 0 && errno != EAGAIN)
		die("send");
}

/* Datagrams sent longer ago than the longest delay so far, which have arrived or are lost,
 * and those of the others that have arrived. */
static uint64_t expected_pkts(const struct flow *flow)
{
	uint64_t begin = flow->start_ns + longest_delay_ns(), at = now_ns();
	uint64_t expected, first = 0;

	if (!flow->udp)
		return 0;
	if (at > begin) {
		unsigned __int128 bits = at - begin;

		/* The first number that is due later, by sent_ns(). */
		bits = bits * flow->rate_bps / 1000000000 / (flow->bytes * 8) + 1;
		first = bits < flow->sequence ? (uint64_t)bits : flow->sequence;
	}
	expected = first;
	for (uint64_t n = first; n < flow->sequence; n++)
		expected += flow->came[n / 8] >> n % 8 & 1;
	return expected;
}

static void print_counts(int edge)
{
	for (size_t i = 0; i < nflows; i++) {
		struct counts counts;

		if (flows[i].server >= 0)
			on_server(&flows[i]);
		counts = counted(&flows[i]);
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

static void take_sample(void)
{
	for (size_t i = 0; i < nflows; i++) {
		const struct flow *flow = &flows[i];

		sample_flow((unsigned)i, 0, flow->delivered);
		if (!flow->udp && flow->client >= 0)
			sample_socket((unsigned)i, 0, flow->client);
		if (!flow->udp && flow->server >= 0)
			sample_socket((unsigned)i, 1, flow->server);
	}
	print_sample();
}

static uint64_t next_ns(int edge)
{
	uint64_t next = edges_ns[edge];

	if (next_sample_ns() < next)
		next = next_sample_ns();
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
		if (next == next_sample_ns())
			take_sample();
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
	char source[48], target[48];
	unsigned long long bytes, rate_bps, start_ns, stop_ns;

	flows = realloc(flows, (nflows + 1) * sizeof(*flows));
	if (!flows)
		die("flows");
	flow = memset(&flows[nflows], 0, sizeof(*flow));
	if (sscanf(line, "flow %31s %31s %47s %47s %15s %llu %llu %llu %llu %d", flow->from,
	           flow->to, source, target, flow->cc, &bytes, &rate_bps, &start_ns, &stop_ns,
	           &flow->again) != 10)
		return -1;
	flow->udp = !strcmp(flow->cc, "udp");
	flow->source = endpoint_of(source);
	flow->target = endpoint_of(target);
	/* A port for each flow: the listener's port identifies the connection's flow. */
	flow->target.v4.sin_port = htons((uint16_t)(FIRST_PORT + nflows % 30000));
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
	allow_many_files();
	epoll = epoll_create1(0);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long long ns;

		if (sscanf(line, "edge %llu", &ns) == 1 && nedges < MAX_EDGES) {
			edges_ns[nedges++] = t0_ns + ns;
		} else if (!strcmp(line, "transfers\n")) {
			tells_transfers = 1;
		} else if (!samples_line(line, t0_ns) && read_flow(line)) {
			fprintf(stderr, "traffic: what is '%s'?\n", line);
			return 2;
		}
	}
	for (size_t i = 0; i < nflows; i++)
		receive_from(&flows[i]);
	run();
	for (size_t i = 0; i < nflows; i++)
		tell_transfer(&flows[i], 0);
	return 0;
}
