/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * forget.h: sends twice what a link carries for five seconds, and then an even stream, of which
 * no packet waits for another.
 */
#ifndef AQM_CHECK_FORGET_H
#define AQM_CHECK_FORGET_H

#include "life.h"

#define FORGET_SIZE  1200
#define FORGET_BURST 5000 /* ms, each with two packets of 1250 bytes */
#define FORGET_AFTER (10 * NS_PER_S)
#define FORGET_SEEN  (5 * NS_PER_S)
#define FORGET_NS    800 /* of a byte, at 10 Mbit/s */
#define FORGET_SMALL 64

struct wire {
	u64 free_ns; /* when it has sent what it has */
	bool idle;   /* and has asked for more in vain */
};

/* A probe that leaves is answered 40 ms after it joined. */
static inline void wire_next(struct wire *w, struct life *l)
{
	aqm_h h;
	const struct packet *p;

	l->b.now = max64(w->free_ns, l->b.now);
	turn_to(l);
	h = leave(&l->b);
	look(l);
	w->idle = h == AQM_NIL;
	if (w->idle)
		return;
	p = packet_of(l->b.host, h);
	w->free_ns = l->b.now + (u64)p->len * FORGET_NS;
	if (p->probe)
		aqm_echo(l->b.q, l->b.now, p->inst, 40 * NS_PER_MS);
}

/* What the link has sent by then. */
static inline void wire_until(struct wire *w, struct life *l, u64 now)
{
	while (!w->idle && w->free_ns <= now)
		wire_next(w, l);
	l->b.now = now;
}

static inline void wire_arrive(struct wire *w, struct life *l, u32 number, u32 len)
{
	aqm_h h = packet_new(&l->b, number << 30, len, number & 4 ? AQM_ECT0 : AQM_NOT_ECT);

	if (h == AQM_NIL)
		return;
	l->numbers[h] = (u32)++l->arrived;
	turn_to(l);
	packet_of(l->b.host, h)->place = INSIDE;
	aqm_enqueue(l->b.q, l->b.now, h);
	look(l);
	if (aqm_probe_asked(l->b.q))
		join_probe(&l->b);
	if (w->idle && w->free_ns <= l->b.now)
		wire_next(w, l);
}

static inline u64 forget_signals(const struct life *l)
{
	return drops(&l->b) + marks(&l->b);
}

/* A queue for it. Its rows may still change. */
static inline struct life forget_life(const struct aqm_algo *algo)
{
	struct life l = life_new(algo, FORGET_SIZE, NS_PER_S);

	set_row(&l.b, "limit", 500);
	return l;
}

static inline u64 forget_gap_ns(u32 len, u32 load_pct)
{
	return (u64)len * FORGET_NS * 100 / load_pct;
}

/* Signals to packets of `len` bytes at so much of the link, in the five seconds after these.
 * The life ends. */
static inline u64 forget_run(struct life *l, u32 len, u32 load_pct, u64 after_ns)
{
	u64 gap_ns = forget_gap_ns(len, load_pct), begin, seen = 0, signals;
	struct wire w = {NS_PER_S, true};
	u32 i;

	life_must_start(l, 5);
	for (i = 0; i < 2 * FORGET_BURST; i++) {
		wire_until(&w, l, NS_PER_S + i / 2 * NS_PER_MS);
		wire_arrive(&w, l, i, 1250);
	}
	begin = l->b.now;
	for (i = 0; i * gap_ns < after_ns + FORGET_SEEN; i++) {
		wire_until(&w, l, begin + i * gap_ns);
		if (i * gap_ns < after_ns)
			seen = forget_signals(l);
		wire_arrive(&w, l, i, len);
	}
	signals = forget_signals(l) - seen;
	life_end(l);
	return signals;
}

#endif
