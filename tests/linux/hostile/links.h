/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * links.h: making devices and changing them. Each call answers 0, or why it was refused.
 */
#ifndef HOSTILE_LINKS_H
#define HOSTILE_LINKS_H

#include "draw.h"
#include "wire.h"

int link_add(struct wire *, const char *name, const char *kind, uint32_t queues);
int link_add_pair(struct wire *, const char *name, const char *peer, uint32_t queues);
int link_add_vlan(struct wire *, const char *name, uint32_t under, uint16_t type, uint16_t id);

int link_set(struct wire *, uint32_t index, uint32_t flags, uint32_t mask);
int link_mtu(struct wire *, uint32_t index, uint32_t mtu_bytes);
int link_address(struct wire *, uint32_t index);
int link_carrier(struct wire *, uint32_t index, bool on);
int link_queue_length(struct wire *, uint32_t index, uint32_t pkts);
int link_join(struct wire *, uint32_t index, uint32_t bridge);
int link_offloads(uint32_t index, struct draw *);

int address_add(struct wire *, uint32_t index, bool six, uint8_t prefix, const void *address);
int neighbour_add(struct wire *, uint32_t index, bool six, const void *address);
/* All that comes in at one device goes out at the other. */
int redirect(struct wire *, uint32_t from, uint32_t to);

#endif
