/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * draw.h: random draws that a seed repeats, with a liking for the ends of a range.
 */
#ifndef HOSTILE_DRAW_H
#define HOSTILE_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct draw {
	uint64_t state;
};

/* SplitMix64. */
static inline uint64_t draw_word(struct draw *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Draws of their own for each step, so that a step stays itself when others are left out. */
static inline struct draw draw_for(uint64_t seed, uint64_t step)
{
	struct draw d = {seed * 0xd1342543de82ef95u + step};

	d.state = draw_word(&d);
	return d;
}

static inline uint32_t below(struct draw *d, uint32_t n)
{
	return n ? (uint32_t)(draw_word(d) % n) : 0;
}

static inline bool one_in(struct draw *d, uint32_t n)
{
	return below(d, n) == 0;
}

/* Every power of two between the ends is as likely as the next. */
static inline uint64_t spread(struct draw *d, uint64_t low, uint64_t high)
{
	uint32_t bits = high > low ? 64 - (uint32_t)__builtin_clzll(high - low) : 0;
	uint64_t far = draw_word(d) >> (63 - below(d, bits + 1)) >> 1;

	return far > high - low ? high : low + far;
}

/* As spread(), and half of the time at or beside an end. */
static inline uint64_t between(struct draw *d, uint64_t low, uint64_t high)
{
	uint64_t near = high - low < 4 ? 0 : below(d, 4);

	switch (below(d, 8)) {
	case 0:
		return low;
	case 1:
		return high;
	case 2:
		return low + near;
	case 3:
		return high - near;
	default:
		return spread(d, low, high);
	}
}

#endif
