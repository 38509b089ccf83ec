/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * manage.h: making, changing, resetting and reading a queue. Part of queue.h.
 */
#ifndef AQM_MANAGE_H
#define AQM_MANAGE_H

static inline u32 round_up_8(u32 bytes)
{
	return (bytes + 7) & ~7u;
}

/* Where things lie; also in aqm_queue_mem, before there is any memory. */
static inline void queue_layout(struct aqm_queue *q, const struct aqm_algo *a,
                                const struct aqm_setup *setup)
{
	u32 views = a->queues * (u32)sizeof(struct aqm_view);
	u32 lanes = a->queues * (u32)sizeof(struct aqm_lane);

	q->at_inst = round_up_8((u32)sizeof(*q) + a->conf_bytes);
	q->at_lanes = (u32)sizeof(struct aqm_inst) + round_up_8(views);
	q->at_state = q->at_lanes + round_up_8(lanes);
	q->stride = q->at_state + round_up_8(a->state_bytes);
	q->insts = setup->flows ? setup->flows : 1;
	q->room = (a->flags & AQM_SAMPLES) && !setup->flows ? ring_cells(setup->limit) : 0;
}

static inline size_t aqm_queue_mem(const struct aqm_algo *a, const struct aqm_setup *setup)
{
	struct aqm_queue q;
	u64 bytes;

	queue_layout(&q, a, setup);
	bytes = q.at_inst + (u64)q.insts * q.stride + (u64)q.room * a->queues * sizeof(aqm_h);
	return bytes > U32_MAX / 2 ? 0 : (size_t)bytes;
}

static inline void inst_limits(struct aqm_queue *q, struct aqm_inst *in)
{
	struct aqm_view *view = inst_views(in);
	u32 i;

	for (i = 0; i < q->algo->queues; i++, view++) {
		view->limit_pkts = q->setup.limit;
		view->limit_bytes = q->setup.limit_bytes;
		view->mtu_bytes = q->mtu_bytes;
		view->ecn = q->setup.ecn;
	}
}

static inline void inst_start(struct aqm_queue *q, u32 i, u64 now)
{
	struct aqm_inst *in = inst_nth(q, i);
	const struct aqm_algo *a = q->algo;
	u64 deadline = AQM_NEVER;

	aqm_zero(inst_state(q, in), a->state_bytes);
	if (a->configure)
		a->configure(inst_state(q, in), queue_conf(q), inst_views(in));
	if (a->start)
		deadline =
		        a->start(inst_state(q, in), queue_conf(q), now, rng_mix(q->seed + i));
	set_deadline(q, in, now, a->tick && a->idle ? deadline : AQM_NEVER);
	in->ticks = 0;
	in->listed = 0;
}

static inline void inst_lay_out(struct aqm_queue *q, u32 i, aqm_h *cells)
{
	struct aqm_inst *in = inst_nth(q, i);
	u32 n;

	in->index = i;
	for (n = 0; n < q->algo->queues; n++) {
		struct aqm_lane *lane = &inst_lanes(q, in)[n];
		struct aqm_view *view = &inst_views(in)[n];

		aqm_zero(view, sizeof(*view));
		view->peek = queue_peek;
		view->host = lane;
		*lane = (struct aqm_lane){
		        .q = q, .view = view, .head = AQM_NIL, .tail = AQM_NIL};
		if (q->room) {
			lane->ring.cell = cells + (size_t)n * q->room;
			lane->ring.mask = q->room - 1;
		}
	}
	inst_limits(q, in);
}

static inline void queue_start(struct aqm_queue *q, u64 now)
{
	u32 i;

	q->fresh.head = q->old.head = FQ_NONE;
	for (i = 0; i < q->insts; i++)
		inst_start(q, i, now);
}

static inline void aqm_queue_init(struct aqm_queue *q, const struct aqm_algo *a,
                                  const struct aqm_setup *setup, const void *conf,
                                  u32 mtu_bytes, u64 now, u64 seed)
{
	u32 i;

	aqm_zero(q, sizeof(*q));
	queue_layout(q, a, setup);
	q->algo = a;
	q->setup = *setup;
	q->mtu_bytes = mtu_bytes;
	q->seed = seed;
	aqm_copy(queue_conf(q), conf, a->conf_bytes);
	for (i = 0; i < q->insts; i++)
		inst_lay_out(q, i, (aqm_h *)(void *)inst_nth(q, q->insts));
	queue_start(q, now);
}

/* The lane that loses a packet when the limit is lowered: the fullest. */
static inline u32 fullest_lane(const struct aqm_queue *q, struct aqm_inst *in)
{
	u32 i, fullest = 0;

	for (i = 1; i < q->algo->queues; i++)
		if (inst_views(in)[i].bytes > inst_views(in)[fullest].bytes)
			fullest = i;
	return fullest;
}

static inline bool over_held(const struct aqm_queue *q)
{
	return q->pkts > q->setup.limit || q->bytes > q->setup.limit_bytes;
}

static inline void shed_to_limit(struct aqm_queue *q, u64 now)
{
	u32 i;

	while (over_held(q)) {
		struct aqm_inst *in = fq_fattest(q);

		for (i = 0; i < FQ_BATCH && over_held(q); i++)
			if (!queue_evict(q, in, now, fullest_lane(q, in), 0, AQM_WHY_LOWERED))
				break;
		if (!i)
			return;
	}
}

/* Rows that aqm_setup_check() has passed take effect. */
static inline void aqm_queue_apply(struct aqm_queue *q, u64 now, const struct aqm_setup *setup,
                                   const void *conf)
{
	u32 i;

	for (i = 0; i < q->insts; i++)
		run_ticks(q, inst_nth(q, i), now);
	q->setup = *setup;
	aqm_copy(queue_conf(q), conf, q->algo->conf_bytes);
	for (i = 0; i < q->insts; i++) {
		struct aqm_inst *in = inst_nth(q, i);

		in->ticks = 0;
		inst_limits(q, in);
		if (q->algo->configure)
			q->algo->configure(inst_state(q, in), queue_conf(q), inst_views(in));
	}
	shed_to_limit(q, now);
}

static inline void aqm_queue_reset(struct aqm_queue *q, u64 now)
{
	u32 i, lane;
	aqm_h h;

	for (i = 0; i < q->insts; i++)
		for (lane = 0; lane < q->algo->queues; lane++)
			while ((h = queue_take(q, inst_nth(q, i), lane, 0)) != AQM_NIL)
				queue_free(q, h, host_len(q->ctx, h), AQM_WHY_RESET);
	queue_start(q, now);
}

/* A statistic over all flows: the sum where its row says so, else the largest. */
static inline u64 aqm_queue_stat(struct aqm_queue *q, u64 now, const struct aqm_field *row)
{
	u64 all = 0;
	u32 i;

	for (i = 0; i < q->insts; i++) {
		struct aqm_inst *in = inst_nth(q, i);
		u64 one;

		run_ticks(q, in, now);
		one = aqm_field_get(row, inst_state(q, in));
		if (row->flags & AQM_SUM)
			all += one;
		else if (one > all)
			all = one;
	}
	return all;
}

#endif
