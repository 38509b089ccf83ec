// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// frames.c: frames, see frames.h.

#include <arpa/inet.h>
#include <string.h>
#include <linux/if_ether.h>

#include "frames.h"

enum { IPV4_BYTES = 20, IPV6_BYTES = 40, UDP_BYTES = 8, TCP_BYTES = 20, TAGS_DRAWN = 40 };
enum { NONCE_BYTES = 8, PROBE_BYTES = IPV4_BYTES + NONCE_BYTES };
enum { PROBE6_BYTES = IPV6_BYTES + NONCE_BYTES };
enum { UDP = 17, TCP = 6, PROBE = 253, VERSION_4 = 0x40, VERSION_6 = 0x60 };
/* Newer than the headers of some systems. */
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

/* In the first byte of the address: what the digest is of, and the ECN field. */
enum { LOCAL = 0x02, ECN_SHIFT = 2, OF_WHOLE = 0x10, OF_TAGS = 0x20 };

/* Where things stand. */
struct layout {
	uint32_t net; /* behind the last tag */
	uint16_t type;
	uint32_t ecn_at; /* 0: no field that a queue may mark */
	uint32_t ecn_shift;
};

static uint16_t read16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void write16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static bool is_tag(uint16_t type)
{
	return type == ETH_P_8021Q || type == ETH_P_8021AD;
}

static struct layout lay_out(const uint8_t *data, uint32_t bytes)
{
	struct layout l = {.net = ADDRESSES_BYTES + 2, .type = read16(data + ADDRESSES_BYTES)};

	while (is_tag(l.type) && l.net + TAG_BYTES <= bytes) {
		l.type = read16(data + l.net + 2);
		l.net += TAG_BYTES;
	}
	if (l.type == ETH_P_IP && l.net + IPV4_BYTES <= bytes)
		l.ecn_at = l.net + 1;
	if (l.type == ETH_P_IPV6 && l.net + IPV6_BYTES <= bytes) {
		l.ecn_at = l.net + 1;
		l.ecn_shift = 4;
	}
	return l;
}

static uint32_t ecn_of(const uint8_t *data, const struct layout *l)
{
	return l->ecn_at ? data[l->ecn_at] >> l->ecn_shift & 3u : 0;
}

/* ---- the digest ---- */

static uint64_t mix(uint64_t sum, uint8_t byte)
{
	return (sum ^ byte) * 0x100000001b3u;
}

/* Of a header with its checksum: 0xffff where that is right, and a mark keeps it. */
static uint32_t header_sum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < IPV4_BYTES; i += 2)
		sum += read16(header + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum ? sum : 0xffff;
}

static uint64_t digest(const uint8_t *data, uint32_t bytes, const struct layout *l, bool tags)
{
	uint32_t end = tags ? l->net : bytes, sum_at = 0;
	uint64_t sum = 0xcbf29ce484222325u;

	if (!tags && l->ecn_at && l->type == ETH_P_IP) {
		uint32_t check = header_sum(data + l->net);

		sum_at = l->net + 10;
		sum = mix(mix(sum, (uint8_t)check), (uint8_t)(check >> 8));
	}
	for (uint32_t i = ADDRESSES_BYTES; i < end; i++) {
		uint8_t byte = data[i];

		if (sum_at && (i == sum_at || i == sum_at + 1))
			continue;
		if (l->ecn_at && i == l->ecn_at)
			byte &= (uint8_t) ~(3u << l->ecn_shift);
		sum = mix(sum, byte);
	}
	return sum ^ sum >> 40;
}

static void seal(struct frame *f, bool tags)
{
	struct layout l = lay_out(f->data, f->bytes);
	uint64_t sum = digest(f->data, f->bytes, &l, tags);

	f->data[0] = (uint8_t)(LOCAL | (tags ? OF_TAGS : OF_WHOLE) |
	                       ecn_of(f->data, &l) << ECN_SHIFT);
	for (uint32_t i = 1; i < ETH_ALEN; i++)
		f->data[i] = (uint8_t)(sum >> (8 * (i - 1)));
}

/* A probe of ours has the addresses of the packet before it, and so that one's digest. */
static bool is_probe(const uint8_t *data, uint32_t bytes, const struct layout *l)
{
	const uint8_t *ip = data + l->net;

	if (l->type == ETH_P_IP && bytes >= l->net + PROBE_BYTES)
		return ip[0] == 0x45 && read16(ip + 2) == PROBE_BYTES && ip[9] == PROBE;
	if (l->type == ETH_P_IPV6 && bytes >= l->net + PROBE6_BYTES)
		return read16(ip + 4) == NONCE_BYTES && ip[6] == PROBE;
	return false;
}

const char *frame_spoilt(const uint8_t *data, uint32_t bytes)
{
	bool tags = data[0] & OF_TAGS;
	uint32_t came = data[0] >> ECN_SHIFT & 3u, left;
	struct layout l;
	uint64_t sum;

	if (bytes < ETH_HLEN || (data[0] & 0xc3) != LOCAL || !(data[0] & (OF_WHOLE | OF_TAGS)))
		return NULL;
	l = lay_out(data, bytes);
	if (is_probe(data, bytes, &l))
		return NULL;
	sum = digest(data, bytes, &l, tags);
	for (uint32_t i = 1; i < ETH_ALEN; i++)
		if (data[i] != (uint8_t)(sum >> (8 * (i - 1))))
			return tags ? "its tags have changed" : "its bytes have changed";
	left = ecn_of(data, &l);
	if (!tags && left != came && (left != 3 || !came))
		return "its ECN field has changed to what no mark makes of it";
	return NULL;
}

int frame_marked(const uint8_t *data, uint32_t bytes)
{
	struct layout l;

	if (bytes < ETH_HLEN || (data[0] & 0xc3) != LOCAL || !(data[0] & OF_WHOLE))
		return -1;
	l = lay_out(data, bytes);
	if (ecn_of(data, &l) != 3 || (data[0] >> ECN_SHIFT & 3u) == 3)
		return -1;
	return (int)(l.net - ETH_HLEN) / TAG_BYTES;
}

/* ---- making one ---- */

static uint32_t tags_drawn(struct draw *d)
{
	uint32_t n = below(d, 20);

	return n < 11 ? 0 : n < 14 ? 1 : n < 18 ? 2 : n < 19 ? 3 : below(d, TAGS_DRAWN + 1);
}

/* With a priority of 2 or 3 it begins as an IP header does. */
static uint32_t draw_tag(struct draw *d)
{
	static const uint8_t priorities[] = {VERSION_4, VERSION_6, 0};
	uint32_t tag = below(d, 65536);

	return one_in(d, 2) ? tag : (tag & 0xfff) | (uint32_t)priorities[below(d, 3)] << 8;
}

static void begin(struct draw *d, struct frame *f, const struct way *way, bool large)
{
	uint32_t tags = large && way->no_tags_of_large ? 0 : tags_drawn(d);

	memset(&f->offload, 0, sizeof(f->offload));
	memset(f->data, 0, ADDRESSES_BYTES);
	f->data[6] = LOCAL;
	f->data[11] = 1;
	f->bytes = ADDRESSES_BYTES;
	for (uint32_t i = 0; i < way->tags + tags; i++) {
		bool fixed = i < way->tags;
		uint16_t type = one_in(d, 3) ? ETH_P_8021AD : ETH_P_8021Q;

		write16(f->data + f->bytes, fixed ? way->tag_type[i] : type);
		write16(f->data + f->bytes + 2, fixed ? way->tag[i] : draw_tag(d));
		f->bytes += TAG_BYTES;
	}
}

static void put_ports(struct draw *d, struct frame *f, uint8_t protocol, uint32_t left)
{
	uint8_t *at = f->data + f->bytes;

	write16(at, 1000 + below(d, 64));
	write16(at + 2, 9);
	if (protocol == UDP && left >= UDP_BYTES) {
		write16(at + 4, left);
		f->bytes += UDP_BYTES;
	} else if (protocol == TCP && left >= TCP_BYTES) {
		at[12] = TCP_BYTES / 4 << 4;
		at[13] = 0x10; /* ACK */
		f->bytes += TCP_BYTES;
	}
}

/* Behind the type stand `bytes` more. */
static void put_ipv4(struct draw *d, struct frame *f, uint8_t protocol, uint32_t bytes)
{
	uint8_t *at = f->data + f->bytes;

	at[0] = VERSION_4 | (uint8_t)(one_in(d, 20) ? below(d, 16) : IPV4_BYTES / 4);
	at[1] = (uint8_t)draw_word(d);
	write16(at + 2, one_in(d, 20) ? below(d, 65536) : bytes);
	write16(at + 4, below(d, 65536));
	write16(at + 6, one_in(d, 20) ? below(d, 65536) : 0);
	at[8] = 64;
	at[9] = protocol;
	at[12] = at[16] = 10;
	at[15] = (uint8_t)below(d, 16);
	at[19] = 200;
	write16(at + 10, one_in(d, 20) ? below(d, 65536) : 0xffff & ~header_sum(at));
	f->bytes += IPV4_BYTES;
	if (bytes > IPV4_BYTES)
		put_ports(d, f, protocol, bytes - IPV4_BYTES);
}

static void put_ipv6(struct draw *d, struct frame *f, uint8_t protocol, uint32_t bytes)
{
	uint8_t *at = f->data + f->bytes;
	uint32_t left = bytes > IPV6_BYTES ? bytes - IPV6_BYTES : 0;

	at[0] = (uint8_t)(VERSION_6 | below(d, 16));
	at[1] = (uint8_t)draw_word(d);
	write16(at + 4, one_in(d, 20) ? below(d, 65536) : left);
	/* Now and then headers that are not there: hop-by-hop, routing, fragment. */
	at[6] = one_in(d, 20) ? (uint8_t[]){0, 43, 44}[below(d, 3)] : protocol;
	at[7] = 64;
	at[8] = at[24] = 0xfd;
	at[23] = (uint8_t)below(d, 16);
	at[39] = 200;
	f->bytes += IPV6_BYTES;
	if (left)
		put_ports(d, f, protocol, left);
}

/* All of it behind the last tag, `bytes` long with whatever it begins with. */
static void put_rest(struct draw *d, struct frame *f, uint16_t type, uint8_t protocol,
                     uint32_t bytes)
{
	uint32_t from;

	write16(f->data + f->bytes, type);
	f->bytes += 2;
	from = f->bytes;
	memset(f->data + from, 0, IPV6_BYTES + TCP_BYTES);
	if (type == ETH_P_IP)
		put_ipv4(d, f, protocol, bytes);
	else if (type == ETH_P_IPV6)
		put_ipv6(d, f, protocol, bytes);
	if (from + bytes > f->bytes)
		memset(f->data + f->bytes, (int)below(d, 256), from + bytes - f->bytes);
	f->bytes = from + bytes;
}

static uint32_t room_behind(const struct frame *f, const struct way *way)
{
	uint32_t made = f->bytes - ADDRESSES_BYTES;
	/* Devices and their tags, and headers that may be longer than what is asked for. */
	uint32_t most = FRAME_ROOM - ADDRESSES_BYTES - IPV6_BYTES - TCP_BYTES;

	if (way->most_bytes < most)
		most = way->most_bytes;
	return most > made ? most - made : 0;
}

void frame_draw(struct draw *d, struct frame *f, const struct way *way)
{
	static const uint16_t types[] = {ETH_P_ARP,     ETH_P_LOOP, ETH_P_MPLS_UC,
	                                 ETH_P_PPP_SES, 0,          46};
	uint32_t which = below(d, 20), room, bytes;
	uint16_t type = which < 12   ? ETH_P_IP
	                : which < 18 ? ETH_P_IPV6
	                             : types[below(d, sizeof(types) / sizeof(*types))];

	begin(d, f, way, false);
	room = room_behind(f, way);
	/* Most are as on a wire; some are as long as the device takes. */
	bytes = (uint32_t)(one_in(d, 30) ? between(d, 0, room)
	                   : room > 1500 ? between(d, 0, 1500)
	                                 : between(d, 0, room));
	put_rest(d, f, type, one_in(d, 3) ? TCP : UDP, bytes);
	if (one_in(d, 10))
		f->bytes = (uint32_t)spread(d, ETH_HLEN, f->bytes);
	seal(f, false);
}

void frame_draw_large(struct draw *d, struct frame *f, const struct way *way,
                      uint32_t packets_most)
{
	bool six = one_in(d, 3), tcp = one_in(d, 2);
	uint32_t segment = (uint32_t)(one_in(d, 3) ? 8 : between(d, 1, 2000)), net, l4, bytes;

	begin(d, f, way, true);
	bytes = (uint32_t)spread(d, 100, one_in(d, 20) ? FRAME_ROOM - 500 : 65000);
	if (bytes / segment > packets_most)
		bytes = segment * packets_most;
	put_rest(d, f, six ? ETH_P_IPV6 : ETH_P_IP, tcp ? TCP : UDP, bytes + 60);
	net = lay_out(f->data, f->bytes).net;
	l4 = net + (six ? IPV6_BYTES : IPV4_BYTES);
	f->offload.gso_size = (uint16_t)segment;
	f->offload.gso_type = !tcp  ? VIRTIO_NET_HDR_GSO_UDP_L4
	                      : six ? VIRTIO_NET_HDR_GSO_TCPV6
	                            : VIRTIO_NET_HDR_GSO_TCPV4;
	if (one_in(d, 20))
		f->offload.gso_type = (uint8_t)draw_word(d);
	f->offload.hdr_len = (uint16_t)(one_in(d, 10) ? between(d, 0, 65535)
	                                              : l4 + (tcp ? TCP_BYTES : UDP_BYTES));
	f->offload.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	f->offload.csum_start = (uint16_t)l4;
	f->offload.csum_offset = tcp ? 16 : 6;
	seal(f, true);
}
