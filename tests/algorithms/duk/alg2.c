// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// alg2.c: DUK's Algorithm 2 by itself, fed with intervals that are not its own.

#include "deps.h"
#include "law/duk_alg2.h"

struct tm_step {
	u64 sent;
	u32 level, ticks;
};

// Algorithm 2 over n intervals that ended at these levels: `out` gets the next ones.
void tm_duk_alg2(const struct tm_step *in, u32 n, u32 *out)
{
	struct duk_alg2 d = {0};
	u32 i;

	for (i = 0; i < n; i++)
		out[i] = duk_alg2_next(&d, in[i].level, in[i].ticks, in[i].sent);
}
