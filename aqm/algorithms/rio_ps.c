// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// rio_ps.c: RIO with preferential treatment of short flows, Guo and Matta, "The War Between
// Mice and Elephants", ICNP 2001; RIO (RED with In and Out) itself: Clark and Fang, "Explicit
// Allocation of Best-Effort Packet Delivery Service", IEEE/ACM ToN 6(4), 1998. The edge
// router's count of each flow's packets is in the same queue.

#include "aqm.h"
#include "law/red.h"

/* 4096 flows: a flow's hash gives its set, in which it has one of four places. */
#define SETS   1024
#define PLACES 4

#define THRESHOLD_MAX (1u << 24)

struct rio_ps_conf {
	u64 expiry;
	u32 short_min, short_max, long_min, long_max; /* packets of average queue */
	u32 short_probability, long_probability;
	u32 weight;
	u32 avpkt;
	u32 threshold;
	u32 records;
};

enum { RIO_LONG, RIO_SHORT, RIO_CLASSES };

struct flow_count {
	u64 seen_ns;
	u32 flow;
	u32 pkts; /* 0: the place is free */
};

/* A packet's own word is its class. */
struct rio_ps_state {
	struct red_average avg[RIO_CLASSES]; /* of all packets; of those of short flows */
	u32 short_pkts;                      /* of short flows, in the queue */
	u32 count[RIO_CLASSES]; /* 1 + RED's: packets between the thresholds since a signal */
	u32 prob, sets;
	u64 average, short_average; /* whole packets, for the reader */
	u64 short_arrivals, short_signals;
	u64 seed;
	struct aqm_rng rng;
	struct flow_count flows[SETS][PLACES];
};

/* clang-format off */
static const struct aqm_field params[] = {
	/* Curves and weight as in ns-2's RIO: In is short. */
	AQM_ROW(1, AQM_U32, rio_ps_conf, short_min, AQM_PKTS, 15, 1, (1u << 17) - 1, 0,
		"average of short flows' packets below which they are let in"),
	AQM_ROW(2, AQM_U32, rio_ps_conf, short_max, AQM_PKTS, 30, 2, 1u << 17, 0,
		"average of short flows' packets from which on they all get the signal"),
	AQM_ROW(3, AQM_U32, rio_ps_conf, short_probability, AQM_PROB, 85899346, 1, U32_MAX, 0,
		"signal probability of short flows just below short_max"),
	AQM_ROW(4, AQM_U32, rio_ps_conf, long_min, AQM_PKTS, 5, 1, (1u << 17) - 1, 0,
		"average queue below which packets of long flows are let in"),
	AQM_ROW(5, AQM_U32, rio_ps_conf, long_max, AQM_PKTS, 15, 2, 1u << 17, 0,
		"average queue from which on long flows all get the signal"),
	AQM_ROW(6, AQM_U32, rio_ps_conf, long_probability, AQM_PROB, 429496730, 1, U32_MAX, 0,
		"signal probability of long flows just below long_max"),
	AQM_ROW(7, AQM_U32, rio_ps_conf, weight, AQM_LOG2, 9, 1, 20, 0,
		"averages move by this negative power of two of the difference"),
	AQM_ROW(8, AQM_U32, rio_ps_conf, avpkt, AQM_BYTES, 1000, 1, 65535, 0,
		"mean packet, for the decay of the averages while idle"),
	AQM_ROW(9, AQM_U32, rio_ps_conf, threshold, AQM_PKTS, 8, 0, THRESHOLD_MAX, 0,
		"first packets of a flow that are those of a short one, L_t"),
	AQM_ROW(10, AQM_U64, rio_ps_conf, expiry, AQM_NS, NS_PER_S, NS_PER_MS, 3600 * NS_PER_S, 0,
		"silence after which a flow is counted anew"),
	AQM_ROW(11, AQM_U32, rio_ps_conf, records, AQM_COUNT, SETS * PLACES, PLACES, SETS * PLACES, AQM_FIXED,
		"flows that are counted, in sets of four"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U64, rio_ps_state, "average", average, AQM_PKTS, 0, "average queue"),
	AQM_STAT(2, AQM_U64, rio_ps_state, "short_average", short_average, AQM_PKTS, 0,
		"average number of short flows' packets in the queue"),
	AQM_STAT(3, AQM_U32, rio_ps_state, "prob", prob, AQM_PROB, 0,
		"signal probability of the last arrival"),
	AQM_STAT(4, AQM_U64, rio_ps_state, "short_arrivals", short_arrivals, AQM_COUNT, AQM_COUNTER,
		"arrivals of short flows"),
	AQM_STAT(5, AQM_U64, rio_ps_state, "short_signals", short_signals, AQM_COUNT, AQM_COUNTER,
		"drops and marks of short flows' arrivals"),
	AQM_END,
};
/* clang-format on */

static const char *check(const void *conf)
{
	const struct rio_ps_conf *c = conf;

	if (c->short_min >= c->short_max)
		return "short_min must be smaller than short_max";
	return c->long_min < c->long_max ? NULL : "long_min must be smaller than long_max";
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct rio_ps_state *s = st;
	const struct rio_ps_conf *c = conf;

	s->sets = c->records / PLACES;
	s->avg[RIO_LONG].empty_ns = s->avg[RIO_SHORT].empty_ns = now;
	s->seed = rng_mix(seed);
	rng_seed(&s->rng, seed, 0);
	return AQM_NEVER;
}

/* The flow's count, first of its set. A set is in the order in which its flows were seen, and a
 * new flow pushes out the last; a flow that was pushed out is short again. */
static struct flow_count *count_of(struct rio_ps_state *s, u32 flow)
{
	u32 place = 0, hash = (u32)rng_mix(s->seed ^ flow);
	struct flow_count *set = s->flows[((u64)hash * s->sets) >> 32], found;

	while (place < PLACES - 1 && set[place].flow != flow)
		place++;
	found = set[place];
	if (found.flow != flow)
		found = (struct flow_count){.flow = flow};
	for (; place; place--)
		set[place] = set[place - 1];
	set[0] = found;
	return set;
}

/* Counts an arrival, lost or not, as the edge router does. */
static u32 class_of(struct rio_ps_state *s, const struct rio_ps_conf *c, u64 now, u32 flow)
{
	struct flow_count *f = count_of(s, flow);

	if (now - f->seen_ns >= c->expiry)
		f->pkts = 0;
	f->seen_ns = now;
	/* one more than any threshold stands for all larger numbers */
	f->pkts += f->pkts <= THRESHOLD_MAX;
	if (f->pkts > c->threshold)
		return RIO_LONG;
	s->short_arrivals++;
	return RIO_SHORT;
}

/* differs: both averages move at each arrival. */
static void measure(struct rio_ps_state *s, const struct rio_ps_conf *c, u64 now,
                    const struct aqm_view *view)
{
	u64 rate = red_rate(view->rate_bytes_s);

	red_update(&s->avg[RIO_LONG], now, view->pkts, c->weight, rate, c->avpkt);
	red_update(&s->avg[RIO_SHORT], now, s->short_pkts, c->weight, rate, c->avpkt);
	s->average = s->avg[RIO_LONG].scaled >> RED_FRACTION;
	s->short_average = s->avg[RIO_SHORT].scaled >> RED_FRACTION;
	s->prob = 0;
}

/* A long flow's packet goes by the average of all packets, a short one's by that of its own. */
static struct aqm_verdict decide(struct rio_ps_state *s, const struct rio_ps_conf *c, u32 class,
                                 const struct aqm_view *view, struct aqm_pkt *pkt)
{
	const struct red_average *avg = &s->avg[class];
	u32 min = class == RIO_SHORT ? c->short_min : c->long_min;
	u32 max = class == RIO_SHORT ? c->short_max : c->long_max;
	u32 most = class == RIO_SHORT ? c->short_probability : c->long_probability;

	if (avg->scaled < red_scaled(min)) {
		s->count[class] = 0;
		return aqm_pass();
	}
	if (avg->scaled >= red_scaled(max)) {
		s->count[class] = 1;
		return aqm_signal(view, pkt, AQM_WHY_THRESHOLD);
	}
	s->prob = red_slope_q32(avg, min, max, most);
	if (!red_signals(&s->rng, s->prob, s->count[class]++))
		return aqm_pass();
	s->count[class] = 1;
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct rio_ps_state *s = st;
	const struct rio_ps_conf *c = conf;
	u32 class = class_of(s, c, now, pkt->k.flow);
	struct aqm_verdict v;

	measure(s, c, now, view);
	v = decide(s, c, class, view, pkt);
	pkt->k.own = class;
	if (class == RIO_SHORT) {
		s->short_signals += v.act != AQM_PASS;
		s->short_pkts += v.act != AQM_DROP;
	}
	return v;
}

/* As in red.c: one more forced drop. */
static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct rio_ps_state *s = st;
	u32 class = class_of(s, conf, now, pkt->k.flow);

	measure(s, conf, now, view);
	s->count[class] = 1;
	s->short_signals += class == RIO_SHORT;
	return aqm_drop(AQM_WHY_LIMIT);
}

static void gone(void *st, const void *conf, u64 now, const struct aqm_view *view,
                 const struct aqm_pkt *pkt, u8 why)
{
	struct rio_ps_state *s = st;

	(void)conf, (void)why;
	if (!view->pkts)
		red_emptied(&s->avg[RIO_LONG], now);
	if (pkt->k.own == RIO_SHORT && !--s->short_pkts)
		red_emptied(&s->avg[RIO_SHORT], now);
}

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	gone(st, conf, now, view, pkt, 0);
	return aqm_pass();
}

const struct aqm_algo aqm_rio_ps = {
        .name = "rio_ps",
        .brief = "RED with two curves: a gentler one for the first packets of each flow",
        .source = "Clark, Fang, RIO, ToN 1998; Guo, Matta, ICNP 2001",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL | AQM_COMPARES,
        .queues = 1,
        .conf_bytes = sizeof(struct rio_ps_conf),
        .state_bytes = sizeof(struct rio_ps_state),
        .params = params,
        .stats = stats,
        .check = check,
        .start = start,
        .enqueue = enqueue,
        .overflow = overflow,
        .dequeue = dequeue,
        .gone = gone,
};
