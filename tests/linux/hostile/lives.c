// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// lives.c: how a storm of probes ends queues, namespaces and the module, and what must be
// true then.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <linux/pkt_sched.h>

#include "devices.h"
#include "ends.h"
#include "links.h"
#include "paths.h"

enum { BRIEF_PACKETS = 100, BRIEF_BYTES = 300, UNLOAD_TRIES = 12000, SILENCE_LOOKS = 30 };
/* Nobody sends: there are only neighbours and routers that are sought, and MLD. */
enum { STILL_PACKETS = 300 };
static const uint64_t MS = 1000000, SECOND = 1000000000;

/* A wire with a delay, on which probes and answers are under way when something ends. */
static bool plant_delay(struct storm *s)
{
	const struct kind *kind = kind_find("netem");
	uint32_t handle = free_handle(s);
	struct choice choice;
	struct message m;

	draw_bounds(s);
	message_parent(s, &m, NLM_F_CREATE | NLM_F_REPLACE, TC_H_ROOT, handle, kind, 1);
	if (storm_ask(s, &m))
		return false;
	message_leaf(s, &m, handle | 1, free_handle(s), &choice);
	storm_ask(s, &m);
	s->tally.qdiscs += 2;
	s->tally.trees++;
	s->tally.kinds |= 1u << (kind - kinds);
	return true;
}

void plant_end(struct storm *s)
{
	tree_read(&s->wire, &s->tree, s->world.index);
	if (!one_in(&s->draw, 3) || !plant_delay(s))
		plant(s, TC_H_ROOT, below(&s->draw, LEVELS_MOST));
	tree_read(&s->wire, &s->tree, s->world.index);
}

void ends_reopen(struct ends *e)
{
	for (int which = NEAR; which < NAMESPACES; which++) {
		ends_enter(e, which);
		close(e->wire[which].fd);
		wire_open(&e->wire[which]);
	}
	ends_enter(e, NEAR);
	close(e->xfrm.fd);
	close(e->netfilter.fd);
	wire_open_to(&e->xfrm, NETLINK_XFRM);
	wire_open_to(&e->netfilter, NETLINK_NETFILTER);
	e->end[NEAR]->wire = e->wire[NEAR];
	e->end[FAR]->wire = e->wire[FAR];
}

/* All of it is numbers of 64 bits. */
void ends_add(struct ends *e, const struct ends_tally *other)
{
	uint64_t *sum = (uint64_t *)&e->tally;
	const uint64_t *more = (const uint64_t *)other;

	for (size_t i = 0; i < sizeof(*other) / sizeof(*sum); i++)
		sum[i] += more[i];
}

/* Since the last look; another queue under the same handle has counted less. */
static void gather_one(struct ends *e, const struct probed *seen, const struct qdisc *q)
{
	static const struct probed none;
	const struct probed *last = &none;

	for (uint32_t i = 0; i < QDISCS_MOST; i++)
		if (seen[i].handle == q->handle)
			last = &seen[i];
	for (uint32_t n = 0; n < SOJOURN_PROBES; n++)
		if (q->probed[n] < last->count[n])
			last = &none;
	for (uint32_t n = 0; n < SOJOURN_PROBES; n++)
		e->gathered->probes[n] += q->probed[n] - last->count[n];
}

void ends_gather(struct ends *e)
{
	for (int which = NEAR; which <= FAR; which++) {
		const struct tree *t = &e->end[which]->tree;
		struct probed *seen = e->gathered->seen[which];

		for (uint32_t i = 0; i < t->qdiscs; i++)
			gather_one(e, seen, &t->qdisc[i]);
		memset(seen, 0, sizeof(e->gathered->seen[which]));
		for (uint32_t i = 0; i < t->qdiscs; i++) {
			seen[i].handle = t->qdisc[i].handle;
			memcpy(seen[i].count, t->qdisc[i].probed, sizeof(seen[i].count));
		}
	}
}

/* ---- a namespace that comes and goes ---- */

static void say_briefly(struct draw *d)
{
	static const char payload_of[BRIEF_BYTES];
	struct sockaddr_in to4 = {.sin_family = AF_INET, .sin_port = htons(9)};
	struct sockaddr_in6 to6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
	int four = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	int six = socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memcpy(&to4.sin_addr, (uint8_t[4]){10, 7, 0, one_in(d, 4) ? 3 : 2}, 4);
	memcpy(&to6.sin6_addr, (uint8_t[16]){0xfd, 7, [15] = one_in(d, 4) ? 3 : 2}, 16);
	for (uint64_t n = spread(d, 1, BRIEF_PACKETS); n; n--) {
		sendto(four, payload_of, below(d, BRIEF_BYTES), 0, (void *)&to4, sizeof(to4));
		sendto(six, payload_of, below(d, BRIEF_BYTES), 0, (void *)&to6, sizeof(to6));
	}
}

static void live_briefly(struct ends *e, struct draw *d)
{
	static struct storm brief;
	struct storm *s = &brief;
	struct wire far;
	char peer[IFNAMSIZ];
	uint32_t index;

	snprintf(peer, sizeof(peer), "z%u", (uint32_t)(e->tally.briefs % 10000));
	*s = *e->end[NEAR];
	s->tree.qdiscs = s->tree.classes = 0;
	ends_enter(e, FAR);
	wire_open(&far);
	if (unshare(CLONE_NEWNET))
		_exit(1);
	wire_open(&s->wire);
	link_set(&s->wire, if_nametoindex("lo"), IFF_UP, IFF_UP);
	if (link_add_across(&s->wire, "c0", peer, 1, e->netns[FAR]))
		_exit(1);
	s->world.index = if_nametoindex("c0");
	link_set(&s->wire, s->world.index, IFF_UP, IFF_UP);
	address_change(&s->wire, true, s->world.index, false, 24, (uint8_t[4]){10, 7, 0, 1});
	address_change(&s->wire, true, s->world.index, true, 64,
	               (uint8_t[16]){0xfd, 7, [15] = 1});
	index = index_of(&far, peer);
	link_set(&far, index, IFF_UP, IFF_UP);
	address_change(&far, true, index, false, 24, (uint8_t[4]){10, 7, 0, 2});
	address_change(&far, true, index, true, 64, (uint8_t[16]){0xfd, 7, [15] = 2});
	s->draw = *d;
	plant_end(s);
	say_briefly(d);
	if (one_in(d, 2))
		rest_ns(spread(d, 1, 5 * MS));
	if (one_in(d, 2))
		say_briefly(d);
	_exit(0);
}

void ends_brief(struct ends *e, struct draw *d)
{
	pid_t child;

	e->tally.briefs++;
	fflush(stdout);
	child = fork();
	if (!child)
		live_briefly(e, d);
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* ---- the module goes ---- */

static void take_queues(struct ends *e)
{
	static const char *const names[] = {"c0", "s0", "v5",  "v6",  "vx5", "vxe", "vxf",
	                                    "g0", "t0", "br0", "br1", "lo",  "red"};
	struct message m;

	ends_gather(e);
	for (int which = NEAR; which < NAMESPACES; which++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			uint32_t index = index_in(e, which, names[i]);

			if (!index)
				continue;
			begin_tc(&m, RTM_DELQDISC, 0, index, 0, TC_H_ROOT, 0);
			wire_ask(&e->wire[which], &m);
		}
	}
}

/* The least urgent of all deletes, the most urgent unloads. */
static pid_t take_queues_slowly(struct ends *e)
{
	struct sched_param none = {0};
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child)
		return child;
	sched_setscheduler(0, SCHED_IDLE, &none);
	ends_reopen(e);
	take_queues(e);
	_exit(0);
}

static bool load(struct ends *e)
{
	int fd = open(e->module, O_RDONLY | O_CLOEXEC);
	bool right = fd >= 0 && !syscall(SYS_finit_module, fd, "", 0);

	close(fd);
	return right;
}

bool ends_unload(struct ends *e, bool raced)
{
	struct storm *s = e->end[NEAR];
	struct sched_param urgent = {.sched_priority = 50}, none = {0};
	pid_t child = 0;
	int tries = 0, err = EAGAIN;

	if (!e->module || s->nobody || s->plain)
		return true;
	if (raced)
		child = take_queues_slowly(e);
	else
		take_queues(e);
	if (raced)
		sched_setscheduler(0, SCHED_FIFO, &urgent);
	for (; err && tries < UNLOAD_TRIES; tries++) {
		err = syscall(SYS_delete_module, "sch_sojourn", O_NONBLOCK) ? errno : 0;
		if (err)
			rest_ns(raced && tries < UNLOAD_TRIES / 2 ? 50000 : 10 * MS);
	}
	sched_setscheduler(0, SCHED_OTHER, &none);
	if (child > 0)
		waitpid(child, NULL, 0);
	if (err)
		return wrong(s, "the module does not go: %s", strerror(err));
	e->tally.unloads++;
	if (!load(e))
		return wrong(s, "the module does not come back");
	plant_end(e->end[NEAR]);
	plant_end(e->end[FAR]);
	return true;
}

/* ---- what must be true at the end ---- */

static uint64_t sent_by_both(struct ends *e)
{
	return link_sent(&e->wire[NEAR], index_in(e, NEAR, "c0")) +
	       link_sent(&e->wire[FAR], index_in(e, FAR, "s0"));
}

/* Two queues must not answer each other for ever. */
static bool is_still(struct ends *e)
{
	struct storm *s = e->end[NEAR];
	uint64_t before = 0, after = 0;

	for (int look = 0; look < SILENCE_LOOKS; look++) {
		before = sent_by_both(e);
		rest_ns(s->real_time ? SECOND / 2 : 5 * SECOND);
		after = sent_by_both(e);
		if (after - before < STILL_PACKETS)
			return true;
	}
	return wrong(s, "nobody speaks, and still %llu packets have left within moments",
	             (unsigned long long)(after - before));
}

bool ends_run_dry(struct ends *e)
{
	struct storm *near = e->end[NEAR], *far = e->end[FAR];

	if (!is_still(e))
		return false;
	if (!storm_run_dry(near))
		return false;
	if (storm_run_dry(far))
		return true;
	return wrong(near, "far end: %s", far->trouble);
}

/* Others have acted meanwhile: find what is there, and let it run dry. */
bool ends_quiet(struct ends *e)
{
	make_wire(e);
	ipsec_flush(&e->xfrm);
	firewall_flush(&e->netfilter);
	for (int which = NEAR; which <= FAR; which++) {
		struct storm *s = e->end[which];

		ends_enter(e, which);
		world_attach(&s->world);
		ends_enter(e, NEAR);
		tree_read(&s->wire, &s->tree, s->world.index);
		s->expect.handle = 0;
		s->unsure = s->forsaken = true;
	}
	ends_gather(e);
	return ends_run_dry(e);
}

bool ends_take_down(struct ends *e)
{
	struct draw d = draw_for(e->end[NEAR]->seed, UINT64_MAX - 1);

	ends_gather(e);
	if (one_in(&d, 3))
		return ends_run_dry(e);
	/* Or all at once, with whatever is under way. */
	ends_say(e, &d, spread(&d, 1, 300));
	if (one_in(&d, 2))
		rest_ns(spread(&d, 1, 20 * MS));
	return true;
}
