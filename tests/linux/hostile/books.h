/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * books.h: a device's tree as the kernel shows it, and whether its numbers agree.
 */
#ifndef HOSTILE_BOOKS_H
#define HOSTILE_BOOKS_H

#include <stdint.h>

#include "rows.h"
#include "wire.h"

enum { QDISCS_MOST = 128, CLASSES_SEEN_MOST = 512, TROUBLE_ROOM = 256 };

struct qdisc {
	uint32_t handle, parent;
	char kind[16];
	uint32_t qlen, backlog_bytes, drops;
	uint64_t sent_pkts;
	bool ours, readable; /* our kind; its rows could be read */
	struct choice choice;
	/* What our kind tells of itself. */
	uint64_t in_pkts, in_bytes, out_pkts, out_bytes, drop_bytes, dropped, marked, bad;
	uint64_t memory_bytes;
	uint64_t probes; /* held; in no count but these */
	uint64_t probed[SOJOURN_PROBES];
};

struct class
{
	uint32_t id;
	char kind[16];                /* of the qdisc that the class belongs to */
	uint32_t qlen, backlog_bytes; /* of the qdisc below */
};

/* All visible and invisible qdiscs of one device. */
struct tree {
	uint32_t index;
	uint32_t qdiscs, classes;
	struct qdisc qdisc[QDISCS_MOST];
	struct class class[CLASSES_SEEN_MOST];
};

void tree_read(struct wire *, struct tree *, uint32_t index);

/* The root, or NULL where the device has none to see. */
const struct qdisc *tree_root(const struct tree *);
const struct qdisc *tree_parent(const struct tree *, const struct qdisc *);
uint32_t tree_depth(const struct tree *, const struct qdisc *); /* of the root: 0 */
uint32_t tree_held(const struct tree *);                        /* packets, at the root */
uint64_t tree_memory(const struct tree *);                      /* bytes, of our queues */
uint64_t tree_sent(const struct tree *);                        /* packets, all qdiscs */

/* False, and a sentence, where numbers do not agree. `dry`: nothing may be held. */
bool books_agree(const struct tree *, bool dry, char trouble[TROUBLE_ROOM]);

#endif
