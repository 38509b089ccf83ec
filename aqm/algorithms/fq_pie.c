// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// fq_pie.c: FlowQueue-PIE, net/sched/sch_fq_pie.c of Linux. The PIE of RFC 8033 in each of many
// flows; the queue serves them (flows.h).

#include "law/pie_rows.h"

struct fq_pie_conf {
	struct pie_law_conf law;
	u32 ecn_prob; /* percent, as tc counts it */
	u32 bytemode;
};

/* clang-format off */
static const struct aqm_field params[] = {
	PIE_ROWS_OF_THE_LAW,
	AQM_ROW(6, AQM_U32, fq_pie_conf, ecn_prob, AQM_COUNT, 10, 0, 100, 0,
		"percent of probability above which packets are dropped and not marked"),
	PIE_ROWS_OF_ITS_WAYS,
	AQM_ROW(9, AQM_BOOL, fq_pie_conf, bytemode, AQM_COUNT, 0, 0, 1, 0,
		"scale the probability of a packet by its part of an MTU"),
	AQM_END,
};
/* clang-format on */

/* fq_pie_init(). Its quantum and memory_limit are the queue's own defaults. */
static const struct aqm_default defaults[] = {
        {"limit", 10240},
        {"flows", 1024},
        {NULL, 0},
};

/* pie_drop_early(): a packet above the MTU has the flow's own probability. The quotient is cut
 * first, so that the product stays below prob. */
static u64 own_prob(u64 prob, u32 bytemode, u32 len, u32 mtu_bytes)
{
	return bytemode && len <= mtu_bytes ? div64(prob, mtu_bytes) * len : prob;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct pie_state *s = st;
	const struct fq_pie_conf *c = conf;
	/* 100 * 2^56 fits */
	bool markable = s->law.prob <= div64(c->ecn_prob * PIE_ONE, 100);

	(void)now;
	return pie_answer(s, &c->law, view, pkt,
	                  own_prob(s->law.prob, c->bytemode, pkt->len, view->mtu_bytes),
	                  markable);
}

/* differs: the queue makes room at the head of the fattest flow, where Linux drops the arrival.
 * Either is a loss to its flow, and clears the sum. */
static void gone(void *st, const void *conf, u64 now, const struct aqm_view *view,
                 const struct aqm_pkt *pkt, u8 why)
{
	struct pie_state *s = st;

	(void)conf, (void)now, (void)view, (void)pkt;
	if (why == AQM_WHY_FAT)
		s->accu = 0;
}

const struct aqm_algo aqm_fq_pie = {
        .name = "fq_pie",
        .brief = "PIE in each of many flows, which take turns",
        .source = "RFC 8033, and sch_fq_pie of Linux",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL,
        .queues = 1,
        .conf_bytes = sizeof(struct fq_pie_conf),
        .state_bytes = sizeof(struct pie_state),
        .params = params,
        .stats = pie_stats,
        .defaults = defaults,
        .configure = pie_configure,
        .start = pie_start,
        .enqueue = enqueue,
        .overflow = pie_overflow,
        .dequeue = pie_dequeue,
        .gone = gone,
        .tick = pie_tick,
        .idle = pie_idle,
};
