// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// checks.c: what must be right after every step, and at the end.

#include <stdarg.h>
#include <stdio.h>
#include <linux/pkt_sched.h>

#include "kinds.h"
#include "storm.h"

enum { LOOKS = 9 };
static const uint64_t MS = 1000000, SECOND = 1000000000;

bool wrong(struct storm *s, const char *form, ...)
{
	va_list more;

	va_start(more, form);
	vsnprintf(s->trouble, sizeof(s->trouble), form, more);
	va_end(more);
	return false;
}

static bool as_expected(struct storm *s)
{
	const char *row;

	for (uint32_t i = 0; s->expect.handle && i < s->tree.qdiscs; i++) {
		const struct qdisc *q = &s->tree.qdisc[i];

		if (q->handle != s->expect.handle || !q->ours)
			continue;
		row = choice_differs(&q->choice, &s->expect.choice);
		if (row)
			return wrong(s, "the row %s of %x: is not as it was asked for", row,
			             q->handle >> 16);
	}
	s->expect.handle = 0;
	return true;
}

/*
 * A parent that has asked a child which limits a rate, and got nothing, waits until the
 * child's clock wakes the root. When that child is deleted nobody does, and all wait for
 * the next packet: the kernel's own trees do, too.
 */
static void read_tree(struct storm *s)
{
	static struct tree before;

	before = s->tree;
	tree_read(&s->wire, &s->tree, s->world.index);
	for (uint32_t i = 0; i < before.qdiscs; i++) {
		const struct kind *kind = kind_find(before.qdisc[i].kind);
		bool found = false;

		for (uint32_t k = 0; k < s->tree.qdiscs; k++)
			found |= s->tree.qdisc[k].handle == before.qdisc[i].handle;
		s->forsaken |= kind && kind->slow && !found;
	}
}

/* Packets may come and go between the lines of a dump; what is wrong stays wrong. */
bool storm_check(struct storm *s, bool dry)
{
	const char *said;
	bool right = false;
	uint64_t rest = 0;

	for (int look = 0; look < LOOKS && !right; look++) {
		rest_ns(rest);
		rest = 10 * rest + (look > 0);
		read_tree(s);
		right = books_agree(&s->tree, dry, s->trouble);
	}
	if (!right || !as_expected(s))
		return false;
	said = world_watch(&s->world);
	if (said)
		return wrong(s, "a frame left, and %s", said);
	said = kernel_said(s->kernel_log);
	return !said || wrong(s, "the kernel says: %s", said);
}

/* Not every frame that is drawn can be sent. */
enum { WAKES = 2, WAKE_FRAMES = 8 };

/* So long may the slowest of all packets take, and nothing be sent. */
static uint64_t patience_ns(const struct storm *s)
{
	if (s->real_time)
		return 20 * SECOND;
	return (60 + 2ull * s->bounds.packet_bytes / s->bounds.rate_least) * SECOND;
}

/* Without traffic a tree sends all that it holds. Where a parent may wait for ever by its
 * own rows, it is thrown away instead. */
bool storm_run_dry(struct storm *s)
{
	uint64_t patience = patience_ns(s), idle = 0, pause = 10 * MS, sent = 0;
	uint32_t wakes = 0;

	s->tally.dries++;
	for (;;) {
		struct message m;

		if (!storm_check(s, false))
			return false;
		if (!tree_held(&s->tree))
			return storm_check(s, true);
		idle = tree_sent(&s->tree) == sent ? idle + pause : 0;
		sent = tree_sent(&s->tree);
		if (idle > patience && (s->forsaken || s->real_time) && wakes++ < WAKES) {
			send_some(s, WAKE_FRAMES, NULL);
			idle = 0;
			continue;
		}
		if (idle > patience && !s->unsure)
			return wrong(s, "%u packets are stuck: nothing was sent for %llu s",
			             tree_held(&s->tree), (unsigned long long)(idle / SECOND));
		if (idle > patience) {
			begin_tc(&m, RTM_DELQDISC, 0, s->world.index, 0, TC_H_ROOT, 0);
			storm_ask(s, &m);
			return storm_check(s, true);
		}
		rest_ns(pause);
		pause = pause < patience / 20 ? pause * 2 : pause;
	}
}
