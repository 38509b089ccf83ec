/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/asqm.h: times ASQM's signals, Havey and Almeroth, "Active Sense Queue Management (ASQM)",
 * section III (Eq. 1 to 3) and section IV.
 *
 * Round trips are smoothed as RFC 6298 section 2 does (the paper prints 6928, and cites 6298
 * in its footnote): SRTT moves by an eighth, RTTVAR by a quarter. An episode begins when
 * SRTT (by default the last sample too) is at or above the target, and ends with the first
 * sample below it, or without answers for ASQM_STALE_MIN or longer. In an episode
 * signal n + 1 follows signal n after interval / sqrt(n); the first comes at once, or after an
 * interval.
 *
 * Samples are bounded to ASQM_RTT_MAX, 2^36 ns, so SRTT times 8 stays below 2^39.
 */
#ifndef AQM_LAW_ASQM_H
#define AQM_LAW_ASQM_H

#include "../fixed.h"

/* More than a minute is no access link; it bounds the arithmetic. */
#define ASQM_RTT_MAX ((u64)1 << 36)
/* Without answers for this long, or SRTT + 4 RTTVAR if longer, an episode ends. */
#define ASQM_STALE_MIN ((u64)NS_PER_S)

enum asqm_entry { ASQM_BOTH, ASQM_SMOOTHED };
enum asqm_base { ASQM_WHOLE, ASQM_ABOVE_LEAST };
enum asqm_first { ASQM_AT_ONCE, ASQM_AFTER_INTERVAL };

struct asqm_conf {
	u64 target, interval; /* ns */
	u64 period;           /* ns; 0: by ratio */
	u32 ratio;
	u32 entry, base, first;
};

struct asqm_law {
	u64 rtt_ns, srtt8_ns, rttvar_ns; /* srtt8: SRTT times 8; 0: no sample yet */
	u64 base_ns;                     /* 0: no sample yet */
	u64 heard_ns;                    /* when the last answer came */
	u64 next_ns;                     /* when the next signal is due, in an episode */
	u32 count, dropping;
};

struct asqm_state {
	struct asqm_law law;
	u64 srtt_ns, answers;
	u64 probe_ns; /* when the next probe is due, with a period; 0: now */
	u32 since_probe;
};

/* RFC 6298 section 2.2 and 2.3. */
static inline void asqm_smooth(struct asqm_law *l, u64 rtt_ns)
{
	u64 srtt_ns = l->srtt8_ns >> 3;
	u64 off_ns = srtt_ns > rtt_ns ? srtt_ns - rtt_ns : rtt_ns - srtt_ns;

	if (!l->srtt8_ns) {
		l->srtt8_ns = rtt_ns << 3;
		l->rttvar_ns = rtt_ns >> 1;
		return;
	}
	l->rttvar_ns = l->rttvar_ns - (l->rttvar_ns >> 2) + (off_ns >> 2);
	l->srtt8_ns += rtt_ns - srtt_ns;
}

/* The part of a round trip that is compared with the target. */
static inline u64 asqm_delay(const struct asqm_law *l, const struct asqm_conf *c, u64 rtt_ns)
{
	if (c->base == ASQM_WHOLE)
		return rtt_ns;
	return rtt_ns - min64(l->base_ns, rtt_ns);
}

static inline void asqm_sample(struct asqm_law *l, const struct asqm_conf *c, u64 now,
                               u64 rtt_ns)
{
	bool last, smoothed;

	/* 0 is kept for "no sample". */
	l->rtt_ns = min64(max64(rtt_ns, 1), ASQM_RTT_MAX);
	l->base_ns = l->base_ns ? min64(l->base_ns, l->rtt_ns) : l->rtt_ns;
	l->heard_ns = now;
	asqm_smooth(l, l->rtt_ns);
	last = asqm_delay(l, c, l->rtt_ns) >= c->target;
	smoothed = asqm_delay(l, c, l->srtt8_ns >> 3) >= c->target;
	if (l->dropping) {
		if (!last)
			l->dropping = l->count = 0;
	} else if (smoothed && (last || c->entry == ASQM_SMOOTHED)) {
		l->dropping = 1;
		l->next_ns = now + (c->first == ASQM_AFTER_INTERVAL ? c->interval : 0);
	}
}

static inline bool asqm_is_stale(const struct asqm_law *l, u64 now)
{
	u64 bound = max64(ASQM_STALE_MIN, (l->srtt8_ns >> 3) + 4 * l->rttvar_ns);

	return now - l->heard_ns > bound;
}

/* interval / sqrt(count), exact to 2^-16: interval < 2^37, the dividend stays below 2^53. */
static inline u64 asqm_gap_ns(const struct asqm_conf *c, u32 count)
{
	return div64(c->interval << 16, isqrt64((u64)count << 32));
}

/* Is a signal due for this packet? No gap is longer than the interval, which may have become
 * shorter. If the schedule lags by more than an interval because
 * no packet came, it restarts from now instead of catching up. */
static inline bool asqm_signals(struct asqm_law *l, const struct asqm_conf *c, u64 now)
{
	if (l->dropping && asqm_is_stale(l, now))
		l->dropping = l->count = 0;
	l->next_ns = min64(l->next_ns, now + c->interval);
	if (!l->dropping || now < l->next_ns)
		return false;
	l->count += l->count != U32_MAX;
	if (now - l->next_ns > c->interval)
		l->next_ns = now;
	l->next_ns += asqm_gap_ns(c, l->count);
	return true;
}

#endif
