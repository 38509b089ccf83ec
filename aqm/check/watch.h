/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * watch.h: watches each call of an algorithm.
 *
 * It records each call before it makes it, with the packet that the call is about. So it
 * can name the event at which a sanitizer, a signal or a loop ends the program. It counts
 * the work of a call in branches, at each of which the compiler puts a call of
 * __sanitizer_cov_trace_pc(): neither the clock nor other load changes that number.
 */
#ifndef AQM_CHECK_WATCH_H
#define AQM_CHECK_WATCH_H

#include <signal.h>
#include <sys/time.h>

#include "../test/host.h"

/* Ours take 70,400 at the most, in an idle that makes 2,048 updates of an empty queue; a
 * queue calls with a lock held, and this many take about a fifth of a millisecond. */
#define WORK_MAX 100000u
/* Beyond this it is a loop that does not end: a second or so of work. */
#define WORK_LOOP 200000000ull
/* Seconds of one call, where a compiler does not count. */
#define CALL_SECS 3

static char during[96]; /* the rows that are set now, as part of a sentence */
static bool limited;    /* a call above WORK_MAX is a failure now */
static u32 looked_for;  /* the rules whose breaks are failures now, a bit each */

struct event {
	const char *call; /* NULL: none yet */
	u64 now;
	struct aqm_pkt pkt;
	bool about_pkt;
};

static struct {
	const struct aqm_algo *algo; /* the user's */
	const struct host *host;
	const u32 *numbers;        /* of the packets in the host's slots */
	struct event last, answer; /* the last call, and the last that gave a verdict */
	bool inside;
	u64 arrivals, calls, seen_calls;
	u64 work, most_work;
	const char *most_call;
	u64 gone; /* calls */
} at;

static inline const char *ecn_name(u8 ecn)
{
	static const char *const names[] = {"Not-ECT", "ECT(1)", "ECT(0)", "CE"};

	return names[ecn & 3];
}

static inline u32 number_of(const struct aqm_pkt *pkt)
{
	u32 i;

	for (i = 0; at.host && i < at.host->count; i++) {
		const struct packet *p = &at.host->packets[i];

		if (p->keep.enq_ns == pkt->k.enq_ns && p->keep.flow == pkt->k.flow &&
		    p->len == pkt->len)
			return at.numbers[i];
	}
	return 0;
}

/* The event under way or just over, as part of a sentence. */
static inline void print_event(void)
{
	const struct event *e = &at.last;

	if (!e->call) {
		printf("before the first call");
		return;
	}
	printf("in %s", e->call);
	if (e->about_pkt)
		printf(" of packet %u (%u bytes, %s)", number_of(&e->pkt), e->pkt.len,
		       ecn_name(e->pkt.ecn));
	else
		printf(" after packet %llu", (unsigned long long)at.arrivals);
	printf(", at %llu.%06llu s", (unsigned long long)(e->now / NS_PER_S),
	       (unsigned long long)(e->now % NS_PER_S / 1000));
	printf("%s", during);
}

static inline void tell(const char *why)
{
	static bool told;

	if (told)
		return;
	told = true;
	printf("FAILED %s: ", why);
	print_event();
	printf("\n");
	fflush(stdout);
}

static inline void failed(const char *why)
{
	tell(why);
	_Exit(1);
}

/* A sanitizer ends the program. It prints the place in the code; this prints the event. */
static void on_death(void)
{
	tell("a sanitizer stopped it");
}

/* The sanitizer of undefined behaviour calls this one; it has no other callback. */
void __ubsan_on_report(void);

void __ubsan_on_report(void)
{
	on_death();
}

static inline void on_signal(int number)
{
	failed(number == SIGFPE    ? "SIGFPE, as of a division by zero"
	       : number == SIGSEGV ? "SIGSEGV, as of a NULL pointer"
	       : number == SIGABRT ? "the queue around it stopped (see above)"
	                           : "a signal");
}

static inline void on_timer(int number)
{
	static int alike;

	(void)number;
	alike = at.inside && at.calls == at.seen_calls ? alike + 1 : 0;
	at.seen_calls = at.calls;
	if (alike >= CALL_SECS)
		failed("an endless loop");
}

/* Only the algorithm's file is compiled with calls of it. */
void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
	if (!at.inside)
		return;
	if (++at.work == WORK_LOOP)
		failed("an endless loop");
	if (limited && at.work > WORK_MAX)
		failed("more than 100000 branches in one call");
}

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
void __sanitizer_set_death_callback(void (*)(void));
#endif

/* signal() of ISO C gives a handler one signal only; the second would end the program. */
static inline void handle(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(number, &action, NULL);
}

static inline void watch_signals(void)
{
	struct itimerval second = {{1, 0}, {1, 0}};

#ifdef SANITIZED
	__sanitizer_set_death_callback(on_death);
#else
	handle(SIGSEGV, on_signal);
	handle(SIGBUS, on_signal);
	handle(SIGFPE, on_signal);
	handle(SIGILL, on_signal);
#endif
	handle(SIGABRT, on_signal);
	handle(SIGPROF, on_timer);
	setitimer(ITIMER_PROF, &second, NULL);
}

/* ---- the calls ---- */

static inline void enter(const char *call, u64 now, const struct aqm_pkt *pkt)
{
	at.last = (struct event){.call = call, .now = now, .about_pkt = pkt};
	if (pkt)
		at.last.pkt = *pkt;
	at.calls++;
	at.work = 0;
	at.inside = true;
}

static inline void end(void)
{
	at.inside = false;
	if (!at.most_call || at.work > at.most_work) {
		at.most_work = at.work;
		at.most_call = at.last.call;
	}
}

/* One call of the algorithm, and what it answers. */
#define CALL(call_, now_, pkt_, ...)                                                           \
	({                                                                                     \
		__auto_type answer_ =                                                          \
		        (enter(#call_, now_, pkt_), at.algo->call_(__VA_ARGS__));              \
		end();                                                                         \
		answer_;                                                                       \
	})

/* One that answers nothing. */
#define CALL_VOID(call_, now_, pkt_, ...)                                                      \
	(enter(#call_, now_, pkt_), at.algo->call_(__VA_ARGS__), end())

/* One whose answer the queue judges: a break of its rules is reported with this event. */
#define CALL_JUDGED(...)                                                                       \
	({                                                                                     \
		__auto_type judged_ = CALL(__VA_ARGS__);                                       \
		at.answer = at.last;                                                           \
		judged_;                                                                       \
	})

/* Tests and pages expect of an algorithm what its flags say. At the limit it drops for want
 * of room: that is no signal. */
static inline struct aqm_verdict by_flags(struct aqm_verdict v, u32 place)
{
	bool signals = v.act == AQM_MARK || (v.act == AQM_DROP && v.why != AQM_WHY_LIMIT);

	if (v.act == AQM_MARK && !(at.algo->flags & AQM_MARKS))
		failed("it marks, and has no flag AQM_MARKS");
	if (signals && !(at.algo->flags & place))
		failed(place == AQM_AT_TAIL
		               ? "it signals to an arrival, and has no flag AQM_AT_TAIL"
		               : "it signals to a departure, and has no flag AQM_AT_HEAD");
	if (v.probe && !at.algo->echo)
		failed("it asked for a probe, and has no echo to receive the answer");
	return v;
}

/* The next tick. The queue counts wrong ones too, but does not say which call it was. */
static inline u64 later(u64 next, u64 than)
{
	if (looked_for >> AQM_BAD_TICK & 1 && next <= than)
		failed("it broke the rule 'tick': its next tick is not later than now");
	return next;
}

static const char *watched_check(const void *conf)
{
	return CALL(check, 0, NULL, conf);
}

static void watched_configure(void *st, const void *conf, const struct aqm_view *views)
{
	CALL_VOID(configure, at.last.now, NULL, st, conf, views);
}

static u64 watched_start(void *st, const void *conf, u64 now, u64 seed)
{
	return later(CALL(start, now, NULL, st, conf, now, seed), now);
}

static struct aqm_verdict watched_enqueue(void *st, const void *conf, u64 now,
                                          const struct aqm_view *views, struct aqm_pkt *pkt)
{
	return by_flags(CALL_JUDGED(enqueue, now, pkt, st, conf, now, views, pkt), AQM_AT_TAIL);
}

static struct aqm_verdict watched_overflow(void *st, const void *conf, u64 now,
                                           const struct aqm_view *views, struct aqm_pkt *pkt)
{
	return CALL_JUDGED(overflow, now, pkt, st, conf, now, views, pkt);
}

static u32 watched_pick(void *st, const void *conf, u64 now, const struct aqm_view *views)
{
	return CALL_JUDGED(pick, now, NULL, st, conf, now, views);
}

static struct aqm_verdict watched_dequeue(void *st, const void *conf, u64 now,
                                          const struct aqm_view *views,
                                          const struct aqm_pkt *pkt)
{
	return by_flags(CALL_JUDGED(dequeue, now, pkt, st, conf, now, views, pkt), AQM_AT_HEAD);
}

static void watched_empty(void *st, const void *conf, u64 now, const struct aqm_view *views)
{
	CALL_VOID(empty, now, NULL, st, conf, now, views);
}

/* Also of an algorithm without `gone`: packets are counted here. */
static void watched_gone(void *st, const void *conf, u64 now, const struct aqm_view *views,
                         const struct aqm_pkt *pkt, u8 why)
{
	at.gone++;
	if (at.algo->gone)
		CALL_VOID(gone, now, pkt, st, conf, now, views, pkt, why);
}

static u64 watched_tick(void *st, const void *conf, u64 now, const struct aqm_view *views)
{
	return later(CALL(tick, now, NULL, st, conf, now, views), now);
}

static u64 watched_idle(void *st, const void *conf, const struct aqm_view *views, u64 from,
                        u64 to)
{
	return later(CALL(idle, to, NULL, st, conf, views, from, to), to);
}

static void watched_echo(void *st, const void *conf, u64 now, const struct aqm_view *views,
                         u64 rtt_ns)
{
	CALL_VOID(echo, now, NULL, st, conf, now, views, rtt_ns);
}

/* The algorithm, under watch. Always with `gone`, which counts packets. */
static inline const struct aqm_algo *watch(const struct aqm_algo *a)
{
	static struct aqm_algo watched;

	at.algo = a;
	watched = *a;
	watched.gone = watched_gone;
#define WATCH(call_)                                                                           \
	if (a->call_)                                                                          \
	watched.call_ = watched_##call_
	WATCH(check);
	WATCH(configure);
	WATCH(start);
	WATCH(enqueue);
	WATCH(overflow);
	WATCH(pick);
	WATCH(dequeue);
	WATCH(empty);
	WATCH(tick);
	WATCH(idle);
	WATCH(echo);
#undef WATCH
	return &watched;
}

#endif
