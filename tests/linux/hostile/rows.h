/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rows.h: options of our qdisc, drawn from the tables of the library that the module
 * was made from: right, wrong, and noise.
 */
#ifndef HOSTILE_ROWS_H
#define HOSTILE_ROWS_H

#include "draw.h"
#include "field.h"
#include "setup.h"
#include "sojourn.h"
#include "wire.h"

/* Longer than any algorithm's rows; a longer one is refused with a sentence. */
enum { CONF_ROOM = 1024 };

/* Everything that a user chooses, as the kernel should have it. */
struct choice {
	const struct aqm_algo *algo;
	struct sojourn_conf host;
	struct aqm_setup setup;
	_Alignas(u64) u8 conf[CONF_ROOM];
};

/* Mostly algorithms that probe, often, and addresses that somebody has. */
extern bool likes_probes;

const struct aqm_algo *draw_algo(struct draw *);
void choice_begin(struct choice *, const struct aqm_algo *);

/* From a dump. False: this is no complete set of rows. */
bool choice_read(struct choice *, const void *options, size_t bytes);
/* The name of the first row that differs, or NULL. */
const char *choice_differs(const struct choice *, const struct choice *);

/* Draw rows in their ranges, into the choice and into the message; with at most so many
 * flows, since each of them takes memory. */
void draw_rows(struct draw *, struct choice *, struct message *, u32 flows_most);
/* Who answers probes behind IPv6 packets, drawn; now and then nothing of it. */
void draw_responder6(struct draw *, struct message *);
/* One thing that must be refused. */
void draw_wrong(struct draw *, const struct choice *, struct message *);
/* Attributes that may mean anything. */
void draw_noise(struct draw *, struct message *);

#endif
