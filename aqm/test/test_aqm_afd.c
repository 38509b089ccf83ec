// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_aqm_afd.c: what AFD does with packets that are larger than the MTU, and its history with
// more flows than a replay has.

#include "begin.h"
#include "law/shadow.h"

extern const struct aqm_algo aqm_afd;

static void one_at_a_time(struct bench *b, u32 len, u32 n)
{
	while (n--) {
		b->now += 10 * NS_PER_MS;
		arrive(b, 7, len, 0);
		leave(b);
	}
}

TEST(large_segments_are_not_dropped_without_a_queue)
{
	struct bench b = BEGIN(&aqm_afd, 10, 0, {"shadow", 100});

	one_at_a_time(&b, 1514, 2000);
	CHECK_EQ(stat(&b, "fair"), 100 * 1514);
	one_at_a_time(&b, 64000, 20000);
	CHECK_EQ(drops(&b), 0);
	CHECK_EQ(stat(&b, "fair"), 100 * 64000);
	/* and the share comes down with the samples */
	one_at_a_time(&b, 100, 20000);
	CHECK_EQ(stat(&b, "fair"), 100 * 100);
	bench_end(&b);
}

/* Twice the link's rate, of which one flow sends 90 %: when it loses a packet for its share. */
static u64 held_after_ms(u32 len, u32 limit)
{
	struct bench b = BEGIN(&aqm_afd, 8192, NS_PER_S, {"limit", limit});
	u64 begin = b.now;
	u32 n;

	for (n = 0; !b.q->count.drops[AQM_WHY_RATE] && b.now < 61 * NS_PER_S; n++) {
		b.now += (u64)len * 800;
		arrive(&b, n % 5 ? 1u << 28 : 15u << 28, len, 0);
		arrive(&b, 1u << 28, len, 0);
		leave(&b);
	}
	bench_end(&b);
	return (b.now - begin) / NS_PER_MS;
}

TEST(small_packets_of_a_flow_are_held_as_soon_as_large_ones)
{
	CHECK(held_after_ms(1500, 1000) < 500);
	CHECK(held_after_ms(500, 1000) < 500);
	CHECK(held_after_ms(60, 1000) < 500);
	/* Room for 20 kB more than qref. */
	CHECK(held_after_ms(64, 1100) < 500);
}

#define FLOWS 900 /* several to a bucket, and each goes and comes */

static void check_history(struct shadow *s, const u32 *flow, const u32 *len)
{
	u64 bytes[FLOWS] = {0};
	u32 i;

	for (i = 0; i < SHADOW_MAX; i++)
		bytes[flow[i]] += len[i];
	for (i = 0; i < FLOWS; i++)
		CHECK_EQ(shadow_bytes(s, i), bytes[i]);
}

TEST(each_flow_has_the_bytes_of_its_samples_whoever_shares_its_bucket)
{
	static struct shadow s = {.seed = 1};
	static u32 flow[SHADOW_MAX], len[SHADOW_MAX];
	struct aqm_rng rng;
	u32 n;

	rng_seed(&rng, 1, 0);
	for (n = 0; n < 20 * SHADOW_MAX; n++) {
		u32 place = n < SHADOW_MAX ? n : rng_below(&rng, SHADOW_MAX);

		flow[place] = rng_below(&rng, FLOWS);
		len[place] = 1 + rng_below(&rng, 1500);
		shadow_put(&s, place, flow[place], len[place]);
		if (n % SHADOW_MAX == SHADOW_MAX - 1)
			check_history(&s, flow, len);
	}
}

TEST(a_history_may_have_a_flow_for_each_sample)
{
	static struct shadow s = {.seed = 1};
	u32 round, i;

	for (round = 0; round < 3; round++) {
		u32 flow = round * SHADOW_MAX;

		for (i = 0; i < SHADOW_MAX; i++)
			shadow_put(&s, i, flow + i, 100 + i);
		CHECK_EQ(s.flows, SHADOW_MAX);
		CHECK_EQ(s.bytes, SHADOW_MAX * 100 + SHADOW_MAX * (SHADOW_MAX - 1) / 2);
		for (i = 0; i < SHADOW_MAX; i++)
			CHECK_EQ(shadow_bytes(&s, flow + i), 100 + i);
	}
}

TEST(a_sample_counts_as_1_mib_at_most)
{
	static const u32 len[] = {(1u << 20) - 1, 1u << 20, (1u << 20) + 1, U32_MAX};
	static struct shadow s = {.seed = 1};
	u32 i;

	for (i = 0; i < 4; i++) {
		shadow_put(&s, 0, 7, len[i]);
		CHECK_EQ(shadow_bytes(&s, 7), i ? 1 << 20 : (1 << 20) - 1);
		CHECK_EQ(s.bytes, shadow_bytes(&s, 7));
	}
}
