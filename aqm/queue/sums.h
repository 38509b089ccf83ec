/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sums.h: sums counters of the algorithm over the flows as they grow. Part of queue.h.
 */
#ifndef AQM_QUEUE_SUMS_H
#define AQM_QUEUE_SUMS_H

#include "../field.h"
#include "memory.h"

static inline u32 stat_counters(const struct aqm_algo *a)
{
	const struct aqm_field *row;
	u32 n = 0;

	for (row = a->stats; row && row->name; row++)
		n += (row->flags & AQM_COUNTER) != 0;
	return n;
}

static inline u64 *stat_sums(struct aqm_queue *q)
{
	return (u64 *)(void *)((char *)q + q->at_sums);
}

/* Find the values of this instance that the sums include. */
static inline u64 *stat_summed(const struct aqm_queue *q, struct aqm_inst *in)
{
	return (u64 *)(void *)((char *)in + q->at_summed);
}

static void stat_add(struct aqm_queue *q, struct aqm_inst *in)
{
	u64 *sum = stat_sums(q), *summed = stat_summed(q, in);
	const struct aqm_field *row;

	for (row = q->algo->stats; row->name; row++)
		if (row->flags & AQM_COUNTER) {
			u64 value = aqm_field_get(row, inst_state(q, in));

			*sum++ += value - *summed;
			*summed++ = value;
		}
}

#endif
