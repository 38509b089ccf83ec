/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* kind.h: how a kind of application answers, and how application.c finds it. */
#ifndef SOJOURN_TRAFFIC_KIND_H
#define SOJOURN_TRAFFIC_KIND_H

#include <stdlib.h>

#include "application.h"

#define NS_PER_S UINT64_C(1000000000)

/* As in application.h; what it may leave out is NULL. */
struct kind {
	int opener;
	struct decision (*next)(struct application *, int end, uint64_t now_ns);
	int (*hears)(struct application *, int end, uint64_t now_ns, uint64_t sent_ns,
	             uint64_t delay_ns);
	struct viewing (*viewing)(const struct application *, uint64_t now_ns);
	void (*begins_anew)(struct application *);
	void (*end)(struct application *);
};

/* The first member of each application. */
struct application {
	const struct kind *kind;
};

/* Of the words behind the name. */
struct application *video_of(const char *words);
struct application *nada_of(const char *words, double (*exponential)(double));

/* Reads the next number of the words, and moves behind it; 0: there is none. */
static inline int read_u64(const char **words, uint64_t *number)
{
	char *end;

	*number = strtoull(*words, &end, 10);
	if (end == *words)
		return 0;
	*words = end;
	return 1;
}

/* Memory as realloc(3) gives it; without any the program ends. */
static inline void *room(void *old, size_t bytes)
{
	void *got = realloc(old, bytes);

	if (!got)
		abort();
	return got;
}

#endif
