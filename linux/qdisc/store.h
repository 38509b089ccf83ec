/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * store.h: where a trace build keeps the records of all its queues.
 */
#ifndef SOJOURN_STORE_H
#define SOJOURN_STORE_H

#include "record.h"

int store_open(void);
void store_close(void);
u32 store_queue(void); /* the number of a new queue */
void store_record(const struct sojourn_record *record);

#endif
