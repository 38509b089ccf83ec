/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * ends.h: storms of probes: two namespaces with a queue at each end of the wire between
 * them, a third that comes and goes, and all that may stand around a queue.
 *
 *     lodger          near                      far
 *       v6 ........ v6 | c0 ==== wire ==== s0 | v6, t0 behind it
 *                 v5, vx5, g0 in a bridge with a tunnel's end
 */
#ifndef HOSTILE_ENDS_H
#define HOSTILE_ENDS_H

#include "storm.h"

enum { NEAR, FAR, LODGER, NAMESPACES };
enum { MOUTHS = 6, CAUGHT_MOST = 32, CAUGHT_ROOM = 128 };

/* Kinds of devices and of other things that a kernel may not have. */
enum extra {
	EXTRA_VLAN,
	EXTRA_VXLAN,
	EXTRA_EXTERNAL,
	EXTRA_VRF,
	EXTRA_BRIDGE,
	EXTRA_TUNNEL,
	EXTRA_IPSEC,
	EXTRA_FIREWALL,
	EXTRA_ROUTE,
	EXTRA_LODGER,
	EXTRA_ROUTER,
	EXTRAS
};

/* What probes of one queue had come to when somebody looked. */
struct probed {
	uint32_t handle;
	uint64_t count[SOJOURN_PROBES];
};

/* The sum of it, as far as anybody looked before the end of a queue. */
struct gathered {
	uint64_t probes[SOJOURN_PROBES];
	struct probed seen[2][QDISCS_MOST];
};

struct caught {
	uint32_t bytes;
	uint8_t data[CAUGHT_ROOM];
};

/* Frames that were heard and said again, ends of every kind, extras that there were. */
struct ends_tally {
	uint64_t heard, spoken, unloads, moves, briefs;
	uint64_t made[EXTRAS], skipped[EXTRAS];
};

struct ends {
	struct storm *end[2];
	int netns[NAMESPACES];
	struct wire wire[NAMESPACES];
	struct wire xfrm, netfilter; /* of the near end */
	bool bridged, in_vrf;
	int mouth[NAMESPACES][MOUTHS];
	int router; /* a socket, or 0 */
	int ear[2]; /* hears and says frames at each end */
	struct caught caught[CAUGHT_MOST];
	uint32_t caught_at;
	const char *module; /* NULL: it stays */
	struct ends_tally tally;
	struct gathered *gathered; /* shared by all processes of a storm */
};

extern const char *const extra_names[EXTRAS];

/* ends.c: in the present namespace, which becomes the near one. False: no wire. */
bool ends_build(struct ends *, struct draw *);
/* Before all seeds: what the kernel patches its own text for at the first use is used all the
 * time. On QEMU's emulated processors a patch that another one runs into is an exception. */
void ends_hold(void);
/* Each (re)makes what is missing of it. */
bool make_wire(struct ends *);
void make_vlan(struct ends *);
void make_vxlan(struct ends *);
void make_external(struct ends *);
void make_lodger(struct ends *);
void settle(struct ends *); /* addresses, neighbours' state and routes */
void ends_enter(const struct ends *, int which);
uint32_t index_in(const struct ends *, int which, const char *name);
void note(struct ends *, enum extra, bool made);
const char *carrier(const struct ends *, int which); /* that has the addresses */

/* mouths.c: traffic of sockets and of frames that were heard before. */
void mouths_open(struct ends *);
void ears_open(struct ends *, int which);
void ends_say(struct ends *, struct draw *, uint64_t packets);
void ends_listen(struct ends *);
void ends_repeat(struct ends *, struct draw *, uint64_t frames);

/* lives.c: ends of all kinds. */
void plant_end(struct storm *);
void ends_brief(struct ends *, struct draw *); /* a namespace that comes and goes */
bool ends_unload(struct ends *, bool raced);
bool ends_run_dry(struct ends *);
bool ends_quiet(struct ends *); /* the same, after others have acted */
bool ends_take_down(struct ends *);
void ends_reopen(struct ends *); /* ways to the kernel that no other process has */
void ends_add(struct ends *, const struct ends_tally *);
void ends_gather(struct ends *); /* what probes came to, before they are gone */

/* turns.c: one step, and whether all is right after it. */
bool ends_step(struct ends *, uint64_t number);
const char *ends_step_name(const struct ends *, uint64_t number);
void ends_push(struct ends *, struct draw *, bool traffic);

#endif
