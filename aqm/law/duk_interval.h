/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/duk_interval.h: how long DUK's measurement interval is.
 *
 * Algorithm 2 of the paper, as its prose wants it: for each level of congestion
 * P = 100 (M - C) / M keep the smallest interval for which the transmit rate does
 * not decrease; a line through what is known gives the first guess for a level that
 * is not. As printed it cannot do that (it compares only when P changes and never
 * tries a shorter interval), so the search is ours:
 *
 *   An epoch ends after DUK_EPOCH intervals with a signal, and not before one packet
 *   is less than a percent of what the link could have sent. Then the utilisation u
 *   is known in whole percent, and "did not decrease" means u + 1 >= the best u ever
 *   seen. The best is a maximum: it cannot be lowered step by step.
 *   If it did not decrease, the interval is kept for this level, and half of it is
 *   tried. If half of it fails, the kept one is used again, and twice as many good
 *   epochs must pass before the next trial. If a kept interval fails more often
 *   than not, it is given up for twice its length.
 *
 * Nothing here is tuned to a link. Below the lower bound (one clock tick, and the
 * service time of one packet) an interval cannot measure anything. DUK_EPOCH, the
 * factor 2 and DUK_RANGE are structure.
 */
#ifndef AQM_LAW_DUK_INTERVAL_H
#define AQM_LAW_DUK_INTERVAL_H

#include "../fixed.h"

#define DUK_LEVELS    100
#define DUK_EPOCH     32
#define DUK_BOOT      16
#define DUK_RANGE     1024 /* the longest interval is so many times the shortest */
#define DUK_TICKS_MAX (1u << 26)

struct duk_kept {
	u32 ticks; /* 0: this level was never met */
	u8 trust;  /* good epochs less bad ones, at most DUK_EPOCH */
	u8 wait;   /* trust needed for the next trial */
	u16 pad;
};

struct duk_interval {
	u32 ticks; /* of the interval under way */
	u32 least; /* lower bound in ticks */
	u32 level; /* P at the end of the last epoch */
	u32 best_pct;
	u64 sent, could; /* bytes, over this epoch */
	u64 ns;
	u32 signalled;       /* intervals of this epoch with a signal */
	u64 ingress_bytes_s; /* M: the largest arrival rate of any interval */
	struct duk_kept kept[DUK_LEVELS];
};

struct duk_interval_sample {
	u64 ns, arrived, sent, could;
	u64 packet_ns; /* service time of a mean packet, 0: unknown */
	u64 tick_ns;
	u32 mtu_bytes;
	bool signalled;
};

static inline u32 duk_clamp(const struct duk_interval *d, u64 ticks)
{
	u64 most = min64((u64)d->least * DUK_RANGE, DUK_TICKS_MAX);

	return (u32)max64(d->least, min64(ticks, most));
}

static inline void duk_interval_start(struct duk_interval *d)
{
	d->least = 1;
	d->ticks = DUK_BOOT;
}

/* Eq. 11 by least squares over the levels met; the slope is at most 0, since more
 * congestion wants faster answers. With 100 levels and 2^26 ticks all fits an s64:
 * |top| < 2^47, times 2^14, and sum * bottom < 2^33 * 2^27. */
static inline u32 duk_line(const struct duk_interval *d, u32 level)
{
	s64 n = 0, p = 0, pp = 0, t = 0, pt = 0, top, bottom, at;
	u32 i;

	for (i = 0; i < DUK_LEVELS; i++) {
		if (!d->kept[i].ticks)
			continue;
		n++;
		p += i;
		pp += (s64)i * i;
		t += d->kept[i].ticks;
		pt += (s64)i * d->kept[i].ticks;
	}
	if (!n)
		return d->ticks;
	top = n * pt - p * t;
	bottom = n * pp - p * p;
	if (top >= 0 || bottom <= 0)
		return duk_clamp(d, div64((u64)t, (u64)n));
	at = t * bottom + top * (n * level - p);
	return duk_clamp(d, at > 0 ? div64((u64)at, (u64)(n * bottom)) : 0);
}

/* Eq. 10, from the capacity over the epoch; M is at least that. */
static inline u32 duk_level(const struct duk_interval *d)
{
	u64 egress = d->ns ? muldiv64(d->could, NS_PER_S, d->ns) : 0;

	if (d->ingress_bytes_s <= egress)
		return 0;
	return (u32)min64(div64(100 * (d->ingress_bytes_s - egress), d->ingress_bytes_s),
	                  DUK_LEVELS - 1);
}

static inline void duk_epoch_clear(struct duk_interval *d)
{
	d->sent = d->could = d->ns = 0;
	d->signalled = 0;
}

/* The next trial comes after twice as many good epochs. */
static inline void duk_wait_longer(struct duk_kept *k)
{
	k->trust = 0;
	k->wait = (u8)min64(2 * (u64)k->wait, DUK_EPOCH);
}

/* What an epoch at d->ticks, good or not, says about the interval kept here. */
static inline void duk_learn(const struct duk_interval *d, struct duk_kept *k, bool good)
{
	if (d->ticks > k->ticks)
		return; /* measured on the way here from another level */
	if (d->ticks < k->ticks) {
		if (!good) {
			duk_wait_longer(k);
			return;
		}
		k->ticks = d->ticks;
		k->trust = 1;
	} else if (good) {
		if (k->trust < DUK_EPOCH)
			k->trust++;
	} else if (k->trust) {
		k->trust--;
	} else {
		k->ticks = duk_clamp(d, 2 * (u64)k->ticks);
		duk_wait_longer(k);
	}
}

static inline void duk_epoch_end(struct duk_interval *d)
{
	u32 pct = (u32)min64(muldiv64(100, d->sent, d->could), 100);
	bool good = pct + 1 >= d->best_pct;
	struct duk_kept *k;

	d->level = duk_level(d);
	k = &d->kept[d->level];
	if (!k->ticks) {
		k->ticks = duk_line(d, d->level);
		k->wait = 1;
	}
	k->ticks = duk_clamp(d, k->ticks);
	if (pct > d->best_pct)
		d->best_pct = pct;
	duk_learn(d, k, good);
	d->ticks = good && k->trust >= k->wait ? duk_clamp(d, k->ticks >> 1) : k->ticks;
	duk_epoch_clear(d);
}

/* An interval has ended. Answers the length of the next one in ticks. */
static inline u32 duk_interval_next(struct duk_interval *d, const struct duk_interval_sample *s)
{
	u64 in = muldiv64(s->arrived, NS_PER_S, s->ns);

	d->ingress_bytes_s = max64(d->ingress_bytes_s, in);
	d->least = (u32)max64(
	        1, min64(div64(s->packet_ns + s->tick_ns - 1, s->tick_ns), DUK_TICKS_MAX));
	d->sent += s->sent;
	d->could += s->could;
	d->ns += s->ns;
	d->signalled += s->signalled;
	if (d->signalled >= DUK_EPOCH && d->could >= 100 * (u64)s->mtu_bytes)
		duk_epoch_end(d);
	d->ticks = duk_clamp(d, d->ticks);
	return d->ticks;
}

#endif
