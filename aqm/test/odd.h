/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * odd.h: an algorithm that gives the answers a test sets, and records its calls.
 */
#ifndef ODD_H
#define ODD_H

#include "begin.h"

#define TICKS_KEPT 2000
#define GONE_KEPT  64
#define SEEN       2

static struct {
	/* answers */
	struct aqm_verdict enqueue, dequeue, overflow;
	u32 pick, drops_wanted; /* drops in one dequeue, before the verdict above */
	u64 period_ns, next_ns; /* next_ns: every tick answers this time */
	/* calls */
	u32 starts, enqueues, overflows, dequeues, empties, gones, ticks, idles, echoes;
	u64 seed;
	struct aqm_pkt arrived, overflown, offered, seen[SEEN]; /* seen: in the first slots */
	bool seen_well[SEEN];
	u8 lanes_left; /* a bit for each lane that a packet was offered from */
	u32 gone_own[GONE_KEPT];
	u8 gone_why;
	u64 tick_at[TICKS_KEPT], idle_from, idle_to;
	u64 echo_now, echo_rtt;
} script;

static u64 start(void *st, const void *conf, u64 now, u64 seed)
{
	(void)st, (void)conf;
	script.starts++;
	script.seed = seed;
	return script.period_ns ? now + script.period_ns : AQM_NEVER;
}

/* A packet's own number is its place among the arrivals, from 1 on. */
static struct aqm_verdict enqueue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *views, struct aqm_pkt *pkt)
{
	u32 i;

	(void)st, (void)conf, (void)now;
	for (i = 0; i < SEEN; i++)
		script.seen_well[i] = views->peek(views, i, &script.seen[i]);
	script.arrived = *pkt;
	pkt->k.own = ++script.enqueues;
	return script.enqueue;
}

static struct aqm_verdict overflow(void *st, const void *conf, u64 now,
                                   const struct aqm_view *views, struct aqm_pkt *pkt)
{
	(void)st, (void)conf, (void)now, (void)views;
	script.overflown = *pkt;
	script.overflows++;
	return script.overflow;
}

static u32 pick(void *st, const void *conf, u64 now, const struct aqm_view *views)
{
	(void)st, (void)conf, (void)now, (void)views;
	return script.pick;
}

static struct aqm_verdict dequeue(void *st, const void *conf, u64 now,
                                  const struct aqm_view *views, const struct aqm_pkt *pkt)
{
	(void)st, (void)conf, (void)now, (void)views;
	script.dequeues++;
	script.offered = *pkt;
	script.lanes_left |= (u8)(1 << pkt->lane);
	return pkt->nth < script.drops_wanted ? aqm_drop(AQM_WHY_DELAY) : script.dequeue;
}

static void empty(void *st, const void *conf, u64 now, const struct aqm_view *views)
{
	(void)st, (void)conf, (void)now, (void)views;
	script.empties++;
}

static void gone(void *st, const void *conf, u64 now, const struct aqm_view *views,
                 const struct aqm_pkt *pkt, u8 why)
{
	(void)st, (void)conf, (void)now, (void)views;
	script.gone_own[script.gones++ % GONE_KEPT] = pkt->k.own;
	script.gone_why = why;
}

static u64 tick(void *st, const void *conf, u64 now, const struct aqm_view *views)
{
	(void)st, (void)conf, (void)views;
	script.tick_at[script.ticks++ % TICKS_KEPT] = now;
	return script.next_ns ? script.next_ns : now + script.period_ns;
}

static u64 idle(void *st, const void *conf, const struct aqm_view *views, u64 from, u64 to)
{
	(void)st, (void)conf, (void)views;
	script.idles++;
	script.idle_from = from;
	script.idle_to = to;
	return grid_after(from, to, script.period_ns);
}

static void echo(void *st, const void *conf, u64 now, const struct aqm_view *views, u64 rtt_ns)
{
	(void)st, (void)conf, (void)views;
	script.echoes++;
	script.echo_now = now;
	script.echo_rtt = rtt_ns;
}

/* More members may follow the number of lanes. */
#define ODD(name_, ...)                                                                        \
	static const struct aqm_algo name_ = {                                                 \
	        .name = #name_,                                                                \
	        .brief = "",                                                                   \
	        .source = "",                                                                  \
	        .abi = AQM_ABI,                                                                \
	        .start = start,                                                                \
	        .enqueue = enqueue,                                                            \
	        .pick = pick,                                                                  \
	        .dequeue = dequeue,                                                            \
	        .empty = empty,                                                                \
	        .gone = gone,                                                                  \
	        .tick = tick,                                                                  \
	        .idle = idle,                                                                  \
	        .echo = echo,                                                                  \
	        .queues = __VA_ARGS__,                                                         \
	}

/* A queue that starts at 1000 ns, with these rows and an empty script. */
#define ODD_BEGIN(algo_, packets_, ...)                                                        \
	(memset(&script, 0, sizeof(script)), BEGIN(algo_, packets_, 1000, __VA_ARGS__))

static inline struct bench begin_ticking(const struct aqm_algo *algo, u32 packets,
                                         u64 period_ns)
{
	struct bench b = bench_new(algo, packets, 1000);

	memset(&script, 0, sizeof(script));
	script.period_ns = period_ns;
	CHECK(!bench_start(&b, 1).sentence);
	return b;
}

#endif
