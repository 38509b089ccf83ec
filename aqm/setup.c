// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// setup.c: the queue's own rows and the check of all rows together.

#include "setup.h"
#include "field.h"

/* clang-format off */
const struct aqm_field aqm_setup_rows[] = {
	AQM_ROW(1, AQM_U32, aqm_setup, limit, AQM_PKTS, 1000, 1, AQM_LIMIT_MAX, 0,
		"most packets held, all flows together"),
	AQM_ROW(2, AQM_U32, aqm_setup, limit_bytes, AQM_BYTES, U32_MAX, 1, U32_MAX, 0,
		"most bytes held, all flows together"),
	AQM_ROW(3, AQM_BOOL, aqm_setup, ecn, AQM_COUNT, 0, 0, 1, 0,
		"mark packets that carry ECT instead of dropping them"),
	AQM_ROW(4, AQM_U32, aqm_setup, flows, AQM_COUNT, 0, 0, AQM_FLOWS_MAX, AQM_FIXED,
		"flow queues served by deficit round robin; 0: a single queue"),
	AQM_ROW(5, AQM_U32, aqm_setup, quantum, AQM_BYTES, 0, 0, 1u << 20, 0,
		"bytes a flow may send per round; 0: the MTU"),
	/* The default of Linux's fq_codel. */
	AQM_ROW(6, AQM_U32, aqm_setup, memory_limit, AQM_BYTES, 1u << 25, 1, U32_MAX, 0,
		"most memory that packets occupy in a kernel, all flows together"),
	/* Up to 17.6 Tbit/s: more than any host knows how to reckon with. */
	AQM_ROW(7, AQM_U64, aqm_setup, bandwidth, AQM_BYTES_PER_S, 0, 0, 1ull << 41, 0,
		"rate of the link, where an algorithm uses it; 0: unknown"),
	/* The default of Linux's fq_codel. */
	AQM_ROW(8, AQM_U32, aqm_setup, drop_batch, AQM_COUNT, 64, 1, AQM_BATCH_MAX, 0,
		"most packets that the fattest flow loses at once to make room"),
	AQM_END,
};
/* clang-format on */

u64 aqm_setup_default(const struct aqm_algo *algo, const struct aqm_field *row)
{
	const struct aqm_default *d;

	for (d = algo->defaults; d && d->row; d++)
		if (aqm_field_find(aqm_setup_rows, d->row) == row)
			return d->value;
	return row->def;
}

void aqm_setup_defaults(const struct aqm_algo *algo, struct aqm_setup *setup)
{
	const struct aqm_field *row;

	for (row = aqm_setup_rows; row->name; row++)
		(void)aqm_field_set(row, setup, aqm_setup_default(algo, row));
}

static struct aqm_refusal refuse(const char *name, const char *sentence)
{
	return (struct aqm_refusal){aqm_field_find(aqm_setup_rows, name), sentence};
}

struct aqm_refusal aqm_setup_check(const struct aqm_algo *algo, const struct aqm_setup *setup,
                                   const void *conf, const struct aqm_setup *old_setup,
                                   const void *old_conf, u32 room)
{
	struct aqm_refusal no = {NULL, NULL};
	bool ring = algo->flags & AQM_SAMPLES;

	if (setup->flows && algo->queues > 1)
		return refuse("flows",
		              "an algorithm with several queues cannot be flow-queued");
	/* It compares flows, and a flow of its own has none to compare. A ring for each
	 * would take the memory of the whole limit. */
	if (setup->flows && ring)
		return refuse("flows", "an algorithm that samples cannot be flow-queued");
	if (setup->flows && algo->flags & AQM_COMPARES)
		return refuse("flows",
		              "an algorithm that compares flows cannot be flow-queued");
	if (setup->flows && algo->flags & AQM_NEEDS_RATE)
		return refuse("flows",
		              "an algorithm that must know the link's rate has no flows");
	if (algo->flags & AQM_NEEDS_RATE && !setup->bandwidth)
		return refuse("bandwidth",
		              "this algorithm must know the link's rate: give bandwidth");
	if (ring && setup->limit > AQM_RING_MAX)
		return refuse("limit",
		              "an algorithm that samples holds at most 131072 packets");
	/* Bytes of round robin credit are spent packet by packet: below 256
	 * a full-sized packet would take more than a handful of rounds. */
	if (setup->quantum && setup->quantum < 256)
		return refuse("quantum", "quantum is 0 (the MTU) or at least 256 bytes");
	if (old_setup) {
		no.row = aqm_field_fixed(aqm_setup_rows, old_setup, setup);
		if (!no.row)
			no.row = aqm_field_fixed(algo->params, old_conf, conf);
		if (no.row)
			no.sentence = "this row cannot be changed once the queue exists";
		else if (ring && setup->limit > room)
			no = refuse("limit", "limit is above what this queue was made for");
		if (no.sentence)
			return no;
	}
	no.sentence = algo->check ? algo->check(conf) : NULL;
	return no;
}
