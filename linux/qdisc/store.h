/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * store.h: a trace build's records of all its queues. Users read them as the file
 * `sojourn` of debugfs: a head, then records of one size.
 */
#ifndef SOJOURN_STORE_H
#define SOJOURN_STORE_H

#include "sojourn.h"

struct sojourn_records {
	char magic[8];
	u32 record_bytes, head_bytes;
	u64 records;
	u64 lost; /* for lack of room; then the others prove nothing */
};

int store_open(const char *magic, u32 record_bytes);
void store_close(void);
u32 store_queue(void); /* the number of a new queue */
void store_record(const void *record);

#endif
