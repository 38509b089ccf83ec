/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * wire.h: messages to the kernel's routing side, right or wrong, and its answers.
 */
#ifndef HOSTILE_WIRE_H
#define HOSTILE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* A size table of 2048 numbers is the longest thing that is sent. */
enum { MESSAGE_ROOM = 16384, SENTENCE_ROOM = 160 };

struct message {
	_Alignas(struct nlmsghdr) unsigned char bytes[MESSAGE_ROOM];
	uint32_t used; /* bytes; the head's own length is written on sending */
};

struct wire {
	int fd;
	uint32_t sequence;
	char sentence[SENTENCE_ROOM]; /* of the last refusal */
};

void wire_open(struct wire *); /* to the routing side */
/* Where the kernel has no such side, everything is refused. */
void wire_open_to(struct wire *, int protocol);

/* A message begins with its head and the fixed part of its kind. */
void begin_message(struct message *, uint16_t type, uint16_t flags, const void *fixed,
                   size_t bytes);
void begin_link(struct message *, uint16_t type, uint16_t flags, uint32_t index);
void begin_tc(struct message *, uint16_t type, uint16_t flags, uint32_t index, uint32_t handle,
              uint32_t parent, uint32_t info);

void put(struct message *, uint16_t type, const void *data, size_t bytes);
void put_u8(struct message *, uint16_t type, uint8_t value);
void put_u16(struct message *, uint16_t type, uint16_t value);
void put_u32(struct message *, uint16_t type, uint32_t value);
void put_u64(struct message *, uint16_t type, uint64_t value);
void put_text(struct message *, uint16_t type, const char *text);
/* A nest ends where the answer of its begin is given back. */
uint32_t nest_begin(struct message *, uint16_t type);
void nest_end(struct message *, uint32_t at);

/* Send and wait for the answer: 0, or the positive number of a refusal. */
int wire_ask(struct wire *, struct message *);

/* Send, and take each message of the answer. */
typedef void (*taker)(void *to, const struct nlmsghdr *);
int wire_dump(struct wire *, struct message *, taker, void *to);

/* Attributes by their number, the last of each; `table` has `n` places. */
void sort_attributes(const struct nlattr **table, unsigned n, const void *data, size_t bytes);
const void *payload(const struct nlattr *);
size_t payload_bytes(const struct nlattr *);
uint32_t as_u32(const struct nlattr *);
/* 4 or 8 bytes. */
uint64_t as_number(const struct nlattr *);

#endif
