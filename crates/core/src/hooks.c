// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// hooks.c: laws of algorithms by themselves, for benchmarks.

#include "law/duk.h"

u32 hook_duk_probability(const struct duk_sample *sample, s64 *used);

u32 hook_duk_probability(const struct duk_sample *sample, s64 *used)
{
	return duk_probability(sample, true, used);
}
