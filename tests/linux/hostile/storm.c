// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * storm.c: attacks on queues, one for each seed, in a network namespace of its own.
 *
 *   storm FIRST LAST STEPS WORDS [MS] [plain] [ends] [module=FILE]
 *       seeds from FIRST to LAST; of each the steps named by STEPS, as in 0-99 or 0,7,30-35;
 *       after each all must be right, and the kernel have said none of the WORDS, as in
 *       BUG:|WARNING:. With MS a step is a round of so many milliseconds, in which several
 *       processes act at once, and all must be right after it. With `plain` the kernel's own
 *       queues stand where ours would: what fails then is not ours. With `ends` it is a storm
 *       of probes between two namespaces, in which FILE is unloaded and loaded, too.
 *   storm --kinds
 *       the parents that it plants, a name a line
 *
 * The first trouble ends it: `FAIL seed step: sentence`.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/pkt_sched.h>

#include "ends.h"
#include "storm.h"
#include "stranger.h"

enum { RELEASE_S = 120, PACKETS_BY_SEGMENTS = 100000, NOBODY_EACH = 4 };
/* Of one seed: in virtual time waiting costs nothing, and a patient storm waits for hours. */
enum { SEED_S = 300, SEED_VIRTUAL_S = 100 * 3600 };

/* What was asked for. */
struct orders {
	uint64_t first, last; /* seeds */
	const char *list;     /* steps, or rounds */
	uint32_t round_ms;    /* 0: steps, one after the other */
	bool plain;
	bool ends;          /* a storm of probes */
	const char *module; /* its file; NULL: it stays loaded */
};

static struct storm storm, far_storm;
static struct ends ends = {.end = {&storm, &far_storm}};

bool listed(const char *list, uint64_t number)
{
	while (*list) {
		char *end;
		uint64_t from = strtoull(list, &end, 10), to = from;

		if (*end == '-')
			to = strtoull(end + 1, &end, 10);
		if (number >= from && number <= to)
			return true;
		list = end + (*end == ',');
	}
	return false;
}

uint64_t last_of(const char *list)
{
	uint64_t last = 0;

	for (const char *at = list; *at; at += *at ? 1 : 0)
		if (at == list || at[-1] == ',' || at[-1] == '-')
			last = strtoull(at, NULL, 10);
	return last;
}

static void print_tally(const struct storm *s)
{
	const struct tally *t = &s->tally;
	const struct world *w = &s->world;

	printf("WORLD %llu place=%s user=%s mtu=%u", (unsigned long long)s->seed, w->place,
	       s->nobody ? "nobody" : "root", w->mtu_bytes);
#define SHOW(name) printf(" " #name "=%llu", (unsigned long long)(NOTES->name))
#define NOTES      t
	SHOW(steps);
	SHOW(trees);
	SHOW(qdiscs);
	SHOW(taken);
	SHOW(refused);
	SHOW(changes);
	SHOW(wrongs);
	SHOW(noises);
	SHOW(mutants);
	SHOW(dries);
#undef NOTES
#define NOTES w
	SHOW(sent);
	SHOW(not_sent);
	SHOW(seen);
	SHOW(marked);
	SHOW(marked_behind_tags);
#undef NOTES
#undef SHOW
	printf(" kinds=");
	for (uint32_t i = 0, n = 0; i < kind_count(); i++)
		if (t->kinds >> i & 1)
			printf("%s%s", n++ ? "," : "", kinds[i].name);
	printf("\n");
}

/* The tree that was found wrong, a qdisc a line. */
static void print_tree(const struct tree *t)
{
	for (uint32_t i = 0; i < t->qdiscs; i++) {
		const struct qdisc *q = &t->qdisc[i];

		printf("TREE %x: parent %x:%x %s %s qlen %u backlog %u drops %u",
		       q->handle >> 16, q->parent >> 16, q->parent & 0xffff, q->kind,
		       q->readable ? q->choice.algo->name : "", q->qlen, q->backlog_bytes,
		       q->drops);
		if (q->readable)
			printf(" limit %u flows %u ecn %u split %u in %llu out %llu",
			       q->choice.setup.limit, q->choice.setup.flows,
			       q->choice.setup.ecn, q->choice.host.split_gso,
			       (unsigned long long)q->in_pkts, (unsigned long long)q->out_pkts);
		printf("\n");
	}
}

int storm_fails(const struct storm *s, uint64_t step)
{
	print_tree(&s->tree);
	printf("FAIL %llu %llu: %s\n", (unsigned long long)s->seed, (unsigned long long)step,
	       s->trouble);
	return 1;
}

/* Packets keep their sockets, and these the namespace: what holds packets is taken away. */
static bool take_down(struct storm *s, struct draw *d)
{
	struct message m;

	if (one_in(d, 3))
		return storm_run_dry(s);
	if (one_in(d, 2) && strcmp(s->world.place, "lo"))
		begin_link(&m, RTM_DELLINK, 0, s->world.index);
	else
		begin_tc(&m, RTM_DELQDISC, 0, s->world.index, 0, TC_H_ROOT, 0);
	storm_ask(s, &m);
	return true;
}

static int play_steps(struct storm *s, struct ends *e, const char *list)
{
	for (uint64_t step = 0; step <= last_of(list); step++) {
		if (!listed(list, step))
			continue;
		printf("STEP %llu %llu %s\n", (unsigned long long)s->seed,
		       (unsigned long long)step,
		       e ? ends_step_name(e, step) : step_name(s, step));
		if (!(e ? ends_step(e, step) : storm_step(s, step)))
			return storm_fails(s, step);
	}
	return 0;
}

/* What a storm of probes did besides, and what it could not. */
static void print_ends(const struct ends *e)
{
	static const char *const names[SOJOURN_PROBES] = {
	        "joined",   "probes_refused", "left",      "freed",
	        "answered", "unmade",         "forgotten", "unheard",
	};

	printf("ENDS unloads=%llu moves=%llu heard=%llu spoken=%llu briefs=%llu",
	       (unsigned long long)e->tally.unloads, (unsigned long long)e->tally.moves,
	       (unsigned long long)e->tally.heard, (unsigned long long)e->tally.spoken,
	       (unsigned long long)e->tally.briefs);
	for (uint32_t i = 0; i < EXTRAS; i++)
		printf(" made_%s=%llu no_%s=%llu", extra_names[i],
		       (unsigned long long)e->tally.made[i], extra_names[i],
		       (unsigned long long)e->tally.skipped[i]);
	for (uint32_t i = 0; i < SOJOURN_PROBES && names[i]; i++)
		printf(" %s=%llu", names[i], (unsigned long long)e->gathered->probes[i]);
	printf("\n");
}

/* What is done at the far end is counted with the rest. */
static void add_far(struct storm *s, const struct storm *far)
{
	uint64_t *sum = &s->tally.steps;
	const uint64_t *other = &far->tally.steps;

	for (size_t n = 0; n < offsetof(struct tally, kinds) / sizeof(*sum); n++)
		sum[n] += other[n];
	s->tally.kinds |= far->tally.kinds;
	s->world.seen += far->world.seen;
	s->world.sent += far->world.sent;
	s->world.not_sent += far->world.not_sent;
}

/* A world with a device of its own, or two ends and a wire between them. */
static bool build(struct storm *s, struct ends *e, struct draw *d)
{
	if (!e) {
		wire_open(&s->wire);
		world_build(&s->wire, &s->world, d);
		return true;
	}
	far_storm = *s;
	far_storm.kernel_log = -1;
	likes_probes = true;
	return ends_build(e, d);
}

/* In a process of its own, whose end takes down the rest. */
static int play(uint64_t seed, const struct orders *o)
{
	struct draw d = draw_for(seed, UINT64_MAX);
	struct ends *e = o->ends ? &ends : NULL;
	struct storm *s = &storm;
	int status;

	s->seed = seed;
	s->plain = o->plain;
	s->real_time = o->round_ms;
	s->kernel_log = kernel_log_open();
	s->packets_left = PACKETS_BY_SEGMENTS;
	s->nobody = one_in(&d, NOBODY_EACH);
	if ((s->nobody && !become_nobody()) || unshare(CLONE_NEWNET)) {
		perror("storm: namespace");
		return 2;
	}
	ends.module = o->module;
	if (!build(s, e, &d)) {
		printf("FAIL %llu 0: the two ends cannot be built\n", (unsigned long long)seed);
		return 2;
	}
	printf("SEED %llu %s mtu %u %s\n", (unsigned long long)seed, s->world.place,
	       s->world.mtu_bytes, s->nobody ? "nobody" : "root");
	status = o->round_ms ? play_rounds(s, e, o->list, o->round_ms)
	                     : play_steps(s, e, o->list);
	if (status)
		return status;
	if (!(e ? ends_take_down(e) : take_down(s, &d)))
		return storm_fails(s, last_of(o->list) + 1);
	if (e)
		add_far(s, e->end[FAR]);
	print_tally(s);
	if (e)
		print_ends(e);
	return 0;
}

static int watch_over(uint64_t seed, const struct orders *o)
{
	int status, log = kernel_log_open();
	const char *said;
	pid_t child;

	child = fork();
	if (!child) {
		status = play(seed, o);
		fflush(stdout);
		_exit(status);
	}
	if (child < 0)
		return 2;
	if (!wait_at_most(child, &status, o->round_ms ? SEED_S : SEED_VIRTUAL_S)) {
		printf("FAIL %llu 0: the storm does not come to its end\n",
		       (unsigned long long)seed);
		tell_where_all_hang();
		return HANGS;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == HANGS)
		tell_where_all_hang();
	if (status) {
		if (WIFSIGNALED(status))
			printf("FAIL %llu 0: the storm itself ended by signal %d\n",
			       (unsigned long long)seed, WTERMSIG(status));
		return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
	}
	storm.seed = seed;
	if (!module_is_free(RELEASE_S)) {
		strcpy(storm.trouble, "somebody holds the module when all is taken down");
		storm_fails(&storm, last_of(o->list));
		tell_where_all_hang();
		return HANGS;
	}
	said = kernel_said(log);
	close(log);
	if (!said)
		return 0;
	snprintf(storm.trouble, sizeof(storm.trouble), "the kernel says: %s", said);
	return storm_fails(&storm, last_of(o->list));
}

static int print_kinds(void)
{
	for (uint32_t i = 0; i < kind_count(); i++)
		puts(kinds[i].name);
	return 0;
}

int main(int argc, char **argv)
{
	struct orders o = {0};
	int status = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (is_first_process())
		return boot(argv[0]);
	if (argc == 2 && !strcmp(argv[1], "--kinds"))
		return print_kinds();
	if (argc < 5) {
		fprintf(stderr,
		        "storm FIRST LAST STEPS WORDS [MS] [plain] [ends] [module=FILE]\n");
		return 2;
	}
	o.first = strtoull(argv[1], NULL, 10);
	o.last = strtoull(argv[2], NULL, 10);
	o.list = argv[3];
	complaint_words = argv[4];
	for (int i = 5; i < argc; i++) {
		if (!strcmp(argv[i], "plain"))
			o.plain = true;
		else if (!strcmp(argv[i], "ends"))
			o.ends = true;
		else if (!strncmp(argv[i], "module=", 7))
			o.module = argv[i] + 7;
		else
			o.round_ms = (uint32_t)strtoul(argv[i], NULL, 10);
	}
	if (o.ends && o.round_ms)
		ends_hold();
	for (uint64_t seed = o.first; !status && seed <= o.last; seed++)
		status = watch_over(seed, &o);
	return status;
}
