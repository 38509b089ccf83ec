// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// ends.c: namespaces, devices and addresses of a storm of probes, see ends.h.

#define _GNU_SOURCE
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/if_ether.h>

#include "devices.h"
#include "ends.h"
#include "links.h"
#include "paths.h"

enum { NEAR_HARDWARE = 1, FAR_HARDWARE = 2, RED_TABLE = 10, TUNNEL_PORT = 4789 };
/* Where an external tunnel ends; the port of the other one is taken. */
enum { EXTERNAL_PORT = 4790 };

const char *const extra_names[EXTRAS] = {
        "vlan",  "vxlan",    "external_vxlan", "vrf",    "bridge", "tunnel",
        "ipsec", "firewall", "route",          "lodger", "router",
};

void ends_enter(const struct ends *e, int which)
{
	setns(e->netns[which], CLONE_NEWNET);
}

uint32_t index_in(const struct ends *e, int which, const char *name)
{
	uint32_t index;

	if (which != NEAR)
		ends_enter(e, which);
	index = if_nametoindex(name);
	if (which != NEAR)
		ends_enter(e, NEAR);
	return index;
}

void note(struct ends *e, enum extra what, bool made)
{
	if (made)
		e->tally.made[what]++;
	else
		e->tally.skipped[what]++;
}

const char *carrier(const struct ends *e, int which)
{
	return which == FAR ? "s0" : e->bridged ? "br0" : "c0";
}

static void up(struct ends *e, int which, const char *name)
{
	link_set(&e->wire[which], index_in(e, which, name), IFF_UP, IFF_UP);
}

/* ---- addresses ---- */

static void address4(struct ends *e, int which, const char *name, uint8_t net, uint8_t host)
{
	uint8_t address[4] = {10, net, 0, host};

	address_change(&e->wire[which], true, index_in(e, which, name), false, 24, address);
}

static void address6(struct ends *e, int which, const char *name, uint8_t net, uint8_t host)
{
	uint8_t address[16] = {0xfd, net, [15] = host};

	address_change(&e->wire[which], true, index_in(e, which, name), true, 64, address);
}

static void addresses(struct ends *e, int which, const char *name, uint8_t net, uint8_t host)
{
	address4(e, which, name, net, host);
	address6(e, which, name, net, host);
}

static void route_by(struct ends *e, const struct route *r)
{
	route_change(&e->wire[NEAR], true, r);
}

/* Nets behind the far end, by gateways of either family; and all that is left. */
static void routes(struct ends *e)
{
	const uint32_t table = e->in_vrf ? RED_TABLE : 0;
	const uint32_t index = index_in(e, NEAR, carrier(e, NEAR));
	const struct route all[] = {
	        {false, {10, 2}, 16, {10, 0, 0, 2}, VIA_SAME, 0, RTN_UNICAST, table},
	        {false, {0}, 0, {10, 0, 0, 2}, VIA_SAME, 0, RTN_UNICAST, table},
	        {false, {10, 3}, 16, {0xfd, [15] = 2}, VIA_SIX, index, RTN_UNICAST, table},
	        {true, {0xfd, 2}, 32, {0xfd, [15] = 2}, VIA_SAME, index, RTN_UNICAST, table},
	        {true,
	         {0xfd, 3},
	         32,
	         {0xfe, 0x80, [15] = 9},
	         VIA_SAME,
	         index,
	         RTN_UNICAST,
	         table},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		route_by(e, &all[i]);
}

void settle(struct ends *e)
{
	for (int which = NEAR; which <= FAR; which++) {
		addresses(e, which, carrier(e, which), 0, 1 + (uint8_t)which);
		addresses(e, which, "v5", 5, 1 + (uint8_t)which);
		addresses(e, which, "vx5", 8, 1 + (uint8_t)which);
	}
	addresses(e, FAR, "t0", 2, 9);
	addresses(e, FAR, "v6", 6, 2);
	addresses(e, FAR, "vxf", 9, 2);
	addresses(e, LODGER, "v6", 6, 1);
	/* The link-local gateway of a route. */
	address_change(&e->wire[FAR], true, index_in(e, FAR, "s0"), true, 64,
	               (uint8_t[16]){0xfe, 0x80, [15] = 9});
	routes(e);
}

/* ---- devices ---- */

static bool make_red(struct ends *e)
{
	bool made = index_in(e, NEAR, "red") || !link_add_vrf(&e->wire[NEAR], "red", RED_TABLE);

	note(e, EXTRA_VRF, made);
	up(e, NEAR, "red");
	return made &&
	       !link_master(&e->wire[NEAR], index_in(e, NEAR, "c0"), index_in(e, NEAR, "red"));
}

static bool make_bridge(struct ends *e)
{
	struct wire *w = &e->wire[NEAR];
	bool made = index_in(e, NEAR, "br0") || !link_add(w, "br0", "bridge", 1);

	note(e, EXTRA_BRIDGE, made);
	if (!made || link_join(w, index_in(e, NEAR, "c0"), index_in(e, NEAR, "br0")))
		return false;
	up(e, NEAR, "br0");
	return true;
}

bool make_wire(struct ends *e)
{
	struct wire *w = &e->wire[NEAR];
	uint32_t near = index_in(e, NEAR, "c0"), far = index_in(e, FAR, "s0");

	if (!near) {
		if (link_add_across(w, "c0", "s0", 4, e->netns[FAR]))
			return false;
		near = index_in(e, NEAR, "c0");
		far = index_in(e, FAR, "s0");
		link_hardware(w, near, NEAR_HARDWARE);
		link_hardware(&e->wire[FAR], far, FAR_HARDWARE);
	}
	e->end[NEAR]->world.index = near;
	e->end[FAR]->world.index = far;
	e->in_vrf = e->in_vrf && make_red(e);
	e->bridged = e->bridged && make_bridge(e);
	up(e, NEAR, "c0");
	up(e, FAR, "s0");
	return true;
}

void make_vlan(struct ends *e)
{
	for (int which = NEAR; which <= FAR; which++) {
		const char *under = carrier(e, which);

		if (!index_in(e, which, "v5"))
			note(e, EXTRA_VLAN,
			     !link_add_vlan(&e->wire[which], "v5", index_in(e, which, under),
			                    ETH_P_8021Q, 5));
		link_hardware(&e->wire[which], index_in(e, which, "v5"),
		              NEAR_HARDWARE + (uint8_t)which);
		up(e, which, "v5");
	}
}

/* A device of another namespace above the queue of this one. */
void make_lodger(struct ends *e)
{
	struct wire *w = &e->wire[NEAR];

	if (!index_in(e, LODGER, "v6") &&
	    !link_add_vlan(w, "v6", index_in(e, NEAR, "c0"), ETH_P_8021Q, 6))
		note(e, EXTRA_LODGER, !link_move(w, index_in(e, NEAR, "v6"), e->netns[LODGER]));
	if (!index_in(e, FAR, "v6"))
		link_add_vlan(&e->wire[FAR], "v6", index_in(e, FAR, "s0"), ETH_P_8021Q, 6);
	link_hardware(&e->wire[FAR], index_in(e, FAR, "v6"), FAR_HARDWARE);
	up(e, LODGER, "v6");
	up(e, FAR, "v6");
}

void make_vxlan(struct ends *e)
{
	for (int which = NEAR; which <= FAR; which++) {
		uint8_t other[4] = {10, 0, 0, which == NEAR ? 2 : 1};

		if (!index_in(e, which, "vx5"))
			note(e, EXTRA_VXLAN,
			     !link_add_vxlan(&e->wire[which], "vx5", 5, other, TUNNEL_PORT));
		up(e, which, "vx5");
	}
}

/* What the far end sends into the tunnel goes on through a bridge to a queue, each packet
 * with its tunnel beside it in place of a device. */
void make_external(struct ends *e)
{
	struct wire *w = &e->wire[NEAR];
	uint8_t near4[4] = {10, 0, 0, 1};
	uint32_t bridge;

	if (!index_in(e, NEAR, "vxe"))
		note(e, EXTRA_EXTERNAL, !link_add_vxlan(w, "vxe", 0, NULL, EXTERNAL_PORT));
	if (!index_in(e, NEAR, "g0"))
		link_add(w, "g0", "dummy", 1);
	if (!index_in(e, NEAR, "br1"))
		link_add(w, "br1", "bridge", 1);
	bridge = index_in(e, NEAR, "br1");
	link_master(w, index_in(e, NEAR, "vxe"), bridge);
	link_master(w, index_in(e, NEAR, "g0"), bridge);
	if (!index_in(e, FAR, "vxf"))
		link_add_vxlan(&e->wire[FAR], "vxf", 7, near4, EXTERNAL_PORT);
	up(e, NEAR, "vxe");
	up(e, NEAR, "g0");
	up(e, NEAR, "br1");
	up(e, FAR, "vxf");
}

/* ---- all of it ---- */

static int open_here(void)
{
	return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

static void calm(void)
{
	sysctl_write("net/ipv4/ip_forward", "1");
	sysctl_write("net/ipv6/conf/all/forwarding", "1");
	sysctl_write("net/ipv4/conf/all/rp_filter", "0");
	sysctl_write("net/ipv4/conf/default/rp_filter", "0");
	sysctl_write("net/ipv4/icmp_ratelimit", "0");
	sysctl_write("net/ipv6/icmp/ratelimit", "0");
}

static bool make_namespaces(struct ends *e)
{
	for (int which = NEAR; which < NAMESPACES; which++) {
		if (which != NEAR && unshare(CLONE_NEWNET))
			return false;
		e->netns[which] = open_here();
		wire_open(&e->wire[which]);
		calm();
		link_set(&e->wire[which], if_nametoindex("lo"), IFF_UP, IFF_UP);
	}
	ends_enter(e, NEAR);
	return true;
}

static void begin_world(struct ends *e, int which)
{
	struct world *w = &e->end[which]->world;

	w->place = e->bridged ? "ends_bridge" : e->in_vrf ? "ends_vrf" : "ends";
	w->framed = true;
	w->tun = -1;
	w->mtu_bytes = 1500;
	ends_enter(e, which);
	world_attach(w);
	ends_enter(e, NEAR);
}

void ends_hold(void)
{
	struct draw d = draw_for(1, 1);
	struct wire w, netfilter;

	wire_open(&w);
	wire_open_to(&netfilter, NETLINK_NETFILTER);
	tunnel_filter(&w, if_nametoindex("lo"), true);
	for (int i = 0; i < 8; i++)
		firewall_add(&netfilter, &d);
	link_add_vrf(&w, "held0", RED_TABLE);
	link_add_vxlan(&w, "held1", 0, NULL, EXTERNAL_PORT);
	link_add_vxlan(&w, "held2", 1, (uint8_t[4]){127, 0, 0, 1}, TUNNEL_PORT);
	link_set(&w, if_nametoindex("held1"), IFF_UP, IFF_UP);
	link_set(&w, if_nametoindex("held2"), IFF_UP, IFF_UP);
	close(w.fd);
	close(netfilter.fd);
}

bool ends_build(struct ends *e, struct draw *d)
{
	uint32_t which = below(d, 5);

	e->gathered = mmap(NULL, sizeof(*e->gathered), PROT_READ | PROT_WRITE,
	                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (e->gathered == MAP_FAILED || !make_namespaces(e))
		return false;
	wire_open_to(&e->xfrm, NETLINK_XFRM);
	wire_open_to(&e->netfilter, NETLINK_NETFILTER);
	e->end[NEAR]->wire = e->wire[NEAR];
	e->end[FAR]->wire = e->wire[FAR];
	e->bridged = which == 0;
	e->in_vrf = which == 1;
	if (!make_wire(e))
		return false;
	link_add(&e->wire[FAR], "t0", "dummy", 1);
	up(e, FAR, "t0");
	make_vlan(e);
	make_vxlan(e);
	make_external(e);
	make_lodger(e);
	settle(e);
	begin_world(e, NEAR);
	begin_world(e, FAR);
	mouths_open(e);
	return true;
}
