// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// test_change.c: rows that change, statistics and evictions beside overdue ticks, with
// an algorithm that checks the time and the rows of each call it gets.

#include "host.h"
#include "test.h"

struct watch_conf {
	u64 period;
};

struct watch_state {
	u64 last_ns, period; /* of the row when it was configured */
	u64 ticks, ticks_of_old, arrivals, gones, empties;
	u32 configures;
};

/* The period that a test calls old. */
#define OLD (10 * NS_PER_MS)
#define NEW (3 * NS_PER_MS)

static u64 backwards, mixed, total_ticks;

/* No call is earlier than the one before, and rows are those last configured. */
static struct watch_state *enter(void *st, const void *conf, u64 now)
{
	struct watch_state *s = st;

	backwards += now < s->last_ns;
	mixed += ((const struct watch_conf *)conf)->period != s->period;
	s->last_ns = now;
	return s;
}

static void configure(void *st, const void *conf, const struct aqm_view *views)
{
	struct watch_state *s = st;

	(void)views;
	s->period = ((const struct watch_conf *)conf)->period;
	s->configures++;
}

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	(void)seed;
	return now + enter(st, conf, now)->period;
}

static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *views, struct aqm_pkt *pkt)
{
	(void)views, (void)pkt;
	enter(st, conf, now)->arrivals++;
	return aqm_pass();
}

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *views, const struct aqm_pkt *pkt)
{
	(void)views, (void)pkt;
	enter(st, conf, now);
	return aqm_pass();
}

static void empty(void *st, const void *conf, u64 now, const struct aqm_view *views)
{
	(void)views;
	enter(st, conf, now)->empties++;
}

static void gone(void *st, const void *conf, u64 now, const struct aqm_view *views,
                 const struct aqm_pkt *pkt, u8 why)
{
	(void)views, (void)pkt, (void)why;
	enter(st, conf, now)->gones++;
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *views)
{
	struct watch_state *s = enter(st, conf, now);

	(void)views;
	s->ticks++;
	s->ticks_of_old += s->period == OLD;
	total_ticks++;
	return now + s->period;
}

static u64 idle(void *st, const void *conf, const struct aqm_view *views, u64 from, u64 to)
{
	(void)views;
	return grid_after(from, to, enter(st, conf, from)->period);
}

/* clang-format off */
static const struct aqm_field params[] = {
	AQM_ROW(1, AQM_U64, watch_conf, period, AQM_NS, OLD, NS_PER_MS, NS_PER_S, 0, "between ticks"),
	AQM_END,
};

static const struct aqm_field stats[] = {
	AQM_STAT(1, AQM_U64, watch_state, "period", period, AQM_NS, 0, "a gauge"),
	AQM_STAT(2, AQM_U64, watch_state, "ticks", ticks, AQM_COUNT, AQM_COUNTER, "a counter"),
	AQM_STAT(3, AQM_U32, watch_state, "configures", configures, AQM_COUNT, 0, "a gauge"),
	AQM_STAT(4, AQM_U64, watch_state, "arrivals", arrivals, AQM_COUNT, AQM_COUNTER, "a counter"),
	AQM_STAT(5, AQM_U64, watch_state, "gones", gones, AQM_COUNT, AQM_COUNTER, "a counter"),
	AQM_END,
};
/* clang-format on */

static const struct aqm_algo watch = {
        .name = "watch",
        .brief = "",
        .source = "",
        .abi = AQM_ABI,
        .queues = 1,
        .conf_bytes = sizeof(struct watch_conf),
        .state_bytes = sizeof(struct watch_state),
        .params = params,
        .stats = stats,
        .configure = configure,
        .start = start,
        .enqueue = enqueue,
        .dequeue = dequeue,
        .empty = empty,
        .gone = gone,
        .tick = tick,
        .idle = idle,
};

static struct bench begin(u32 flows, u32 packets)
{
	struct bench b = bench_new(&watch, packets, 0);

	backwards = mixed = total_ticks = 0;
	set_row(&b, "flows", flows);
	set_row(&b, "limit", packets);
	set_row(&b, "memory_limit", U32_MAX);
	CHECK(!bench_start(&b, 1).sentence);
	return b;
}

static struct watch_state *state(struct bench *b, u32 i)
{
	return inst_state(b->q, inst_nth(b->q, i));
}

static void change_period(struct bench *b, u64 period)
{
	set_row(b, "period", period);
	CHECK(!bench_change(b).sentence);
}

TEST(statistics_and_changes_run_no_tick)
{
	struct bench b = begin(0, 10);

	arrive(&b, 0, 100, 0);
	b.now += 5 * OLD;
	CHECK_EQ(stat(&b, "ticks"), 0);
	change_period(&b, NEW);
	CHECK_EQ(total_ticks, 0);
	CHECK_EQ(stat(&b, "period"), OLD);
	bench_end(&b);
}

TEST(overdue_ticks_see_the_old_values_and_the_next_event_the_new)
{
	struct bench b = begin(0, 10);

	b.now += 5 * OLD;
	change_period(&b, NEW);
	b.now += 2 * OLD;
	arrive(&b, 0, 100, 0);
	CHECK_EQ(state(&b, 0)->ticks_of_old, 7);
	CHECK_EQ(stat(&b, "period"), NEW);
	b.now += OLD;
	leave(&b);
	CHECK_EQ(state(&b, 0)->ticks_of_old, 7);
	CHECK_EQ(stat(&b, "ticks"), 8); /* the next was set before the change was taken */
	CHECK_EQ(mixed + backwards, 0);
	bench_end(&b);
}

TEST(of_changes_without_an_event_between_them_the_last_two_count)
{
	struct bench b = begin(16, 100);

	arrive(&b, 0, 100, 0);
	arrive(&b, U32_MAX, 100, 0);
	b.now += 3 * OLD;
	change_period(&b, 5 * NS_PER_MS);
	change_period(&b, 4 * NS_PER_MS);
	change_period(&b, NEW);
	arrive(&b, 0, 100, 0);
	CHECK_EQ(state(&b, 0)->period, NEW);
	CHECK_EQ(state(&b, 0)->configures, 4);
	CHECK_EQ(state(&b, 0)->ticks_of_old, 0);
	CHECK_EQ(state(&b, 15)->configures, 3);
	CHECK_EQ(state(&b, 15)->period, 4 * NS_PER_MS);
	CHECK_EQ(mixed + backwards, 0);
	bench_end(&b);
}

TEST(each_dry_flow_that_a_dequeue_passes_hears_that_it_is_empty)
{
	struct bench b = begin(256, 256);
	u32 i, heard = 0;

	for (i = 0; i < 256; i++)
		arrive(&b, i << 24, 100, 0);
	set_row(&b, "limit", 1);
	change_period(&b, NEW);
	CHECK(leave(&b) != AQM_NIL);
	CHECK_EQ(leave(&b), AQM_NIL);
	for (i = 0; i < 256; i++)
		heard += state(&b, i)->empties > 0;
	CHECK_EQ(heard, 256);
	CHECK_EQ(mixed + backwards, 0);
	bench_end(&b);
}

TEST(with_flows_a_counter_is_summed_and_a_gauge_has_no_value)
{
	struct bench b = begin(16, 100);
	u64 value;
	u32 i;

	CHECK_EQ(b.q->counters, 3);
	for (i = 0; i < 16; i++)
		arrive(&b, i << 28, 100, 0);
	CHECK_EQ(stat(&b, "arrivals"), 16);
	CHECK(!aqm_queue_stat(b.q, &stats[0], &value));
	CHECK(!aqm_queue_stat(b.q, &stats[2], &value));
	aqm_queue_reset(b.q, b.now);
	CHECK_EQ(stat(&b, "arrivals"), 0);
	arrive(&b, 0, 100, 0);
	CHECK_EQ(stat(&b, "arrivals"), 1);
	bench_end(&b);
}

TEST(a_flow_starts_at_its_first_event_as_of_the_reset)
{
	struct bench b = begin(16, 100);

	arrive(&b, 0, 100, 0);
	b.now += OLD / 2;
	aqm_queue_reset(b.q, b.now);
	b.now += 3 * OLD + OLD / 2;
	arrive(&b, 0, 100, 0);
	CHECK_EQ(state(&b, 0)->ticks, 3);
	CHECK_EQ(state(&b, 0)->arrivals, 1);
	CHECK_EQ(state(&b, 0)->configures, 1);
	CHECK_EQ(stat(&b, "ticks"), 3);
	change_period(&b, NEW);
	arrive(&b, U32_MAX, 100, 0);
	CHECK_EQ(state(&b, 15)->configures, 1);
	CHECK_EQ(state(&b, 15)->period, NEW);
	CHECK_EQ(mixed + backwards, 0);
	bench_end(&b);
}

TEST(an_only_instance_is_there_before_its_first_event)
{
	struct bench none = begin(0, 10), one = begin(1, 10);

	CHECK_EQ(stat(&none, "period"), OLD);
	CHECK_EQ(stat(&one, "period"), OLD);
	arrive(&one, 0, 100, 0);
	aqm_queue_reset(one.q, one.now);
	CHECK_EQ(stat(&one, "arrivals"), 0);
	bench_end(&none);
	bench_end(&one);
}

/* Packets of two flows, one of them the last. */
static u64 work_of_a_reset(u32 flows)
{
	struct bench b = begin(flows, 100);
	u64 work;
	u32 i;

	for (i = 0; i < 10; i++)
		arrive(&b, i % 2 ? 0 : U32_MAX, 100, 0);
	steps = 0;
	aqm_queue_reset(b.q, b.now);
	work = steps;
	CHECK_EQ(b.q->pkts, 0);
	CHECK_EQ(b.host->freed, 10);
	CHECK_EQ(leave(&b), AQM_NIL);
	bench_end(&b);
	return work;
}

TEST(a_reset_visits_what_is_held_however_many_flows_there_are)
{
	CHECK(work_of_a_reset(16) <= 12);
	CHECK(work_of_a_reset(65536) <= 12);
}

static u64 sum_by_visit(struct bench *b)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < b->q->insts; i++)
		if (inst_started(b->q, inst_nth(b->q, i)))
			sum += state(b, i)->gones + state(b, i)->arrivals + state(b, i)->ticks;
	return sum;
}

TEST(time_never_goes_back_and_rows_are_never_mixed)
{
	struct bench b = begin(16, 300);
	struct aqm_rng r;
	u32 i;

	rng_seed(&r, 2, 0);
	for (i = 0; i < 60000; i++) {
		u32 kind = rng_below(&r, 1000);

		b.now += kind < 3 ? NS_PER_S : rng_below(&r, 400000);
		if (kind < 600)
			arrive(&b, rng_u32(&r), 40 + rng_below(&r, 1475), 0);
		else if (kind < 950)
			leave(&b);
		else if (kind < 990)
			change_period(&b, NS_PER_MS + rng_below(&r, 30) * NS_PER_MS);
		else
			set_row(&b, "limit", 1 + rng_below(&r, 200));
		CHECK_EQ(stat(&b, "gones") + stat(&b, "arrivals") + stat(&b, "ticks"),
		         sum_by_visit(&b));
	}
	CHECK(stat(&b, "gones") > 1000 && stat(&b, "ticks") > 1000);
	CHECK_EQ(mixed, 0);
	CHECK_EQ(backwards, 0);
	bench_end(&b);
}

/* The work of a change to `limit`, with a packet in each flow of a link that has stood
 * for an hour, and of the dequeue behind it. */
static u64 work_of_a_change(u32 flows, u32 limit, u64 *dequeue)
{
	struct bench b = begin(flows, flows);
	u64 work;
	u32 i;

	for (i = 0; i < flows; i++)
		arrive(&b, (u32)(((u64)i << 32) / flows) + 1, 100, 0);
	b.now += 3600 * NS_PER_S;
	set_row(&b, "limit", limit);
	steps = 0;
	change_period(&b, NEW);
	work = steps;
	CHECK_EQ(b.q->pkts, limit);
	CHECK_EQ(total_ticks, 0);
	steps = 0;
	leave(&b);
	*dequeue = steps;
	/* overdue ticks run now, and no tick has an earlier time than the last event */
	for (i = 0; i < flows && limit == 1; i++)
		arrive(&b, (u32)(((u64)i << 32) / flows) + 1, 100, 0);
	CHECK_EQ(mixed + backwards, 0);
	bench_end(&b);
	return work;
}

TEST(a_change_visits_each_flow_once_and_runs_no_tick_however_many_there_are)
{
	u64 few_out, many_out, few, many;

	few = work_of_a_change(1024, 1024, &few_out);
	many = work_of_a_change(65536, 65536, &many_out);
	CHECK_EQ(few, 1024);
	CHECK_EQ(many, 65536);
	CHECK(few_out < 2000 && many_out < 2000); /* 1,024 ticks of the flow that is served */
}

TEST(a_dequeue_passes_dry_flows_without_all_their_ticks)
{
	u64 few_out, many_out;

	work_of_a_change(1024, 1, &few_out);
	work_of_a_change(65536, 1, &many_out);
	CHECK(many_out <= 65536 + 2048 + (FQ_EMPTY_TICKED + 1) * 1024);
	CHECK(few_out <= 1024 + 2048 + (FQ_EMPTY_TICKED + 1) * 1024);
}
