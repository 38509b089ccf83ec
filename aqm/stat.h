/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * stat.h: the algorithm's statistics. Part of queue.h.
 *
 * A statistic is read as of the last event of its instance: reading runs no tick and
 * visits no flow but the stale ones (fat.h). With flows there is one number only for a
 * counter (AQM_COUNTER): its sum, kept as it grows. A gauge of many flows has no one value.
 */
#ifndef AQM_STAT_H
#define AQM_STAT_H

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

/* What the sums have of this instance. */
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

/* A statistic's value, where there is one. */
static inline bool aqm_queue_stat(struct aqm_queue *q, const struct aqm_field *row, u64 *value)
{
	const struct aqm_field *before;
	const u64 *sum = stat_sums(q);

	if (q->insts == 1) {
		*value = aqm_field_get(row, inst_state(q, inst_nth(q, 0)));
		return true;
	}
	if (!(row->flags & AQM_COUNTER))
		return false;
	flows_flush(q);
	for (before = q->algo->stats; before != row; before++)
		sum += (before->flags & AQM_COUNTER) != 0;
	*value = *sum;
	return true;
}

#endif
