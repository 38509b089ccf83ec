// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// NAME.c: signals at the head with a probability that grows with the average delay.
//
// Up to a delay of `target` nothing is signalled; from there the probability grows
// evenly, until it is `most` at `target + range`. aqm.h says, in the order of a packet's
// life, what an algorithm hears and what it may answer. It reads no clock, allocates
// nothing, keeps nothing outside its state, and has no floating point: the same file
// runs in the simulator and in a Linux kernel.
//
//   sojourn check ./NAME.c                                what holds for every algorithm
//   sojourn run scenario.toml --aqm ./NAME.c --aqm codel  beside another one
//   sojourn show ./NAME.c                                 its rows

#include "aqm.h"
#include "fixed.h"
#include "rng.h"

// What users set. Each member has a row below, in the unit that the row says.
struct NAME_conf {
	u64 target, range, update; // ns
	u32 most;                  // share of 2^32
};

// What the algorithm remembers. It is zeroed before `start`, and copied with memcpy: no
// pointers in here.
struct NAME_state {
	u64 delay;   // of the last packet offered; 0 when the queue is empty, ns
	u64 average; // of `delay`, over updates, ns
	u64 signals;
	u32 prob; // share of 2^32
	struct aqm_rng rng;
};

// A row: number (never used again), type, struct, member, unit, default, smallest,
// largest, flags, help. Command line, scenarios, tc and errors read them from here. The
// type must be as wide as the member.
static const struct aqm_field params[] = {
        AQM_ROW(1, AQM_U64, NAME_conf, target, AQM_NS, 5 * NS_PER_MS, 0, 10 * NS_PER_S, 0,
                "average delay up to which nothing is signalled"),
        AQM_ROW(2, AQM_U64, NAME_conf, range, AQM_NS, 20 * NS_PER_MS, 1, 10 * NS_PER_S, 0,
                "delay beyond target at which the probability is at its largest"),
        AQM_ROW(3, AQM_U64, NAME_conf, update, AQM_NS, 16 * NS_PER_MS, 100000, NS_PER_S,
                AQM_PERIOD, "time between updates of the probability"),
        AQM_ROW(4, AQM_U32, NAME_conf, most, AQM_PROB, U32_MAX / 5, 0, U32_MAX, 0,
                "largest probability"),
        AQM_END,
};

// A statistic: number, type, struct, name, member, unit, flags, help.
static const struct aqm_field stats[] = {
        AQM_STAT(1, AQM_U64, NAME_state, "delay", average, AQM_NS, 0, "average delay"),
        AQM_STAT(2, AQM_U32, NAME_state, "prob", prob, AQM_PROB, 0, "signal probability"),
        AQM_STAT(3, AQM_U64, NAME_state, "signals", signals, AQM_COUNT, AQM_COUNTER,
                 "packets marked or dropped"),
        AQM_END,
};

// Time begins: seed whatever is random, and answer when the first tick shall be.
static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct NAME_state *s = st;
	const struct NAME_conf *c = conf;

	rng_seed(&s->rng, seed, 0);
	return now + c->update;
}

// The head packet is offered. Where it is dropped, the next one is offered at once, with
// `nth` one higher: one signal is enough for one departure.
static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	struct NAME_state *s = st;

	(void)conf;
	s->delay = aqm_sojourn_ns(now, pkt);
	if (pkt->nth || !rng_chance(&s->rng, s->prob))
		return aqm_pass();
	s->signals++;
	// A mark where one may be set, else a drop.
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

// A packet was asked for, and there is none.
static void empty(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct NAME_state *s = st;

	(void)conf, (void)now, (void)view;
	s->delay = 0;
}

// An update. The average moves by a quarter of the way; below 4 ns it stands still.
static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct NAME_state *s = st;
	const struct NAME_conf *c = conf;
	u64 above;

	(void)view;
	if (s->delay > s->average)
		s->average += (s->delay - s->average) / 4;
	else
		s->average -= (s->average - s->delay) / 4;
	above = s->average > c->target ? s->average - c->target : 0;
	s->prob = (u32)min64(muldiv64(above, c->most, c->range), c->most);
	return now + c->update;
}

static bool moves(const struct NAME_state *s)
{
	return s->average >= s->delay + 4 || s->delay >= s->average + 4;
}

// For a long time nothing has happened: stands for every tick from `from` to `to`, in
// bounded work. An average of 10^15 ns stands still after 120 quarters; the rest of the
// ticks would change nothing.
static u64 idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	const struct NAME_conf *c = conf;

	while (from <= to && moves(st))
		from = tick(st, conf, from, view);
	return from <= to ? grid_after(from, to, c->update) : from;
}

// AQM_MARKS: it marks where the row `ecn` of the queue allows it. AQM_AT_HEAD: it acts on
// departures.
const struct aqm_algo aqm_NAME = {
        .name = "NAME",
        .brief = "signals at the head, the likelier the longer packets wait",
        .source = "unpublished",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_HEAD,
        .queues = 1,
        .conf_bytes = sizeof(struct NAME_conf),
        .state_bytes = sizeof(struct NAME_state),
        .params = params,
        .stats = stats,
        .start = start,
        .dequeue = dequeue,
        .empty = empty,
        .tick = tick,
        .idle = idle,
};
