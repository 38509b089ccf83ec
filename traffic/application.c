// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* application.c: every kind of application: the one place that lists them. */
#include <string.h>

#include "kind.h"

struct application *application_of(const char *words, double (*exponential)(double))
{
	if (!strncmp(words, "video ", 6))
		return video_of(words + 6);
	if (!strncmp(words, "nada ", 5))
		return nada_of(words + 5, exponential);
	return NULL;
}

void application_end(struct application *application)
{
	if (application)
		application->kind->end(application);
}

void application_begins_anew(struct application *application)
{
	if (application->kind->begins_anew)
		application->kind->begins_anew(application);
}

int application_opener(const struct application *application)
{
	return application->kind->opener;
}

struct decision application_next(struct application *application, int end, uint64_t now_ns)
{
	return application->kind->next(application, end, now_ns);
}

int application_hears(struct application *application, int end, uint64_t now_ns,
                      uint64_t sent_ns, uint64_t delay_ns)
{
	const struct kind *kind = application->kind;

	return kind->hears && kind->hears(application, end, now_ns, sent_ns, delay_ns);
}

struct viewing application_viewing(const struct application *application, uint64_t now_ns)
{
	const struct kind *kind = application->kind;

	return kind->viewing ? kind->viewing(application, now_ns) : (struct viewing){0};
}
