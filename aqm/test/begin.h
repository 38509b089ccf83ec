/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * begin.h: a queue with the rows that a test names.
 *
 *   struct bench b = BEGIN(&aqm_fifo, 400, 0, {"flows", 16}, {"limit", 40});
 *
 * The numbers: packets of the host, and the time of the start.
 */
#ifndef BEGIN_H
#define BEGIN_H

#include "host.h"
#include "test.h"

struct row {
	const char *name; /* NULL after the last */
	u64 value;
};

static inline struct bench begin_rows(const struct aqm_algo *algo, u32 packets, u64 now,
                                      const struct row *row)
{
	struct bench b = bench_new(algo, packets, now);

	for (; row->name; row++)
		set_row(&b, row->name, row->value);
	CHECK(!bench_start(&b, 1).sentence);
	return b;
}

#define ROWS(...)                         ((const struct row[]){__VA_ARGS__, {NULL, 0}})
#define BEGIN(algo_, packets_, now_, ...) begin_rows(algo_, packets_, now_, ROWS(__VA_ARGS__))

/* A change that must be accepted. */
static inline void change_row(struct bench *b, const char *name, u64 value)
{
	set_row(b, name, value);
	CHECK(!bench_change(b).sentence);
}

#endif
