// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// library.c: the second unit of a library that holds one algorithm, AQM_OWN.
//
// A library is linked without any other, as a kernel module is. So this file has the
// functions that a compiler may call by itself. They go byte by byte: no algorithm copies
// much.

#include "rows.h"

extern const struct aqm_algo AQM_OWN;

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

/* volatile: else a compiler makes the loop a call of memcpy itself */
void *memcpy(void *to, const void *from, size_t bytes)
{
	volatile u8 *t = to;
	const u8 *f = from;

	while (bytes--)
		*t++ = *f++;
	return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
	volatile u8 *t = to;
	const u8 *f = from;

	if (t <= f)
		return memcpy(to, from, bytes);
	while (bytes--)
		t[bytes] = f[bytes];
	return to;
}

void *memset(void *to, int value, size_t bytes)
{
	volatile u8 *t = to;

	while (bytes--)
		*t++ = (u8)value;
	return to;
}

static struct aqm_fault fault(const struct aqm_field *queue_rows)
{
	return tables_fault(&AQM_OWN, queue_rows);
}

extern const struct aqm_library aqm_library;

__attribute__((visibility("default"))) const struct aqm_library aqm_library = {
        .sizes = AQM_SIZES,
        .algo = &AQM_OWN,
        .fault = fault,
};
