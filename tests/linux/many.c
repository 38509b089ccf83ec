// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// many.c: for tests. It has more rows than a word has bits, in both tables.

#include "aqm.h"

/* 70 numbers, 10 to 79. */
#define TEN(X, t)                                                                              \
	X(t##0) X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7) X(t##8) X(t##9)
#define EVERY(X) TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7)

#define MEMBER(n) u64 r##n;
#define PARAM(n)  AQM_ROW(n, AQM_U64, many_rows, r##n, AQM_COUNT, n, 0, 1000, 0, "row " #n),
#define STAT(n)   AQM_STAT(n, AQM_U64, many_rows, "s" #n, r##n, AQM_COUNT, 0, "of row " #n),

struct many_rows {
	EVERY(MEMBER)
};

static const struct aqm_field params[] = {EVERY(PARAM) AQM_END};
static const struct aqm_field stats[] = {EVERY(STAT) AQM_END};

/* Each statistic is its parameter. */
static void configure(void *st, const void *conf, const struct aqm_view *view)
{
	(void)view;
	aqm_copy(st, conf, sizeof(struct many_rows));
}

extern const struct aqm_algo aqm_many;
const struct aqm_algo aqm_many = {
        .name = "many",
        .brief = "many rows, for tests",
        .source = "none",
        .abi = AQM_ABI,
        .queues = 1,
        .conf_bytes = sizeof(struct many_rows),
        .state_bytes = sizeof(struct many_rows),
        .params = params,
        .stats = stats,
        .configure = configure,
};
