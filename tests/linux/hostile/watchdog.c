// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// watchdog.c: what hangs, and where. A storm that does not end says so by itself.

#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

enum { TEXT_ROOM = 4096 };

static bool read_text(const char *pid, const char *what, char text[TEXT_ROOM])
{
	char path[300];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, TEXT_ROOM - 1);
	if (fd >= 0)
		close(fd);
	text[got < 0 ? 0 : got] = '\0';
	return got > 0;
}

/* Those that only wait for something to do are left out. */
static void tell_task(const char *pid)
{
	char stat[TEXT_ROOM], text[TEXT_ROOM];
	const char *state;
	bool idle;

	if (!read_text(pid, "stat", stat) || !(state = strrchr(stat, ')')) || !state[1])
		return;
	idle = state[2] == 'S' || state[2] == 'I';
	if (!read_text(pid, "stack", text) && !read_text(pid, "wchan", text))
		return;
	if (idle && !strstr(text, "[sch_sojourn]"))
		return;
	printf("HANGS %.*s\n", (int)(state + 3 - stat), stat);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		printf("HANGS     %s\n", line);
}

/* Every task by /proc, and what the kernel tells by itself: of each processor, of tasks that
 * wait for what does not come, and of work that is under way. */
void tell_where_all_hang(void)
{
	DIR *folder = opendir("/proc");
	int ask = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);
	struct dirent *one;

	while (folder && (one = readdir(folder)))
		if (isdigit((unsigned char)one->d_name[0]))
			tell_task(one->d_name);
	if (folder)
		closedir(folder);
	fflush(stdout);
	for (const char *key = "9lwt"; ask >= 0 && *key; key++)
		if (write(ask, key, 1) != 1)
			break;
	if (ask >= 0)
		close(ask);
}

static void on_alarm(int signal)
{
	(void)signal;
}

bool wait_at_most(pid_t child, int *status, uint32_t seconds)
{
	struct sigaction act = {.sa_handler = on_alarm};
	pid_t got;

	sigaction(SIGALRM, &act, NULL);
	alarm(seconds);
	got = waitpid(child, status, 0);
	alarm(0);
	return got == child;
}
