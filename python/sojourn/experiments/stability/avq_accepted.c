// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// avq_accepted.c: AVQ in which a packet that the virtual queue drops does not move the virtual
// capacity, as in ns-2.35 (queue/vq.cc, enque: Pktdrp); the time since the last that did counts
// on. All else is avq.c.

#define aqm_avq base_avq
#include "algorithms/avq.c"
#undef aqm_avq

struct accepted_state {
	struct avq_state avq;
	u64 adapted_ns;
};

static bool accepted_arrival(struct accepted_state *s, const struct avq_conf *c, u64 now,
                             const struct aqm_view *view, u32 len)
{
	u64 gone = muldiv64(s->avq.rate, now - s->avq.last_ns, NS_PER_S);
	u64 size = (u64)len << AVQ_FRACTION;
	bool signal;

	s->avq.queue -= min64(s->avq.queue, gone);
	s->avq.last_ns = now;
	signal = s->avq.queue + size > room(c, view) << AVQ_FRACTION;
	if (!signal) {
		s->avq.queue += size;
		adapt(&s->avq, c, view->rate_bytes_s, now - s->adapted_ns, len);
		s->adapted_ns = now;
	}
	s->avq.virtual_rate = s->avq.rate >> AVQ_FRACTION;
	s->avq.virtual_queue = s->avq.queue >> AVQ_FRACTION;
	return signal;
}

static struct aqm_verdict accepted_enqueue(void *st, const void *conf, u64 now,
                                           const struct aqm_view *view, struct aqm_pkt *pkt)
{
	if (accepted_arrival(st, conf, now, view, pkt->len))
		return aqm_signal(view, pkt, AQM_WHY_THRESHOLD);
	return aqm_pass();
}

static struct aqm_verdict accepted_overflow(void *st, const void *conf, u64 now,
                                            const struct aqm_view *view, struct aqm_pkt *pkt)
{
	(void)accepted_arrival(st, conf, now, view, pkt->len);
	return aqm_drop(AQM_WHY_LIMIT);
}

const struct aqm_algo aqm_avq_accepted = {
        .name = "avq_accepted",
        .brief = "AVQ whose virtual capacity follows the accepted rate, as ns-2's",
        .source = "ns-2.35, queue/vq.cc",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_TAIL | AQM_NEEDS_RATE,
        .queues = 1,
        .conf_bytes = sizeof(struct avq_conf),
        .state_bytes = sizeof(struct accepted_state),
        .params = params,
        .stats = stats,
        .configure = configure,
        .start = start,
        .enqueue = accepted_enqueue,
        .overflow = accepted_overflow,
};
