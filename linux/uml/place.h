/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * place.h: a device in a network namespace, and questions to rtnetlink there.
 */
#ifndef SOJOURN_UML_PLACE_H
#define SOJOURN_UML_PLACE_H

#include <linux/netlink.h>
#include <stdint.h>

struct place {
	int socket, index;
};

_Noreturn void die(const char *what);

/* Ends the program where there is no such device. */
struct place place_of(const char *space, const char *device);

/* Sends a request for a dump, and gives each message of this type. */
void ask(const struct place *place, const void *request, uint16_t type,
         void (*give)(const struct nlmsghdr *head, void *of), void *of);

/* Sleeps until this time of the wall clock. */
void sleep_until(uint64_t at_ns);

#endif
