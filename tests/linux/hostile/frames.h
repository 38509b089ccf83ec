/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * frames.h: random frames, and whether one that leaves is one that came.
 *
 * The destination's address carries a digest of all that no queue may change: the whole
 * frame but for a mark, or for a segment that is split its tags.
 */
#ifndef HOSTILE_FRAMES_H
#define HOSTILE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/virtio_net.h>

#include "draw.h"

/* 17 fragments of 32 KiB: no packet socket sends more. */
enum { FRAME_ROOM = 17 << 15, TAG_BYTES = 4, ADDRESSES_BYTES = 12 };

struct frame {
	struct virtio_net_hdr offload;
	uint32_t bytes;
	uint8_t data[FRAME_ROOM];
};

/* What the way in adds by itself, and what it lets through. */
struct way {
	uint32_t tags; /* of the outermost, made by devices */
	uint16_t tag_type[2], tag[2];
	uint32_t most_bytes; /* behind the link header */
	/* A VLAN device: it takes a tag at the front of a large segment for its IP header. */
	bool no_tags_of_large;
};

void frame_draw(struct draw *, struct frame *, const struct way *);

/* The same as one large segment; at most so many packets come of it. */
void frame_draw_large(struct draw *, struct frame *, const struct way *, uint32_t packets_most);

/* NULL, or what is wrong with a frame that left. */
const char *frame_spoilt(const uint8_t *data, uint32_t bytes);
/* Has it been marked on its way, and behind how many tags? -1: it has not. */
int frame_marked(const uint8_t *data, uint32_t bytes);

#endif
