// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* datagrams.c: sends and takes the datagrams of flows without connections, and their echoes. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "play.h"

static char payload[1 << 16];

/* Time at which an end sent datagram n. It is reckoned, not kept, for a constant rate. */
static uint64_t sent_ns(const struct flow *flow, int end, size_t n)
{
	const struct visit *visit = &flow->visits[0];

	if (!visit->plans[0].even_bps[end])
		return flow->sent[end].sent_ns[n];
	return flow->start_ns + visit->wait_ns + even_ns(&visit->plans[0], end, n);
}

static unsigned has_come(const struct flow *flow, int end, size_t n)
{
	return flow->sent[end].came[n / 8] >> n % 8 & 1;
}

static uint64_t happens_ns(struct flow *flow)
{
	return flow->application ? decision_ns(flow) : here();
}

/* No two datagrams are equal: taps identify them by their content. The receiver also reads from
 * it when they were sent. */
void send_datagram(struct flow *flow, int fd, int end, uint64_t bytes)
{
	struct datagrams *sent = &flow->sent[end];
	uint64_t number = sent->count;

	if (!flow->visits[0].plans[0].even_bps[end]) {
		sent->sent_ns = more(sent->sent_ns, sent->count, sizeof(*sent->sent_ns));
		sent->sent_ns[sent->count] = happens_ns(flow);
	}
	if (flow->echo) {
		flow->rtt_ns = more(flow->rtt_ns, sent->count, sizeof(*flow->rtt_ns));
		flow->rtt_ns[sent->count] = 0;
	}
	if (sent->count % 8 == 0) {
		sent->came = more(sent->came, sent->count / 8, sizeof(*sent->came));
		sent->came[sent->count / 8] = 0;
	}
	sent->count++;
	memcpy(payload, &number, sizeof(number));
	if (send(fd, payload, bytes, 0) < 0 && errno != EAGAIN)
		die("send");
}

/* A datagram of the other end has arrived at `end`. */
static void note_datagram(struct flow *flow, int end, uint64_t n, uint64_t took_ns)
{
	flow->sent[!end].came[n / 8] |= (unsigned char)(1 << n % 8);
	note_arrival(&flow->transit[end], took_ns);
	if (!end)
		return;
	flow->took_ns = more(flow->took_ns, flow->ntook, sizeof(*flow->took_ns));
	flow->took_ns[flow->ntook++] = took_ns;
}

void take_datagrams(size_t talk, int end)
{
	struct flow *flow = &flows[talks[talk].flow];
	int fd = talks[talk].sides[end].fd, sender = flow->echo ? 0 : !end;
	union endpoint peer;
	socklen_t size = sizeof(peer);
	uint64_t number = 0;
	ssize_t bytes;

	while ((bytes = recvfrom(fd, &number, sizeof(number), MSG_TRUNC, &peer.any, &size)) >
	       0) {
		uint64_t left_ns = sent_ns(flow, sender, number);
		uint64_t took_ns = happens_ns(flow) - left_ns;

		flow->delivered[end] += (uint64_t)bytes;
		if (sender == end) {
			flow->rtt_ns[number] = took_ns;
			continue;
		}
		note_datagram(flow, end, number, took_ns);
		memcpy(payload, &number, sizeof(number));
		if (flow->echo && sendto(fd, payload, (size_t)bytes, 0, &peer.any, size) < 0 &&
		    errno != EAGAIN)
			die("sendto");
		if (flow->application && application_hears(flow->application, end,
		                                           happens_ns(flow), left_ns, took_ns))
			speak(talk, end);
		number = 0;
	}
}

/* Datagrams of an end that have arrived or are lost. All that were sent longer ago than the
 * longest delay so far count, and of the later ones those that have arrived. */
static uint64_t expected_of(const struct flow *flow, int end)
{
	size_t low = 0, high = flow->sent[end].count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sent_ns(flow, end, middle) + longest_delay_ns() < here())
			low = middle + 1;
		else
			high = middle;
	}
	high = low;
	for (size_t n = low; n < flow->sent[end].count; n++)
		high += has_come(flow, end, n);
	return high;
}

uint64_t expected_pkts(const struct flow *flow)
{
	return expected_of(flow, 0) + expected_of(flow, 1) - flow->transit[0].arrived_pkts;
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
		for (size_t n = 0; flows[i].echo && n < flows[i].sent[0].count; n++)
			printf("echo %u %llu %llu\n", flows[i].number,
			       (unsigned long long)(sent_ns(&flows[i], 0, n) - t0_ns),
			       (unsigned long long)flows[i].rtt_ns[n]);
}
