/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * life.h: watches a queue under random traffic.
 */
#ifndef AQM_CHECK_LIFE_H
#define AQM_CHECK_LIFE_H

#include "watch.h"

#include "../test/storm.h"

#define SLOTS 400

struct life {
	struct bench b;
	u32 *numbers;
	struct aqm_rng r;
	u64 refused, arrived, out, gone, head_drops;
};

static const char *const rules[AQM_BAD_COUNT] = {
        [AQM_BAD_ACT] = "it answered an act or a reason that there is not",
        [AQM_BAD_MARK] = "MARK where marking is not allowed (ask aqm_can_mark)",
        [AQM_BAD_QUEUE] = "it named a queue that there is not, or picked an empty one",
        [AQM_BAD_VICTIM] = "it named a victim that is not there, or out of reach",
        [AQM_BAD_OVERFLOW] = "at the limit it let a packet in without making room",
        [AQM_BAD_TICK] = "its next tick is not later than now",
        [AQM_BAD_DROPS] = "it dropped on and on in one dequeue",
        [AQM_BAD_PROBE] =
                "it asked for a probe behind a packet that does not join, or has no echo",
};

static inline void look(const struct life *l)
{
	u32 i;

	for (i = 0; i < AQM_BAD_COUNT; i++)
		if (looked_for >> i & 1 && l->b.q->count.bad[i]) {
			char why[160];

			at.last = at.answer;
			snprintf(why, sizeof(why), "it broke the rule '%s': %s",
			         aqm_bad_name(i), rules[i] ? rules[i] : "see enum aqm_bad");
			failed(why);
		}
}

static inline void turn_to(const struct life *l)
{
	at.host = l->b.host;
	at.numbers = l->numbers;
	at.arrivals = l->arrived;
}

static inline void value_of(struct life *l, const struct aqm_field *row, u64 value)
{
	if (aqm_field_set(row, l->b.conf, value))
		broken("a value of a row's own range is stored");
}

static inline struct life life_new(const struct aqm_algo *a, u32 slots, u64 now)
{
	struct life l = {.b = bench_new(a, slots, now)};

	l.numbers = calloc(slots, sizeof(*l.numbers));
	set_row(&l.b, "limit", slots > 2 ? slots / 2 : 1);
	set_row(&l.b, "ecn", 1);
	return l;
}

/* False: these rows are refused. */
static inline bool life_start(struct life *l, u64 seed)
{
	turn_to(l);
	rng_seed(&l->r, seed, 1);
	return !bench_start(&l->b, seed).sentence;
}

static inline void life_must_start(struct life *l, u64 seed)
{
	if (!life_start(l, seed))
		failed("a queue with default rows is refused");
}

static inline void life_end(struct life *l)
{
	free(l->numbers);
	bench_end(&l->b);
	at.host = NULL;
}

/* The probe that the last arrival requested has the number of that arrival. */
static inline void life_probe(struct life *l)
{
	aqm_h h = storm_probe(&l->b, &l->r);

	if (h != AQM_NIL)
		l->numbers[h] = (u32)l->arrived;
}

/* Packets that the host had to free, without probes. */
static inline u64 life_freed(const struct life *l)
{
	return l->b.host->freed - l->b.q->probes.refused - l->b.q->probes.freed;
}

static inline u64 life_held(const struct life *l)
{
	return l->b.q->pkts - probes_held(l->b.q);
}

static inline bool life_arrive(struct life *l, u32 flow, u32 len, u8 ecn)
{
	u64 gone = at.gone;
	aqm_h h = packet_new(&l->b, flow, len, ecn);
	bool joined;

	if (h == AQM_NIL)
		return false;
	l->numbers[h] = (u32)++l->arrived;
	turn_to(l);
	packet_of(l->b.host, h)->place = INSIDE;
	joined = aqm_enqueue(l->b.q, l->b.now, h);
	l->refused += !joined;
	l->gone += at.gone - gone;
	look(l);
	if (aqm_probe_asked(l->b.q))
		life_probe(l);
	return joined;
}

static inline aqm_h life_leave(struct life *l)
{
	u64 gone = at.gone, freed = life_freed(l);
	aqm_h h;
	bool probe;

	turn_to(l);
	h = leave(&l->b);
	probe = h != AQM_NIL && packet_of(l->b.host, h)->probe;
	l->out += h != AQM_NIL && !probe;
	l->gone += at.gone - gone;
	l->head_drops += life_freed(l) - freed - (at.gone - gone);
	if (probe)
		storm_echo(&l->b, &l->r, h);
	look(l);
	return h;
}

static inline void life_change(struct life *l)
{
	u64 gone = at.gone;

	turn_to(l);
	bench_change(&l->b);
	l->gone += at.gone - gone;
	look(l);
}

static inline void life_reset(struct life *l)
{
	turn_to(l);
	l->out += life_held(l);
	aqm_queue_reset(l->b.q, l->b.now);
}

/* Is each packet that the algorithm let in in the queue, or has it heard of its end? */
static inline bool life_settled(const struct life *l)
{
	return l->arrived == l->refused + l->out + l->gone + l->head_drops + life_held(l);
}

/* A few flows send most packets, so that samples match; a few steps take a long time. */
static inline void life_step(struct life *l, bool changes)
{
	u32 kind = rng_below(&l->r, 1000), i;

	storm_time(&l->b, &l->r);
	if (kind < 520) {
		u32 flow = rng_below(&l->r, 3) ? rng_below(&l->r, 4) << 30 : rng_u32(&l->r);

		for (i = rng_below(&l->r, 4); i < 4; i++) {
			/* one after the other: compilers draw arguments in unlike orders */
			u32 len = 40 + rng_below(&l->r, 1475);

			life_arrive(l, flow, len, (u8)rng_below(&l->r, 4));
		}
	} else if (kind < 990) {
		for (i = rng_below(&l->r, 4); i < 4; i++)
			life_leave(l);
	} else if (kind < 998) {
		if (changes) {
			set_row(&l->b, "limit",
			        1 + rng_below(&l->r, (u32)min64(l->b.host->count / 2, 300)));
			set_row(&l->b, "ecn", rng_below(&l->r, 2));
			life_change(l);
		}
	} else if (kind == 998 && changes) {
		life_reset(l);
	}
}

static inline void life_run(struct life *l, u32 steps, bool changes)
{
	while (steps--) {
		life_step(l, changes);
		if (!(steps & 255) && !conserved(&l->b))
			failed("packets or bytes are lost");
	}
}

#endif
