/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/landmark.h: caches flows with their hits in a landmark-LRU cache (Che, Qiu and Wu,
 * Computer Communications 29, 2005; Che and Qiu, IEEE Communications Letters 10(7), 2006).
 *
 * A landmark divides the records into a top, three quarters of them, and a bottom. A new
 * record enters at the landmark, as the first of the bottom, and the last of the bottom
 * makes room for it. A hit moves a record to the head of the top, whose last one slides
 * below the landmark if there are too many: flows that are met once cannot displace those
 * that are met again and again.
 */
#ifndef AQM_LAW_LANDMARK_H
#define AQM_LAW_LANDMARK_H

#include "../fixed.h"
#include "../rng.h"

#define LANDMARK_MAX     1024
#define LANDMARK_BUCKETS 1024 /* a power of two */

/* Records are 1 to `records`; 0 is none. The heads of the two parts follow. */
enum { LANDMARK_TOP = LANDMARK_MAX + 1, LANDMARK_BOTTOM, LANDMARK_LINKS };

struct landmark_record {
	u32 flow, hits;
	u16 next, prev; /* in its part, a ring through the part's head */
	u16 chain;      /* of its bucket */
	u16 in_top;
};

struct landmark {
	struct landmark_record at[LANDMARK_LINKS];
	u16 bucket[LANDMARK_BUCKETS];
	u64 seed;
	u32 records; /* at most */
	u32 sum_max; /* at this sum of hits all are halved */
	u32 used, top;
	u32 sum;  /* of all hits */
	u32 live; /* records with hits */
};

static inline void landmark_begin(struct landmark *m, u32 records, u64 seed)
{
	u16 part;

	m->records = records;
	m->seed = seed;
	for (part = LANDMARK_TOP; part <= LANDMARK_BOTTOM; part++)
		m->at[part].next = m->at[part].prev = part;
}

static inline void landmark_unlink(struct landmark *m, u16 i)
{
	m->at[m->at[i].prev].next = m->at[i].next;
	m->at[m->at[i].next].prev = m->at[i].prev;
}

/* To the head of a part. */
static inline void landmark_link(struct landmark *m, u16 part, u16 i)
{
	m->at[i].prev = part;
	m->at[i].next = m->at[part].next;
	m->at[m->at[i].next].prev = i;
	m->at[part].next = i;
}

static inline u16 *landmark_bucket(struct landmark *m, u32 flow)
{
	return &m->bucket[rng_mix(m->seed ^ flow) & (LANDMARK_BUCKETS - 1)];
}

/* 0: it is not in the cache. */
static inline u16 landmark_find(struct landmark *m, u32 flow)
{
	u16 i = *landmark_bucket(m, flow);

	while (i && m->at[i].flow != flow)
		i = m->at[i].chain;
	return i;
}

/* A record for a new flow: a fresh one, or that of the flow that leaves. */
static inline u16 landmark_room(struct landmark *m)
{
	u16 i, *at;

	if (m->used < m->records) {
		m->used++;
		return (u16)m->used;
	}
	/* With so few records that all are in the top, its last one leaves. */
	i = m->at[LANDMARK_BOTTOM].prev;
	if (i == LANDMARK_BOTTOM)
		i = m->at[LANDMARK_TOP].prev;
	m->top -= m->at[i].in_top;
	landmark_unlink(m, i);
	for (at = landmark_bucket(m, m->at[i].flow); *at != i; at = &m->at[*at].chain)
		;
	*at = m->at[i].chain;
	m->sum -= m->at[i].hits;
	m->live -= m->at[i].hits != 0;
	return i;
}

static inline u16 landmark_insert(struct landmark *m, u32 flow)
{
	u16 i = landmark_room(m), *bucket = landmark_bucket(m, flow);

	m->at[i].flow = flow;
	m->at[i].hits = 0;
	m->at[i].in_top = 0;
	m->at[i].chain = *bucket;
	*bucket = i;
	landmark_link(m, LANDMARK_BOTTOM, i);
	return i;
}

static inline void landmark_promote(struct landmark *m, u16 i)
{
	u16 last;

	landmark_unlink(m, i);
	landmark_link(m, LANDMARK_TOP, i);
	m->top += !m->at[i].in_top;
	m->at[i].in_top = 1;
	if (m->top <= m->records - (m->records >> 2))
		return;
	last = m->at[LANDMARK_TOP].prev;
	landmark_unlink(m, last);
	landmark_link(m, LANDMARK_BOTTOM, last);
	m->at[last].in_top = 0;
	m->top--;
}

/* Old hits count for less. */
static inline void landmark_halve(struct landmark *m)
{
	u32 i;

	m->sum = m->live = 0;
	for (i = 1; i <= m->used; i++) {
		m->at[i].hits >>= 1;
		m->sum += m->at[i].hits;
		m->live += m->at[i].hits != 0;
	}
}

/* One more hit of a flow. */
static inline void landmark_hit(struct landmark *m, u32 flow)
{
	u16 i = landmark_find(m, flow);

	if (i)
		landmark_promote(m, i);
	else
		i = landmark_insert(m, flow);
	m->live += !m->at[i].hits++;
	if (++m->sum >= m->sum_max)
		landmark_halve(m);
}

/* The flow's share of all hits, Q0.32; record 0 has none. */
static inline u32 landmark_share_q32(struct landmark *m, u32 flow)
{
	return ratio_q32(m->at[landmark_find(m, flow)].hits, m->sum);
}

#endif
