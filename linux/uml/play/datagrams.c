// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* datagrams.c: those of flows without connections, and their echoes. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "play.h"

static char payload[1 << 16];

/* Datagrams at a constant rate need no memory of when. */
static uint64_t sent_ns(const struct flow *flow, size_t n)
{
	const struct visit *visit = &flow->visits[0];

	if (!visit->plans[0].even_bps[0])
		return flow->sent_ns[n];
	return flow->start_ns + visit->wait_ns + even_ns(&visit->plans[0], 0, n);
}

static unsigned has_come(const struct flow *flow, size_t n)
{
	return flow->came[n / 8] >> n % 8 & 1;
}

/* No two datagrams are equal: taps identify them by their content. The receiver also reads from
 * it when they were sent. */
void send_datagram(struct flow *flow, int fd, uint64_t bytes)
{
	uint64_t number = flow->nsent;

	if (!flow->visits[0].plans[0].even_bps[0]) {
		flow->sent_ns = more(flow->sent_ns, flow->nsent, sizeof(*flow->sent_ns));
		flow->sent_ns[flow->nsent] = here();
	}
	if (flow->echo) {
		flow->rtt_ns = more(flow->rtt_ns, flow->nsent, sizeof(*flow->rtt_ns));
		flow->rtt_ns[flow->nsent] = 0;
	}
	if (flow->nsent % 8 == 0) {
		flow->came = more(flow->came, flow->nsent / 8, sizeof(*flow->came));
		flow->came[flow->nsent / 8] = 0;
	}
	flow->nsent++;
	memcpy(payload, &number, sizeof(number));
	if (send(fd, payload, bytes, 0) < 0 && errno != EAGAIN)
		die("send");
}

void take_datagrams(struct flow *flow, int fd, int end)
{
	union endpoint peer;
	socklen_t size = sizeof(peer);
	uint64_t number = 0;
	ssize_t bytes;

	while ((bytes = recvfrom(fd, &number, sizeof(number), MSG_TRUNC, &peer.any, &size)) >
	       0) {
		uint64_t took_ns = here() - sent_ns(flow, number);

		flow->delivered[end] += (uint64_t)bytes;
		if (!end) {
			flow->rtt_ns[number] = took_ns;
			continue;
		}
		flow->came[number / 8] |= (unsigned char)(1 << number % 8);
		note_arrival(&flow->transit, took_ns);
		flow->took_ns = more(flow->took_ns, flow->ntook, sizeof(*flow->took_ns));
		flow->took_ns[flow->ntook++] = took_ns;
		memcpy(payload, &number, sizeof(number));
		if (flow->echo && sendto(fd, payload, (size_t)bytes, 0, &peer.any, size) < 0 &&
		    errno != EAGAIN)
			die("sendto");
		number = 0;
	}
}

/* Datagrams sent longer ago than the longest delay so far, which have arrived or are lost, and
 * those of the others that have arrived. */
uint64_t expected_pkts(const struct flow *flow)
{
	size_t low = 0, high = flow->nsent;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sent_ns(flow, middle) + longest_delay_ns() < here())
			low = middle + 1;
		else
			high = middle;
	}
	high = low;
	for (size_t n = low; n < flow->nsent; n++)
		high += has_come(flow, n);
	return high;
}

void print_delays(int edge, struct flow *flow)
{
	if (!flow->ntook)
		return;
	printf("took %d %u", edge, flow->number);
	for (size_t n = 0; n < flow->ntook; n++)
		printf(" %llu", (unsigned long long)flow->took_ns[n]);
	printf("\n");
	flow->ntook = 0;
}

void print_echoes(void)
{
	for (size_t i = 0; i < nflows; i++)
		for (size_t n = 0; flows[i].echo && n < flows[i].nsent; n++)
			printf("echo %u %llu %llu\n", flows[i].number,
			       (unsigned long long)(sent_ns(&flows[i], n) - t0_ns),
			       (unsigned long long)flows[i].rtt_ns[n]);
}
