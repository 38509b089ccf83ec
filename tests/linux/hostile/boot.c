// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// boot.c: the storm as the first process of a machine that has nothing else.
//
// /modules names the kernel's modules in the order of their loading, a file a line;
// /arguments holds the storm's arguments, one a line.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

enum { ARGUMENTS_MOST = 16, LINE_ROOM = 512, SLACK_OBJECTS = 64 };

bool is_first_process(void)
{
	return getpid() == 1;
}

static char *line_of(FILE *file)
{
	static char line[LINE_ROOM];

	if (!file || !fgets(line, sizeof(line), file))
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static bool load_modules(void)
{
	FILE *list = fopen("/modules", "r");
	bool right = list;
	char *name;

	while (right && (name = line_of(list))) {
		int fd = open(name, O_RDONLY | O_CLOEXEC);

		right = fd >= 0 && !syscall(SYS_finit_module, fd, "", 0);
		if (!right)
			perror(name);
		close(fd);
	}
	return right;
}

static int run_storm(char *own_name)
{
	char *argument[ARGUMENTS_MOST + 1] = {own_name};
	FILE *list = fopen("/arguments", "r");
	int n = 1, status;
	char *line;
	pid_t child;

	while (n < ARGUMENTS_MOST && (line = line_of(list)))
		argument[n++] = strdup(line);
	child = fork();
	if (!child) {
		execv("/init", argument);
		_exit(127);
	}
	/* Orphans of the storm end here, too. */
	while (wait(&status) != child)
		;
	return status;
}

/* Packets that are allocated. Where objects are watched they are counted exactly. */
static long packets_allocated(void)
{
	static const char *const caches[] = {"skbuff_head_cache", "skbuff_fclone_cache"};
	long sum = 0;

	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
		char path[LINE_ROOM];
		FILE *file;
		char *line;

		snprintf(path, sizeof(path), "/sys/kernel/slab/%s/objects", caches[i]);
		file = fopen(path, "r");
		line = line_of(file);
		sum += line ? strtol(line, NULL, 10) : 0;
		if (file)
			fclose(file);
	}
	return sum;
}

static int judge(int status, long before)
{
	long after;

	if (status)
		return 1;
	if (syscall(SYS_delete_module, "sch_sojourn", O_NONBLOCK)) {
		perror("FAIL 0 0: the module does not go");
		return 1;
	}
	/* What RCU frees, it frees later. */
	rest_ns(2000000000);
	after = packets_allocated();
	printf("packets allocated before: %ld, after: %ld\n", before, after);
	if (after <= before + SLACK_OBJECTS)
		return 0;
	printf("FAIL 0 0: %ld packets are left behind\n", after - before);
	return 1;
}

int boot(char *own_name)
{
	long before;
	int status;

	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	if (load_modules()) {
		before = packets_allocated();
		status = run_storm(own_name);
		printf("job status %d\n", judge(status, before));
	}
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
