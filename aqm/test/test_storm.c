// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_storm.c: random calls on every algorithm, alone and flow-queued. Nothing is
// lost, no verdict is bad, and neither the time of day nor a reader changes anything.

#include "storm.h"
#include "test.h"

#ifndef STORM_STEPS
#define STORM_STEPS 60000
#endif

static struct bench storm_bench(const struct aqm_algo *algo, u32 flows, u64 start_ns, u64 seed)
{
	struct bench b = bench_new(algo, 400, start_ns);

	set_row(&b, "limit", 200);
	set_row(&b, "ecn", 1);
	set_row(&b, "flows", flows);
	/* thresholds within reach of a queue of 200 */
	if (aqm_field_find(algo->params, "min")) {
		set_row(&b, "min", 20);
		set_row(&b, "max", 60);
		set_row(&b, "weight", 3);
	}
	CHECK(!bench_start(&b, seed).sentence);
	return b;
}

static const u32 flow_counts[] = {0, 1, 16};

static bool possible(const struct aqm_algo *algo, u32 flows)
{
	struct bench b = bench_new(algo, 1, 0);
	bool refused;

	set_row(&b, "flows", flows);
	refused = bench_start(&b, 1).sentence;
	bench_end(&b);
	return !refused;
}

TEST(nothing_is_lost_no_verdict_is_bad_and_flows_are_counted)
{
	const struct aqm_algo *const *a;
	u32 f, i;

	for (a = aqm_all; *a; a++)
		for (f = 0; f < 3 && possible(*a, flow_counts[f]); f++) {
			struct bench b = storm_bench(*a, flow_counts[f], 0, 7);
			struct aqm_rng r;

			rng_seed(&r, 11, f);
			for (i = 0; i < STORM_STEPS; i++) {
				storm_step(&b, &r, STORM_CHANGES);
				if (!(i & 255))
					CHECK(conserved(&b) && flows_agree(&b));
			}
			if (bad_verdicts(&b) || (drops(&b) < 100))
				fprintf(stderr, "%s, %u flows: %llu bad, %llu dropped\n",
				        (*a)->name, flow_counts[f],
				        (unsigned long long)bad_verdicts(&b),
				        (unsigned long long)drops(&b));
			CHECK_EQ(bad_verdicts(&b), 0);
			CHECK(drops(&b) >= 100);
			while (leave(&b) != AQM_NIL)
				;
			CHECK_EQ(b.q->pkts, 0);
			CHECK(conserved(&b));
			bench_end(&b);
		}
}

static u64 run(const struct aqm_algo *algo, u32 flows, u64 start_ns, u64 seed, u32 what)
{
	struct bench b = storm_bench(algo, flows, start_ns, seed);
	struct aqm_rng r;
	u64 sum;
	u32 i;

	rng_seed(&r, 13, 0);
	for (i = 0; i < STORM_STEPS / 4; i++) {
		storm_step(&b, &r, what & STORM_CHANGES);
		if ((what & STORM_DUMPS) && !(i % 7))
			storm_dump(&b);
	}
	sum = b.host->digest;
	bench_end(&b);
	return sum;
}

/* Past the sign bit, where a wrong comparison of times shows. */
#define LATE (((u64)1 << 63) - NS_PER_S)

TEST(survives_wrap_of_signed_time)
{
	const struct aqm_algo *const *a;
	u32 f;

	for (a = aqm_all; *a; a++)
		for (f = 0; f < 3 && possible(*a, flow_counts[f]); f++)
			CHECK(run(*a, flow_counts[f], 0, 3, STORM_CHANGES) ==
			      run(*a, flow_counts[f], LATE, 3, STORM_CHANGES));
}

/* A read moves a tick within the record, not in time, so digests may differ. Compare the
 * fates of the packets. */
static u64 outcome(const struct aqm_algo *algo, u32 what)
{
	struct bench b = storm_bench(algo, 0, 0, 5);
	struct aqm_rng r;
	u64 sum = 0;
	u32 i;

	rng_seed(&r, 17, 0);
	for (i = 0; i < STORM_STEPS / 4; i++) {
		storm_step(&b, &r, what & STORM_CHANGES);
		if ((what & STORM_DUMPS) && !(i % 3)) {
			u64 now = b.now;

			b.now += 77777; /* later than the last event, before the next */
			storm_dump(&b);
			b.now = now;
		}
		b.now += 77777;
		sum = rng_mix(sum ^ b.q->pkts ^ drops(&b) << 20 ^ marks(&b) << 40);
	}
	bench_end(&b);
	return sum;
}

TEST(a_reader_changes_nothing)
{
	const struct aqm_algo *const *a;

	for (a = aqm_all; *a; a++) {
		bool same =
		        outcome(*a, STORM_CHANGES) == outcome(*a, STORM_CHANGES | STORM_DUMPS);

		if (!same)
			fprintf(stderr, "%s\n", (*a)->name);
		CHECK(same);
	}
}

/* Does its state hold a generator? Then another seed makes another state. */
static bool draws(const struct aqm_algo *algo)
{
	struct bench a = storm_bench(algo, 0, 0, 3), b = storm_bench(algo, 0, 0, 4);
	bool differ = memcmp(inst_state(a.q, inst_nth(a.q, 0)),
	                     inst_state(b.q, inst_nth(b.q, 0)), algo->state_bytes);

	bench_end(&a);
	bench_end(&b);
	return differ;
}

TEST(equal_seeds_repeat_and_others_do_not)
{
	const struct aqm_algo *const *a;

	for (a = aqm_all; *a; a++) {
		CHECK(run(*a, 0, 0, 3, 0) == run(*a, 0, 0, 3, 0));
		CHECK((run(*a, 0, 0, 3, 0) != run(*a, 0, 0, 4, 0)) == draws(*a));
	}
}
