// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// stranger.c: users without rights, see stranger.h.

#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/pkt_sched.h>

#include "stranger.h"

static bool give_up_rights(void)
{
	return !setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
	       !setresuid(NOBODY, NOBODY, NOBODY);
}

static bool tries(struct storm *s, const struct qdisc *root)
{
	struct choice choice;
	struct message m;

	message_leaf(s, &m, TC_H_ROOT, free_handle(s), &choice);
	if (wire_ask(&s->wire, &m) != EPERM)
		return false;
	begin_tc(&m, RTM_NEWQDISC, 0, s->world.index, root->handle, TC_H_ROOT, 0);
	put_text(&m, TCA_KIND, root->kind);
	if (wire_ask(&s->wire, &m) != EPERM)
		return false;
	begin_tc(&m, RTM_DELQDISC, 0, s->world.index, root->handle, TC_H_ROOT, 0);
	if (wire_ask(&s->wire, &m) != EPERM)
		return false;
	/* Everybody may look. */
	tree_read(&s->wire, &s->tree, s->world.index);
	return tree_root(&s->tree);
}

bool stranger_is_refused(struct storm *s, const struct qdisc *root)
{
	struct qdisc there = *root;
	int status;
	pid_t child = fork();

	if (!child) {
		if (!give_up_rights())
			_exit(2);
		close(s->wire.fd);
		wire_open(&s->wire);
		_exit(!tries(s, &there));
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool map_one(const char *path, uint32_t inside, uint32_t outside)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	fprintf(file, "%u %u 1", inside, outside);
	return !fclose(file);
}

bool become_nobody(void)
{
	FILE *groups;

	/* Whoever has changed its user may not look at itself before it says that it may. */
	if (!give_up_rights() || prctl(PR_SET_DUMPABLE, 1) || unshare(CLONE_NEWUSER))
		return false;
	groups = fopen("/proc/self/setgroups", "w");
	if (groups) {
		fputs("deny", groups);
		fclose(groups);
	}
	return map_one("/proc/self/uid_map", 0, NOBODY) &&
	       map_one("/proc/self/gid_map", 0, NOBODY);
}
