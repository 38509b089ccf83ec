/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * dump.h: what the kernel tells of all sockets of TCP in a namespace at once. In the guest a
 * call for each of a thousand sockets, ten times a second, costs several times the traffic; the
 * answers are the same.
 */
#ifndef SOJOURN_UML_DUMP_H
#define SOJOURN_UML_DUMP_H

#include <stdint.h>

struct told {
	uint32_t inode;
	uint32_t unread_bytes;      /* as FIONREAD has it */
	uint32_t rtt_us, cwnd_pkts; /* as TCP_INFO has them */
};

/* From now on sockets are noted; before, there is no need. */
void dump_wanted(void);

/* A new socket, in the namespace in which this process is. */
void dump_note(int fd, const char *space, int family);

/* One that came out of a listener which was noted. */
void dump_note_accepted(int fd);

/* Asks anew, in each namespace. */
void dump_all(void);

/* What was told of a socket; NULL if nothing was, as of one that is closed. */
const struct told *told_of(int fd);

#endif
