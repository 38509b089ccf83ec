// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// many.c: several processes attack one queue at once, on as many processors as there are.
//
// A round is a time of storm and a quiet end: nothing is sent any more, all that is held
// must leave, and then the books must be right. Draws follow from seed, round and process;
// who comes first does not.

#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/pkt_sched.h>

#include "ends.h"
#include "storm.h"

enum { SENDERS = 3, TALKERS = 3, WORKERS = SENDERS + TALKERS, STUCK_S = 120 };
enum { BRIEFS_APART = 1000 };

static const char NO_END[] = "a process of the storm does not come to its end";

/* What a worker leaves behind. */
struct left {
	struct tally tally;
	uint64_t sent, not_sent;
	bool unsure;
	struct ends_tally ends;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void work_on_ends(struct ends *e, uint32_t which, uint64_t end_ms)
{
	struct storm *s = e->end[NEAR];
	struct draw d = draw_for(s->seed, draw_word(&s->draw));

	ends_reopen(e);
	memset(&e->end[FAR]->tally, 0, sizeof(s->tally));
	memset(&e->tally, 0, sizeof(e->tally));
	/* Names of devices that come and go differ among processes. */
	e->tally.briefs = which * BRIEFS_APART;
	e->end[FAR]->draw = draw_for(s->seed, draw_word(&s->draw));
	while (now_ms() < end_ms) {
		ends_push(e, &d, which < SENDERS);
		if (which != SENDERS)
			continue;
		for (int end = NEAR; end <= FAR; end++)
			tree_read(&e->end[end]->wire, &e->end[end]->tree,
			          e->end[end]->world.index);
		ends_gather(e);
	}
}

static void work(struct storm *s, struct ends *e, uint64_t round, uint32_t which,
                 uint64_t end_ms, struct left *left)
{
	/* A socket of one's own: answers go to who has asked. */
	close(s->wire.fd);
	wire_open(&s->wire);
	memset(&s->tally, 0, sizeof(s->tally));
	s->world.sent = s->world.not_sent = 0;
	s->draw = draw_for(s->seed, round * WORKERS + which + (1ull << 32));
	tree_read(&s->wire, &s->tree, s->world.index);
	if (e)
		work_on_ends(e, which, end_ms);
	while (now_ms() < end_ms)
		storm_push(s, which < SENDERS);
	left->tally = s->tally;
	left->sent = s->world.sent;
	left->not_sent = s->world.not_sent;
	left->unsure = s->unsure;
	if (e) {
		e->tally.briefs -= which * BRIEFS_APART;
		left->ends = e->tally;
	}
	_exit(0);
}

/* False: one of them did not come to its end. */
static bool wait_for(pid_t *worker, uint32_t workers)
{
	uint64_t end_ms = now_ms() + STUCK_S * 1000;
	int status;

	for (uint32_t i = 0; i < workers; i++) {
		while (waitpid(worker[i], &status, WNOHANG) == 0) {
			if (now_ms() > end_ms)
				return false;
			rest_ns(10000000);
		}
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			return false;
	}
	return true;
}

static void gather(struct storm *s, struct ends *e, const struct left *left)
{
	uint64_t *sum = &s->tally.steps;

	for (uint32_t i = 0; i < WORKERS; i++) {
		const uint64_t *one = &left[i].tally.steps;

		for (size_t n = 0; n < offsetof(struct tally, kinds) / sizeof(*sum); n++)
			sum[n] += one[n];
		s->tally.kinds |= left[i].tally.kinds;
		s->world.sent += left[i].sent;
		s->world.not_sent += left[i].not_sent;
		s->unsure |= left[i].unsure;
		if (e)
			ends_add(e, &left[i].ends);
	}
}

/* Senders go on while the module goes and comes back, again and again. */
static bool unload_under_way(struct ends *e, uint64_t end_ms)
{
	bool right = true;

	while (right && now_ms() < end_ms)
		right = ends_unload(e, one_in(&e->end[NEAR]->draw, 2));
	return right;
}

static bool play_round(struct storm *s, struct ends *e, uint64_t round, uint32_t round_ms,
                       struct left *left)
{
	bool unloads = e && e->module && !s->nobody && round % 2, right = true;
	uint64_t end_ms = now_ms() + round_ms;
	uint32_t workers = unloads ? SENDERS : WORKERS;
	pid_t worker[WORKERS];

	s->draw = draw_for(s->seed, round);
	tree_read(&s->wire, &s->tree, s->world.index);
	if (s->unsure || !round || !tree_root(&s->tree))
		plant(s, TC_H_ROOT, LEVELS_MOST);
	if (e)
		plant_end(e->end[FAR]);
	fflush(stdout);
	memset(left, 0, WORKERS * sizeof(*left));
	for (uint32_t i = 0; i < workers; i++) {
		worker[i] = fork();
		if (!worker[i])
			work(s, e, round, i, end_ms, &left[i]);
	}
	if (unloads)
		right = unload_under_way(e, end_ms);
	if (!wait_for(worker, workers)) {
		strcpy(s->trouble, NO_END);
		return false;
	}
	gather(s, e, left);
	s->expect.handle = 0;
	return right && (e ? ends_quiet(e) : storm_run_dry(s));
}

int play_rounds(struct storm *s, struct ends *e, const char *list, uint32_t round_ms)
{
	struct left *left = mmap(NULL, WORKERS * sizeof(*left), PROT_READ | PROT_WRITE,
	                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (left == MAP_FAILED)
		return 2;
	for (uint64_t round = 0; round <= last_of(list); round++) {
		if (!listed(list, round))
			continue;
		printf("STEP %llu %llu round\n", (unsigned long long)s->seed,
		       (unsigned long long)round);
		if (play_round(s, e, round, round_ms, left))
			continue;
		storm_fails(s, round);
		return strcmp(s->trouble, NO_END) ? 1 : HANGS;
	}
	return 0;
}
