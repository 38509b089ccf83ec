// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// rem.c: Random Exponential Marking, Athuraliya, Low, Li and Yin, "REM: Active Queue
// Management", IEEE Network 15(3), 2001.

#include "aqm.h"
#include "law/power.h"
#include "rng.h"

/* Packets are Q52.12, prices Q20.44: a gain in Q0.32 times packets. */
#define PKTS_BITS  12
#define PRICE_BITS 44
/* No update counts more than 2^20 packets: then the price fits 64 bits after one of them. */
#define PKTS_MAX U32_MAX

struct rem_conf {
	u64 interval;
	u32 qref, avpkt;
	u32 gamma, alpha, phi; /* Q0.32; phi less 1 */
	u32 bytes;
	u32 growth;
};

struct rem_state {
	u64 price;     /* Q20.44 */
	u64 price_max; /* from here on p is 1 to 2^-32 */
	u64 log_phi;   /* log2 of phi, Q0.48 */
	u64 came;      /* packets or bytes since the last update */
	u64 queue;     /* at the last update, packets in Q52.12 */
	u64 updated_ns;
	u64 shown; /* price in whole numbers, for the reader */
	u32 prob;
	struct aqm_rng rng;
};

static const char *const rem_modes[] = {"packets", "bytes"};
static const char *const rem_excesses[] = {"rate", "growth"};

/* clang-format off */
static const struct aqm_field params[] = {
	/* As in ns-2, which has alpha in queue/rem.cc and the others in tcl/lib/ns-default.tcl. */
	AQM_ROW(1, AQM_U32, rem_conf, qref, AQM_PKTS, 20, 0, 1u << 17, 0,
		"queue that the price holds, b*"),
	AQM_ROW(2, AQM_U32, rem_conf, gamma, AQM_PROB, 4294967, 0, U32_MAX, 0,
		"how fast the price moves, for each packet too many"),
	AQM_ROW(3, AQM_U32, rem_conf, alpha, AQM_PROB, 429496730, 0, U32_MAX, 0,
		"weight of the queue beside that of the rate"),
	AQM_ROW(4, AQM_U32, rem_conf, phi, AQM_PROB, 4294967, 1u << 18, U32_MAX, 0,
		"phi - 1: the probability is 1 - phi^-price"),
	AQM_ROW(5, AQM_U64, rem_conf, interval, AQM_NS, 2 * NS_PER_MS, 10000, 10 * NS_PER_S, AQM_PERIOD,
		"time between updates of the price"),
	AQM_ROW(6, AQM_U32, rem_conf, avpkt, AQM_BYTES, 1000, 1, 65535, 0,
		"mean packet, by which the link's rate is counted in packets"),
	AQM_ROW_OF_CHOICES(7, rem_conf, bytes, rem_modes, 0, 1, AQM_FIXED,
		"what is counted; in bytes a packet's probability is in proportion to its size"),
	AQM_ROW_OF_CHOICES(8, rem_conf, growth, rem_excesses, 0, 1, AQM_FIXED,
		"in - c: what came less what the link could send, or the growth of the queue"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U64, rem_state, "price", shown, AQM_COUNT, 0, "congestion price"),
	AQM_STAT(2, AQM_U32, rem_state, "prob", prob, AQM_PROB, 0,
		"signal probability; in bytes of a mean packet"),
	AQM_END,
};
/* clang-format on */

static void show(struct rem_state *s)
{
	u64 p_q63 = ((u64)1 << 63) - power_of_half(mulshift64(s->price, s->log_phi, 60));

	s->prob = (u32)min64(p_q63 >> 31, U32_MAX);
	s->shown = s->price >> PRICE_BITS;
}

static void configure(void *st, const void *conf, const struct aqm_view *view)
{
	struct rem_state *s = st;
	const struct rem_conf *c = conf;

	(void)view;
	s->log_phi = log2_of_1_and(c->phi);
	/* phi^-price is 2^-33; a price without a bound would take as long to come down. The
	 * least phi is 1 + 2^-14: with it the bound is 374,800, below 2^19. */
	s->price_max = muldiv64((u64)33 << PRICE_BITS, (u64)1 << 48, s->log_phi);
	s->price = min64(s->price, s->price_max);
	show(s);
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	struct rem_state *s = st;
	const struct rem_conf *c = conf;

	rng_seed(&s->rng, seed, 0);
	s->updated_ns = now;
	return now + c->interval;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct rem_state *s = st;
	const struct rem_conf *c = conf;
	u64 prob = s->prob;

	(void)now;
	s->came += c->bytes ? pkt->len : 1;
	if (c->bytes)
		prob = min64(div64(prob * pkt->len, c->avpkt), U32_MAX);
	if (!rng_chance(&s->rng, (u32)prob))
		return aqm_pass();
	return aqm_signal(view, pkt, AQM_WHY_EARLY);
}

static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct rem_state *s = st;
	const struct rem_conf *c = conf;

	(void)now, (void)view;
	s->came += c->bytes ? pkt->len : 1;
	return aqm_drop(AQM_WHY_LIMIT);
}

/* Packets or bytes as packets, Q52.12. */
static u64 packets(const struct rem_conf *c, u64 count)
{
	return c->bytes ? div64(count << PKTS_BITS, c->avpkt) : count << PKTS_BITS;
}

static u64 queue_of(const struct rem_conf *c, const struct aqm_view *view)
{
	return packets(c, c->bytes ? view->bytes : view->pkts);
}

/* in + alpha (q - b*) - c, in packets, Q52.12; c is what the link could send in `span_ns`, in
 * which the arrivals came. That is the interval, but for the first update after a change of it.
 * By growth in - c is what the queue has grown, and the paper's q is that of before.
 */
static s64 excess(const struct rem_state *s, const struct rem_conf *c,
                  const struct aqm_view *view, u64 span_ns)
{
	u64 now = queue_of(c, view);
	u64 queue = c->growth ? s->queue : now;
	u64 wanted = (u64)c->qref << PKTS_BITS;
	u64 apart = queue > wanted ? queue - wanted : wanted - queue;
	s64 term = (s64)mulshift64(apart, c->alpha, 32);
	u64 came = c->growth ? now : packets(c, s->came);
	u64 served = c->growth ? s->queue
	                       : muldiv64(view->rate_bytes_s << PKTS_BITS, span_ns,
	                                  c->avpkt * NS_PER_S);

	return (s64)came + (queue < wanted ? -term : term) - (s64)served;
}

/* So many steps of the price, held above 0. */
static void move(struct rem_state *s, const struct rem_conf *c, s64 by, u64 times)
{
	u64 size = min64((u64)(by < 0 ? -by : by), PKTS_MAX) * c->gamma;
	u64 room = by < 0 ? s->price : s->price_max - s->price;
	u64 most = size ? div64(room, size) + 1 : 0;
	u64 all = times >= most ? room : times * size;

	if (size)
		s->price = by < 0 ? s->price - all : s->price + all;
	s->came = 0;
	show(s);
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *view)
{
	struct rem_state *s = st;
	const struct rem_conf *c = conf;

	move(s, c, excess(s, c, view, now - s->updated_ns), 1);
	s->queue = queue_of(c, view);
	s->updated_ns = now;
	return now + c->interval;
}

/* Without events the queue stands and nothing comes: but for the first, all steps are equal. */
static u64 idle(void *st, const void *conf, const struct aqm_view *view, u64 from, u64 to)
{
	struct rem_state *s = st;
	const struct rem_conf *c = conf;
	u64 times = div64(to - from, c->interval);

	tick(st, conf, from, view);
	move(s, c, excess(s, c, view, c->interval), times);
	s->updated_ns += times * c->interval;
	return s->updated_ns + c->interval;
}

const struct aqm_algo aqm_rem = {
        .name = "rem",
        .brief = "a price of rate and queue; signals are exponential in it",
        .source = "Athuraliya et al., REM, IEEE Network 15(3), 2001",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL | AQM_NEEDS_RATE,
        .queues = 1,
        .conf_bytes = sizeof(struct rem_conf),
        .state_bytes = sizeof(struct rem_state),
        .params = params,
        .stats = stats,
        .configure = configure,
        .start = start,
        .enqueue = enqueue,
        .overflow = overflow,
        .tick = tick,
        .idle = idle,
};
