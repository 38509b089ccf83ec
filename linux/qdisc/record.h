/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * record.h: the records that a trace build writes of its queues.
 *
 * A head, then records of one size. Inputs and the queue's actions stand in one stream, so
 * that a replay of the inputs on another host can compare all the rest. Unused fields of a
 * record are zero.
 */
#ifndef SOJOURN_RECORD_H
#define SOJOURN_RECORD_H

#include "store.h"

#define SOJOURN_RECORDS "sojourn1"

enum sojourn_what {
	/* Rows, in front of what they are for: `table`, `row`, `value`. */
	RECORD_ROW,
	RECORD_INIT, /* name; value: the seed; len: the MTU */
	RECORD_CHANGE,
	RECORD_RESET,
	/* As in queue.h; an arrival and a dequeue request are inputs, the rest is not. */
	RECORD_EVENT,
	/* Statistics are read: an input. Then numbers, and a digest. */
	RECORD_LOOK,
	RECORD_NUMBER, /* `table`, `row`, `value` */
	RECORD_STATE,  /* value: a digest of every flow's state and of all packets held */
	/* The fate of a packet. */
	RECORD_JOINED, /* ok: or it was refused */
	RECORD_LEFT,   /* ok: or there was none to send */
	RECORD_FREED,  /* why */
	RECORD_MARKED  /* ok: or the host could not; an input too */
};

/* A queue's arrivals are numbered from 0, modulo this: the room left in skb->cb. */
#define SOJOURN_PACKETS (1u << 24)

struct sojourn_record {
	u64 now;
	u64 value;  /* with a packet: its enq_ns */
	u32 queue;  /* by order of creation */
	u32 packet; /* which arrival of its queue */
	u32 inst, flow, len, own;
	u32 pkts, bytes; /* held, as the algorithm sees it */
	union {
		u32 victim[AQM_VICTIMS];
		u32 mem; /* that an arrival occupies, or a packet whose mark was written */
		char name[SOJOURN_NAME];
	};
	u8 what, ev, why, ds;
	u8 act, lane, vqueue, nvictims;
	u8 probe, ok, table, pad;
	u16 nth, row;
};

#endif
