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

/*
 * Linux 6.1 warns once of a child of QFQ that has packets and gives none, as TBF does
 * rightly, and once where the parent of a qdisc is gone: a message may still move a qdisc
 * below another parent, and its own note of where it stands is not changed. The second
 * is ours only if one of our functions is among the calls, which are told behind it.
 */
static bool excused(const char *text)
{
	static enum { NOTHING, OF_QFQ, OF_TREE } warning;
	bool ours = warning == OF_TREE && strstr(text, "[sch_sojourn]");

	if (strstr(text, "WARNING:"))
		warning = strstr(text, "qfq_dequeue")                 ? OF_QFQ
		          : strstr(text, "qdisc_tree_reduce_backlog") ? OF_TREE
		                                                      : NOTHING;
	if (!warning || ours)
		return false;
	if (strstr(text, "end trace"))
		warning = NOTHING;
	return true;
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
		if (!text || excused(text))
			continue;
		if (!holds_word(text) && !strstr(text, "[sch_sojourn]"))
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
