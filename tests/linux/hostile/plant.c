// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// plant.c: trees of random kinds, with our queues as their leaves.

#include <arpa/inet.h>
#include <string.h>
#include <linux/if_ether.h>
#include <linux/pkt_sched.h>

#include "storm.h"

/* What all queues of a tree may take together, beside their packets. */
static const uint64_t MEMORY_MOST_BYTES = 100u << 20;
enum { QDISCS_ENOUGH = 40, FLOWS_FEW = 64, FLOWS_ALL = 65536, INNER_MINOR = 0xf0 };

int storm_ask(struct storm *s, struct message *m)
{
	int err = wire_ask(&s->wire, m);

	if (err)
		s->tally.refused++;
	else
		s->tally.taken++;
	return err;
}

uint32_t free_handle(struct storm *s)
{
	for (;;) {
		uint32_t handle = (1 + below(&s->draw, 0x7fff)) << 16, i = 0;

		while (i < s->tree.qdiscs && s->tree.qdisc[i].handle != handle)
			i++;
		if (i == s->tree.qdiscs)
			return handle;
	}
}

const struct qdisc *draw_qdisc(struct storm *s, bool ours)
{
	uint32_t n = 0, which;

	for (uint32_t i = 0; i < s->tree.qdiscs; i++)
		n += s->tree.qdisc[i].ours == ours && s->tree.qdisc[i].handle;
	which = below(&s->draw, n);
	for (uint32_t i = 0; n && i < s->tree.qdiscs; i++)
		if (s->tree.qdisc[i].ours == ours && s->tree.qdisc[i].handle && !which--)
			return &s->tree.qdisc[i];
	return NULL;
}

const struct class *draw_class(struct storm *s)
{
	return s->tree.classes ? &s->tree.class[below(&s->draw, s->tree.classes)] : NULL;
}

/* ---- leaves ---- */

static u32 flows_most(struct storm *s)
{
	return tree_memory(&s->tree) < MEMORY_MOST_BYTES && one_in(&s->draw, 3) ? FLOWS_ALL
	                                                                        : FLOWS_FEW;
}

/* Of the kernel's own queues those that drop what they hold. */
static void message_plain(struct storm *s, struct message *m, uint32_t where, uint32_t handle)
{
	static const struct {
		const char *name;
		uint16_t limit;
	} plain[] = {{"pfifo_head_drop", 0}, {"codel", TCA_CODEL_LIMIT}};
	uint32_t which = below(&s->draw, 2), limit = (uint32_t)between(&s->draw, 1, 10000), at;

	begin_tc(m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, s->world.index, handle, where,
	         0);
	put_text(m, TCA_KIND, plain[which].name);
	if (!plain[which].limit) {
		put_u32(m, TCA_OPTIONS, limit);
		return;
	}
	at = nest_begin(m, TCA_OPTIONS);
	put_u32(m, plain[which].limit, limit);
	nest_end(m, at);
}

void message_leaf(struct storm *s, struct message *m, uint32_t where, uint32_t handle,
                  struct choice *choice)
{
	uint32_t at;

	choice_begin(choice, draw_algo(&s->draw));
	if (s->plain) {
		message_plain(s, m, where, handle);
		return;
	}
	begin_tc(m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, s->world.index, handle, where,
	         0);
	put_text(m, TCA_KIND, SOJOURN_KIND);
	if (where == TC_H_ROOT && s->bounds.packet_bytes > FRAME_ROOM)
		put_size_table(&s->draw, m, s->bounds.packet_bytes);
	at = nest_begin(m, TCA_OPTIONS);
	put_text(m, TCA_SOJOURN_ALGO, choice->algo->name);
	draw_rows(&s->draw, choice, m, flows_most(s));
	draw_responder6(&s->draw, m);
	nest_end(m, at);
}

static bool plant_leaf(struct storm *s, uint32_t where)
{
	uint32_t handle = free_handle(s);
	struct choice choice;
	struct message m;

	message_leaf(s, &m, where, handle, &choice);
	if (storm_ask(s, &m))
		return false;
	s->tally.qdiscs++;
	if (!s->plain)
		s->expect = (struct expectation){handle, choice};
	return true;
}

/* ---- parents ---- */

void message_parent(struct storm *s, struct message *m, uint16_t flags, uint32_t where,
                    uint32_t handle, const struct kind *kind, uint32_t classes)
{
	begin_tc(m, RTM_NEWQDISC, flags, s->world.index, handle, where, 0);
	put_text(m, TCA_KIND, kind->name);
	/* Below the root the kernel forgets what a size table has done to a parent's books. */
	if (where == TC_H_ROOT && s->bounds.packet_bytes > FRAME_ROOM)
		put_size_table(&s->draw, m, s->bounds.packet_bytes);
	if (kind->options)
		kind->options(&s->draw, m, &s->bounds, classes);
}

void message_class(struct storm *s, struct message *m, const struct qdisc *parent,
                   uint32_t minor)
{
	const struct kind *kind = kind_find(parent->kind);
	uint32_t above = parent->handle;

	if (one_in(&s->draw, 8))
		above |= INNER_MINOR;
	begin_tc(m, RTM_NEWTCLASS, NLM_F_CREATE, s->world.index, parent->handle | minor, above,
	         0);
	put_text(m, TCA_KIND, parent->kind);
	if (kind && kind->class_options)
		kind->class_options(&s->draw, m, &s->bounds);
}

static void put_filter(struct storm *s, uint32_t handle, uint32_t minor, bool all)
{
	uint32_t priority = all ? 2 : 1;
	struct message m;

	begin_tc(&m, RTM_NEWTFILTER, NLM_F_CREATE, s->world.index, 0, handle,
	         TC_H_MAKE(priority << 16, htons(ETH_P_ALL)));
	put_text(&m, TCA_KIND, "u32");
	filter_options(&m, handle | minor, all, (uint8_t)minor);
	storm_ask(s, &m);
}

/* Packets are spread over the classes; what is left over goes to the first. */
void fit_filters(struct storm *s, const struct qdisc *parent)
{
	for (uint32_t minor = 1; minor <= CLASSES_MOST; minor++)
		put_filter(s, parent->handle, minor, false);
	put_filter(s, parent->handle, DEFAULT_MINOR, true);
}

/* At the root something should be slow, or nothing is ever held. */
static const struct kind *draw_kind(struct storm *s, uint32_t where)
{
	bool slow = where == TC_H_ROOT && !one_in(&s->draw, 5);
	const struct kind *kind;

	do
		kind = &kinds[below(&s->draw, kind_count())];
	while ((slow && !kind->slow) || (kind->at_root && where != TC_H_ROOT));
	return kind;
}

static void plant_classes(struct storm *s, const struct qdisc *parent, const struct kind *kind,
                          uint32_t classes)
{
	struct message m;

	if (kind->classes == CLASSES_MADE && one_in(&s->draw, 3)) {
		begin_tc(&m, RTM_NEWTCLASS, NLM_F_CREATE, s->world.index,
		         parent->handle | INNER_MINOR, parent->handle, 0);
		put_text(&m, TCA_KIND, parent->kind);
		kind->class_options(&s->draw, &m, &s->bounds);
		storm_ask(s, &m);
	}
	for (uint32_t minor = 1; kind->classes == CLASSES_MADE && minor <= classes; minor++) {
		message_class(s, &m, parent, minor);
		storm_ask(s, &m);
	}
	if (!one_in(&s->draw, 8))
		fit_filters(s, parent);
}

/* What keeps a tree in motion must be known of all of it. */
void draw_bounds(struct storm *s)
{
	bool long_packets = !s->real_time && one_in(&s->draw, 6);

	s->bounds.packet_bytes = long_packets ? INT32_MAX : FRAME_ROOM;
	/* Of many processes each must know it without asking the others. What is split below a
	 * size table has its own lengths again, which may be longer than TBF let through. */
	s->bounds.burst_bytes = s->real_time || long_packets
	                                ? 1 << 17
	                                : (uint32_t)spread(&s->draw, 1000, 1 << 17);
	s->bounds.rate_least = s->real_time || long_packets ? 12500000 : 125000;
}

static bool plant_below(struct storm *s, uint32_t where, uint32_t levels)
{
	struct qdisc parent = {.parent = where};
	const struct kind *kind;
	struct message m;
	uint32_t classes;

	if (!levels || one_in(&s->draw, where == TC_H_ROOT ? 12 : 4) ||
	    s->tree.qdiscs > QDISCS_ENOUGH)
		return plant_leaf(s, where);
	kind = draw_kind(s, where);
	classes = kind->classes == CLASSES_ONE ? 1 : 1 + below(&s->draw, CLASSES_MOST);
	parent.handle = free_handle(s);
	strcpy(parent.kind, kind->name);
	message_parent(s, &m, NLM_F_CREATE | NLM_F_REPLACE, where, parent.handle, kind,
	               classes);
	if (storm_ask(s, &m))
		return plant_leaf(s, where);
	s->tally.qdiscs++;
	s->tally.kinds |= 1u << (kind - kinds);
	plant_classes(s, &parent, kind, classes);
	for (uint32_t minor = 1; minor <= classes; minor++)
		plant_below(s, parent.handle | minor, levels - 1);
	return true;
}

/* A leaf, or a parent with up to so many levels of parents from it on. */
void plant(struct storm *s, uint32_t where, uint32_t levels)
{
	struct bounds before = s->bounds;

	if (where == TC_H_ROOT)
		draw_bounds(s);
	if (plant_below(s, where, levels)) {
		if (where != TC_H_ROOT)
			return;
		s->tally.trees++;
		s->unsure = false;
	} else if (before.rate_least) {
		s->bounds = before;
	}
}
