// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// steps.c: what a step may be.

#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <linux/pkt_sched.h>

#include "links.h"
#include "storm.h"
#include "stranger.h"

enum { BURST_MOST = 100, SEGMENTS_FEW = 200, SEGMENTS_ALL = 70000 };
enum { FLOOD_BURSTS = 30, FLOOD_BURST_MOST = 60 };
static const uint64_t MS = 1000000;

/* ---- traffic and time ---- */

void send_some(struct storm *s, uint64_t frames, const struct class *class)
{
	for (; frames; frames--) {
		uint32_t most = one_in(&s->draw, 50) ? SEGMENTS_ALL : SEGMENTS_FEW;

		if (most > s->packets_left)
			most = 1;
		world_send(&s->world, &s->draw,
		           class && !one_in(&s->draw, 5) ? class->id : below(&s->draw, 16),
		           most);
		s->packets_left -= most > SEGMENTS_FEW ? most : 0;
	}
}

static bool step_send(struct storm *s)
{
	send_some(s, spread(&s->draw, 1, BURST_MOST), draw_class(s));
	return true;
}

/* As long as a law needs to act: more than the tree sends, again and again. */
static bool step_flood(struct storm *s)
{
	const struct class *class = draw_class(s);
	uint64_t pause = spread(&s->draw, MS, 20 * MS);

	for (uint32_t n = 0; n < FLOOD_BURSTS; n++) {
		send_some(s, below(&s->draw, FLOOD_BURST_MOST), class);
		rest_ns(s->real_time ? MS : pause);
	}
	return true;
}

static bool step_wait(struct storm *s)
{
	rest_ns(spread(&s->draw, 1, s->real_time ? 5 * MS : 300 * MS));
	return true;
}

/* ---- our rows ---- */

static void begin_change(struct storm *s, struct message *m, const struct qdisc *q)
{
	begin_tc(m, RTM_NEWQDISC, 0, s->world.index, q->handle, q->parent, 0);
	put_text(m, TCA_KIND, SOJOURN_KIND);
}

/* Why these rows together must be refused; NULL: they must not. */
static const char *refusal(const struct qdisc *q, const struct choice *choice)
{
	u32 room = U32_MAX;

	return aqm_setup_check(q->choice.algo, &choice->setup, choice->conf, &q->choice.setup,
	                       q->choice.conf, room)
	        .sentence;
}

static bool step_change(struct storm *s)
{
	const struct qdisc *q = draw_qdisc(s, true);
	struct choice choice;
	const char *no;
	struct message m;
	uint32_t at;
	int err;

	if (!q || !q->readable)
		return true;
	choice = q->choice;
	begin_change(s, &m, q);
	at = nest_begin(&m, TCA_OPTIONS);
	draw_rows(&s->draw, &choice, &m, q->choice.setup.flows);
	draw_responder6(&s->draw, &m);
	nest_end(&m, at);
	no = refusal(q, &choice);
	err = storm_ask(s, &m);
	s->tally.changes++;
	if (no && !err && !s->real_time)
		return wrong(s, "taken, though it should be refused: %s", no);
	/* Only the kernel knows what a ring was made for. Below HFSC's own root class nothing
	 * can be changed once that has others. */
	if (!no && err && !s->real_time && choice.setup.limit <= q->choice.setup.limit &&
	    (TC_H_MIN(q->parent) || !q->parent))
		return wrong(s, "a right change is refused with %d: %s", err, s->wire.sentence);
	s->expect = (struct expectation){q->handle, err ? q->choice : choice};
	return true;
}

static bool step_wrong(struct storm *s)
{
	const struct qdisc *q = draw_qdisc(s, true);
	struct message m;
	uint32_t at;

	if (!q || !q->readable)
		return true;
	begin_change(s, &m, q);
	at = nest_begin(&m, TCA_OPTIONS);
	draw_wrong(&s->draw, &q->choice, &m);
	nest_end(&m, at);
	s->tally.wrongs++;
	if (!storm_ask(s, &m) && !s->real_time)
		return wrong(s, "a wrong change is taken");
	s->expect = (struct expectation){q->handle, q->choice};
	return true;
}

static bool step_noise(struct storm *s)
{
	const struct qdisc *q = draw_qdisc(s, true);
	struct message m;
	uint32_t at;

	if (!q)
		return true;
	begin_change(s, &m, q);
	at = nest_begin(&m, TCA_OPTIONS);
	draw_noise(&s->draw, &m);
	nest_end(&m, at);
	s->tally.noises++;
	storm_ask(s, &m);
	return true;
}

/* ---- a message with some of its bytes changed ---- */

static void mutate(struct draw *d, struct message *m, uint32_t from)
{
	for (uint32_t n = 1 + below(d, 3); n; n--) {
		uint32_t at = from + below(d, m->used - from);

		switch (below(d, 5)) {
		case 0:
			m->bytes[at] = (unsigned char)draw_word(d);
			break;
		case 1:
			m->bytes[at] ^= (unsigned char)(1u << below(d, 8));
			break;
		case 2: /* more of the same */
			if (m->used + 64 < MESSAGE_ROOM) {
				memcpy(m->bytes + m->used, m->bytes + (at & ~3u), 64);
				m->used += 4 * (1 + below(d, 16));
			}
			break;
		case 3: /* less */
			if (at > NLMSG_HDRLEN)
				m->used = at;
			break;
		default: /* another number where a value may stand */
			if ((at & ~3u) + 4 <= m->used) {
				uint32_t value = (uint32_t)between(d, 0, UINT32_MAX);

				memcpy(m->bytes + (at & ~3u), &value, sizeof(value));
			}
		}
		if (m->used <= from)
			return;
	}
}

static bool step_mutant(struct storm *s)
{
	const struct qdisc *q = draw_qdisc(s, s->real_time || !one_in(&s->draw, 4));
	const struct kind *kind = q ? kind_find(q->kind) : NULL;
	uint32_t behind_head = NLMSG_HDRLEN + sizeof(struct tcmsg) + 4;
	struct choice choice;
	struct message m;

	if (!q)
		return true;
	if (!kind)
		message_leaf(s, &m, q->parent, one_in(&s->draw, 2) ? q->handle : free_handle(s),
		             &choice);
	else if (kind->class_options && one_in(&s->draw, 2))
		message_class(s, &m, q, 1 + below(&s->draw, CLASSES_MOST));
	else
		message_parent(s, &m, 0, q->parent, q->handle, kind,
		               1 + below(&s->draw, CLASSES_MOST));
	/* Where it goes is changed less often than what it says. */
	mutate(&s->draw, &m, one_in(&s->draw, 4) ? NLMSG_HDRLEN : behind_head);
	s->tally.mutants++;
	if (!storm_ask(s, &m) && kind)
		s->unsure = true;
	return true;
}

/* ---- the tree ---- */

static bool step_plant(struct storm *s)
{
	const struct class *class = draw_class(s);
	const struct qdisc *root = tree_root(&s->tree);
	uint32_t where = class && !one_in(&s->draw, 3) ? class->id : TC_H_ROOT, depth = 0;

	for (uint32_t i = 0; where != TC_H_ROOT && i < s->tree.qdiscs; i++)
		if (s->tree.qdisc[i].handle == TC_H_MAJ(where))
			depth = 1 + tree_depth(&s->tree, &s->tree.qdisc[i]);
	if (!root || depth > LEVELS_MOST)
		where = TC_H_ROOT;
	plant(s, where, where == TC_H_ROOT ? LEVELS_MOST : LEVELS_MOST - depth);
	return true;
}

static bool step_delete(struct storm *s)
{
	const struct qdisc *q = draw_qdisc(s, one_in(&s->draw, 2));
	struct message m;

	if (!q)
		return true;
	begin_tc(&m, RTM_DELQDISC, 0, s->world.index, q->handle, q->parent, 0);
	storm_ask(s, &m);
	return true;
}

static void drop_filters(struct storm *s, uint32_t handle)
{
	struct message m;

	begin_tc(&m, RTM_DELTFILTER, 0, s->world.index, 0, handle, 0);
	storm_ask(s, &m);
}

static bool step_class(struct storm *s)
{
	const struct class *class = draw_class(s);
	const struct qdisc *q = draw_qdisc(s, false);
	struct message m;

	if (class && one_in(&s->draw, 3)) {
		/* A class that a filter names is busy. */
		if (one_in(&s->draw, 2))
			drop_filters(s, TC_H_MAJ(class->id));
		begin_tc(&m, RTM_DELTCLASS, 0, s->world.index, class->id, 0, 0);
		put_text(&m, TCA_KIND, class->kind);
		storm_ask(s, &m);
	} else if (q && kind_find(q->kind)) {
		message_class(s, &m, q, 1 + below(&s->draw, CLASSES_MOST));
		storm_ask(s, &m);
		if (one_in(&s->draw, 4))
			fit_filters(s, q);
	}
	return true;
}

static bool step_reshape(struct storm *s)
{
	const struct qdisc *q = draw_qdisc(s, false);
	const struct kind *kind = q ? kind_find(q->kind) : NULL;
	struct message m;

	if (!kind || !kind->options)
		return true;
	message_parent(s, &m, 0, q->parent, q->handle, kind,
	               kind->classes == CLASSES_ONE ? 1 : 1 + below(&s->draw, CLASSES_MOST));
	storm_ask(s, &m);
	return true;
}

/* ---- the device ---- */

/* A link that goes down empties its queues. HFSC then keeps a note that its classes wait for
 * their turn, and never gives it to them: with the kernel's own queues below it, too. */
static void after_reset(struct storm *s)
{
	for (uint32_t i = 0; i < s->tree.qdiscs; i++)
		if (!strcmp(s->tree.qdisc[i].kind, "hfsc"))
			s->unsure = true;
}

static bool step_link(struct storm *s)
{
	struct wire *w = &s->wire;
	uint32_t index = s->world.index, mtu_bytes;

	switch (below(&s->draw, 5)) {
	case 0:
		mtu_bytes = one_in(&s->draw, 2) ? 1500 : draw_mtu(&s->draw);
		if (!link_mtu(w, index, mtu_bytes))
			s->world.mtu_bytes = mtu_bytes;
		break;
	case 1:
		link_set(w, index, 0, IFF_UP);
		step_wait(s);
		link_set(w, index, IFF_UP, IFF_UP);
		after_reset(s);
		break;
	case 2:
		link_carrier(w, index, false);
		step_wait(s);
		link_carrier(w, index, true);
		after_reset(s);
		break;
	case 3:
		link_queue_length(w, index, (uint32_t)spread(&s->draw, 0, 100000));
		after_reset(s);
		break;
	default:
		link_offloads(index, &s->draw);
	}
	return true;
}

static bool step_stranger(struct storm *s)
{
	const struct qdisc *root = tree_root(&s->tree);

	if (s->nobody || s->real_time || !root)
		return true;
	return stranger_is_refused(s, root) ||
	       wrong(s, "an unprivileged user was not refused with EPERM");
}

static bool step_dry(struct storm *s)
{
	return s->real_time || storm_run_dry(s);
}

/* Traffic comes first. */
enum { LAST_OF_TRAFFIC = 2 };
static const struct {
	const char *name;
	bool (*act)(struct storm *);
	uint32_t weight;
} steps[] = {
        {"send", step_send, 36},     {"flood", step_flood, 6},       {"wait", step_wait, 16},
        {"change", step_change, 14}, {"wrong", step_wrong, 6},       {"noise", step_noise, 6},
        {"mutant", step_mutant, 8},  {"plant", step_plant, 5},       {"delete", step_delete, 3},
        {"class", step_class, 4},    {"reshape", step_reshape, 4},   {"link", step_link, 4},
        {"dry", step_dry, 4},        {"stranger", step_stranger, 1},
};

static uint32_t draw_step(struct draw *d)
{
	uint32_t all = 0, at, i = 0;

	for (; i < sizeof(steps) / sizeof(*steps); i++)
		all += steps[i].weight;
	at = below(d, all);
	for (i = 0; at >= steps[i].weight; i++)
		at -= steps[i].weight;
	return i;
}

const char *step_name(struct storm *s, uint64_t number)
{
	struct draw d = draw_for(s->seed, number);

	return number ? steps[draw_step(&d)].name : "plant";
}

/* Here the numbers of a dump need not agree: packets come and go meanwhile. */
void storm_push(struct storm *s, bool traffic)
{
	uint32_t which;

	do
		which = draw_step(&s->draw);
	while ((which <= LAST_OF_TRAFFIC) != traffic || steps[which].act == step_dry);
	if (!traffic || one_in(&s->draw, 16))
		tree_read(&s->wire, &s->tree, s->world.index);
	s->tally.steps++;
	steps[which].act(s);
}

bool storm_act(struct storm *s)
{
	uint32_t which;

	do
		which = draw_step(&s->draw);
	while (which <= LAST_OF_TRAFFIC || steps[which].act == step_dry ||
	       steps[which].act == step_stranger);
	return steps[which].act(s);
}

bool storm_step(struct storm *s, uint64_t number)
{
	uint32_t which;

	s->draw = draw_for(s->seed, number);
	s->expect.handle = 0;
	s->tally.steps++;
	which = draw_step(&s->draw);
	if (!number)
		plant(s, TC_H_ROOT, LEVELS_MOST);
	else if (!steps[which].act(s))
		return false;
	return storm_check(s, false);
}
