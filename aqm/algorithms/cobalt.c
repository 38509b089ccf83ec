// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// cobalt.c: COBALT, CoDel and BLUE in parallel: net/sched/sch_cake.c of Linux. Acts at the
// head.

#include "aqm.h"
#include "law/blue.h"
#include "law/codel.h"
#include "rng.h"

struct cobalt_conf {
	u64 target, interval;
	u32 increment, decrement; /* Q0.32 */
};

struct cobalt_state {
	struct blue_law blue;
	u64 target_ns, interval_ns; /* on this link */
	u64 least_ns;               /* no delay up to this is too long */
	u64 drop_next_ns;
	u64 delay; /* of the last packet offered */
	u32 count, dropping;
	u32 shorter; /* the interval has become so since the last event */
	struct aqm_rng rng;
};

/* Up to here a count falls one by one. */
#define COUNT_LOW 64

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U64, cobalt_conf, target, AQM_NS, 5 * NS_PER_MS, 1000, 10 * NS_PER_S, 0,
		"acceptable standing delay; least time between changes of BLUE's probability"),
	AQM_ROW(2, AQM_U64, cobalt_conf, interval, AQM_NS, 100 * NS_PER_MS, 1000, 100 * NS_PER_S, 0,
		"time above target before CoDel's first signal; about a worst round trip"),
	AQM_ROW(3, AQM_U32, cobalt_conf, increment, AQM_PROB, 1u << 24, 0, U32_MAX, 0,
		"rise of BLUE's probability at an overflow"),
	AQM_ROW(4, AQM_U32, cobalt_conf, decrement, AQM_PROB, 1u << 20, 0, U32_MAX, 0,
		"fall of BLUE's probability while the queue is empty"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U64, cobalt_state, "delay", delay, AQM_NS, 0, "time in queue of the last packet"),
	AQM_STAT(2, AQM_U32, cobalt_state, "count", count, AQM_COUNT, 0, "CoDel's signals, less those forgotten"),
	AQM_STAT(3, AQM_U32, cobalt_state, "dropping", dropping, AQM_COUNT, 0, "1: in CoDel's dropping state"),
	AQM_STAT(4, AQM_U32, cobalt_state, "prob", blue.prob, AQM_PROB, 0, "BLUE's drop probability"),
	AQM_END,
};
/* clang-format on */

/* Cake has no switch for ECN, and 10,240 MTUs is the most room that it takes by itself. With
 * less a fast link's start overflows, and BLUE answers for long. */
static const struct aqm_default defaults[] = {
        {"limit", 10240},
        {"ecn", 1},
        {NULL, 0},
};

/* cake_set_rate(), whose least rate this is. An MTU is at most 2^20 bytes, so that its time is
 * below 2^44 ns and the interval below 2^46. */
#define LEAST_BYTES_S 64

static void configure(void *st, const void *conf, const struct aqm_view *view)
{
	struct cobalt_state *s = st;
	const struct cobalt_conf *c = conf;
	u64 rate = view->rate_bytes_s, mtu_ns = 0, was_ns = s->interval_ns;

	if (rate)
		mtu_ns = muldiv64(view->mtu_bytes, NS_PER_S, max64(rate, LEAST_BYTES_S));
	s->target_ns = max64(mtu_ns * 3 >> 1, c->target);
	s->interval_ns = max64(c->interval + s->target_ns - c->target, 2 * s->target_ns);
	s->shorter |= s->interval_ns < was_ns;
	s->least_ns = 4 * mtu_ns;
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct cobalt_state *s = st;

	(void)conf;
	rng_seed(&s->rng, seed, 0);
	s->blue.last_ns = now;
	s->drop_next_ns = now;
	return AQM_NEVER;
}

static u64 gap_ns(const struct cobalt_state *s)
{
	return codel_step(s->interval_ns, s->count ? s->count : 1);
}

/* No step of CoDel's count waits for the end of an interval that has become shorter. Otherwise
 * one may lie further ahead: a signal that is due as a delay begins adds its spacing to that of
 * the entry. */
static void hold_schedule(struct cobalt_state *s, u64 now)
{
	if (s->shorter)
		s->drop_next_ns = min64(s->drop_next_ns, now + s->interval_ns);
	s->shorter = 0;
}

/* 2 sqrt(count - 1/2) in Q15, from 4 count - 2 < 2^34. */
static u32 twice_root(u32 count)
{
	return isqrt64((4 * (u64)count - 2) << 30);
}

/* Nothing stands: CoDel's signals are forgotten at the pace at which they would have come.
 * Above COUNT_LOW many at once: the sum of 1 / sqrt(k) for k from m to n - 1 is taken as
 * 2 sqrt(n - 1/2) - 2 sqrt(m - 1/2). That is off by 1 / 14,000 of an interval at most, with the
 * roots' 15 places. The rest one by one; where the root of the count exceeds the interval in ns
 * a gap is 0, and what is left waits for the next packet. */
static void forget(struct cobalt_state *s, u64 now)
{
	u32 step;

	for (step = 1u << 31; step; step >>= 1) {
		u64 spent_ns;

		if (s->count < (u64)COUNT_LOW + step)
			continue;
		spent_ns = mulshift64(s->interval_ns,
		                      twice_root(s->count) - twice_root(s->count - step), 15);
		if (now - s->drop_next_ns < spent_ns)
			continue;
		s->count -= step;
		s->drop_next_ns += spent_ns;
	}
	for (step = COUNT_LOW + 1; step && s->count && now >= s->drop_next_ns; step--) {
		s->count--;
		s->drop_next_ns += gap_ns(s);
	}
}

/* The queue has been empty on. Cake's timer stands while p is 0, so that it stops with the step
 * that takes p there. These steps are over by now: their time fits. */
static void idle_on(struct cobalt_state *s, const struct cobalt_conf *c, u64 now)
{
	struct blue_law *b = &s->blue;
	u64 from = max64(b->last_ns, b->idle_ns), prob = b->prob;

	if (!prob)
		return;
	blue_idle_on(b, c->decrement, s->target_ns, now);
	if (!b->prob)
		b->last_ns = from + div64(prob + c->decrement - 1, c->decrement) * s->target_ns;
}

/* What cake does while it serves an empty flow on. */
static void stayed_empty(struct cobalt_state *s, const struct cobalt_conf *c, u64 now)
{
	idle_on(s, c, now);
	hold_schedule(s, now);
	if (s->blue.idle && s->count && now >= s->drop_next_ns)
		forget(s, now);
}

/* cobalt_queue_full() */
static void full(struct cobalt_state *s, const struct cobalt_conf *c, u64 now)
{
	hold_schedule(s, now);
	blue_raise(&s->blue, c->increment, s->target_ns, now);
	s->dropping = 1;
	s->drop_next_ns = now;
	s->count += !s->count;
}

/* differs: cake serves an empty flow on, one at each of its departures, so that BLUE's
 * probability and CoDel's count fall. Here the time that it was empty counts. */
static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct cobalt_state *s = st;
	const struct cobalt_conf *c = conf;

	(void)view, (void)pkt;
	stayed_empty(s, c, now);
	s->blue.idle = 0;
	return aqm_pass();
}

/* differs: one queue drops the arrival. Cake drops the head of its longest queue, as ours does
 * in flows; one head may not be room enough. */
static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	(void)view, (void)pkt;
	full(st, conf, now);
	return aqm_drop(AQM_WHY_LIMIT);
}

static void gone(void *st, const void *conf, u64 now, const struct aqm_view *view,
                 const struct aqm_pkt *pkt, u8 why)
{
	(void)view, (void)pkt, (void)why;
	full(st, conf, now);
}

/* CoDel's part of cobalt_should_drop(). */
static struct aqm_verdict codel_part(struct cobalt_state *s, u64 now,
                                     const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	bool over = s->delay > s->target_ns && s->delay > s->least_ns, due;

	hold_schedule(s, now);
	due = s->count && now >= s->drop_next_ns;
	/* differs: a flow's first entry of all waits for an interval too. Cake has a root of 0
	 * then, where it means to have 1. */
	if (over && !s->dropping)
		s->drop_next_ns = now + gap_ns(s);
	s->count += over && !s->count;
	s->dropping = over;
	if (!due)
		return aqm_pass();
	if (!over) {
		forget(s, now);
		return aqm_pass();
	}
	s->count += s->count != U32_MAX;
	s->drop_next_ns += gap_ns(s);
	return aqm_signal(view, pkt, AQM_WHY_DELAY);
}

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	struct cobalt_state *s = st;
	/* Cake compares the schedule with the time before an entry moves it. With a count of 0
	 * no signal is due even if it is behind. */
	bool late = !s->count && now > s->drop_next_ns;
	struct aqm_verdict v, kept;

	(void)conf;
	s->delay = aqm_sojourn_ns(now, pkt);
	v = codel_part(s, now, view, pkt);
	/* A packet that is not dropped after all has CoDel's mark: cake sets that first. */
	kept = v.act == AQM_DROP ? aqm_pass() : v;
	/* Lack of marks is deliberate, says cake: BLUE is for those who do not respond. */
	if (s->blue.prob && rng_chance(&s->rng, s->blue.prob) && v.act != AQM_DROP)
		v = aqm_drop(AQM_WHY_EARLY);
	/* differs: cake empties the queue at once if need be; this bounds the time. */
	if (v.act == AQM_DROP && pkt->nth >= CODEL_DROPS)
		v = kept;
	if (!s->count)
		s->drop_next_ns = now + s->interval_ns;
	else if ((late || now > s->drop_next_ns) && v.act != AQM_DROP)
		s->drop_next_ns = now;
	/* cake_dequeue(): the last packet may be marked, but not dropped */
	return v.act == AQM_DROP && !view->pkts ? kept : v;
}

/* cobalt_queue_empty(), BLUE's part */
static void blue_dry(struct cobalt_state *s, const struct cobalt_conf *c, u64 now)
{
	struct blue_law *b = &s->blue;
	u64 last_ns = b->last_ns;
	bool stands = !b->prob;

	if (b->idle) {
		idle_on(s, c, now);
		return;
	}
	blue_empty(b, c->decrement, s->target_ns, now);
	if (stands)
		b->last_ns = last_ns;
}

/* cobalt_queue_empty() */
static void empty(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct cobalt_state *s = st;

	(void)view;
	blue_dry(s, conf, now);
	hold_schedule(s, now);
	s->dropping = 0;
	if (s->count && now >= s->drop_next_ns) {
		s->count--;
		s->drop_next_ns += gap_ns(s);
	}
}

const struct aqm_algo aqm_cobalt = {
        .name = "cobalt",
        .brief = "CoDel, and BLUE against flows that do not respond",
        .source = "sch_cake of Linux",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_HEAD,
        .queues = 1,
        .conf_bytes = sizeof(struct cobalt_conf),
        .state_bytes = sizeof(struct cobalt_state),
        .params = params,
        .stats = stats,
        .defaults = defaults,
        .configure = configure,
        .start = start,
        .enqueue = enqueue,
        .overflow = overflow,
        .dequeue = dequeue,
        .empty = empty,
        .gone = gone,
};
