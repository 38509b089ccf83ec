/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * devices.h: further kinds of devices, addresses, neighbours and routes of namespaces that
 * are joined. Each call answers 0, or why it was refused.
 */
#ifndef HOSTILE_DEVICES_H
#define HOSTILE_DEVICES_H

#include "draw.h"
#include "wire.h"

/* A pair of which the second is made in another namespace. */
int link_add_across(struct wire *, const char *name, const char *peer, uint32_t queues,
                    int peer_netns);
/* `id` 0: an external one, which takes and gives the tunnel beside each packet. */
int link_add_vxlan(struct wire *, const char *name, uint32_t id, const uint8_t far4[4],
                   uint16_t port);
int link_add_vrf(struct wire *, const char *name, uint32_t table);
int link_master(struct wire *, uint32_t index, uint32_t master); /* 0: none any more */
int link_move(struct wire *, uint32_t index, int netns);
int link_delete(struct wire *, uint32_t index);
int link_hardware(struct wire *, uint32_t index, uint8_t last);
uint64_t link_sent(struct wire *, uint32_t index);  /* packets */
uint32_t index_of(struct wire *, const char *name); /* in the wire's namespace; 0: none */

int address_change(struct wire *, bool add, uint32_t index, bool six, uint8_t prefix,
                   const void *address);
/* `last`: of its hardware address. Without `add` it is forgotten, and asked for again. */
int neighbour_change(struct wire *, bool add, uint32_t index, bool six, const void *address,
                     uint8_t last);

struct route {
	bool six;
	uint8_t to[16], prefix;
	uint8_t via[16];
	enum { VIA_NONE, VIA_SAME, VIA_SIX } gateway;
	uint32_t index; /* 0: found by the gateway */
	uint8_t kind;   /* RTN_UNICAST, RTN_BLACKHOLE, ... */
	uint32_t table; /* 0: main */
};
int route_change(struct wire *, bool add, const struct route *);

/* Every packet that leaves by the device gets a tunnel beside it, and so no device there. */
int tunnel_filter(struct wire *, uint32_t index, bool add);

/* In the present namespace. */
bool sysctl_write(const char *path, const char *value);

#endif
