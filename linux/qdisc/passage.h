/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * passage.h: the records of a TRACE=packets build, as readers see them: each packet's
 * passage through a queue, when it is over. Unused fields of a record are zero.
 */
#ifndef SOJOURN_PASSAGE_H
#define SOJOURN_PASSAGE_H

#include "store.h"

#define SOJOURN_PASSAGES "passage1"

enum sojourn_fate {
	PASSAGE_QUEUE, /* no packet: a new queue, its device and its handle there */
	PASSAGE_SENT,  /* sent on, or peeked at by a parent */
	PASSAGE_DROPPED,
	PASSAGE_PROBE /* the queue's own probe, sent on: no packet of a user's */
};

enum sojourn_marked { PASSAGE_UNMARKED, PASSAGE_MARKED_COMING, PASSAGE_MARKED_LEAVING };

struct sojourn_passage {
	union {
		struct {
			u64 came_ns, went_ns; /* of the wall clock */
		};
		char device[16];
	};
	u32 flow; /* hash, as the queue has it */
	u32 len;
	u16 queue; /* by order of creation */
	u8 fate;
	u8 drop_why;
	u8 marked, mark_why;
	u8 came_ecn, went_ecn;
};

#endif
