/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/shadow.h: samples the recent history of arrivals, Pan, Breslau, Prabhakar and Shenker,
 * "Approximate Fairness through Differential Dropping", CCR 33(2), 2003: a buffer of sampled
 * packets, and for each flow in it the bytes of its samples.
 */
#ifndef AQM_LAW_SHADOW_H
#define AQM_LAW_SHADOW_H

#include "../aqm.h"
#include "../rng.h"

#define SHADOW_MAX     1024
#define SHADOW_BUCKETS 256 /* a power of two */
#define SHADOW_LEN_MAX (1u << 20)

struct shadow_flow {
	u32 flow, bytes;
	u16 samples;
	u16 chain; /* of its bucket, or of the unused ones */
};

/* Flows are 1 to SHADOW_MAX; 0 is none. */
struct shadow {
	struct shadow_flow flow[SHADOW_MAX + 1];
	u32 len[SHADOW_MAX]; /* of each sample */
	u16 whose[SHADOW_MAX];
	u16 bucket[SHADOW_BUCKETS];
	u64 seed;
	u32 bytes; /* of all samples, at most 2^30 */
	u32 samples;
	u32 used;   /* flows that were ever in use; the chain of unused ones is among them */
	u32 flows;  /* in use */
	u16 unused; /* the first of them */
};

/* Where the chain of its bucket names a flow, or ends. */
static inline u16 *shadow_link(struct shadow *s, u32 flow)
{
	u16 *at = &s->bucket[rng_mix(s->seed ^ flow) & (SHADOW_BUCKETS - 1)];

	while (*at && s->flow[*at].flow != flow)
		at = &s->flow[*at].chain;
	return at;
}

static inline u32 shadow_bytes(struct shadow *s, u32 flow)
{
	return s->flow[*shadow_link(s, flow)].bytes;
}

static inline void shadow_forget(struct shadow *s, u16 i)
{
	*shadow_link(s, s->flow[i].flow) = s->flow[i].chain;
	s->flow[i].chain = s->unused;
	s->unused = i;
	s->flows--;
}

/* The sample at a place leaves. */
static inline void shadow_take(struct shadow *s, u32 place)
{
	u16 i = s->whose[place];

	if (!i)
		return;
	s->whose[place] = 0;
	s->bytes -= s->len[place];
	s->samples--;
	s->flow[i].bytes -= s->len[place];
	if (!--s->flow[i].samples)
		shadow_forget(s, i);
}

/* A flow at the end of its chain. */
static inline u16 shadow_add(struct shadow *s, u32 flow, u16 *end)
{
	u16 i = s->unused;

	if (i)
		s->unused = s->flow[i].chain;
	else
		i = (u16)(++s->used);
	s->flow[i] = (struct shadow_flow){.flow = flow};
	*end = i;
	s->flows++;
	return i;
}

/* A packet replaces the sample at a place. None counts more than SHADOW_LEN_MAX bytes, the
 * largest MTU, so that the sum fits. */
static inline void shadow_put(struct shadow *s, u32 place, u32 flow, u32 len)
{
	u16 *at, i;

	shadow_take(s, place);
	at = shadow_link(s, flow);
	i = *at ? *at : shadow_add(s, flow, at);
	s->whose[place] = i;
	s->len[place] = len < SHADOW_LEN_MAX ? len : SHADOW_LEN_MAX;
	s->bytes += s->len[place];
	s->samples++;
	s->flow[i].bytes += s->len[place];
	s->flow[i].samples++;
}

#endif
