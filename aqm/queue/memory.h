/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * memory.h: finds the parts of a queue in its memory. Part of queue.h.
 */
#ifndef AQM_QUEUE_MEMORY_H
#define AQM_QUEUE_MEMORY_H

#include "lane.h"
#include "types.h"

static inline void *queue_conf(struct aqm_queue *q)
{
	return q + 1;
}

static inline void *queue_old_conf(struct aqm_queue *q)
{
	return (char *)q + q->at_old_conf;
}

static inline struct aqm_inst *inst_nth(struct aqm_queue *q, u32 i)
{
	return (struct aqm_inst *)(void *)((char *)q + q->at_inst + (size_t)i * q->stride);
}

static inline struct aqm_view *inst_views(struct aqm_inst *in)
{
	return (struct aqm_view *)(void *)(in + 1);
}

static inline struct aqm_lane *inst_lanes(const struct aqm_queue *q, struct aqm_inst *in)
{
	return (struct aqm_lane *)(void *)((char *)in + q->at_lanes);
}

static inline void *inst_state(const struct aqm_queue *q, struct aqm_inst *in)
{
	return (char *)in + q->at_state;
}

#endif
