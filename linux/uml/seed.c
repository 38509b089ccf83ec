// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * seed.c: preloaded into the kernel process; its only source of outside
 * randomness becomes a function of SOJOURN_SEED, so that a run can be repeated.
 * SplitMix64 (Steele, Lea, Flood 2014): any seed, 0 included, gives a full stream.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static uint64_t next(void)
{
	static uint64_t state;
	static int seeded;
	uint64_t z;

	if (!seeded) {
		const char *word = getenv("SOJOURN_SEED");

		state = word ? strtoull(word, NULL, 10) : 0;
		seeded = 1;
	}
	z = state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

ssize_t getrandom(void *to, size_t bytes, unsigned int flags)
{
	unsigned char *at = to;
	size_t left = bytes;

	(void)flags;
	while (left) {
		uint64_t word = next();
		size_t part = left < sizeof(word) ? left : sizeof(word);

		memcpy(at, &word, part);
		at += part;
		left -= part;
	}
	return (ssize_t)bytes;
}
