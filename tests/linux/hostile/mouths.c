// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// mouths.c: traffic of a storm of probes: packets that ask for probes, questions and answers
// that are forged, late, doubled or changed, and packets to where nobody answers.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "ends.h"

enum { SEND_BYTES = 64 << 20, HEAR_BYTES = 4 << 20, UDP_SEGMENT_OPTION = 103, PORT = 9 };
enum { ICMP = 1, ICMP6 = 58, PROBE = 253, NONCE_BYTES = 8, PAYLOAD_MOST = 60000 };
enum { IPV4_BYTES = 20, IPV6_BYTES = 40, ECHO = 8, ECHO6 = 128, ECHO6_REPLY = 129 };

/* Of each namespace: of both families UDP, ICMP and the protocol of probes. */
static const struct {
	int family, type, protocol;
} mouths[MOUTHS] = {
        {AF_INET, SOCK_DGRAM, 0},    {AF_INET6, SOCK_DGRAM, 0},  {AF_INET, SOCK_RAW, ICMP},
        {AF_INET6, SOCK_RAW, ICMP6}, {AF_INET, SOCK_RAW, PROBE}, {AF_INET6, SOCK_RAW, PROBE},
};

void mouths_open(struct ends *e)
{
	int send = SEND_BYTES, hear = 1;

	for (int which = NEAR; which < NAMESPACES; which++) {
		ends_enter(e, which);
		for (int i = 0; i < MOUTHS; i++) {
			int fd = socket(mouths[i].family,
			                mouths[i].type | SOCK_NONBLOCK | SOCK_CLOEXEC,
			                mouths[i].protocol);

			e->mouth[which][i] = fd;
			setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &hear, sizeof(hear));
			if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &send, sizeof(send)))
				setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send, sizeof(send));
			setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &hear, sizeof(hear));
		}
	}
	ends_enter(e, NEAR);
	ears_open(e, NEAR);
	ears_open(e, FAR);
}

void ears_open(struct ends *e, int which)
{
	struct sockaddr_ll here = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	int room = HEAR_BYTES;

	if (e->ear[which] > 0)
		close(e->ear[which]);
	ends_enter(e, which);
	here.sll_ifindex = (int)if_nametoindex(which == NEAR ? "c0" : "s0");
	e->ear[which] =
	        socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL));
	setsockopt(e->ear[which], SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	bind(e->ear[which], (void *)&here, sizeof(here));
	ends_enter(e, NEAR);
}

/* ---- where to ---- */

static void draw_to4(struct draw *d, int from, struct sockaddr_in *to)
{
	/* The other end, behind it, nobody, a VLAN, tunnels, no route there, all, a group. */
	const uint8_t other = from == FAR ? 1 : 2;
	const uint8_t places[][4] = {
	        {10, 0, 0, other}, {10, 0, 0, other},    {10, 0, 0, other}, {10, 2, 0, 9},
	        {10, 3, 0, 1},     {10, 0, 0, 77},       {10, 5, 0, other}, {10, 6, 0, other},
	        {10, 8, 0, other}, {10, 9, 0, 77},       {10, 99, 9, 9},    {10, 0, 0, 255},
	        {224, 0, 0, 5},    {255, 255, 255, 255}, {127, 0, 0, 1},
	};

	*to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(PORT)};
	memcpy(&to->sin_addr, places[below(d, sizeof(places) / 4)], 4);
	if (one_in(d, 16))
		to->sin_addr.s_addr = htonl(0x0a000000u + below(d, 256));
}

static void draw_to6(const struct ends *e, struct draw *d, int from, struct sockaddr_in6 *to)
{
	const uint8_t other = from == FAR ? 1 : 2;
	const uint8_t places[][16] = {
	        {0xfd, [15] = other},    {0xfd, [15] = other},
	        {0xfd, [15] = other},    {0xfd, 2, [15] = 9},
	        {0xfd, 3, [15] = 1},     {0xfd, [15] = 77},
	        {0xfd, 5, [15] = other}, {0xfd, 6, [15] = other},
	        {0xfd, 8, [15] = other}, {0xfd, 9, [15] = 77},
	        {0xfd, 0x99, [15] = 1},  {0xff, 2, [15] = 1},
	        {0xfe, 0x80, [15] = 9},  {[15] = 1},
	};

	*to = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
	memcpy(&to->sin6_addr, places[below(d, sizeof(places) / 16)], 16);
	if (from != LODGER)
		to->sin6_scope_id = e->end[from]->world.index;
	if (one_in(d, 16))
		to->sin6_addr.s6_addr[15] = (uint8_t)below(d, 256);
}

/* ---- what ---- */

static uint32_t put_echo(struct draw *d, uint8_t *at, bool six)
{
	uint32_t sum = 0, bytes = NONCE_BYTES + (one_in(d, 4) ? 2 * below(d, 40) : 0);

	memset(at, 0, bytes);
	if (six)
		at[0] = one_in(d, 3) ? ECHO6_REPLY : ECHO6;
	else
		at[0] = one_in(d, 3) ? 0 : ECHO;
	for (uint32_t i = 4; i < NONCE_BYTES; i++)
		at[i] = (uint8_t)draw_word(d);
	/* The kernel itself sums those of IPv6. */
	for (uint32_t i = 0; !six && i < bytes; i += 2)
		sum += (uint32_t)(at[i] << 8 | at[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = 0xffff & ~(sum + (sum >> 16));
	if (!six) {
		at[2] = (uint8_t)(sum >> 8);
		at[3] = (uint8_t)sum;
	}
	return bytes;
}

static uint32_t put_payload(struct draw *d, uint8_t *at, int mouth)
{
	uint64_t nonce = draw_word(d);

	switch (mouths[mouth].protocol) {
	case ICMP:
	case ICMP6:
		return put_echo(d, at, mouths[mouth].protocol == ICMP6);
	case PROBE:
		memcpy(at, &nonce, sizeof(nonce));
		return one_in(d, 6) ? below(d, 30) : NONCE_BYTES;
	default:
		return (uint32_t)spread(d, 0, one_in(d, 8) ? PAYLOAD_MOST : 1400);
	}
}

static void dress(struct draw *d, int fd, bool six)
{
	static const int hops[] = {1, 2, 64, 255};
	int ds = (int)below(d, 256), ttl = hops[below(d, 4)];
	uint32_t priority = one_in(d, 2) ? below(d, 16) : (1u << 16) + 1 + below(d, 3);

	if (!one_in(d, 3))
		return;
	setsockopt(fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_TCLASS : IP_TOS, &ds,
	           sizeof(ds));
	setsockopt(fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_UNICAST_HOPS : IP_TTL, &ttl,
	           sizeof(ttl));
	setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority));
}

static bool say_one(struct ends *e, struct draw *d)
{
	static uint8_t payload_of[1 << 16];
	int from = one_in(d, 12) ? LODGER : one_in(d, 3) ? FAR : NEAR;
	/* Most of them ask for probes. */
	int mouth = (int)(one_in(d, 5) ? below(d, MOUTHS) : below(d, 2));
	bool six = mouths[mouth].family == AF_INET6;
	int fd = e->mouth[from][mouth];
	uint16_t segment = (uint16_t)spread(d, 8, 1400);
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(segment))] = {0};
	struct iovec part = {payload_of, put_payload(d, payload_of, mouth)};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
	struct sockaddr_in to4;
	struct sockaddr_in6 to6;

	dress(d, fd, six);
	draw_to4(d, from, &to4);
	draw_to6(e, d, from, &to6);
	m.msg_name = six ? (void *)&to6 : (void *)&to4;
	m.msg_namelen = six ? sizeof(to6) : sizeof(to4);
	/* A raw socket takes a port for a protocol. */
	if (mouths[mouth].protocol)
		to6.sin6_port = 0;
	if (!mouths[mouth].protocol && one_in(d, 4)) {
		struct cmsghdr *head = (void *)control;

		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		head->cmsg_level = IPPROTO_UDP;
		head->cmsg_type = UDP_SEGMENT_OPTION;
		head->cmsg_len = CMSG_LEN(sizeof(segment));
		memcpy(CMSG_DATA(head), &segment, sizeof(segment));
		if (part.iov_len > segment * 64u)
			part.iov_len = segment * 64u;
	}
	return sendmsg(fd, &m, 0) >= 0;
}

void ends_say(struct ends *e, struct draw *d, uint64_t packets)
{
	for (; packets; packets--) {
		if (say_one(e, d))
			e->end[NEAR]->world.sent++;
		else
			e->end[NEAR]->world.not_sent++;
	}
}

/* ---- what was heard before ---- */

static bool is_probing(const uint8_t *data, uint32_t bytes)
{
	const uint8_t *ip = data + ETH_HLEN;

	if (bytes > CAUGHT_ROOM || bytes < ETH_HLEN + IPV4_BYTES + NONCE_BYTES)
		return false;
	if (data[12] == 0x08 && data[13] == 0x00)
		return ip[0] == 0x45 && (ip[9] == ICMP || ip[9] == PROBE);
	return bytes >= ETH_HLEN + IPV6_BYTES + NONCE_BYTES && data[12] == 0x86 &&
	       data[13] == 0xdd &&
	       (ip[6] == PROBE || (ip[6] == ICMP6 && ip[40] >= ECHO6 && ip[40] <= ECHO6_REPLY));
}

void ends_listen(struct ends *e)
{
	static uint8_t data[1 << 17];

	for (int which = NEAR; which <= FAR; which++) {
		ssize_t bytes;

		while ((bytes = recv(e->ear[which], data, sizeof(data), 0)) >= 0) {
			struct caught *c = &e->caught[e->caught_at % CAUGHT_MOST];

			if (!is_probing(data, (uint32_t)bytes))
				continue;
			c->bytes = (uint32_t)bytes;
			memcpy(c->data, data, (size_t)bytes);
			e->caught_at++;
			e->tally.heard++;
		}
	}
}

static void exchange(uint8_t *a, uint8_t *b, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++) {
		uint8_t one = a[i];

		a[i] = b[i];
		b[i] = one;
	}
}

static void add_to_sum(uint8_t *sum, int32_t change)
{
	int32_t value = (sum[0] << 8 | sum[1]) + change;

	if (value < 0)
		value += 0xffff;
	if (value > 0xffff)
		value -= 0xffff;
	sum[0] = (uint8_t)(value >> 8);
	sum[1] = (uint8_t)value;
}

/* What the other end might answer: its sums stay right. */
static void turn_round(uint8_t *data)
{
	uint8_t *ip = data + ETH_HLEN, *rest;
	bool six = data[12] == 0x86;

	exchange(data, data + ETH_ALEN, ETH_ALEN);
	exchange(ip + (six ? 8 : 12), ip + (six ? 24 : 16), six ? 16 : 4);
	rest = ip + (six ? IPV6_BYTES : IPV4_BYTES);
	if (!six && ip[9] == ICMP && rest[0] == ECHO) {
		rest[0] = 0;
		add_to_sum(rest + 2, ECHO << 8);
	} else if (six && ip[6] == ICMP6 && rest[0] == ECHO6) {
		rest[0] = ECHO6_REPLY;
		add_to_sum(rest + 2, -(1 << 8));
	} else if (ip[six ? 6 : 9] == PROBE) {
		rest[0] |= 0x80;
	}
}

void ends_repeat(struct ends *e, struct draw *d, uint64_t frames)
{
	uint32_t known = e->caught_at < CAUGHT_MOST ? e->caught_at : CAUGHT_MOST;

	for (; known && frames; frames--) {
		struct caught c = e->caught[below(d, known)];

		if (!one_in(d, 4))
			turn_round(c.data);
		/* The way of the last hop may be another, or a byte may have changed. */
		if (one_in(d, 6))
			c.data[ETH_HLEN + below(d, c.bytes - ETH_HLEN)] ^= 1u << below(d, 8);
		if (send(e->ear[one_in(d, 4) ? NEAR : FAR], c.data, c.bytes, 0) >= 0)
			e->tally.spoken++;
	}
}
