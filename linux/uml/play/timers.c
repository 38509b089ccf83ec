// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* timers.c: reminders in a heap: of one time, in the order in which they were made. */
#include <stdlib.h>

#include "play.h"

static struct timer *timers;
static size_t ntimers, timers_max;
static uint64_t orders;

static int sooner(const struct timer *a, const struct timer *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

void remind(uint64_t at_ns, enum cause cause, size_t number, int end, unsigned age)
{
	struct timer timer = {at_ns, orders++, cause, number, end, age};
	size_t i = ntimers++;

	if (ntimers > timers_max) {
		timers_max = timers_max ? 2 * timers_max : 64;
		timers = realloc(timers, timers_max * sizeof(*timers));
		if (!timers)
			die("memory");
	}
	for (; i && sooner(&timer, &timers[(i - 1) / 2]); i = (i - 1) / 2)
		timers[i] = timers[(i - 1) / 2];
	timers[i] = timer;
}

uint64_t next_timer_ns(void)
{
	return ntimers ? timers[0].at_ns : NEVER;
}

struct timer take_timer(void)
{
	struct timer first = timers[0], last = timers[--ntimers];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < ntimers) {
		child += child + 1 < ntimers && sooner(&timers[child + 1], &timers[child]);
		if (!sooner(&timers[child], &last))
			break;
		timers[i] = timers[child];
		i = child;
	}
	timers[i] = last;
	return first;
}
