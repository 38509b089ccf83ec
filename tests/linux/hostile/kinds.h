/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kinds.h: the kernel's queueing disciplines that may stand above ours.
 */
#ifndef HOSTILE_KINDS_H
#define HOSTILE_KINDS_H

#include "draw.h"
#include "wire.h"

/* The minor number of the class that takes what no filter has sorted. */
enum { DEFAULT_MINOR = 1, CLASSES_MOST = 3 };

/* How a kind comes to its classes. */
enum classes {
	CLASSES_MADE,  /* each by a message */
	CLASSES_BANDS, /* by its own options */
	CLASSES_ONE
};

/* What keeps a tree in motion: a packet as long as `packet_bytes` must leave in seconds. */
struct bounds {
	uint32_t rate_least; /* bytes per second */
	uint32_t packet_bytes;
	uint32_t burst_bytes; /* of TBF: with a smaller one than before, what waits stays for
	                         ever */
};

struct kind {
	const char *name;
	enum classes classes;
	bool slow;      /* limits a rate */
	bool at_root;   /* only there */
	bool keeps_own; /* holds packets that no child holds */
	/* Puts TCA_OPTIONS, for so many classes. NULL: none. */
	void (*options)(struct draw *, struct message *, const struct bounds *, uint32_t n);
	void (*class_options)(struct draw *, struct message *, const struct bounds *);
};

extern const struct kind kinds[];
uint32_t kind_count(void);
const struct kind *kind_find(const char *name); /* NULL: not one of these */

/* Sort packets of the qdisc into its class, all of them or those whose fourth byte ends
 * in `bits`: of IPv4 it is their length. */
void filter_options(struct message *, uint32_t classid, bool all, uint8_t bits);

/* A size table for the root: lengths up to `most_bytes`. */
void put_size_table(struct draw *, struct message *, uint32_t most_bytes);

#endif
