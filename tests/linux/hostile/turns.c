// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// turns.c: the steps of a storm of probes, see ends.h.
//
// A step seldom waits before the next: what it ends is in any stage then, asked, sent, parked,
// queued, on the wire or answered.

#define _GNU_SOURCE
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/mroute6.h>
#include <linux/pkt_sched.h>

#include "devices.h"
#include "ends.h"
#include "links.h"
#include "paths.h"

enum { ENDS_BURST = 200, REPEATS = 60, ADDRESSES_MANY = 200, BRIEF_PACKETS = 60 };
static const uint64_t MS = 1000000;

static void pause_now_and_then(struct ends *e, struct draw *d)
{
	if (one_in(d, 2))
		rest_ns(spread(d, 1, e->end[NEAR]->real_time ? 3 * MS : 60 * MS));
}

static struct storm *one_end(struct ends *e, struct draw *d)
{
	return e->end[one_in(d, 3) ? FAR : NEAR];
}

/* ---- traffic and time ---- */

static bool turn_say(struct ends *e, struct draw *d)
{
	ends_say(e, d, spread(d, 1, ENDS_BURST));
	return true;
}

static bool turn_repeat(struct ends *e, struct draw *d)
{
	ends_listen(e);
	ends_repeat(e, d, spread(d, 1, REPEATS));
	return true;
}

static bool turn_wait(struct ends *e, struct draw *d)
{
	rest_ns(spread(d, 1, e->end[NEAR]->real_time ? 5 * MS : 300 * MS));
	return true;
}

/* ---- queues ---- */

/* The traffic, rows and trees of any storm, at one end. */
static bool turn_usual(struct ends *e, struct draw *d)
{
	struct storm *s = one_end(e, d);

	if (s->real_time)
		storm_push(s, false);
	return s->real_time || storm_act(s);
}

/* Another queue in the place of one of ours, or anew in its own. */
static bool turn_queue(struct ends *e, struct draw *d)
{
	struct storm *s = one_end(e, d);
	const struct qdisc *q;
	struct choice choice;
	struct message m;
	uint32_t where, handle;

	tree_read(&s->wire, &s->tree, s->world.index);
	q = draw_qdisc(s, true);
	where = q ? q->parent : TC_H_ROOT;
	handle = q && one_in(d, 2) ? q->handle : free_handle(s);
	message_leaf(s, &m, where, handle, &choice);
	if (!storm_ask(s, &m)) {
		s->tally.qdiscs++;
		s->expect.handle = 0;
	}
	return true;
}

/* A queue with a device of another kind above or below it. */
static bool turn_elsewhere(struct ends *e, struct draw *d)
{
	static const char *const names[] = {"g0", "v5", "vx5", "br0", "br1", "v6", "lo", "red"};
	struct storm *s = e->end[NEAR];
	uint32_t which = below(d, sizeof(names) / sizeof(*names)), own = s->world.index;
	uint32_t index = index_in(e, NEAR, names[which]);
	struct choice choice;
	struct message m;

	if (!index)
		return true;
	s->world.index = index;
	s->tree.qdiscs = s->tree.classes = 0;
	if (one_in(d, 4)) {
		begin_tc(&m, RTM_DELQDISC, 0, index, 0, TC_H_ROOT, 0);
		storm_ask(s, &m);
	} else {
		message_leaf(s, &m, TC_H_ROOT, free_handle(s), &choice);
		if (!storm_ask(s, &m))
			s->tally.qdiscs++;
	}
	s->world.index = own;
	tree_read(&s->wire, &s->tree, own);
	return true;
}

/* As in every storm: queues that are reset leave a mark on HFSC above them. */
static void be_unsure(struct ends *e)
{
	e->end[NEAR]->unsure = e->end[FAR]->unsure = true;
}

/* ---- devices ---- */

static bool turn_flap(struct ends *e, struct draw *d)
{
	static const char *const names[] = {"c0", "c0", "v5", "vx5", "br0", "red", "g0"};
	int which = one_in(d, 4) ? FAR : NEAR;
	const char *name =
	        which == FAR ? "s0" : names[below(d, sizeof(names) / sizeof(*names))];
	uint32_t index = index_in(e, which, name);

	if (!index)
		return true;
	link_set(&e->wire[which], index, 0, IFF_UP);
	pause_now_and_then(e, d);
	link_set(&e->wire[which], index, IFF_UP, IFF_UP);
	be_unsure(e);
	settle(e);
	return true;
}

static void reattach(struct ends *e, int which)
{
	ends_enter(e, which);
	world_attach(&e->end[which]->world);
	ends_enter(e, NEAR);
	ears_open(e, which);
}

/* The wire's device moves away, and back: its queue ends, with all it holds. */
static bool turn_move(struct ends *e, struct draw *d)
{
	struct wire *w = &e->wire[NEAR];
	uint32_t index = index_in(e, NEAR, "c0");

	if (!index)
		return make_wire(e);
	if (one_in(d, 2) || link_move(w, index, e->netns[LODGER])) {
		link_delete(w, index);
		e->tally.moves++;
	} else {
		pause_now_and_then(e, d);
		link_move(&e->wire[LODGER], index_in(e, LODGER, "c0"), e->netns[NEAR]);
		e->tally.moves++;
	}
	if (!make_wire(e))
		return wrong(e->end[NEAR], "a device cannot be made again");
	make_vlan(e);
	make_lodger(e);
	settle(e);
	reattach(e, NEAR);
	reattach(e, FAR);
	plant_end(e->end[NEAR]);
	plant_end(e->end[FAR]);
	return true;
}

/* A device goes while packets wait that were routed by it. */
static bool turn_vanish(struct ends *e, struct draw *d)
{
	static const char *const names[] = {"v5", "vx5", "vxe", "g0", "v6"};
	const char *name = names[below(d, sizeof(names) / sizeof(*names))];
	int which = !strcmp(name, "v6") ? LODGER : one_in(d, 4) ? FAR : NEAR;
	uint32_t index = index_in(e, which, name);

	ends_say(e, d, spread(d, 1, ENDS_BURST));
	if (index)
		link_delete(&e->wire[which], index);
	pause_now_and_then(e, d);
	if (one_in(d, 4))
		return true;
	make_vlan(e);
	make_vxlan(e);
	make_external(e);
	make_lodger(e);
	settle(e);
	return true;
}

/* ---- neighbours, addresses and routes ---- */

static bool turn_neighbour(struct ends *e, struct draw *d)
{
	static const uint8_t far[2][16] = {{10, 0, 0, 2}, {0xfd, [15] = 2}};
	uint32_t index = index_in(e, NEAR, carrier(e, NEAR));
	bool six = one_in(d, 2);

	switch (below(d, 4)) {
	case 0:
		neighbour_change(&e->wire[NEAR], true, index, six, far[six], 2);
		break;
	case 1: /* who has it does not answer */
		link_set(&e->wire[FAR], index_in(e, FAR, "s0"), IFF_NOARP, IFF_NOARP);
		neighbour_change(&e->wire[NEAR], false, index, six, far[six], 0);
		ends_say(e, d, spread(d, 1, ENDS_BURST));
		pause_now_and_then(e, d);
		link_set(&e->wire[FAR], index_in(e, FAR, "s0"), 0, IFF_NOARP);
		break;
	case 2: /* at somebody else's */
		neighbour_change(&e->wire[NEAR], true, index, six, far[six], 7);
		break;
	default:
		neighbour_change(&e->wire[NEAR], false, index, six, far[six], 0);
	}
	return true;
}

static void many_addresses(struct ends *e, struct draw *d)
{
	uint32_t index = index_in(e, NEAR, carrier(e, NEAR)), n = below(d, ADDRESSES_MANY);
	bool six = one_in(d, 2), add = !one_in(d, 3);

	for (uint32_t i = 0; i < n; i++) {
		uint8_t four[4] = {100, 64, (uint8_t)(i >> 8), (uint8_t)i};
		uint8_t other[16] = {0xfd, 0x77, [14] = (uint8_t)(i >> 8), (uint8_t)i};

		if (address_change(&e->wire[NEAR], add, index, six, six ? 128 : 32,
		                   six ? other : four))
			break;
	}
}

static bool turn_address(struct ends *e, struct draw *d)
{
	static const uint8_t own[2][16] = {{10, 0, 0, 1}, {0xfd, [15] = 1}};
	bool six = one_in(d, 2);

	if (one_in(d, 2)) {
		many_addresses(e, d);
		return true;
	}
	address_change(&e->wire[NEAR], false, index_in(e, NEAR, carrier(e, NEAR)), six,
	               six ? 64 : 24, own[six]);
	ends_say(e, d, spread(d, 1, ENDS_BURST));
	pause_now_and_then(e, d);
	settle(e);
	return true;
}

static bool turn_route(struct ends *e, struct draw *d)
{
	static const uint8_t kinds_of[] = {RTN_BLACKHOLE, RTN_UNREACHABLE, RTN_PROHIBIT};
	const bool six = one_in(d, 2);
	struct route r = {.six = six, .kind = kinds_of[below(d, 3)], .prefix = six ? 32 : 16};

	memcpy(r.to, six ? (uint8_t[16]){0xfd, 2} : (uint8_t[16]){10, 2}, 16);
	note(e, EXTRA_ROUTE, !route_change(&e->wire[NEAR], true, &r));
	ends_say(e, d, spread(d, 1, ENDS_BURST));
	pause_now_and_then(e, d);
	route_change(&e->wire[NEAR], false, &r);
	settle(e);
	return true;
}

/* A router of multicast of IPv6: while there is one, whoever closes a raw socket of ICMPv6
 * takes RTNL. */
static bool turn_router(struct ends *e, struct draw *d)
{
	int one = 1;

	(void)d;
	if (e->router > 0) {
		close(e->router);
		e->router = 0;
		return true;
	}
	e->router = socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6);
	note(e, EXTRA_ROUTER,
	     !setsockopt(e->router, IPPROTO_IPV6, MRT6_INIT, &one, sizeof(one)));
	return true;
}

/* ---- what stands in the way ---- */

static bool turn_ipsec(struct ends *e, struct draw *d)
{
	if (one_in(d, 2))
		note(e, EXTRA_IPSEC, !ipsec_add(&e->xfrm, d));
	else
		ipsec_flush(&e->xfrm);
	return true;
}

static bool turn_firewall(struct ends *e, struct draw *d)
{
	if (one_in(d, 2))
		note(e, EXTRA_FIREWALL, !firewall_add(&e->netfilter, d));
	else
		firewall_flush(&e->netfilter);
	return true;
}

static bool turn_tunnel(struct ends *e, struct draw *d)
{
	uint32_t index = index_in(e, NEAR, "c0");

	/* A queue for ingress, added or taken, resets those for egress. */
	be_unsure(e);
	note(e, EXTRA_TUNNEL, !tunnel_filter(&e->wire[NEAR], index, true));
	ends_say(e, d, spread(d, 1, ENDS_BURST));
	pause_now_and_then(e, d);
	tunnel_filter(&e->wire[NEAR], index, false);
	return true;
}

static bool turn_brief(struct ends *e, struct draw *d)
{
	ends_brief(e, d);
	return true;
}

/* Of all ends the last: the module itself goes, and comes back. */
static bool turn_unload(struct ends *e, struct draw *d)
{
	ends_say(e, d, spread(d, 1, ENDS_BURST));
	pause_now_and_then(e, d);
	return ends_unload(e, false);
}

static bool turn_dry(struct ends *e, struct draw *d)
{
	(void)d;
	return ends_run_dry(e);
}

/* ---- which ---- */

/* Traffic comes first. */
enum { LAST_TURN_OF_TRAFFIC = 2 };
static const struct {
	const char *name;
	bool (*act)(struct ends *, struct draw *);
	uint32_t weight;
} turns[] = {
        {"say", turn_say, 40},        {"repeat", turn_repeat, 12},
        {"wait", turn_wait, 14},      {"usual", turn_usual, 16},
        {"queue", turn_queue, 16},    {"elsewhere", turn_elsewhere, 12},
        {"flap", turn_flap, 6},       {"move", turn_move, 4},
        {"vanish", turn_vanish, 8},   {"neighbour", turn_neighbour, 8},
        {"address", turn_address, 4}, {"route", turn_route, 4},
        {"ipsec", turn_ipsec, 4},     {"firewall", turn_firewall, 4},
        {"router", turn_router, 4},   {"tunnel", turn_tunnel, 4},
        {"brief", turn_brief, 5},     {"unload", turn_unload, 2},
        {"dry", turn_dry, 3},
};

static uint32_t draw_turn(struct draw *d)
{
	uint32_t all = 0, at, i = 0;

	for (; i < sizeof(turns) / sizeof(*turns); i++)
		all += turns[i].weight;
	at = below(d, all);
	for (i = 0; at >= turns[i].weight; i++)
		at -= turns[i].weight;
	return i;
}

const char *ends_step_name(const struct ends *e, uint64_t number)
{
	struct draw d = draw_for(e->end[NEAR]->seed, number);

	return number ? turns[draw_turn(&d)].name : "plant";
}

/* Beside others that act at the same time. */
void ends_push(struct ends *e, struct draw *d, bool traffic)
{
	uint32_t which;

	do
		which = draw_turn(d);
	while ((which <= LAST_TURN_OF_TRAFFIC) != traffic || turns[which].act == turn_dry ||
	       turns[which].act == turn_unload);
	e->end[NEAR]->tally.steps++;
	turns[which].act(e, d);
}

static bool at_far(struct storm *near, const struct storm *far)
{
	near->tree = far->tree;
	return wrong(near, "far end: %s", far->trouble);
}

bool ends_step(struct ends *e, uint64_t number)
{
	struct storm *near = e->end[NEAR], *far = e->end[FAR];
	struct draw d = draw_for(near->seed, number);
	uint32_t which = draw_turn(&d);

	near->draw = draw_for(near->seed, number + (1ull << 33));
	far->draw = draw_for(near->seed, number + (1ull << 34));
	near->expect.handle = far->expect.handle = 0;
	*near->trouble = *far->trouble = '\0';
	near->tally.steps++;
	if (!number) {
		plant_end(near);
		plant_end(far);
	} else if (!turns[which].act(e, &d)) {
		return *near->trouble ? false : at_far(near, far);
	}
	if (!storm_check(near, false))
		return false;
	if (!storm_check(far, false))
		return at_far(near, far);
	ends_gather(e);
	return true;
}
