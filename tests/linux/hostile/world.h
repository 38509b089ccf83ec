/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * world.h: a network namespace with one device whose queue is attacked, ways to send
 * through it, and somebody who watches what leaves.
 */
#ifndef HOSTILE_WORLD_H
#define HOSTILE_WORLD_H

#include "frames.h"
#include "wire.h"

enum { PORTS_MOST = 16 };

/* Where frames enter. */
struct port {
	int fd;
	enum { PORT_RAW, PORT_OFFLOAD, PORT_BARE, PORT_UDP } manner;
	uint32_t index;
	bool six;
	struct way way;
};

struct world {
	const char *place; /* what carries the queue */
	uint32_t index, mtu_bytes;
	bool framed; /* frames there have a link header */
	uint32_t ports;
	struct port port[PORTS_MOST];
	int watcher;
	int tun; /* the other end of a tun device, or -1 */
	/* so far */
	uint64_t sent, not_sent, seen, marked, marked_behind_tags;
};

/* In the present namespace, with a device for these draws. */
void world_build(struct wire *, struct world *, struct draw *);

/* Open, again if need be, the ways to send bare frames by a device that others have made. */
void world_attach(struct world *);

/* Send one drawn frame through a drawn port, towards a class; `packets_most` bounds what
 * one large segment may become. */
void world_send(struct world *, struct draw *, uint32_t classid, uint32_t packets_most);

/* Look at all that has left. NULL, or what is wrong with it. */
const char *world_watch(struct world *);

/* From 0 to the largest number, most often near something. */
uint32_t draw_mtu(struct draw *);

#endif
