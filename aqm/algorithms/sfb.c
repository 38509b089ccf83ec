// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// sfb.c: Stochastic Fair BLUE, Feng, Kandlur, Saha and Shin, INFOCOM 2001, with
// the moving hash, warm-up and penalty box as Linux has them.
//
// Each flow has one bin on each level. A bin that is full raises its probability,
// an empty one lowers it; the flow's own is the least of its bins', since a
// well-behaved flow shares few of them with a bad one.

#include "aqm.h"
#include "fixed.h"
#include "rng.h"

/* Eight levels of sixteen bins: one 32-bit hash, four bits a level. */
#define LEVELS 8
#define BINS   16

struct sfb_conf {
	u32 bin_target, bin_max;
	u32 increment, decrement;
	u32 penalty_rate, penalty_burst;
	u64 rehash, warmup;
};

struct bin {
	u32 prob; /* Q0.32 */
	u32 pkts;
};

struct bins {
	struct bin at[LEVELS][BINS];
};

/* Each era has a hash. Bins serve every other era: those of this era decide, and those
 * of the next one learn. A packet carries the era in which it came, times two, and
 * whether the bins that learned have counted it too. An era lasts a second at least, so
 * 31 bits last for 68 years. */
struct sfb_state {
	struct bins bins[2];
	u32 era;
	u32 prob;         /* of the last arrival's flow */
	u64 seed, era_ns; /* when the era began */
	u64 credit;       /* of the penalty box: packets, times NS_PER_S */
	u64 credit_at_ns;
	u64 penalised;
	struct aqm_rng rng;
};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U32, sfb_conf, bin_target, AQM_PKTS, 20, 1, 65535, 0,
		"packets in a bin from which its probability rises"),
	AQM_ROW(2, AQM_U32, sfb_conf, bin_max, AQM_PKTS, 25, 1, 65535, 0,
		"packets in each of a flow's bins from which it is dropped"),
	AQM_ROW(3, AQM_U32, sfb_conf, increment, AQM_PROB, 4325376, 0, U32_MAX, 0,
		"step up of a probability"),
	AQM_ROW(4, AQM_U32, sfb_conf, decrement, AQM_PROB, 720896, 0, U32_MAX, 0,
		"step down of a probability"),
	AQM_ROW(5, AQM_U32, sfb_conf, penalty_rate, AQM_COUNT, 10, 0, 100000, 0,
		"packets per second of flows that do not respond, all together"),
	AQM_ROW(6, AQM_U32, sfb_conf, penalty_burst, AQM_PKTS, 20, 0, 65535, 0,
		"packets that those flows may send at once"),
	AQM_ROW(7, AQM_U64, sfb_conf, rehash, AQM_NS, 600 * NS_PER_S, NS_PER_S, 86400 * NS_PER_S, 0,
		"time between changes of the hash"),
	AQM_ROW(8, AQM_U64, sfb_conf, warmup, AQM_NS, 60 * NS_PER_S, 0, 43200 * NS_PER_S, 0,
		"time that the next hash learns before it decides"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U32, sfb_state, "prob", prob, AQM_PROB, 0,
		"probability of the last arrival's flow"),
	AQM_STAT(2, AQM_U64, sfb_state, "penalised", penalised, AQM_COUNT, AQM_COUNTER,
		"arrivals of flows that do not respond"),
	AQM_END,
};
/* clang-format on */

static const char *check(const void *conf)
{
	const struct sfb_conf *c = conf;

	if (c->bin_target > c->bin_max)
		return "bin_target must not be larger than bin_max";
	return c->warmup < c->rehash ? NULL : "warmup must be shorter than rehash";
}

static struct bins *bins_of(struct sfb_state *s, u32 era)
{
	return &s->bins[era & 1];
}

/* Four bits for each level, of as much of the era as a packet carries. */
static u32 bin_numbers(const struct sfb_state *s, u32 era, u32 flow)
{
	return (u32)rng_mix(rng_mix(s->seed + (era << 1)) ^ flow);
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct sfb_state *s = st;
	const struct sfb_conf *c = conf;

	s->seed = seed;
	rng_seed(&s->rng, seed, 0);
	s->era = 1;
	s->era_ns = now;
	s->credit = c->penalty_burst * NS_PER_S;
	s->credit_at_ns = now;
	return AQM_NEVER;
}

/* The hash moves on a grid of time, so that no flow stays in a bad flow's bins. What the
 * bins hold stays: lengths because packets will be taken back, probabilities as in Linux. */
static void change_hash(struct sfb_state *s, const struct sfb_conf *c, u64 now)
{
	u64 passed;

	if (now - s->era_ns < c->rehash)
		return;
	passed = div64(now - s->era_ns, c->rehash);
	s->era_ns += passed * c->rehash;
	s->era += (u32)passed;
}

/* The reading of a flow's bins. */
struct opinion {
	u32 prob, pkts; /* the least on any level */
};

static struct opinion consult(struct bins *b, u32 numbers, const struct sfb_conf *c)
{
	struct opinion least = {U32_MAX, U32_MAX};
	u32 level;

	for (level = 0; level < LEVELS; level++, numbers >>= 4) {
		struct bin *bin = &b->at[level][numbers & (BINS - 1)];

		if (!bin->pkts)
			bin->prob -= bin->prob < c->decrement ? bin->prob : c->decrement;
		else if (bin->pkts >= c->bin_target)
			bin->prob += U32_MAX - bin->prob < c->increment ? U32_MAX - bin->prob
			                                                : c->increment;
		if (bin->prob < least.prob)
			least.prob = bin->prob;
		if (bin->pkts < least.pkts)
			least.pkts = bin->pkts;
	}
	return least;
}

static void count(struct sfb_state *s, u32 era, u32 flow, bool up)
{
	u32 level, numbers = bin_numbers(s, era, flow);

	for (level = 0; level < LEVELS; level++, numbers >>= 4) {
		u32 *pkts = &bins_of(s, era)->at[level][numbers & (BINS - 1)].pkts;

		*pkts = up ? *pkts + 1 : *pkts - 1;
	}
}

static struct aqm_verdict admit(struct sfb_state *s, struct aqm_pkt *pkt, bool taught,
                                struct aqm_verdict v)
{
	count(s, s->era, pkt->k.flow, true);
	if (taught)
		count(s, s->era + 1, pkt->k.flow, true);
	pkt->k.own = s->era << 1 | taught;
	return v;
}

/* Flows whose probability has reached one share a token bucket. */
static bool penalty_allows(struct sfb_state *s, const struct sfb_conf *c, u64 now)
{
	/* 65536 s fill the largest bucket at one a second; both terms are below 2^63 */
	u64 earned = min64(now - s->credit_at_ns, 65536 * NS_PER_S) * c->penalty_rate;

	s->penalised++;
	s->credit = min64(s->credit + earned, c->penalty_burst * NS_PER_S);
	s->credit_at_ns = now;
	if (!c->penalty_rate || s->credit < NS_PER_S)
		return false;
	s->credit -= NS_PER_S;
	return true;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct sfb_state *s = st;
	const struct sfb_conf *c = conf;
	u32 flow = pkt->k.flow;
	struct opinion of;
	bool warm;
	u32 draw;

	change_hash(s, c, now);
	warm = now - s->era_ns >= c->rehash - c->warmup;
	of = consult(bins_of(s, s->era), bin_numbers(s, s->era, flow), c);
	s->prob = of.prob;
	if (of.pkts >= c->bin_max)
		return aqm_drop(AQM_WHY_THRESHOLD);
	if (of.prob == U32_MAX) {
		/* only unresponsive flows train the next bins: paper, section 4 */
		if (warm)
			consult(bins_of(s, s->era + 1), bin_numbers(s, s->era + 1, flow), c);
		if (!penalty_allows(s, c, now))
			return aqm_drop(AQM_WHY_RATE);
		return admit(s, pkt, warm, aqm_pass());
	}
	draw = rng_u32(&s->rng);
	if (draw >= of.prob)
		return admit(s, pkt, false, aqm_pass());
	/* above one half marks alone no longer help: the upper part are drops */
	if (!aqm_can_mark(view, pkt) ||
	    (of.prob > 1u << 31 && draw < (of.prob - (1u << 31)) * 2))
		return aqm_drop(AQM_WHY_EARLY);
	return admit(s, pkt, false, aqm_signal(view, pkt, AQM_WHY_EARLY));
}

static void gone(void *st, const void *conf, u64 now, const struct aqm_view *view,
                 const struct aqm_pkt *pkt, u8 why)
{
	struct sfb_state *s = st;
	u32 era = pkt->k.own >> 1;

	(void)conf, (void)now, (void)view, (void)why;
	count(s, era, pkt->k.flow, false);
	if (pkt->k.own & 1)
		count(s, era + 1, pkt->k.flow, false);
}

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	gone(st, conf, now, view, pkt, 0);
	return aqm_pass();
}

const struct aqm_algo aqm_sfb = {
        .name = "sfb",
        .brief = "BLUE's probability in the bins of a Bloom filter, one per flow in effect",
        .source = "Feng et al., Stochastic Fair BLUE, INFOCOM 2001",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL | AQM_COMPARES,
        .queues = 1,
        .conf_bytes = sizeof(struct sfb_conf),
        .state_bytes = sizeof(struct sfb_state),
        .params = params,
        .stats = stats,
        .check = check,
        .start = start,
        .enqueue = enqueue,
        .dequeue = dequeue,
        .gone = gone,
};
