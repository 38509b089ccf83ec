// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_fixed.c: fixed.h against the compiler's 128 bits, rng.h against its author.

#include "fixed.h"
#include "rng.h"
#include "test.h"

typedef unsigned __int128 wide;

/* Words of every length, ones at both ends more often than chance gives them. */
static u64 word(struct aqm_rng *r)
{
	u64 w = (u64)rng_u32(r) << 32 | rng_u32(r);

	w >>= rng_below(r, 64);
	return rng_below(r, 4) ? w : w | ~(u64)0 << rng_below(r, 64);
}

TEST(muldiv_equals_128_bits_and_saturates)
{
	struct aqm_rng r;
	int i;

	rng_seed(&r, 1, 1);
	for (i = 0; i < 200000; i++) {
		u64 a = word(&r), b = word(&r), d = word(&r) | 1;
		wide exact = (wide)a * b / d;

		CHECK(muldiv64(a, b, d) == (exact >> 64 ? ~(u64)0 : (u64)exact));
	}
}

TEST(mulshift_equals_128_bits_and_saturates)
{
	struct aqm_rng r;
	int i;

	rng_seed(&r, 2, 1);
	for (i = 0; i < 200000; i++) {
		u64 a = word(&r), b = word(&r);
		u32 shift = 1 + rng_below(&r, 63);
		wide exact = (wide)a * b >> shift;

		CHECK(mulshift64(a, b, shift) == (exact >> 64 ? ~(u64)0 : (u64)exact));
	}
}

TEST(division_and_bits_agree_with_the_compiler)
{
	struct aqm_rng r;
	int i;

	rng_seed(&r, 3, 1);
	for (i = 0; i < 200000; i++) {
		u64 a = word(&r), d = word(&r) | 1;

		CHECK(div64(a, d) == a / d);
		CHECK(bits64(a) == (a ? 64u - (u32)__builtin_clzll(a) : 0));
	}
	CHECK_EQ(bits64(0), 0);
	CHECK_EQ(bits64(1), 1);
	CHECK_EQ(bits64(~(u64)0), 64);
	CHECK_EQ(sdiv64(-7, 2), -3);
	CHECK_EQ(sdiv64(7, 2), 3);
}

TEST(the_smaller_and_the_larger_of_two)
{
	CHECK_EQ(min64(3, 5), 3);
	CHECK_EQ(min64(5, 3), 3);
	CHECK_EQ(max64(3, 5), 5);
	CHECK_EQ(max64(5, 3), 5);
}

TEST(square_root_is_the_largest_below)
{
	struct aqm_rng r;
	int i;

	rng_seed(&r, 4, 1);
	for (i = 0; i < 100000; i++) {
		u64 x = word(&r);
		wide root = isqrt64(x);

		CHECK(root * root <= x && (root + 1) * (root + 1) > x);
	}
	CHECK_EQ(isqrt64(~(u64)0), U32_MAX);
	CHECK_EQ(isqrt64(0), 0);
}

TEST(a_ratio_is_clamped_to_a_probability)
{
	CHECK_EQ(ratio_q32(-1, 5), 0);
	CHECK_EQ(ratio_q32(0, 5), 0);
	CHECK_EQ(ratio_q32(1, 2), 1u << 31);
	CHECK_EQ(ratio_q32(5, 5), U32_MAX);
	CHECK_EQ(ratio_q32(9, 5), U32_MAX);
	CHECK_EQ(ratio_q32(((s64)1 << 62) - 1, (u64)1 << 62), U32_MAX);
}

TEST(a_grid_goes_on_after_a_gap)
{
	CHECK_EQ(grid_after(100, 100, 30), 130);
	CHECK_EQ(grid_after(100, 129, 30), 130);
	CHECK_EQ(grid_after(100, 130, 30), 160);
}

/* pcg32-demo of pcg-c-basic 0.9: seed 42, stream 54. */
TEST(random_numbers_are_those_of_the_generators_author)
{
	static const u32 published[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
	                                0x83d2f293, 0xbfa4784b, 0xcbed606e};
	struct aqm_rng r;
	u32 i;

	rng_seed(&r, 42, 54);
	for (i = 0; i < 6; i++)
		CHECK_EQ(rng_u32(&r), published[i]);
}

/* First outputs of splitmix64.c by Vigna for the state 1234567. */
TEST(seeds_are_spread_as_published)
{
	CHECK(rng_mix(1234567) == 6457827717110365317ull);
	CHECK(rng_mix(1234567 + 0x9e3779b97f4a7c15ull) == 3203168211198807973ull);
}

/* The state 0 gives the number 0. */
TEST(the_smallest_number_drawn_is_no_chance_of_zero)
{
	struct aqm_rng r = {0, 1};

	CHECK(!rng_chance(&r, 0));
	r.state = 0;
	CHECK(rng_chance(&r, 1));
}

TEST(chance_is_never_at_zero_and_always_at_one)
{
	struct aqm_rng r;
	int i, half = 0;

	rng_seed(&r, 5, 1);
	for (i = 0; i < 100000; i++) {
		CHECK(!rng_chance(&r, 0));
		CHECK(rng_chance(&r, U32_MAX));
		half += rng_chance(&r, 1u << 31);
		CHECK(rng_below(&r, 7) < 7);
	}
	CHECK_NEAR(half, 50000, 800); /* five sigma */
}
