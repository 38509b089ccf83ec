/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * storm.h: one seed's attack on a queue: a world, a tree in it, and steps.
 */
#ifndef HOSTILE_STORM_H
#define HOSTILE_STORM_H

#include <sys/types.h>

#include "books.h"
#include "kinds.h"
#include "world.h"

enum { LEVELS_MOST = 3 };

/* What a choice must look like in the next dump. */
struct expectation {
	uint32_t handle; /* 0: nothing is expected */
	struct choice choice;
};

struct tally {
	uint64_t steps, trees, qdiscs, taken, refused, changes, wrongs, noises, mutants, dries;
	uint32_t kinds; /* a bit for each that has stood above ours */
};

struct storm {
	uint64_t seed;
	struct draw draw; /* of the present step */
	struct wire wire;
	struct world world;
	struct tree tree;
	struct bounds bounds;
	struct expectation expect;
	struct tally tally;
	uint64_t packets_left; /* that large segments may still become */
	bool real_time;        /* others act meanwhile, and waiting takes time */
	bool nobody;           /* an unprivileged user in a namespace of its own */
	bool plain;            /* the kernel's own queues stand where ours would */
	bool unsure;           /* a parent may have been given rows that stop it */
	bool forsaken;         /* one is gone that others may have waited for */
	int kernel_log;
	char trouble[TROUBLE_ROOM];
};

/* plant.c: each puts or sends messages, right ones but for what the kernel has against
 * them; what it answered is in the tally. */
int storm_ask(struct storm *, struct message *);
void plant(struct storm *, uint32_t where, uint32_t levels);
void draw_bounds(struct storm *);
void message_leaf(struct storm *, struct message *, uint32_t where, uint32_t handle,
                  struct choice *);
void message_class(struct storm *, struct message *, const struct qdisc *, uint32_t minor);
void message_parent(struct storm *, struct message *, uint16_t flags, uint32_t where,
                    uint32_t handle, const struct kind *, uint32_t classes);
void fit_filters(struct storm *, const struct qdisc *);
uint32_t free_handle(struct storm *);
const struct qdisc *draw_qdisc(struct storm *, bool ours);
const struct class *draw_class(struct storm *);

/* storm.c */
int storm_fails(const struct storm *, uint64_t step);
bool listed(const char *list, uint64_t number); /* in a list such as 0,7,30-35 */
uint64_t last_of(const char *list);

/* many.c: rounds of many processes at once, each with a quiet end. With `ends` they are of a
 * storm of probes. */
struct ends;
int play_rounds(struct storm *, struct ends *, const char *list, uint32_t round_ms);

/* watchdog.c: where does everybody hang? What ends so has the status HANGS. */
enum { HANGS = 3 };
void tell_where_all_hang(void);
/* As waitpid(); false: it has not ended after so many seconds. */
bool wait_at_most(pid_t child, int *status, uint32_t seconds);

/* boot.c: where this is the first process of a machine: what that has to do. */
bool is_first_process(void);
int boot(char *own_name);

/* steps.c: one step, and whether all is right after it; false with a sentence. */
bool storm_step(struct storm *, uint64_t number);
const char *step_name(struct storm *, uint64_t number);
/* A step beside others that act at the same time: traffic, or anything else. */
void storm_push(struct storm *, bool traffic);
/* One that is no traffic, of a drawn kind; false with a sentence. */
bool storm_act(struct storm *);
void send_some(struct storm *, uint64_t frames, const struct class *);

/* checks.c: is all as it must be? False with a sentence. */
bool wrong(struct storm *, const char *form, ...);
bool storm_check(struct storm *, bool dry);
bool storm_run_dry(struct storm *);

/* judge.c: what the kernel has printed since; NULL: nothing against us. */
const char *kernel_said(int log);
int kernel_log_open(void);
bool module_is_free(uint32_t seconds);
extern const char *complaint_words; /* divided by | */

void rest_ns(uint64_t ns);

#endif
