// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// avq.c: Adaptive Virtual Queue, Kunniyur and Srikant, "Analysis and Design of an Adaptive
// Virtual Queue (AVQ) Algorithm for Active Queue Management", SIGCOMM 2001.

#include "aqm.h"
#include "fixed.h"

/* Bits behind the point. The row `bandwidth` is at most 2^41, so a rate is below 2^62. */
#define AVQ_FRACTION 20

struct avq_conf {
	u32 gamma, alpha; /* Q0.32 */
	u32 buffer;
	u32 accepted;
};

struct avq_state {
	u64 rate;  /* C~, bytes/s * 2^20 */
	u64 queue; /* VQ, bytes * 2^20 */
	u64 last_ns, adapted_ns;
	u64 link;                        /* C at the last arrival, bytes/s; 0: none yet */
	u64 virtual_rate, virtual_queue; /* whole numbers, for the reader */
};

/* clang-format off */
static const struct aqm_field params[] = {
	/* As in ns-2, queue/vq.cc. */
	AQM_ROW(1, AQM_U32, avq_conf, gamma, AQM_PROB, 4209067950u, 1, U32_MAX, 0,
		"desired utilisation of the link"),
	AQM_ROW(2, AQM_U32, avq_conf, alpha, AQM_PROB, 644245094, 1, U32_MAX, 0,
		"how fast the virtual capacity adapts, per second"),
	AQM_ROW(3, AQM_U32, avq_conf, buffer, AQM_BYTES, 0, 0, U32_MAX, 0,
		"buffer of the virtual queue; 0: the limits, in packets of the MTU"),
	AQM_ROW(4, AQM_BOOL, avq_conf, accepted, AQM_COUNT, 0, 0, 1, 0,
		"as in ns-2, what the virtual queue drops does not move the virtual capacity"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U64, avq_state, "virtual_rate", virtual_rate, AQM_BYTES_PER_S, 0,
		"capacity of the virtual queue"),
	AQM_STAT(2, AQM_U64, avq_state, "virtual_queue", virtual_queue, AQM_BYTES, 0,
		"virtual queue"),
	AQM_END,
};
/* clang-format on */

static void configure(void *st, const void *conf, const struct aqm_view *view)
{
	struct avq_state *s = st;

	(void)conf;
	/* The paper does not say where C~ begins. After a time without packets it is C. */
	if (!s->link) {
		s->link = view->rate_bytes_s;
		s->rate = s->link << AVQ_FRACTION;
	}
	s->virtual_rate = s->rate >> AVQ_FRACTION;
}

/* C~ is C and VQ is 0: how long before the first arrival this was changes neither. */
static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	(void)st, (void)conf, (void)now, (void)seed;
	return AQM_NEVER;
}

static u64 room(const struct avq_conf *c, const struct aqm_view *view)
{
	if (c->buffer)
		return c->buffer;
	return min64(view->limit_bytes, (u64)view->limit_pkts * view->mtu_bytes);
}

/* differs: the paper's C is constant. C~ comes back by alpha gamma C a second only, so that it
 * would be far below C long after a link was slow. On a slower one it keeps its share, and it
 * gains all that C gains. C~ stays at or below C. */
static void follow(struct avq_state *s, u64 link)
{
	if (link > s->link)
		s->rate += (link - s->link) << AVQ_FRACTION;
	else if (link < s->link)
		s->rate = muldiv64(s->rate, link, s->link);
	s->link = link;
}

/* C~ = max(min(C~ + alpha gamma C (t - s), C) - alpha b, 0) */
static void adapt(struct avq_state *s, const struct avq_conf *c, u64 since_ns, u32 len)
{
	u64 capacity = s->link << AVQ_FRACTION;
	u64 slope = mulshift64(mulshift64(capacity, c->gamma, 32), c->alpha, 32);
	u64 grown = muldiv64(slope, since_ns, NS_PER_S);
	u64 spent = (u64)c->alpha * len >> (32 - AVQ_FRACTION);

	s->rate += min64(grown, capacity - s->rate);
	s->rate -= min64(spent, s->rate);
}

/* The paper's pseudo-code, at each arrival: does the packet get the signal? */
static bool virtual_arrival(struct avq_state *s, const struct avq_conf *c, u64 now,
                            const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	u64 size = (u64)pkt->len << AVQ_FRACTION;
	bool signal;

	s->queue -= min64(s->queue, muldiv64(s->rate, now - s->last_ns, NS_PER_S));
	s->last_ns = now;
	follow(s, view->rate_bytes_s);
	signal = s->queue + size > room(c, view) << AVQ_FRACTION;
	if (!signal)
		s->queue += size;
	if (!signal || !c->accepted || aqm_can_mark(view, pkt)) {
		adapt(s, c, now - s->adapted_ns, pkt->len);
		s->adapted_ns = now;
	}
	s->virtual_rate = s->rate >> AVQ_FRACTION;
	s->virtual_queue = s->queue >> AVQ_FRACTION;
	return signal;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	if (virtual_arrival(st, conf, now, view, pkt))
		return aqm_signal(view, pkt, AQM_WHY_THRESHOLD);
	return aqm_pass();
}

static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *view, struct aqm_pkt *pkt)
{
	(void)virtual_arrival(st, conf, now, view, pkt);
	return aqm_drop(AQM_WHY_LIMIT);
}

const struct aqm_algo aqm_avq = {
        .name = "avq",
        .brief = "signals to what a slower virtual queue would drop; its capacity adapts",
        .source = "Kunniyur, Srikant, AVQ, SIGCOMM 2001",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL | AQM_NEEDS_RATE,
        .queues = 1,
        .conf_bytes = sizeof(struct avq_conf),
        .state_bytes = sizeof(struct avq_state),
        .params = params,
        .stats = stats,
        .configure = configure,
        .start = start,
        .enqueue = enqueue,
        .overflow = overflow,
};
