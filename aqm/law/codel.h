/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * law/codel.h: times CoDel's signals, RFC 8289 section 5, one packet at a time.
 *
 * The RFC loops inside its dequeue routine. Here each turn of the loop is one
 * offer: the law answers whether this packet gets the signal, and `nth` tells
 * the first offer of a dequeue from the ones that follow a drop.
 *
 * Linux (include/net/codel_impl.h) differs in its arithmetic, and that decides what
 * many flows do to a queue. The row `form` chooses.
 */
#ifndef AQM_LAW_CODEL_H
#define AQM_LAW_CODEL_H

#include "../fixed.h"

/* The RFC does not bound the drops of one dequeue; this bounds its time. This many overdue
 * signals in succession mean that no signal was possible for some time, as when a link
 * stopped: the schedule then continues from now. Linux's form keeps its schedule and
 * continues at the next packet. */
#define CODEL_DROPS 256

enum codel_form { CODEL_OURS, CODEL_LINUX };

struct codel_conf {
	u64 target, interval; /* ns */
	u32 form;
};

struct codel_law {
	u64 first_above_ns; /* 0: the delay is below target */
	u64 drop_next_ns;
	u32 count, last_count;
	u32 dropping;
	u32 entered;  /* the state was entered in the dequeue under way */
	u32 inv_sqrt; /* Linux's form: 1 / sqrt(count), nearly, in Q0.16 */
	u32 late;     /* ours: signals since drop_next last lay ahead */
};

/* Linux's clock counts in 1.024 us. */
static inline u64 codel_tick(const struct codel_conf *f, u64 ns)
{
	return f->form == CODEL_LINUX ? ns >> 10 << 10 : ns;
}

/* interval / sqrt(count), exact to 2^-16. */
static inline u64 codel_step(u64 interval_ns, u32 count)
{
	/* interval < 2^46 (cobalt on the slowest link), so the dividend stays below 2^62 */
	return div64(interval_ns << 16, isqrt64((u64)count << 32));
}

/* One step of Newton's method on 1 / sqrt(count): x (3 - count x^2) / 2, each product
 * cut to 32 bits behind the point and the result to 16, as Linux does. */
static inline u32 codel_newton(u32 inv_sqrt, u32 count)
{
	u64 x = (u64)inv_sqrt << 16;
	u64 left = ((u64)3 << 32) - count * (x * x >> 32);

	/* Two bits go first, so that the product stays below 2^64. */
	return (u32)((left >> 2) * x >> 31 >> 16) & 0xffff;
}

static inline void codel_counted(struct codel_law *c, const struct codel_conf *f)
{
	if (f->form == CODEL_LINUX)
		c->inv_sqrt = codel_newton(c->inv_sqrt, c->count);
}

/* From one signal to the next: the RFC's law, or Linux's approximation, which takes one
 * step towards the root per signal and is 30 % short at count = 2. */
static inline u64 codel_gap_ns(const struct codel_law *c, const struct codel_conf *f)
{
	if (f->form == CODEL_LINUX)
		/* interval / 2^10 < 2^27 and the root < 2^16 */
		return (f->interval >> 10) * c->inv_sqrt >> 16 << 10;
	return codel_step(f->interval, c->count);
}

/* No signal is due later than this: the interval may have become shorter. */
static inline u64 codel_latest(const struct codel_conf *f, u64 now)
{
	return now + codel_tick(f, f->interval);
}

/* Has the delay been above target for an interval? RFC 8289, dodequeue(). The backlog is
 * that of the whole link: section 4.1 guards the link, not a flow. */
static inline bool codel_above(struct codel_law *c, const struct codel_conf *f, u64 now,
                               u64 sojourn_ns, u32 backlog_bytes, u32 mtu_bytes)
{
	if (sojourn_ns < codel_tick(f, f->target) || backlog_bytes <= mtu_bytes) {
		c->first_above_ns = 0;
		return false;
	}
	if (!c->first_above_ns) {
		c->first_above_ns = codel_latest(f, now);
		return false;
	}
	c->first_above_ns = min64(c->first_above_ns, codel_latest(f, now));
	return f->form == CODEL_LINUX ? now > c->first_above_ns : now >= c->first_above_ns;
}

static inline void codel_enter(struct codel_law *c, const struct codel_conf *f, u64 now)
{
	u32 delta = c->count - c->last_count;
	/* drop_next may lie ahead of now: a signed difference, and recent then. At first
	 * it is 0, and a count of evictions is not a rate of signals. */
	bool recent = c->drop_next_ns &&
	              (s64)(now - c->drop_next_ns) < (s64)(16 * codel_tick(f, f->interval));

	if (delta > 1 && recent) {
		c->count = delta;
		codel_counted(c, f);
	} else {
		c->count = 1;
		c->inv_sqrt = 0xffff;
	}
	c->last_count = c->count;
	c->drop_next_ns = now + codel_gap_ns(c, f);
	c->dropping = 1;
	c->entered = 1;
	c->late = 0;
}

/* Enough signals that were overdue? Each dequeue's drops are among them. */
static inline bool codel_enough(struct codel_law *c, const struct codel_conf *f, u64 now,
                                u32 nth)
{
	if (f->form == CODEL_LINUX)
		return nth >= CODEL_DROPS;
	if (c->late < CODEL_DROPS)
		return false;
	c->drop_next_ns = now + codel_gap_ns(c, f);
	c->late = 0;
	return true;
}

/* Does this packet, the `nth` offer of its dequeue, get the signal? The caller
 * reports a mark with codel_marked(). */
static inline bool codel_signals(struct codel_law *c, const struct codel_conf *f, u64 now,
                                 bool above, u32 nth)
{
	if (!nth)
		c->entered = 0;
	else if (c->entered)
		return false; /* the packet behind the first drop always passes */
	if (!c->dropping) {
		if (!above)
			return false;
		codel_enter(c, f, now);
		return true;
	}
	if (!above) {
		c->dropping = 0;
		return false;
	}
	if (nth)
		c->drop_next_ns += codel_gap_ns(c, f);
	c->drop_next_ns = min64(c->drop_next_ns, codel_latest(f, now));
	if (now < c->drop_next_ns) {
		c->late = 0;
		return false;
	}
	if (codel_enough(c, f, now, nth))
		return false;
	c->late++;
	c->count += c->count != U32_MAX;
	codel_counted(c, f);
	return true;
}

/* The signal was a mark and the packet leaves: no further offer advances the
 * schedule, so this does. Entering the state has advanced it already. */
static inline void codel_marked(struct codel_law *c, const struct codel_conf *f)
{
	if (!c->entered)
		c->drop_next_ns += codel_gap_ns(c, f);
}

static inline void codel_empty(struct codel_law *c)
{
	c->first_above_ns = 0;
	c->dropping = 0;
}

#endif
