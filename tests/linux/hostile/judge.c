// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// judge.c: what the kernel says by itself, and whether it lets the module go.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "storm.h"

enum { RECORD_ROOM = 8192, LOOK_NS = 100000000 };

const char *complaint_words = "BUG:|WARNING:|Oops|Call Trace";

void rest_ns(uint64_t ns)
{
	struct timespec pause = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	if (ns)
		nanosleep(&pause, NULL);
}

int kernel_log_open(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (log >= 0)
		lseek(log, 0, SEEK_END);
	return log;
}

static bool holds_word(const char *text)
{
	for (const char *word = complaint_words; *word;) {
		size_t n = strcspn(word, "|");
		const char *at = n ? memmem(text, strlen(text), word, n) : NULL;

		if (at)
			return true;
		word += n + (word[n] == '|');
	}
	return false;
}

const char *kernel_said(int log)
{
	static char record[RECORD_ROOM];
	ssize_t got;

	while (log >= 0 && (got = read(log, record, sizeof(record) - 1)) > 0) {
		char *text;

		record[got] = '\0';
		text = strchr(record, ';');
		if (!text || !holds_word(text))
			continue;
		text[1 + strcspn(text + 1, "\n")] = '\0';
		return text + 1;
	}
	return NULL;
}

/* How many hold it; none where it is not loaded. */
static unsigned long holders(void)
{
	FILE *file = fopen("/proc/modules", "r");
	char name[64];
	unsigned long bytes, users = 0, found = 0;

	while (file && fscanf(file, "%63s %lu %lu %*[^\n]", name, &bytes, &users) == 3)
		if (!strcmp(name, "sch_sojourn"))
			found = users;
	if (file)
		fclose(file);
	return found;
}

bool module_is_free(uint32_t seconds)
{
	for (uint64_t ns = 0; ns < seconds * 1000000000ull; ns += LOOK_NS) {
		if (!holders())
			return true;
		rest_ns(LOOK_NS);
	}
	return false;
}
