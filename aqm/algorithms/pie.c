// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// pie.c: Proportional Integral controller Enhanced, RFC 8033.

#include "law/pie_rows.h"

struct pie_conf {
	struct pie_law_conf law;
	u32 mark_ecnth; /* Q0.32 */
};

/* clang-format off */
static const struct aqm_field params[] = {
	PIE_ROWS_OF_THE_LAW,
	AQM_ROW(6, AQM_U32, pie_conf, mark_ecnth, AQM_PROB, 429496730, 0, U32_MAX, 0,
		"from this probability on packets are dropped and not marked"),
	PIE_ROWS_OF_ITS_WAYS,
	AQM_END,
};
/* clang-format on */

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct pie_state *s = st;
	const struct pie_conf *c = conf;

	(void)now;
	return pie_answer(s, &c->law, view, pkt, s->law.prob, s->prob < c->mark_ecnth);
}

const struct aqm_algo aqm_pie = {
        .name = "pie",
        .brief = "PI control of delay, with all safeguards of the RFC",
        .source = "RFC 8033",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL,
        .queues = 1,
        .conf_bytes = sizeof(struct pie_conf),
        .state_bytes = sizeof(struct pie_state),
        .params = params,
        .stats = pie_stats,
        .configure = pie_configure,
        .start = pie_start,
        .enqueue = enqueue,
        .overflow = pie_overflow,
        .dequeue = pie_dequeue,
        .tick = pie_tick,
        .idle = pie_idle,
};
