/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/duk_interval.h: searches for DUK's measurement interval, in a way of our own.
 *
 * It follows the prose beside Algorithm 2: for each level of congestion (Eq. 10)
 * use the smallest interval for which the transmit rate does not decrease; a line
 * through what is known gives the first guess for a level that was never met. As printed
 * the algorithm cannot do that (law/duk_alg2.h: it compares only when P changes and never
 * tries a shorter interval). The search:
 *
 *   Intervals are the shortest one times a power of two, the rung, and at most 1024
 *   ticks. The shortest is one clock tick or the service time of a packet, whichever is
 *   longer.
 *   An epoch ends after DUK_EPOCH signals and two intervals (what one interval decides
 *   is seen in the next), and not before one packet is less than a percent of what the
 *   link could have sent. Senders answer signals, so time is counted in these.
 *   The first epoch after a change of rung or level still reflects the old one. The
 *   utilisation of any other enters the mean of its rung at its level.
 *   A rate is known to within one packet per interval and the percent of the epoch. So a
 *   rung's rate has "not decreased" when its mean, and these two added, reaches the best
 *   mean of any rung. The smallest such rung is used. All means stay on record, so small
 *   losses cannot add up unseen.
 *   From there the less known neighbour is tried: the shorter one, or the longer one
 *   while it could gain more than packet and percent. Where senders collapse between two
 *   packets of a short interval, the next few rungs do no better: a longer one that gains
 *   nothing is followed by one twice as far away, up to the longest. Trials that change
 *   nothing double the wait before the next trial.
 *
 * Nothing here is tuned to a link. DUK_EPOCH, the powers of two and DUK_RUNGS are
 * structure.
 */
#ifndef AQM_LAW_DUK_INTERVAL_H
#define AQM_LAW_DUK_INTERVAL_H

#include "../fixed.h"
#include "duk_level.h"

#define DUK_EPOCH   32
#define DUK_RUNGS   11 /* 1 .. 1024 times the shortest */
#define DUK_LONGEST (1u << (DUK_RUNGS - 1))
#define DUK_BOOT    4
#define DUK_PCT     (1u << 20) /* utilisation in 2^-20 of a percent */

struct duk_level {
	u32 used[DUK_RUNGS];  /* mean utilisation; rounding adds up to 32 units at most */
	u8 epochs[DUK_RUNGS]; /* it is the mean of, at most DUK_EPOCH; 0: unknown */
	u8 rung;              /* in use here; meaningful when `wait` is not 0 */
	u8 wait;              /* epochs between trials; 0: this level was never met */
	u8 since;             /* epochs since the last */
};

struct duk_interval {
	u32 shortest; /* ticks */
	u32 rung;     /* of the interval under way */
	u32 level;    /* P at the end of the last epoch */
	bool fresh;   /* this epoch is the first at this rung and level */
	u32 signals;  /* of this epoch */
	u32 intervals;
	u64 sent, could, ns; /* over this epoch */
	u64 packet_ns;       /* service time of a mean packet */
	u64 ingress_bytes_s; /* M: the largest arrival rate of any interval */
	struct duk_level at[DUK_LEVELS];
};

/* An interval that has ended. */
struct duk_interval_sample {
	u64 ns, arrived, sent, could; /* bytes */
	u64 packet_ns;                /* service time of a mean packet, 0: unknown */
	u64 tick_ns;
	u32 mtu_bytes;
	u32 signals;
};

static inline u32 duk_ticks(const struct duk_interval *d, u32 rung)
{
	return (u32)min64((u64)d->shortest << rung, DUK_TICKS_MAX);
}

static inline void duk_interval_start(struct duk_interval *d)
{
	d->shortest = 1;
	d->rung = DUK_BOOT;
}

static inline void duk_epoch_clear(struct duk_interval *d)
{
	d->sent = d->could = d->ns = 0;
	d->signals = d->intervals = 0;
}

/* Eq. 10, with the capacity of the epoch; M is at least that. */
static inline u32 duk_congestion(const struct duk_interval *d)
{
	return duk_level(d->ingress_bytes_s, muldiv64(d->could, NS_PER_S, d->ns));
}

/* Eq. 11 by least squares over the levels met, in multiples of the shortest interval.
 * The slope is at most 0, since more congestion wants faster answers. With 100 levels
 * and 2^10 at most: |top| < 2^31, times 2^14, and sum * bottom < 2^17 * 2^27. */
static inline u64 duk_line(const struct duk_interval *d, u32 level)
{
	s64 n = 0, p = 0, pp = 0, t = 0, pt = 0, top, bottom, at;
	u32 i;

	for (i = 0; i < DUK_LEVELS; i++) {
		if (!d->at[i].wait)
			continue;
		n++;
		p += i;
		pp += (s64)i * i;
		t += (s64)1 << d->at[i].rung;
		pt += (s64)i << d->at[i].rung;
	}
	if (!n)
		return (u64)1 << d->rung;
	top = n * pt - p * t;
	bottom = n * pp - p * p;
	if (top >= 0) /* also when n is 1 */
		return div64((u64)t, (u64)n);
	at = t * bottom + top * (n * level - p);
	/* far below the levels met the line may rise past the longest interval */
	return at > 0 ? min64(div64((u64)at, (u64)(n * bottom)), DUK_LONGEST) : 0;
}

static inline void duk_meet(struct duk_interval *d, u32 level)
{
	u64 line = duk_line(d, level); /* at most DUK_LONGEST */

	d->at[level].rung = (u8)(line ? bits64(line) - 1 : 0);
	d->at[level].wait = 1;
}

static inline void duk_learn(struct duk_level *l, u32 rung, u32 used)
{
	s64 change = (s64)used - l->used[rung];

	if (l->epochs[rung] < DUK_EPOCH)
		l->epochs[rung]++;
	l->used[rung] = (u32)(l->used[rung] + sdiv64(change, l->epochs[rung]));
}

/* The mean of a rung, one packet per interval, and the percent of the epoch. */
static inline u64 duk_at_most(const struct duk_interval *d, const struct duk_level *l, u32 rung,
                              u64 tick_ns)
{
	u64 ns = (u64)duk_ticks(d, rung) * tick_ns;

	return l->used[rung] + muldiv64(100 * DUK_PCT, d->packet_ns, ns) + DUK_PCT;
}

static inline u32 duk_smallest_good(const struct duk_interval *d, const struct duk_level *l,
                                    u64 tick_ns)
{
	u32 i, best = 0;

	for (i = 0; i < DUK_RUNGS; i++)
		if (l->used[i] >= l->used[best])
			best = i;
	for (i = 0; i < best; i++)
		if (l->epochs[i] && duk_at_most(d, l, i, tick_ns) >= l->used[best])
			break;
	return i;
}

/* There is a longer interval, and it could do better than this one. */
static inline bool duk_could_gain(const struct duk_interval *d, const struct duk_level *l,
                                  u32 rung, u64 tick_ns)
{
	return rung < DUK_RUNGS - 1 && duk_at_most(d, l, rung, tick_ns) < 100 * DUK_PCT;
}

/* The neighbour to try from the rung in use; the rung itself: none is worth it. */
static inline u32 duk_trial(const struct duk_interval *d, const struct duk_level *l,
                            u64 tick_ns)
{
	u32 rung = l->rung;
	bool down = rung > 0;

	if (duk_could_gain(d, l, rung, tick_ns) &&
	    (!down || l->epochs[rung + 1] <= l->epochs[rung - 1]))
		return rung + 1;
	return down ? rung - 1 : rung;
}

/* An epoch has been learnt. Answers the rung of the next. */
static inline u32 duk_choose(struct duk_interval *d, struct duk_level *l, u64 tick_ns)
{
	u32 good = duk_smallest_good(d, l, tick_ns), was = l->rung;

	l->rung = (u8)good;
	if (good != was)
		l->wait = 1;
	else if (d->rung > good && duk_could_gain(d, l, d->rung, tick_ns))
		return (u32)min64(2 * (u64)d->rung - good, DUK_RUNGS - 1);
	else if (d->rung != good)
		l->wait = (u8)min64(2 * (u64)l->wait, DUK_EPOCH);
	if (d->rung != good || ++l->since < l->wait)
		return good;
	l->since = 0;
	return duk_trial(d, l, tick_ns);
}

static inline void duk_epoch_end(struct duk_interval *d, u64 tick_ns)
{
	u32 used = (u32)min64(muldiv64(100 * DUK_PCT, d->sent, d->could), 100 * DUK_PCT);
	u32 level = duk_congestion(d), was = d->rung;
	struct duk_level *l = &d->at[level];

	duk_epoch_clear(d);
	if (level != d->level || !l->wait) {
		d->level = level;
		if (!l->wait)
			duk_meet(d, level);
		d->rung = l->rung;
		d->fresh = true;
	} else if (d->fresh) {
		d->fresh = false;
	} else {
		duk_learn(l, was, used);
		d->rung = duk_choose(d, l, tick_ns);
		d->fresh = d->rung != was;
	}
}

/* An interval has ended. Answers the length of the next one in ticks. */
static inline u32 duk_interval_next(struct duk_interval *d, const struct duk_interval_sample *s)
{
	u64 arrived_s = muldiv64(s->arrived, NS_PER_S, s->ns);

	d->ingress_bytes_s = max64(d->ingress_bytes_s, arrived_s);
	d->packet_ns = s->packet_ns;
	d->shortest = duk_shortest(s->packet_ns, s->tick_ns);
	d->sent += s->sent;
	d->could += s->could;
	d->ns += s->ns;
	d->signals += s->signals;
	d->intervals++;
	if (d->signals >= DUK_EPOCH && d->intervals >= 2 && d->could >= 100 * (u64)s->mtu_bytes)
		duk_epoch_end(d, s->tick_ns);
	return duk_ticks(d, d->rung);
}

#endif
