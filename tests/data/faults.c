// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// faults.c: an algorithm with planted faults, one at a time. tests/test_own.py chooses one
// by its number and wants it found; 0 is none.

#include "aqm.h"
#include "fixed.h"
#include "rng.h"

#define FAULT 0

enum {
	SOUND,
	MARKS_NOT_ECT,
	DIVIDES_BY_ZERO,
	LOOPS,
	NULL_POINTER,
	BEYOND_ITS_STATE,
	TICKS_IN_THE_PAST,
	VICTIM_OUT_OF_REACH,
	KEEPS_A_GLOBAL,
	POINTS_INTO_ITS_STATE,
	READS_THE_TIME_OF_DAY,
	STARTS_ANEW_WITH_ROWS,
	IDLES_TICK_BY_TICK,
	WINDS_UP,
	SHARE_ABOVE_ONE,
	COUNTER_FALLS,
	BOUND_REFUSED,
	DEFAULT_OUTSIDE,
	ROWS_OVERLAP,
	NAME_OF_THE_QUEUE,
	TICK_WITHOUT_IDLE,
	IDLES_ONE_TICK,
	LOOPS_IN_ECHO,
	PROBE_WITHOUT_ECHO,
	MARKS_WITHOUT_FLAG,
	SIGNALS_WITHOUT_FLAG,
	FLAG_UNKNOWN,
	DEFAULT_OF_NO_ROW,
	DEFAULT_OF_QUEUE_OUTSIDE,
	DEFAULT_TWICE,
	MARKS_WITHOUT_THE_ROW,
	FORGETS_WHILE_IT_IS_BUSY,
	REMEMBERS_A_SLOW_LINK,
	KEEPS_ITS_FIRST_ROWS,
	TAKES_A_NEW_TIME_FOR_THE_OLD,
};

struct faults_conf {
	u64 target, update;
};

struct faults_state {
	u64 delay, share, count, left, slowest, came, target;
	u32 prob, window[4];
	u64 *seen;
	struct aqm_rng rng;
};

#define DEFAULT (FAULT == DEFAULT_OUTSIDE ? 20 * NS_PER_S : 5 * NS_PER_MS)

static const struct aqm_field params[] = {
        AQM_ROW(1, AQM_U64, faults_conf, target, AQM_NS, DEFAULT, 0, 10 * NS_PER_S, 0,
                "delay up to which nothing is signalled"),
        {.name = FAULT == NAME_OF_THE_QUEUE ? "limit" : "update",
         .help = "time between updates",
         .def = 16 * NS_PER_MS,
         .min = 1000000,
         .max = NS_PER_S,
         .offset = FAULT == ROWS_OVERLAP ? 0 : offsetof(struct faults_conf, update),
         .attr = 2,
         .type = AQM_U64,
         .unit = AQM_NS},
        AQM_END,
};

static const struct aqm_field stats[] = {
        AQM_STAT(1, AQM_U64, faults_state, "share", share, AQM_PROB, 0, "share"),
        AQM_STAT(2, AQM_U64, faults_state, "count", count, AQM_COUNT, AQM_COUNTER, "signals"),
        AQM_END,
};

static const char *check(const void *conf)
{
	const struct faults_conf *c = conf;

	if (FAULT == BOUND_REFUSED && c->update > NS_PER_S / 2)
		return "update is too long";
	return NULL;
}

static void configure(void *st, const void *conf, const struct aqm_view *view)
{
	struct faults_state *s = st;

	(void)view;
	if (FAULT == STARTS_ANEW_WITH_ROWS)
		s->prob = 0;
	if (!s->target || FAULT != KEEPS_ITS_FIRST_ROWS)
		s->target = ((const struct faults_conf *)conf)->target;
	s->seen = &s->delay;
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct faults_state *s = st;
	const struct faults_conf *c = conf;

	rng_seed(&s->rng, seed, 0);
	return now + c->update;
}

static u64 heard; /* of KEEPS_A_GLOBAL */

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct faults_state *s = st;
	struct aqm_verdict v = aqm_pass();
	volatile u64 none = 0;

	(void)conf;
	s->window[pkt->len & 3] += FAULT == BEYOND_ITS_STATE ? s->window[view->pkts >> 4] : 1;
	if (FAULT == DIVIDES_BY_ZERO && view->pkts > 20)
		s->delay /= none;
	if (FAULT == LOOPS && view->pkts > 20)
		for (none = 1; none; none |= 1)
			;
	if (FAULT == NULL_POINTER && view->pkts > 20)
		s->delay = *(volatile u64 *)(none * (u64)view);
	if (FAULT == VICTIM_OUT_OF_REACH && view->pkts > 20) {
		v.nvictims = 1;
		v.victim[0] = 7;
		v.why = AQM_WHY_MATCH;
	}
	if (FAULT == KEEPS_A_GLOBAL && ++heard % 50 == 0)
		return aqm_drop(AQM_WHY_THRESHOLD);
	if (FAULT == READS_THE_TIME_OF_DAY && (now >> 32) % 10 == 3)
		return aqm_drop(AQM_WHY_THRESHOLD);
	s->came += pkt->len;
	s->slowest = s->slowest ? min64(s->slowest, view->rate_bytes_s) : view->rate_bytes_s;
	if (FAULT == REMEMBERS_A_SLOW_LINK && s->slowest < view->rate_bytes_s &&
	    rng_chance(&s->rng, U32_MAX / 4))
		return aqm_drop(AQM_WHY_RATE);
	v.probe = FAULT == LOOPS_IN_ECHO || FAULT == PROBE_WITHOUT_ECHO;
	if (!rng_chance(&s->rng, s->prob))
		return v;
	s->count++;
	if (FAULT == MARKS_NOT_ECT)
		return (struct aqm_verdict){.act = AQM_MARK, .why = AQM_WHY_EARLY};
	if (FAULT == MARKS_WITHOUT_THE_ROW && pkt->ecn != AQM_NOT_ECT)
		return (struct aqm_verdict){.act = AQM_MARK, .why = AQM_WHY_THRESHOLD};
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	struct faults_state *s = st;

	(void)conf, (void)view;
	s->delay = aqm_sojourn_ns(now, pkt);
	s->left = now;
	if (FAULT == COUNTER_FALLS && s->count > 3)
		s->count = 0;
	return aqm_pass();
}

static void empty(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct faults_state *s = st;

	(void)conf, (void)now, (void)view;
	s->delay = 0;
}

#define STEP (U32_MAX / 4000)

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct faults_state *s = st;
	const struct faults_conf *c = conf;
	u64 delay = FAULT == POINTS_INTO_ITS_STATE ? *s->seen : s->delay;

	/* One that takes a link that stands for a long queue, and forgets slowly. */
	if (delay > s->target || (FAULT == WINDS_UP && view->pkts && now > s->left + NS_PER_S))
		s->share = min64(s->share + STEP, U32_MAX / 4);
	else if (FAULT != FORGETS_WHILE_IT_IS_BUSY || view->pkts)
		s->share -= min64(s->share, FAULT == WINDS_UP ? STEP / 40 : STEP);
	/* More than the link carries in that time? */
	if (FAULT == TAKES_A_NEW_TIME_FOR_THE_OLD && s->came * 1000 > c->update * 2)
		s->share = U32_MAX / 4;
	s->came = 0;
	if (FAULT == SHARE_ABOVE_ONE && delay > s->target)
		s->share = 1ull << 32;
	s->prob = (u32)min64(s->share, U32_MAX / 4);
	return FAULT == TICKS_IN_THE_PAST && view->pkts > 20 ? now : now + c->update;
}

static u64 idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	struct faults_state *s = st;
	const struct faults_conf *c = conf;
	u64 share = ~s->share;

	if (FAULT == IDLES_ONE_TICK) {
		s->left += from;
		return grid_after(from, to, c->update);
	}
	while (from <= to && (FAULT == IDLES_TICK_BY_TICK || share != s->share)) {
		share = s->share;
		from = tick(st, conf, from, view);
	}
	return from <= to ? grid_after(from, to, c->update) : from;
}

static void echo(void *st, const void *conf, u64 now, const struct aqm_view *view, u64 rtt_ns)
{
	volatile u64 some = 1;

	(void)st, (void)conf, (void)now, (void)view, (void)rtt_ns;
	while (FAULT == LOOPS_IN_ECHO && some)
		some |= 1;
}

static const struct aqm_default defaults[] = {
        {FAULT == DEFAULT_OF_NO_ROW ? "limits" : "limit",
         FAULT == DEFAULT_OF_QUEUE_OUTSIDE ? 0 : 500},
        {FAULT == DEFAULT_TWICE ? "limit" : "quantum", 2000},
        {NULL, 0},
};

#define FLAG_MARKS (FAULT == MARKS_WITHOUT_FLAG ? 0 : AQM_MARKS)
#define FLAG_TAIL  (FAULT == SIGNALS_WITHOUT_FLAG ? AQM_AT_HEAD : AQM_AT_TAIL)

const struct aqm_algo aqm_faults = {
        .name = "faults",
        .brief = "has one planted fault",
        .source = "a test",
        .abi = AQM_ABI,
        .flags = FLAG_MARKS | FLAG_TAIL | (FAULT == FLAG_UNKNOWN ? 1u << 30 : 0),
        .queues = 1,
        .conf_bytes = sizeof(struct faults_conf),
        .state_bytes = sizeof(struct faults_state),
        .params = params,
        .stats = stats,
        .defaults = defaults,
        .check = check,
        .configure = configure,
        .start = start,
        .enqueue = enqueue,
        .dequeue = dequeue,
        .empty = empty,
        .tick = tick,
        .idle = FAULT == TICK_WITHOUT_IDLE ? NULL : idle,
        .echo = FAULT == LOOPS_IN_ECHO ? echo : NULL,
};
