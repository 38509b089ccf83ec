// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// world.c: a device under attack and what surrounds it, see world.h.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>

#include "links.h"
#include "world.h"

enum { SEND_ROOM_BYTES = 256 << 20, WATCH_ROOM_BYTES = 64 << 20, UDP_MOST_BYTES = 65507 };
enum { UDP_SEGMENT_OPTION = 103, SHOWN_BYTES = 96 };
static const uint32_t NO_BOUND = 1u << 30;

static struct frame frame;

/* ---- ports ---- */

static struct port *open_port(struct world *w, int manner, uint32_t index)
{
	struct sockaddr_ll here = {.sll_family = AF_PACKET, .sll_ifindex = (int)index};
	int type = manner == PORT_BARE ? SOCK_DGRAM : SOCK_RAW, room = SEND_ROOM_BYTES, on = 1;
	struct port *p = &w->port[w->ports];

	if (w->ports == PORTS_MOST || !index)
		return NULL;
	/* No protocol: it sends, and nothing is delivered to it. */
	p->fd = socket(AF_PACKET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (p->fd < 0 || bind(p->fd, (void *)&here, sizeof(here)))
		return NULL;
	if (setsockopt(p->fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)))
		setsockopt(p->fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	if (manner == PORT_OFFLOAD)
		setsockopt(p->fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on));
	p->manner = manner;
	p->index = index;
	w->ports++;
	return p;
}

static void open_ports(struct world *w, uint32_t index, const struct way *way)
{
	static const struct way plain;

	for (int manner = PORT_RAW; manner <= PORT_BARE; manner++) {
		struct port *p = open_port(w, manner, index);

		if (p)
			p->way = way ? *way : plain;
	}
}

static void open_udp(struct wire *wire, struct world *w, bool loopback)
{
	static const uint8_t own[2][16] = {{10, 1, 0, 1}, {0xfd, [15] = 1}};
	static const uint8_t far[2][16] = {{10, 0, 0, 200}, {0xfd, [15] = 200}};

	for (int six = 0; six < 2; six++) {
		struct sockaddr_in to4 = {.sin_family = AF_INET, .sin_port = htons(9)};
		struct sockaddr_in6 to6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
		struct port *p = &w->port[w->ports];

		address_add(wire, w->index, six, 8, own[six]);
		if (!loopback)
			neighbour_add(wire, w->index, six, far[six]);
		memcpy(&to4.sin_addr, loopback ? own[0] : far[0], 4);
		memcpy(&to6.sin6_addr, loopback ? own[1] : far[1], 16);
		p->fd = socket(six ? AF_INET6 : AF_INET,
		               SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		/* A device too narrow for the protocol has no way to there. */
		if (p->fd < 0 || connect(p->fd, six ? (void *)&to6 : (void *)&to4,
		                         six ? sizeof(to6) : sizeof(to4)))
			continue;
		p->manner = PORT_UDP;
		p->index = w->index;
		p->six = six;
		w->ports++;
	}
}

/* ---- places ---- */

static void up(struct wire *wire, const char *name)
{
	link_set(wire, if_nametoindex(name), IFF_UP, IFF_UP);
}

static void own_address_and_up(struct wire *wire, const struct world *w)
{
	link_address(wire, w->index);
	up(wire, "d0");
}

/* Tags made by devices: one by v0, another by v1 above it. */
static void add_vlans(struct wire *wire, struct world *w, struct draw *d)
{
	struct way way = {
	        .tags = 1,
	        .tag_type = {ETH_P_8021Q, ETH_P_8021AD},
	        .tag = {5, 7},
	        .no_tags_of_large = true,
	};

	if (link_add_vlan(wire, "v0", w->index, ETH_P_8021Q, 5))
		return;
	up(wire, "v0");
	open_ports(w, if_nametoindex("v0"), &way);
	if (one_in(d, 2))
		way.tag_type[1] = ETH_P_8021Q;
	if (link_add_vlan(wire, "v1", if_nametoindex("v0"), way.tag_type[1], 7))
		return;
	up(wire, "v1");
	/* The outermost is made last. */
	way.tags = 2;
	open_ports(w, if_nametoindex("v1"), &way);
}

static void build_veth(struct wire *wire, struct world *w, struct draw *d)
{
	link_add_pair(wire, "d0", "p0", one_in(d, 3) ? 4 : 1);
	w->index = if_nametoindex("d0");
	link_mtu(wire, if_nametoindex("p0"), 65535);
	up(wire, "p0");
	own_address_and_up(wire, w);
	open_ports(w, w->index, NULL);
	add_vlans(wire, w, d);
}

static uint32_t add_feed(struct wire *wire, struct world *w)
{
	link_add_pair(wire, "b0", "b1", 1);
	link_mtu(wire, if_nametoindex("b0"), 65535);
	link_mtu(wire, if_nametoindex("b1"), 65535);
	up(wire, "b0");
	up(wire, "b1");
	open_ports(w, if_nametoindex("b0"), NULL);
	return if_nametoindex("b1");
}

static void build_bridge(struct wire *wire, struct world *w, struct draw *d)
{
	uint32_t bridge;

	link_add_pair(wire, "d0", "p0", one_in(d, 3) ? 4 : 1);
	w->index = if_nametoindex("d0");
	link_mtu(wire, if_nametoindex("p0"), 65535);
	link_add(wire, "br0", "bridge", 1);
	bridge = if_nametoindex("br0");
	link_join(wire, w->index, bridge);
	link_join(wire, add_feed(wire, w), bridge);
	up(wire, "p0");
	own_address_and_up(wire, w);
	up(wire, "br0");
}

static void build_dummy(struct wire *wire, struct world *w, struct draw *d)
{
	link_add(wire, "d0", "dummy", one_in(d, 3) ? 4 : 1);
	w->index = if_nametoindex("d0");
	own_address_and_up(wire, w);
	open_ports(w, w->index, NULL);
	if (one_in(d, 2))
		add_vlans(wire, w, d);
}

static void build_lo(struct wire *wire, struct world *w, struct draw *d)
{
	(void)d;
	w->index = if_nametoindex("lo");
	up(wire, "lo");
	open_ports(w, w->index, NULL);
}

/* All that a feed receives is redirected to it, and goes on from there. */
static void build_ifb(struct wire *wire, struct world *w, struct draw *d)
{
	link_add(wire, "d0", "ifb", one_in(d, 3) ? 4 : 1);
	w->index = if_nametoindex("d0");
	own_address_and_up(wire, w);
	redirect(wire, add_feed(wire, w), w->index);
	/* So few packets fill it, and it stops its queue. */
	if (one_in(d, 2))
		link_queue_length(wire, w->index, below(d, 4));
}

static void build_vlan(struct wire *wire, struct world *w, struct draw *d)
{
	static const struct way way = {.no_tags_of_large = true};

	(void)d;
	link_add_pair(wire, "e0", "p0", 1);
	up(wire, "e0");
	up(wire, "p0");
	link_add_vlan(wire, "d0", if_nametoindex("e0"), ETH_P_8021Q, 9);
	w->index = if_nametoindex("d0");
	own_address_and_up(wire, w);
	open_ports(w, w->index, &way);
}

static void build_tun(struct wire *wire, struct world *w, struct draw *d)
{
	struct ifreq request = {.ifr_name = "d0"};

	w->framed = one_in(d, 2);
	request.ifr_flags = (short)(IFF_NO_PI | (w->framed ? IFF_TAP : IFF_TUN));
	w->tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (w->tun < 0 || ioctl(w->tun, TUNSETIFF, &request)) {
		/* Not for everybody. */
		w->framed = true;
		w->place = "dummy";
		build_dummy(wire, w, d);
		return;
	}
	w->index = if_nametoindex("d0");
	own_address_and_up(wire, w);
	open_ports(w, w->index, NULL);
}

static const struct {
	const char *name;
	void (*build)(struct wire *, struct world *, struct draw *);
} places[] = {
        {"veth", build_veth}, {"bridge", build_bridge}, {"dummy", build_dummy},
        {"lo", build_lo},     {"ifb", build_ifb},       {"vlan", build_vlan},
        {"tun", build_tun},
};

uint32_t draw_mtu(struct draw *d)
{
	static const uint32_t marks[] = {0,    68,   256,     576,     1280,
	                                 1500, 9000, 1 << 16, 1 << 20, 0x7fffffff};
	uint32_t mark = marks[below(d, sizeof(marks) / sizeof(*marks))], off = below(d, 40);

	if (one_in(d, 4))
		return (uint32_t)spread(d, 0, 0x7fffffff);
	return one_in(d, 3)                        ? mark
	       : one_in(d, 2) && mark < 0x7fffffff ? mark + off
	                                           : mark - off;
}

static void open_watcher(struct world *w)
{
	struct sockaddr_ll here = {.sll_family = AF_PACKET, .sll_ifindex = (int)w->index};
	int room = WATCH_ROOM_BYTES, on = 1;

	here.sll_protocol = htons(ETH_P_ALL);
	w->watcher = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (setsockopt(w->watcher, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		setsockopt(w->watcher, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	setsockopt(w->watcher, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on));
	bind(w->watcher, (void *)&here, sizeof(here));
}

void world_build(struct wire *wire, struct world *w, struct draw *d)
{
	uint32_t which = below(d, sizeof(places) / sizeof(*places));

	memset(w, 0, sizeof(*w));
	w->place = places[which].name;
	w->framed = true;
	w->tun = -1;
	places[which].build(wire, w, d);
	w->mtu_bytes = 1500;
	if (one_in(d, 2)) {
		uint32_t mtu_bytes = draw_mtu(d);

		if (!link_mtu(wire, w->index, mtu_bytes))
			w->mtu_bytes = mtu_bytes;
	}
	open_udp(wire, w, !strcmp(w->place, "lo"));
	open_watcher(w);
}

void world_attach(struct world *w)
{
	for (; w->ports; w->ports--)
		close(w->port[w->ports - 1].fd);
	if (w->watcher > 0)
		close(w->watcher);
	open_ports(w, w->index, NULL);
	open_watcher(w);
}

/* ---- sending ---- */

static ssize_t send_udp(struct port *p, struct draw *d)
{
	uint16_t segment = (uint16_t)(one_in(d, 3) ? 8 : spread(d, 1, 2000));
	uint32_t bytes = (uint32_t)spread(d, 0, UDP_MOST_BYTES);
	struct iovec part = {frame.data, bytes};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(segment))] = {0};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
	int ds = (int)below(d, 256);

	setsockopt(p->fd, p->six ? IPPROTO_IPV6 : IPPROTO_IP, p->six ? IPV6_TCLASS : IP_TOS,
	           &ds, sizeof(ds));
	if (one_in(d, 2)) {
		struct cmsghdr *head = (void *)control;

		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		head->cmsg_level = IPPROTO_UDP;
		head->cmsg_type = UDP_SEGMENT_OPTION;
		head->cmsg_len = CMSG_LEN(sizeof(segment));
		memcpy(CMSG_DATA(head), &segment, sizeof(segment));
		if (bytes > segment * 64u)
			part.iov_len = segment * 64u;
	}
	return sendmsg(p->fd, &m, 0);
}

/* What stands behind the addresses and the tags that devices will make. */
static ssize_t send_raw(struct port *p)
{
	uint32_t made = p->way.tags * TAG_BYTES;
	struct iovec part[3] = {
	        {&frame.offload, p->manner == PORT_OFFLOAD ? sizeof(frame.offload) : 0},
	        {frame.data, ADDRESSES_BYTES},
	        {frame.data + ADDRESSES_BYTES + made, frame.bytes - ADDRESSES_BYTES - made},
	};

	if (frame.bytes < ETH_HLEN + made)
		return -1;
	return writev(p->fd, part, 3);
}

static ssize_t send_bare(const struct world *w, struct port *p)
{
	uint32_t head = ETH_HLEN + p->way.tags * TAG_BYTES;
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)p->index};

	if (frame.bytes < head)
		return -1;
	memcpy(&to.sll_protocol, frame.data + head - 2, 2);
	to.sll_halen = w->framed ? ETH_ALEN : 0;
	memcpy(to.sll_addr, frame.data, ETH_ALEN);
	return sendto(p->fd, frame.data + head, frame.bytes - head, 0, (void *)&to, sizeof(to));
}

void world_send(struct world *w, struct draw *d, uint32_t classid, uint32_t packets_most)
{
	struct port *p = &w->port[below(d, w->ports)];
	struct way way;
	ssize_t sent;

	if (!w->ports)
		return;
	/* A datagram of a socket becomes many packets, and none that carries a digest. */
	if (p->manner == PORT_UDP && !one_in(d, 4))
		p = &w->port[below(d, w->ports)];
	way = p->way;
	way.most_bytes = w->mtu_bytes < NO_BOUND ? w->mtu_bytes : NO_BOUND;
	setsockopt(p->fd, SOL_SOCKET, SO_PRIORITY, &classid, sizeof(classid));
	if (p->manner == PORT_OFFLOAD && one_in(d, 2))
		frame_draw_large(d, &frame, &way, packets_most);
	else
		frame_draw(d, &frame, &way);
	if (p->manner == PORT_UDP)
		sent = send_udp(p, d);
	else
		sent = p->manner == PORT_BARE ? send_bare(w, p) : send_raw(p);
	if (sent < 0)
		w->not_sent++;
	else
		w->sent++;
}

/* ---- watching ---- */

/* The outermost tag travels beside the frame; put it where it belongs. */
static uint32_t restore_tag(uint8_t *data, uint32_t bytes, struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct tpacket_auxdata aux;
		uint16_t tag[2];

		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (!(aux.tp_status & TP_STATUS_VLAN_VALID) || bytes < ADDRESSES_BYTES)
			continue;
		tag[0] = htons(aux.tp_status & TP_STATUS_VLAN_TPID_VALID ? aux.tp_vlan_tpid
		                                                         : ETH_P_8021Q);
		tag[1] = htons(aux.tp_vlan_tci);
		memmove(data + ADDRESSES_BYTES + TAG_BYTES, data + ADDRESSES_BYTES,
		        bytes - ADDRESSES_BYTES);
		memcpy(data + ADDRESSES_BYTES, tag, TAG_BYTES);
		return bytes + TAG_BYTES;
	}
	return bytes;
}

static void print_frame(const uint8_t *data, uint32_t bytes)
{
	printf("FRAME of %u bytes:", bytes);
	for (uint32_t i = 0; i < bytes && i < SHOWN_BYTES; i++)
		printf(" %02x", data[i]);
	printf("\n");
}

const char *world_watch(struct world *w)
{
	static uint8_t data[FRAME_ROOM + TAG_BYTES];
	const char *trouble = NULL;

	while (w->tun >= 0 && read(w->tun, data, FRAME_ROOM) >= 0)
		;
	for (;;) {
		_Alignas(struct cmsghdr) char control[256];
		struct iovec part = {data, FRAME_ROOM};
		struct sockaddr_ll from = {0};
		struct msghdr m = {&from, sizeof(from), &part, 1, control, sizeof(control), 0};
		ssize_t bytes = recvmsg(w->watcher, &m, 0);

		if (bytes < 0 && errno != ENETDOWN)
			return trouble;
		if (bytes < 0 || from.sll_pkttype != PACKET_OUTGOING || !w->framed)
			continue;
		w->seen++;
		if (trouble)
			continue;
		bytes = restore_tag(data, (uint32_t)bytes, &m);
		trouble = frame_spoilt(data, (uint32_t)bytes);
		if (trouble)
			print_frame(data, (uint32_t)bytes);
		w->marked += frame_marked(data, (uint32_t)bytes) >= 0;
		w->marked_behind_tags += frame_marked(data, (uint32_t)bytes) > 0;
	}
}
