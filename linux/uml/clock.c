// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * clock.c: runs commands at their times.
 *
 *   clock T0_NS < TIMETABLE      a line each: nanoseconds after T0_NS, then the command;
 *                                without a command the time is printed
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
	char line[4096];

	if (argc != 2)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		char *command;
		unsigned long long at_ns = strtoull(argv[1], NULL, 10);
		struct timespec at;

		at_ns += strtoull(line, &command, 10);
		at.tv_sec = (time_t)(at_ns / 1000000000);
		at.tv_nsec = (long)(at_ns % 1000000000);
		clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL);
		if (command[strspn(command, " \n")] == '\0') {
			printf("at %s", line);
			fflush(stdout);
		} else if (system(command)) {
			fprintf(stderr, "clock: failed:%s", command);
			return 1;
		}
	}
	return 0;
}
