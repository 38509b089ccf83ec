/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sockets.h: for programs that hold both ends of flows in one process: sockets in any network
 * namespace, and what the kernel has counted of each.
 */
#ifndef SOJOURN_UML_SOCKETS_H
#define SOJOURN_UML_SOCKETS_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

/* Waking a reader for each packet would double the run's cost; eleven segments do. */
enum { READ_AT_LEAST_BYTES = 16384 };

/* An address and a port, which lies at the same place in both versions. */
union endpoint {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct counts {
	uint64_t data_pkts, retransmitted_pkts, timeouts;
};

_Noreturn void die(const char *what);

/* Of the wall clock, which is the guest's virtual one. */
uint64_t now_ns(void);

/* A listener for each flow, and both ends of each connection. */
void allow_many_files(void);

void option(int fd, int level, int name, int value);

/* An address of IPv4, or of IPv6 if there is a colon in it, and no port; ends the program on
 * another text. */
union endpoint endpoint_of(const char *text);

socklen_t size_of(const union endpoint *endpoint);

/* Without blocking, in this namespace and for addresses like this one; with the word `udp` for
 * a congestion control, a socket for datagrams. All its packets have this DSCP. */
int open_socket(const char *space, const union endpoint *like, const char *cc, int dscp);

/* Bounds the unsent data that a connection holds, of so many flows: enough never to starve it,
 * but no megabytes. All sockets together have a part of the guest's memory, and under pressure
 * its TCP drops segments that have arrived. */
void hold_little(int fd, size_t flows);

/* The port is drawn when the peer is known: more connections than ports. */
void draw_port_late(int fd);

/* No packet leaves when it is closed, as in the engine: repair mode sends no reset. */
void silence(int fd);

/* Of a TCP connection. The round trip is left alone where there is no place for it. */
struct counts counts_of(int fd, uint32_t *srtt_us);

void add_counts(struct counts *sum, struct counts counts);

#endif
