// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// dualpi2.c: DualQ Coupled AQM with PI2, RFC 9332, appendix A. A queue for L4S and one for
// Classic traffic; one base probability, squared for Classic and multiplied for L4S.

#include "aqm.h"
#include "fixed.h"

struct dualpi2_conf {
	u64 target, tupdate, min_th, range, tshift;
	u32 alpha, beta; /* 1/256 Hz */
	u32 coupling, th_len;
	u32 scheduler;
	u32 classic_share; /* Q0.32 */
	u32 spared;
};

enum { CLASSIC, L4S, LANES };
enum { SCHED_WRR, SCHED_TS_FIFO };

/* Probabilities are Q0.48: the smallest step, 1 ns at 1/256 Hz, is 1100 units. */
#define ONE ((u64)1 << 48)

struct dualpi2_state {
	u64 base; /* p' */
	u64 delay;
	u64 count[LANES]; /* of the recurrence function, below 2 */
	s64 credit;       /* of the Classic queue, bytes * 2^32 */
	u32 prob, prob_classic, prob_coupled;
	u32 begun;
};

/* Longer delays count as this one, 4.3 s: so the time in which overdue updates differ
 * is bounded, and gain (2^16) times delay (2^32), twice, fits an s64. */
#define LONGEST_NS ((u64)1 << 32)

/* Not in the RFC: bounds the time of one dequeue. */
#define DROPS_MAX 256

/* A packet that is longer is charged as this one, so that its bytes * 2^32 fit. */
#define CHARGE_MAX (1u << 24)

static const char *const schedulers[] = {"wrr", "ts_fifo"};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U64, dualpi2_conf, target, AQM_NS, 15 * NS_PER_MS, 1000, NS_PER_S, 0,
		"queue delay that the base probability is driven to"),
	AQM_ROW(2, AQM_U64, dualpi2_conf, tupdate, AQM_NS, 16 * NS_PER_MS, NS_PER_MS, NS_PER_S, AQM_PERIOD,
		"time between updates of the base probability"),
	/* 0.16 Hz and 3.2 Hz as nearly as Linux's dualpi2 has them. */
	AQM_ROW(3, AQM_U32, dualpi2_conf, alpha, AQM_HZ_256, 41, 0, 65535, 0,
		"gain on delay minus target, in 256ths of a hertz"),
	AQM_ROW(4, AQM_U32, dualpi2_conf, beta, AQM_HZ_256, 819, 0, 65535, 0,
		"gain on the change of delay, in 256ths of a hertz"),
	AQM_ROW(5, AQM_U32, dualpi2_conf, coupling, AQM_COUNT, 2, 1, 255, 0,
		"L4S packets are marked with this many times the base probability"),
	AQM_ROW(6, AQM_U64, dualpi2_conf, min_th, AQM_NS, 800000, 0, NS_PER_S, 0,
		"delay from which on L4S packets are marked for their own queue"),
	AQM_ROW(7, AQM_U64, dualpi2_conf, range, AQM_NS, 400000, 0, NS_PER_S, 0,
		"from there, delay until all are marked; 0: a step"),
	AQM_ROW(8, AQM_U32, dualpi2_conf, th_len, AQM_PKTS, 1, 0, 65535, 0,
		"L4S packets that may wait without being marked for their delay"),
	AQM_ROW_OF_CHOICES(9, dualpi2_conf, scheduler, schedulers, SCHED_WRR, SCHED_TS_FIFO, 0,
		"weighted round robin, or the longest wait with L4S shifted ahead"),
	AQM_ROW(10, AQM_U32, dualpi2_conf, classic_share, AQM_PROB, 1u << 28, 1, 1u << 31, 0,
		"wrr: least share of the link for Classic traffic"),
	AQM_ROW(11, AQM_U64, dualpi2_conf, tshift, AQM_NS, 50 * NS_PER_MS, 0, 10 * NS_PER_S, 0,
		"ts_fifo: how much longer a Classic packet waits"),
	/* As in Linux, which the RFC names. */
	AQM_ROW(12, AQM_U32, dualpi2_conf, spared, AQM_PKTS, 2, 0, 65535, 0,
		"full-sized packets up to which a backlog gets no signal of the base probability"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U32, dualpi2_state, "prob", prob, AQM_PROB, 0, "base probability"),
	AQM_STAT(2, AQM_U32, dualpi2_state, "prob_classic", prob_classic, AQM_PROB, 0,
		"of a drop or a mark, Classic"),
	AQM_STAT(3, AQM_U32, dualpi2_state, "prob_coupled", prob_coupled, AQM_PROB, 0,
		"of a mark, L4S, as far as it is coupled"),
	AQM_STAT(4, AQM_U64, dualpi2_state, "delay", delay, AQM_NS, 0,
		"delay used by the last update"),
	AQM_END,
};

/* As in Linux: 10000 packets, and marks, since L4S is made of them. */
static const struct aqm_default defaults[] = {
	{"limit", 10000},
	{"ecn", 1},
	{NULL, 0},
};
/* clang-format on */

/* The Classic queue starts, and starts again when both are empty, in debt by the cost of a
 * full-sized packet. */
static void favour_l4s(struct dualpi2_state *s, const struct dualpi2_conf *c, u32 mtu_bytes)
{
	s->credit = -(s64)(((1ull << 32) - c->classic_share) * mtu_bytes);
}

static void configure(void *st, const void *conf, const struct aqm_view *views)
{
	struct dualpi2_state *s = st;

	if (!s->begun)
		favour_l4s(s, conf, views->mtu_bytes);
	s->begun = 1;
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	const struct dualpi2_conf *c = conf;

	(void)st, (void)seed;
	return now + c->tupdate;
}

/* Figure 3. Without ECN nothing can be marked: all of it is Classic. */
static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *views, struct aqm_pkt *pkt)
{
	struct aqm_verdict v = aqm_pass();

	(void)st, (void)conf, (void)now;
	v.queue = views->ecn && pkt->ecn & 1 ? L4S : CLASSIC;
	return v;
}

/* ---- the schedulers ---- */

/* How long the first packet has waited; 0: there is none. */
static u64 waited_ns(const struct aqm_view *view, u64 now)
{
	struct aqm_pkt head;

	return view->peek(view, 0, &head) ? aqm_sojourn_ns(now, &head) : 0;
}

static u32 pick(void *st, const void *conf, u64 now, const struct aqm_view *views)
{
	const struct dualpi2_state *s = st;
	const struct dualpi2_conf *c = conf;

	if (!views[L4S].pkts || !views[CLASSIC].pkts)
		return views[L4S].pkts ? L4S : CLASSIC;
	if (c->scheduler == SCHED_TS_FIFO)
		return waited_ns(&views[L4S], now) + c->tshift >=
		                       waited_ns(&views[CLASSIC], now)
		               ? L4S
		               : CLASSIC;
	return s->credit >= 0 ? CLASSIC : L4S;
}

/* A packet leaves. Only where both have packets one of them had to wait. A share is below
 * 2^32 and a length at most 2^24, and the credit no further from 0 than two such: it decides
 * who is next. Where it does not (ts_fifo) it stays. */
static void charge(struct dualpi2_state *s, const struct dualpi2_conf *c,
                   const struct aqm_view *views, const struct aqm_pkt *pkt)
{
	u64 len = min64(pkt->len, CHARGE_MAX);

	if (c->scheduler != SCHED_WRR || !views[!pkt->lane].pkts)
		return;
	if (pkt->lane == L4S)
		s->credit += (s64)(c->classic_share * len);
	else
		s->credit -= (s64)(((1ull << 32) - c->classic_share) * len);
}

static void empty(void *st, const void *conf, u64 now, const struct aqm_view *views)
{
	(void)now;
	favour_l4s(st, conf, views->mtu_bytes);
}

/* ---- the signals ---- */

/* Figure 4: a deterministic recurrence, without chance. */
static bool recur(u64 *count, u64 likelihood)
{
	*count += likelihood;
	if (*count <= ONE)
		return false;
	*count -= ONE;
	return true;
}

/* Figure 5. */
static u64 native(const struct dualpi2_conf *c, u64 delay_ns)
{
	if (delay_ns >= c->min_th + c->range)
		return ONE;
	if (delay_ns <= c->min_th)
		return 0;
	return muldiv64(delay_ns - c->min_th, ONE, c->range);
}

static u64 squared(u64 base)
{
	return mulshift64(base, base, 48);
}

static struct aqm_verdict mark(u8 why)
{
	return (struct aqm_verdict){.act = AQM_MARK, .why = why};
}

/* Figure 7, lines 4b to 8j. */
static struct aqm_verdict offer_l4s(struct dualpi2_state *s, const struct dualpi2_conf *c,
                                    u64 now, const struct aqm_view *view,
                                    const struct aqm_pkt *pkt, bool spared)
{
	u64 coupled = spared ? 0 : s->base * c->coupling, own = 0;

	if (coupled >= ONE) {
		if (recur(&s->count[L4S], squared(s->base)) && pkt->nth < DROPS_MAX)
			return aqm_drop(AQM_WHY_EARLY);
		return mark(AQM_WHY_EARLY);
	}
	if (view->pkts >= c->th_len)
		own = native(c, aqm_sojourn_ns(now, pkt));
	if (!recur(&s->count[L4S], max64(own, coupled)))
		return aqm_pass();
	return mark(own > coupled ? AQM_WHY_DELAY : AQM_WHY_EARLY);
}

/* Figure 7, lines 10 to 17. Overload, p_C >= 1 / k^2, is k p' >= 1. */
static struct aqm_verdict offer_classic(struct dualpi2_state *s, const struct dualpi2_conf *c,
                                        const struct aqm_view *view, const struct aqm_pkt *pkt,
                                        bool spared)
{
	bool overload = s->base * c->coupling >= ONE;

	if (spared || !recur(&s->count[CLASSIC], squared(s->base)))
		return aqm_pass();
	if (aqm_can_mark(view, pkt) && !overload)
		return mark(AQM_WHY_EARLY);
	return pkt->nth < DROPS_MAX ? aqm_drop(AQM_WHY_EARLY) : aqm_pass();
}

/* Where so little waits behind the packet, a loss might leave the link idle. */
static bool is_spared(const struct dualpi2_conf *c, const struct aqm_view *views)
{
	return (u64)views[CLASSIC].bytes + views[L4S].bytes < (u64)c->spared * views->mtu_bytes;
}

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *views, const struct aqm_pkt *pkt)
{
	const struct aqm_view *view = &views[pkt->lane];
	bool spared = is_spared(conf, views);
	struct aqm_verdict v;

	/* ECN may have been switched off while the packet waited. */
	if (pkt->lane == L4S && aqm_can_mark(view, pkt))
		v = offer_l4s(st, conf, now, view, pkt, spared);
	else
		v = offer_classic(st, conf, view, pkt, spared);
	if (v.act != AQM_DROP)
		charge(st, conf, views, pkt);
	return v;
}

/* ---- the base probability, figure 8 ---- */

/* alpha (now - target) + beta (now - before), as Q0.48; rounded toward 0. Of 256ths of a
 * hertz times ns that is 2^48 / (2^8 10^9) = 2^31 / 5^9, and the product is below 2^50. */
#define FIVE_9 1953125u

static s64 step(const struct dualpi2_conf *c, u64 delay_ns, u64 before_ns)
{
	s64 sum = (s64)c->alpha * ((s64)delay_ns - (s64)c->target) +
	          (s64)c->beta * ((s64)delay_ns - (s64)before_ns);
	u64 hz_ns = (u64)(sum < 0 ? -sum : sum), fives = div64(hz_ns, FIVE_9);
	u64 size = (fives << 31) + div64((hz_ns - fives * FIVE_9) << 31, FIVE_9);

	return sum < 0 ? -(s64)size : (s64)size;
}

static void move(struct dualpi2_state *s, s64 by)
{
	if (by < 0)
		s->base -= min64(s->base, (u64)-by);
	else
		s->base += min64(ONE - s->base, (u64)by);
}

static u64 longest_ns(const struct aqm_view *views, u64 now)
{
	return max64(waited_ns(&views[CLASSIC], now), waited_ns(&views[L4S], now));
}

static void update(struct dualpi2_state *s, const struct dualpi2_conf *c, u64 delay_ns)
{
	delay_ns = min64(delay_ns, LONGEST_NS);
	move(s, step(c, delay_ns, s->delay));
	s->delay = delay_ns;
}

static u32 q32(u64 x)
{
	return (u32)min64(x >> 16, U32_MAX);
}

static void show(struct dualpi2_state *s, const struct dualpi2_conf *c)
{
	s->prob = q32(s->base);
	s->prob_classic = q32(squared(s->base));
	s->prob_coupled = q32(s->base * c->coupling);
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *views)
{
	const struct dualpi2_conf *c = conf;

	update(st, c, longest_ns(views, now));
	show(st, c);
	return now + c->tupdate;
}

/* An empty queue has no delay from its first update on. In one that stands the delay grows
 * by the time between updates, up to LONGEST_NS. From there on all steps are equal. */
static u64 idle(void *st, const void *conf, const struct aqm_view *views, u64 from, u64 to)
{
	struct dualpi2_state *s = st;
	const struct dualpi2_conf *c = conf;
	u64 held = (u64)views[CLASSIC].pkts + views[L4S].pkts;
	u64 growth = held ? c->tupdate : 0;
	u64 delay_ns, after, left, size;
	s64 by;

	delay_ns = longest_ns(views, from);
	after = grid_after(from, to, c->tupdate);
	do {
		update(s, c, delay_ns);
		from += c->tupdate;
		delay_ns += growth;
	} while (from < after && s->delay != min64(delay_ns, LONGEST_NS));
	left = div64(after - from, c->tupdate);
	by = step(c, s->delay, s->delay);
	size = (u64)(by < 0 ? -by : by);
	/* One step may be as large as all that p' can move. */
	if (left && size)
		move(s, (by < 0 ? -1 : 1) * (s64)(left > div64(ONE, size) ? ONE : left * size));
	show(s, c);
	return after;
}

const struct aqm_algo aqm_dualpi2 = {
        .name = "dualpi2",
        .brief = "an L4S queue and a Classic one, coupled by a PI controller",
        .source = "RFC 9332",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_HEAD,
        .queues = LANES,
        .conf_bytes = sizeof(struct dualpi2_conf),
        .state_bytes = sizeof(struct dualpi2_state),
        .params = params,
        .stats = stats,
        .defaults = defaults,
        .configure = configure,
        .start = start,
        .enqueue = enqueue,
        .pick = pick,
        .dequeue = dequeue,
        .empty = empty,
        .tick = tick,
        .idle = idle,
};
