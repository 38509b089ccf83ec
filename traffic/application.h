/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * application.h: applications that decide as they go, at both ends of one conversation. What an
 * end sends depends on when it heard what, so no script tells it ahead. Time comes in as an
 * argument, and nothing here opens a socket. So the engine (crates/core/src/application.rs) and
 * the player of the Linux host (linux/uml/play.c) ask the same code.
 *
 * Compile it with -ffp-contract=off: a product and a sum in one rounding would give other rates
 * on some processors.
 */
#ifndef SOJOURN_TRAFFIC_APPLICATION_H
#define SOJOURN_TRAFFIC_APPLICATION_H

#include <stddef.h>
#include <stdint.h>

/* The ends of a flow: most of the data goes from the first to the second. */
enum { END_FROM, END_TO };

/* What an end does next: when it has heard so many bytes and then waited so long, it writes
 * `bytes` (0: nothing, but what comes next is decided then). A transfer that begins with this
 * is complete when the end `hears` (-1: none begins) has heard so many. */
struct decision {
	uint64_t heard_bytes, wait_ns, bytes, hears_bytes;
	int32_t hears;
};

/* What a viewer has counted. */
struct viewing {
	uint64_t segments;   /* that have come */
	uint64_t bps;        /* sum of their bit rates */
	uint64_t rungs;      /* sum of their rungs, of which the least is 1 */
	uint64_t switches;   /* segments of another rung than the one before */
	uint64_t stalls;     /* times that the picture stood still, after it began */
	uint64_t stalled_ns; /* how long */
};

struct application;

/*
 * Makes an application, which application_end() ends; NULL: these are no words of one.
 *
 *   video SEGMENT_NS BUFFER_NS RATE_BPS ...    see video.c
 *   nada PAYLOAD_BYTES LEAST_BPS MOST_BPS      see nada.c
 *
 * The host brings e^x: the engine's is the same to the bit everywhere.
 */
struct application *application_of(const char *words, double (*exponential)(double));

void application_end(struct application *application);

/* Its connection broke off, and the conversation begins anew over another one. What the viewer
 * has in its buffer stays. */
void application_begins_anew(struct application *application);

/* Which end opens the conversation. */
int application_opener(const struct application *application);

/* Decides what an end does next. It is asked when the conversation begins, and each time that
 * the decision before is carried out. */
struct decision application_next(struct application *application, int end, uint64_t now_ns);

/* A datagram came to an end; it was sent then, and the network had it so long. 1: with this one
 * the end begins to speak. */
int application_hears(struct application *application, int end, uint64_t now_ns,
                      uint64_t sent_ns, uint64_t delay_ns);

/* What its viewer has seen until now; all zero without one. */
struct viewing application_viewing(const struct application *application, uint64_t now_ns);

#endif
