// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// duk.c: Delay Utilization Knee, Novak and Kasera, "Auto-Tuning Active Queue
// Management", COMSNETS 2017. Keeps the queue where one more unit of utilisation
// costs one unit of delay.

#include "aqm.h"
#include "law/capacity.h"
#include "law/duk.h"
#include "law/duk_alg2.h"
#include "law/duk_interval.h"
#include "law/duk_level.h"
#include "rng.h"

/* law/duk.h's bound of n */
#define FIXED_TICKS_MAX (1u << 26)

enum { RULE_ALG2, RULE_SEARCH, RULE_TICK };

static const char *const duk_rules[] = {"alg2", "search", "tick"};

struct duk_conf {
	u64 tick;
	u64 fixed_interval;
	u32 interval_rule;
	u32 first_interval; /* ticks */
};

struct duk_state {
	u64 arrived, sent; /* bytes of the interval under way */
	u64 delay;         /* D: at the end of the last interval */
	u64 last_sojourn_ns;
	s64 used; /* U of the last interval, Q20 */
	u64 interval;
	u32 ticks; /* the interval in those */
	u64 rate;  /* capacity, bytes/s */
	u32 departures;
	u32 signals;
	u32 complete; /* intervals ended since the start, at most 2 */
	u32 prob;
	u32 level;   /* P, Eq. 10 */
	u64 densest; /* M: the largest arrival rate of any interval, 1/1024 bytes/s */
	struct capacity capacity;
	union {
		struct duk_alg2 alg2;
		struct duk_interval search;
	} rule;
	struct aqm_rng rng;
};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U64, duk_conf, tick, AQM_NS, NS_PER_MS, 1, NS_PER_S, AQM_FIXED,
		"clock resolution, the unit of delay in the law; not for tuning"),
	AQM_ROW(2, AQM_U64, duk_conf, fixed_interval, AQM_NS, 0, 0, 10 * NS_PER_S, AQM_FIXED,
		"measurement interval, for ablation; 0: found by interval_rule"),
	AQM_ROW_OF_CHOICES(3, duk_conf, interval_rule, duk_rules, RULE_ALG2, RULE_TICK, AQM_FIXED,
		"how the interval is found: Algorithm 2 as printed, our search, always one tick"),
	AQM_ROW(4, AQM_U32, duk_conf, first_interval, AQM_COUNT, 1, 1, DUK_TICKS_MAX, AQM_FIXED,
		"ticks of the interval that alg2 begins with, for ablation"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U32, duk_state, "prob", prob, AQM_PROB, 0, "signal probability"),
	AQM_STAT(2, AQM_U64, duk_state, "interval", interval, AQM_NS, 0, "measurement interval"),
	AQM_STAT(3, AQM_U64, duk_state, "delay", delay, AQM_NS, 0,
		"delay at the end of the last interval"),
	AQM_STAT(4, AQM_U64, duk_state, "rate", rate, AQM_BYTES_PER_S, 0,
		"capacity of the link, as estimated"),
	AQM_STAT(5, AQM_U32, duk_state, "level", level, AQM_COUNT, 0,
		"percent of congestion, Eq. 10"),
	AQM_END,
};
/* clang-format on */

static const char *check(const void *conf)
{
	const struct duk_conf *c = conf;
	u64 ticks = div64(c->fixed_interval, c->tick);

	if (ticks * c->tick != c->fixed_interval)
		return "fixed_interval is a whole number of ticks";
	if (ticks > FIXED_TICKS_MAX)
		return "fixed_interval is at most 67108864 ticks";
	if (ticks && c->interval_rule != RULE_ALG2)
		return "fixed_interval leaves interval_rule nothing to find: set one of them";
	if (c->first_interval != 1 && (ticks || c->interval_rule != RULE_ALG2))
		return "first_interval is only for interval_rule alg2, without fixed_interval";
	return NULL;
}

static u32 first_ticks(struct duk_state *s, const struct duk_conf *c)
{
	if (c->fixed_interval)
		return (u32)div64(c->fixed_interval, c->tick);
	if (c->interval_rule != RULE_SEARCH)
		return c->first_interval;
	duk_interval_start(&s->rule.search);
	return duk_ticks(&s->rule.search, DUK_BOOT);
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct duk_state *s = st;
	const struct duk_conf *c = conf;

	rng_seed(&s->rng, seed, 0);
	s->ticks = first_ticks(s, c);
	s->interval = s->ticks * c->tick;
	return now + s->interval;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct duk_state *s = st;

	(void)conf, (void)now;
	s->arrived += pkt->len;
	if (!s->prob || !rng_chance(&s->rng, s->prob))
		return aqm_pass();
	s->signals++;
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

/* An arrival that the limit refuses is still an arrival. */
static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct duk_state *s = st;

	(void)conf, (void)now, (void)view;
	s->arrived += pkt->len;
	return aqm_drop(AQM_WHY_LIMIT);
}

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	struct duk_state *s = st;
	const struct duk_conf *c = conf;

	s->sent += pkt->len;
	s->departures++;
	s->last_sojourn_ns = aqm_sojourn_ns(now, pkt);
	capacity_departure(&s->capacity, now, pkt->len, view->pkts, DUK_TICKS_MAX * c->tick);
	return aqm_pass();
}

static void gone(void *st, const void *conf, u64 now, const struct aqm_view *view,
                 const struct aqm_pkt *pkt, u8 why)
{
	struct duk_state *s = st;

	(void)conf, (void)now, (void)pkt, (void)why;
	if (!view->pkts)
		capacity_emptied(&s->capacity);
}

/* D: sojourn time of the last packet sent; if none was sent, that of the head so far. */
static u64 delay_at(const struct duk_state *s, u64 now, const struct aqm_view *view)
{
	struct aqm_pkt head;

	if (!view->pkts)
		return 0;
	if (s->departures)
		return s->last_sojourn_ns;
	return view->peek(view, 0, &head) ? aqm_sojourn_ns(now, &head) : 0;
}

/* d: change of delay in ticks, Q20; beyond 2^42 ns (an hour) it is as good as that. */
static s64 delay_change(u64 now_ns, u64 was_ns, u64 tick_ns)
{
	u64 size = min64(now_ns > was_ns ? now_ns - was_ns : was_ns - now_ns, 1ull << 42);
	s64 ticks = (s64)div64(size << 20, tick_ns);

	return now_ns > was_ns ? ticks : -ticks;
}

/* Algorithm 1. History moves on whichever way it ends. */
static void update_probability(struct duk_state *s, const struct duk_conf *c, u64 now,
                               const struct aqm_view *view, u64 could)
{
	u64 delay = delay_at(s, now, view);
	struct duk_sample sample = {
	        s->arrived, s->sent, could, s->used, delay_change(delay, s->delay, c->tick),
	        s->ticks};
	u32 prob = duk_probability(&sample, s->capacity.known.gaps, &s->used);

	s->delay = delay;
	s->complete += s->complete < 2;
	s->prob = view->pkts && s->complete == 2 ? prob : 0;
}

/* Algorithm 2, once per interval. Without a capacity there is no level, and no change.
 * M is rounded up and C down, so that a level that is just reached counts as reached. */
static u32 alg2_ticks(struct duk_state *s)
{
	const struct capacity_sum *known = &s->capacity.known;

	s->densest = max64(s->densest, muldiv64(s->arrived, NS_PER_S << 10, s->interval) + 1);
	if (!known->gaps)
		return s->ticks;
	s->level = duk_level(s->densest, muldiv64(known->bytes, NS_PER_S << 10, known->ns));
	return duk_alg2_next(&s->rule.alg2, s->level, s->ticks, s->sent);
}

/* Apart from tick(): on 32 bits the two together would need 640 bytes of stack. A kernel
 * defines the attribute's short name. */
static __attribute__((__noinline__)) u32 search_ticks(struct duk_state *s,
                                                      const struct duk_conf *c,
                                                      const struct aqm_view *view, u64 could)
{
	struct duk_interval_sample sample = {
	        s->interval,
	        s->arrived,
	        s->sent,
	        could,
	        capacity_packet_ns(&s->capacity),
	        c->tick,
	        view->mtu_bytes,
	        s->signals,
	};
	u32 ticks = duk_interval_next(&s->rule.search, &sample);

	s->level = s->rule.search.level;
	return ticks;
}

static u32 next_ticks(struct duk_state *s, const struct duk_conf *c,
                      const struct aqm_view *view, u64 could)
{
	if (c->fixed_interval)
		return s->ticks;
	if (c->interval_rule == RULE_ALG2)
		return alg2_ticks(s);
	if (c->interval_rule == RULE_SEARCH)
		return search_ticks(s, c, view, could);
	return duk_shortest(capacity_packet_ns(&s->capacity), c->tick);
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct duk_state *s = st;
	const struct duk_conf *c = conf;
	u64 could;

	capacity_interval(&s->capacity, s->interval, s->sent);
	could = capacity_bytes(&s->capacity, s->interval);
	s->rate = s->capacity.known.gaps
	                  ? muldiv64(s->capacity.known.bytes, NS_PER_S, s->capacity.known.ns)
	                  : 0;
	update_probability(s, c, now, view, could);
	s->ticks = next_ticks(s, c, view, could);
	s->interval = s->ticks * c->tick;
	s->arrived = s->sent = 0;
	s->departures = s->signals = 0;
	return now + s->interval;
}

/* The link was idle for a while, or is stopped: p is 0 (A = 0), and the epoch gives no
 * information about the interval. Only the head's age still grows. */
static u64 idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	struct duk_state *s = st;
	u64 next = grid_after(from, to, s->interval);

	if (((const struct duk_conf *)conf)->interval_rule == RULE_SEARCH)
		duk_epoch_clear(&s->rule.search);
	s->delay = delay_at(s, next - s->interval, view);
	return next;
}

const struct aqm_algo aqm_duk = {
        .name = "duk",
        .brief = "keeps the queue at the knee of delay over utilisation, no parameters",
        .source = "Novak, Kasera, Auto-Tuning Active Queue Management, COMSNETS 2017",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL,
        .queues = 1,
        .conf_bytes = sizeof(struct duk_conf),
        .state_bytes = sizeof(struct duk_state),
        .params = params,
        .stats = stats,
        .check = check,
        .start = start,
        .enqueue = enqueue,
        .overflow = overflow,
        .dequeue = dequeue,
        .gone = gone,
        .tick = tick,
        .idle = idle,
};
