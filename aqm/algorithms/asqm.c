// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// asqm.c: Active Sense Queue Management, Havey and Almeroth, IFIP Networking 2015. Probes
// measure the round trip of the access link, so that it acts on queues below this one, where
// no packet of its own waits.
//
// The paper has prose and three equations (section III, Eq. 1 to 3; section IV). Where it is
// silent or contradicts itself docs/reference/algorithms/asqm.md says what is done here and
// why.

#include "aqm.h"
#include "law/asqm.h"

static const char *const entries[] = {"both", "smoothed"};
static const char *const bases[] = {"none", "least"};
static const char *const firsts[] = {"at_once", "after_interval"};

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U64, asqm_conf, target, AQM_NS, 100 * NS_PER_MS, 1000, 10 * NS_PER_S, 0,
		"round trip of the link that is acceptable"),
	AQM_ROW(2, AQM_U64, asqm_conf, interval, AQM_NS, 100 * NS_PER_MS, 1000, 100 * NS_PER_S, 0,
		"from the first signal to the second; then over the root of their number"),
	AQM_ROW(3, AQM_U32, asqm_conf, ratio, AQM_PKTS, 4, 1, 65536, 0,
		"packets let in for each probe"),
	AQM_ROW_OF_CHOICES(4, asqm_conf, entry, entries, ASQM_BOTH, ASQM_SMOOTHED, 0,
		"what must reach target to begin: smoothed and last round trip, or smoothed"),
	AQM_ROW_OF_CHOICES(5, asqm_conf, base, bases, ASQM_WHOLE, ASQM_ABOVE_LEAST, 0,
		"subtracted from each round trip: nothing, or the least one seen"),
	AQM_ROW(6, AQM_U64, asqm_conf, period, AQM_NS, 0, 0, 100 * NS_PER_S, 0,
		"in place of ratio: a probe with the first packet after so much time; 0: off"),
	AQM_ROW_OF_CHOICES(7, asqm_conf, first, firsts, ASQM_AT_ONCE, ASQM_AFTER_INTERVAL, 0,
		"first signal: when the episode begins, or an interval later"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U64, asqm_state, "rtt", law.rtt_ns, AQM_NS, 0, "last round trip of a probe"),
	AQM_STAT(2, AQM_U64, asqm_state, "srtt", srtt_ns, AQM_NS, 0, "smoothed round trip"),
	AQM_STAT(3, AQM_U64, asqm_state, "rttvar", law.rttvar_ns, AQM_NS, 0, "its mean deviation"),
	AQM_STAT(4, AQM_U64, asqm_state, "base_rtt", law.base_ns, AQM_NS, 0, "least round trip seen; 0: none yet"),
	AQM_STAT(5, AQM_U32, asqm_state, "count", law.count, AQM_COUNT, 0, "signals since the episode began"),
	AQM_STAT(6, AQM_U32, asqm_state, "dropping", law.dropping, AQM_COUNT, 0, "1: in an episode"),
	AQM_STAT(7, AQM_U64, asqm_state, "answers", answers, AQM_COUNT, AQM_COUNTER, "probes that came back"),
	AQM_END,
};
/* clang-format on */

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	(void)st, (void)conf, (void)now, (void)seed;
	return AQM_NEVER;
}

/* Is a probe due with this packet? No period is longer than the row, which may have become
 * shorter. */
static bool probes(struct asqm_state *s, const struct asqm_conf *c, u64 now)
{
	if (c->period) {
		s->probe_ns = min64(s->probe_ns, now + c->period);
		if (now < s->probe_ns)
			return false;
		s->probe_ns = now + c->period;
		return true;
	}
	s->since_probe++;
	if (s->since_probe < c->ratio)
		return false;
	s->since_probe = 0;
	return true;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, struct aqm_pkt *pkt)
{
	struct aqm_verdict v = aqm_pass();

	(void)view, (void)pkt;
	v.probe = probes(st, conf, now);
	return v;
}

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *view, const struct aqm_pkt *pkt)
{
	struct asqm_state *s = st;

	/* One signal at a time: the packet behind a dropped one passes. */
	if (pkt->nth || !asqm_signals(&s->law, conf, now))
		return aqm_pass();
	return aqm_signal(view, pkt, AQM_WHY_DELAY);
}

static void echo(void *st, const void *conf, u64 now, const struct aqm_view *view, u64 rtt_ns)
{
	struct asqm_state *s = st;

	(void)view;
	asqm_sample(&s->law, conf, now, rtt_ns);
	s->srtt_ns = s->law.srtt8_ns >> 3;
	s->answers++;
}

const struct aqm_algo aqm_asqm = {
        .name = "asqm",
        .brief = "probes the round trip of the access link, and signals when that is too long",
        .source = "Havey, Almeroth, Active Sense Queue Management, IFIP Networking 2015",
        .abi = AQM_ABI,
        .flags = AQM_MARKS | AQM_AT_HEAD,
        .queues = 1,
        .conf_bytes = sizeof(struct asqm_conf),
        .state_bytes = sizeof(struct asqm_state),
        .params = params,
        .stats = stats,
        .start = start,
        .enqueue = enqueue,
        .dequeue = dequeue,
        .echo = echo,
};
