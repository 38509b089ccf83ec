// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// wire.c: netlink, see wire.h.

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire.h"

/* The kernel fills at most 32 KiB of a reader's buffer. */
enum { ANSWER_BYTES = 1 << 16 };

void wire_open(struct wire *w)
{
	wire_open_to(w, NETLINK_ROUTE);
	if (w->fd >= 0)
		return;
	perror("netlink");
	exit(2);
}

void wire_open_to(struct wire *w, int protocol)
{
	int on = 1;

	w->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	setsockopt(w->fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(w->fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
}

void begin_message(struct message *m, uint16_t type, uint16_t flags, const void *fixed,
                   size_t bytes)
{
	struct nlmsghdr head = {.nlmsg_type = type, .nlmsg_flags = flags | NLM_F_REQUEST};

	memcpy(m->bytes, &head, sizeof(head));
	memcpy(m->bytes + NLMSG_HDRLEN, fixed, bytes);
	m->used = NLMSG_HDRLEN + (uint32_t)NLMSG_ALIGN(bytes);
}

void begin_link(struct message *m, uint16_t type, uint16_t flags, uint32_t index)
{
	struct ifinfomsg fixed = {.ifi_index = (int)index};

	begin_message(m, type, flags, &fixed, sizeof(fixed));
}

void begin_tc(struct message *m, uint16_t type, uint16_t flags, uint32_t index, uint32_t handle,
              uint32_t parent, uint32_t info)
{
	struct tcmsg fixed = {
	        .tcm_ifindex = (int)index,
	        .tcm_handle = handle,
	        .tcm_parent = parent,
	        .tcm_info = info,
	};

	begin_message(m, type, flags, &fixed, sizeof(fixed));
}

void put(struct message *m, uint16_t type, const void *data, size_t bytes)
{
	struct nlattr head = {.nla_len = (uint16_t)(NLA_HDRLEN + bytes), .nla_type = type};
	uint32_t whole = (uint32_t)NLA_ALIGN(NLA_HDRLEN + bytes);

	if (m->used + whole > sizeof(m->bytes)) {
		fprintf(stderr, "a message is longer than its room\n");
		exit(2);
	}
	memset(m->bytes + m->used, 0, whole);
	memcpy(m->bytes + m->used, &head, sizeof(head));
	if (bytes)
		memcpy(m->bytes + m->used + NLA_HDRLEN, data, bytes);
	m->used += whole;
}

void put_u8(struct message *m, uint16_t type, uint8_t value)
{
	put(m, type, &value, sizeof(value));
}

void put_u16(struct message *m, uint16_t type, uint16_t value)
{
	put(m, type, &value, sizeof(value));
}

void put_u32(struct message *m, uint16_t type, uint32_t value)
{
	put(m, type, &value, sizeof(value));
}

void put_u64(struct message *m, uint16_t type, uint64_t value)
{
	put(m, type, &value, sizeof(value));
}

void put_text(struct message *m, uint16_t type, const char *text)
{
	put(m, type, text, strlen(text) + 1);
}

uint32_t nest_begin(struct message *m, uint16_t type)
{
	uint32_t at = m->used;

	put(m, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void nest_end(struct message *m, uint32_t at)
{
	uint16_t bytes = (uint16_t)(m->used - at);

	memcpy(m->bytes + at, &bytes, sizeof(bytes));
}

static void transmit(struct wire *w, struct message *m, uint16_t more_flags)
{
	struct nlmsghdr *head = (struct nlmsghdr *)(void *)m->bytes;

	head->nlmsg_len = m->used;
	head->nlmsg_flags |= more_flags;
	head->nlmsg_seq = ++w->sequence;
	if (send(w->fd, m->bytes, m->used, 0) != (ssize_t)m->used) {
		perror("netlink: send");
		exit(2);
	}
}

/* Behind the number stands the head of the message that was refused, then sentences. */
static void keep_sentence(struct wire *w, const struct nlmsghdr *answer)
{
	const struct nlattr *table[NLMSGERR_ATTR_MSG + 1];
	const size_t before = NLMSG_HDRLEN + sizeof(struct nlmsgerr);

	w->sentence[0] = '\0';
	if (!(answer->nlmsg_flags & NLM_F_ACK_TLVS) || answer->nlmsg_len < before)
		return;
	sort_attributes(table, NLMSGERR_ATTR_MSG + 1, (const char *)answer + before,
	                answer->nlmsg_len - before);
	if (table[NLMSGERR_ATTR_MSG])
		snprintf(w->sentence, sizeof(w->sentence), "%.*s",
		         (int)payload_bytes(table[NLMSGERR_ATTR_MSG]),
		         (const char *)payload(table[NLMSGERR_ATTR_MSG]));
}

/* -1: not yet the end. */
static int take_answer(struct wire *w, const struct nlmsghdr *answer, taker take, void *to)
{
	if (answer->nlmsg_seq != w->sequence)
		return -1;
	if (answer->nlmsg_type == NLMSG_ERROR) {
		keep_sentence(w, answer);
		return -((const struct nlmsgerr *)NLMSG_DATA(answer))->error;
	}
	if (answer->nlmsg_type == NLMSG_DONE)
		return -*(const int *)NLMSG_DATA(answer);
	if (take)
		take(to, answer);
	return -1;
}

static int receive(struct wire *w, taker take, void *to)
{
	static _Alignas(struct nlmsghdr) char buffer[ANSWER_BYTES];
	int code = -1;

	while (code < 0) {
		ssize_t got = recv(w->fd, buffer, sizeof(buffer), 0);
		unsigned left = got < 0 ? 0 : (unsigned)got;
		struct nlmsghdr *answer = (void *)buffer;

		if (got < 0 && errno != EINTR && errno != ENOBUFS) {
			perror("netlink: receive");
			exit(2);
		}
		for (; code < 0 && NLMSG_OK(answer, left); answer = NLMSG_NEXT(answer, left))
			code = take_answer(w, answer, take, to);
	}
	return code;
}

int wire_ask(struct wire *w, struct message *m)
{
	if (w->fd < 0)
		return EPROTONOSUPPORT;
	transmit(w, m, NLM_F_ACK);
	return receive(w, NULL, NULL);
}

int wire_dump(struct wire *w, struct message *m, taker take, void *to)
{
	transmit(w, m, NLM_F_DUMP);
	return receive(w, take, to);
}

void sort_attributes(const struct nlattr **table, unsigned n, const void *data, size_t bytes)
{
	const char *at = data, *end = at + bytes;

	memset(table, 0, n * sizeof(*table));
	while (end - at >= NLA_HDRLEN) {
		const struct nlattr *head = (const void *)at;
		unsigned type = head->nla_type & NLA_TYPE_MASK;

		if (head->nla_len < NLA_HDRLEN || head->nla_len > end - at)
			return;
		if (type < n)
			table[type] = head;
		at += NLA_ALIGN(head->nla_len);
	}
}

const void *payload(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

size_t payload_bytes(const struct nlattr *a)
{
	return a->nla_len - NLA_HDRLEN;
}

uint32_t as_u32(const struct nlattr *a)
{
	uint32_t value = 0;

	if (a && payload_bytes(a) >= sizeof(value))
		memcpy(&value, payload(a), sizeof(value));
	return value;
}

uint64_t as_number(const struct nlattr *a)
{
	uint64_t value = 0;

	if (a && payload_bytes(a) >= sizeof(value))
		memcpy(&value, payload(a), sizeof(value));
	return a && payload_bytes(a) < sizeof(value) ? as_u32(a) : value;
}
