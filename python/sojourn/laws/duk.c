// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// duk.c: DUK's Eq. 9. Novak and Kasera, COMSNETS 2017, "Implementation".

#include "law/duk.h"

#include "timed.h"

LAW u32 law(const struct duk_sample *sample, s64 *used)
{
	return duk_probability(sample, true, used);
}

/* 2 kB to 1 MB in 1 to 64 ticks. */
static u32 evaluate(u64 step)
{
	static s64 used;
	u64 random = noise(step), could = 2000 + (random >> 44), sent = (random >> 20) % could;
	struct duk_sample sample = {1 + sent + (random & 0xffff),
	                            sent,
	                            could,
	                            used,
	                            (s64)(random >> 41) - (4 << 20),
	                            1 + (u32)(random >> 58)};

	return law(&sample, &used);
}
