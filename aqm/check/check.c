// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// check.c: tests one algorithm for the properties that every algorithm must have. It is
// linked with the algorithm's file and with a table aqm_all that names that algorithm only.
//
//   check                lists the properties, a line each: name, and what holds
//   check NAME           tests one of them: prints a line with ok, FAILED or skipped first

#define _POSIX_C_SOURCE 200809L /* sigaction() */

#include "forget.h"
#include "new_rows.h"
#include "pause.h"
#include "rows.h"

#define STEPS 24000u
/* A multiple of 2^32 ns, since an algorithm may keep 32 bits of a time. */
#define LATER ((1ull << 32) * 1000003)

static const struct aqm_algo *algo;

#define ALL_RULES ((1u << AQM_BAD_COUNT) - 1)

static struct life ready(u32 flows, u64 now, u64 seed)
{
	struct life l = life_new(algo, SLOTS, now);

	set_row(&l.b, "flows", flows);
	life_must_start(&l, seed);
	return l;
}

static bool takes_flows(void)
{
	struct life l = life_new(algo, 2, 0);
	bool taken;

	set_row(&l.b, "flows", 1);
	taken = life_start(&l, 1);
	life_end(&l);
	return taken;
}

/* ---- the properties ---- */

static void tables(void)
{
	struct aqm_fault fault = tables_fault(at.algo, aqm_setup_rows);

	if (!fault.sentence)
		return;
	if (fault.row)
		printf("FAILED row '%s': %s\n", fault.row, fault.sentence);
	else
		printf("FAILED %s\n", fault.sentence);
	exit(1);
}

static void storm_of(u32 flows, bool refuses)
{
	struct life l = ready(flows, 0, 7 + flows);

	l.b.host->refuses_marks = refuses;
	life_run(&l, STEPS, true);
	life_end(&l);
}

static void verdicts(void)
{
	looked_for = ALL_RULES & ~(1u << AQM_BAD_MARK);
	storm_of(0, false);
	storm_of(0, true);
	if (takes_flows()) {
		storm_of(1, false);
		storm_of(16, false);
	}
}

/* In queues that allow no mark, and in queues that allow some. */
static void marking(void)
{
	u32 ecn, kind, i;

	looked_for = 1u << AQM_BAD_MARK;
	for (ecn = 0; ecn < 2; ecn++)
		for (kind = 0; kind < 2; kind++) {
			struct life l = life_new(algo, SLOTS, 0);

			set_row(&l.b, "ecn", ecn);
			life_must_start(&l, 3);
			for (i = 0; i < STEPS / 2; i++) {
				u32 n = rng_below(&l.r, 5);

				storm_time(&l.b, &l.r);
				while (n--)
					life_arrive(&l, n << 29, 1000,
					            kind ? (u8)rng_below(&l.r, 4)
					                 : AQM_NOT_ECT);
				life_leave(&l);
			}
			/* Rows of its own may ask for marks; these are at their defaults. */
			if (!ecn && marks(&l.b))
				failed("it marked a packet, though the row `ecn` is off");
			life_end(&l);
		}
}

static void read_stats(const struct life *l, u64 *before, bool fresh)
{
	const struct aqm_field *row;
	u32 i = 0;

	for (row = algo->stats; row && row->name; row++, i++) {
		u64 value = 0;
		char why[160];

		if (!aqm_queue_stat(l->b.q, row, &value))
			continue;
		snprintf(why, sizeof(why), "statistic '%s' is %llu, ", row->name,
		         (unsigned long long)value);
		if (row->unit == AQM_PROB && value > U32_MAX)
			failed(strcat(why, "and a share is at most 2^32 - 1"));
		if (row->type == AQM_BOOL && value > 1)
			failed(strcat(why, "and a bool is 0 or 1"));
		if (row->flags & AQM_COUNTER && !fresh && value < before[i])
			failed(strcat(why, "and a counter never falls"));
		before[i] = value;
	}
}

static void statistics(void)
{
	struct life l = ready(0, 0, 9);
	u64 before[ROWS_MAX];
	u32 i;

	for (i = 0; i < STEPS; i++) {
		u32 epoch = l.b.q->epoch;

		life_step(&l, true);
		read_stats(&l, before, !i || l.b.q->epoch != epoch);
	}
	life_end(&l);
}

/* Two lives, step by step; the first step at which they differ is the event. */
static void alike(struct life *a, struct life *b, u32 steps, const char *why)
{
	while (steps--) {
		life_step(a, false);
		life_step(b, false);
		if (a->b.host->digest != b->b.host->digest)
			failed(why);
	}
}

static void seeds(void)
{
	struct life a = ready(0, 0, 5), b = ready(0, 0, 5);

	alike(&a, &b, STEPS, "two queues with one seed part: is there a variable outside st?");
	life_end(&a);
	life_end(&b);
}

static void copies(void)
{
	struct life a = ready(0, 0, 5), b = ready(0, 0, 5), c = ready(0, 0, 5);
	u32 bytes = algo->state_bytes, i;
	u8 *from, *to;

	for (i = 0; i < STEPS; i++) {
		life_step(&a, false);
		life_step(&b, false);
		life_step(&c, false);
	}
	from = inst_state(a.b.q, inst_nth(a.b.q, 0));
	to = inst_state(b.b.q, inst_nth(b.b.q, 0));
	memcpy(to, from, bytes);
	/* A pointer that still leads there reads nonsense, or freed memory. */
	memset(from, 0xa5, bytes);
	life_end(&a);
	alike(&b, &c, STEPS, "a copy of st goes another way: does st point into itself?");
	life_end(&b);
	life_end(&c);
}

static void clock_time(void)
{
	struct life a = ready(0, 0, 3), b = ready(0, LATER, 3);

	alike(&a, &b, STEPS, "the same packets 2^32 * 1000003 ns later get other verdicts");
	life_end(&a);
	life_end(&b);
}

static void same_rows(void)
{
	struct life a = ready(0, 0, 3), b = ready(0, 0, 3);
	u32 i;

	for (i = 0; i < STEPS; i++) {
		if (i % 37 == 36)
			life_change(&b);
		alike(&a, &b, 1, "after a change to the values that it has, verdicts differ");
	}
	life_end(&a);
	life_end(&b);
}

/* As the queue does it: ticks one by one, and then a span at once, or in two parts. */
static void split(struct life *l, u8 *whole, u8 *parts)
{
	struct aqm_queue *q = l->b.q;
	struct aqm_inst *in = inst_nth(q, 0);
	const struct aqm_view *views = inst_views(in);
	const void *conf = inst_conf(q, in);
	u32 n = held_by(q, in) ? AQM_TICKS_STUCK : AQM_TICKS_EMPTY;
	u64 from = in->tick_ns, period = 0, to, middle, a, b;

	memcpy(whole, inst_state(q, in), algo->state_bytes);
	while (n--) {
		a = algo->tick(whole, conf, from, views);
		if (a == AQM_NEVER)
			return;
		period = a - from;
		from = a;
	}
	memcpy(parts, whole, algo->state_bytes);
	to = from + rng_below(&l->r, 5000) * period + period / 3;
	middle = from + rng_below(&l->r, 256) * (to - from) / 256;
	a = algo->idle(whole, conf, views, from, to);
	b = algo->idle(parts, conf, views, from, middle);
	if (b <= to)
		b = algo->idle(parts, conf, views, b, to);
	if (a != b || memcmp(whole, parts, algo->state_bytes))
		failed("idle over a span, and over its two parts, leave other states");
}

static void idling(void)
{
	struct life l = ready(0, 0, 17);
	u8 *whole = malloc(algo->state_bytes + 1), *parts = malloc(algo->state_bytes + 1);
	u32 i;

	for (i = 0; i < STEPS / 16; i++) {
		life_step(&l, true);
		if (algo->tick && inst_nth(l.b.q, 0)->tick_ns != AQM_NEVER && !(i & 15))
			split(&l, whole, parts);
	}
	free(whole);
	free(parts);
	life_end(&l);
}

static u32 rows_of(const struct aqm_field *rows)
{
	u32 n = 0;

	while (rows && rows[n].name)
		n++;
	return n;
}

/* The other rows: at their defaults, then one after the other at its ends, then all. */
static void set_others(struct life *l, u32 way)
{
	const struct aqm_field *params = algo->params;
	u32 n = rows_of(params), i;

	for (i = 0; i < n && way; i++) {
		bool all = way > 2 * n;

		if (all || (way - 1) / 2 == i)
			value_of(l, &params[i], way & 1 ? params[i].min : params[i].max);
	}
}

/* Is there a queue with this row at this value? It is running then. */
static bool live_with(const struct aqm_field *row, u64 value, struct life *l,
                      const char **sentence)
{
	u32 way, ways = 2 * rows_of(algo->params) + 3;
	struct aqm_refusal no;

	for (way = 0; way < ways; way++) {
		*l = life_new(algo, SLOTS, 0);
		set_others(l, way);
		value_of(l, row, value);
		turn_to(l);
		rng_seed(&l->r, 5, 1);
		no = bench_start(&l->b, 5);
		if (!no.sentence)
			return true;
		*sentence = no.sentence;
		if (!*no.sentence || strlen(no.sentence) > 79)
			failed("check answers a sentence that is empty or above 79 characters");
		life_end(l);
	}
	return false;
}

/* Each parameter at its least and at its largest value. */
static void each_end(void (*try)(const struct aqm_field *row, bool largest))
{
	const struct aqm_field *row;

	for (row = algo->params; row && row->name; row++) {
		try(row, false);
		try(row, true);
	}
}

static void bound(const struct aqm_field *row, bool largest)
{
	u64 value = largest ? row->max : row->min;
	const char *sentence = "";
	struct life l;

	if (!live_with(row, value, &l, &sentence)) {
		printf("FAILED row '%s': its %s value, %llu, is refused: %s\n", row->name,
		       largest ? "largest" : "least", (unsigned long long)value, sentence);
		exit(1);
	}
	if (largest ? value < (u64)-1 && !aqm_field_set(row, l.b.conf, value + 1)
	            : value > 0 && !aqm_field_set(row, l.b.conf, value - 1)) {
		printf("FAILED row '%s': a value outside its range is stored\n", row->name);
		exit(1);
	}
	snprintf(during, sizeof(during), " with %s = %llu", row->name,
	         (unsigned long long)value);
	life_run(&l, STEPS / 6, true);
	life_end(&l);
}

static void bounds(void)
{
	looked_for = ALL_RULES;
	each_end(bound);
}

/* As many packets as the queue may hold, and times without an event. */
static void long_queue(struct life *l, u32 packets)
{
	u32 i;

	for (i = 0; i < packets; i++) {
		l->b.now += 1000;
		life_arrive(l, rng_u32(&l->r), 100, (u8)(i & 3));
	}
	l->b.now += 1000000 * NS_PER_S;
	life_arrive(l, 1, 100, 0);
	for (i = 0; i < packets / 4; i++) {
		l->b.now += 1000;
		life_leave(l);
	}
	life_reset(l);
	l->b.now += 1000000 * NS_PER_S;
	life_leave(l);
	life_arrive(l, 1, 100, 0);
}

static void work_at(const struct aqm_field *row, bool largest)
{
	const char *sentence;
	struct life l;

	if (!live_with(row, largest ? row->max : row->min, &l, &sentence))
		return;
	snprintf(during, sizeof(during), " with %s at its %s", row->name,
	         largest ? "largest" : "least");
	long_queue(&l, SLOTS / 2);
	life_run(&l, STEPS / 6, false);
	life_end(&l);
}

static void work(void)
{
	struct life l = life_new(algo, 60000, 0);

	limited = true;
	set_row(&l.b, "limit", 50000);
	if (!life_start(&l, 5))
		failed("a queue with 50000 packets is refused");
	long_queue(&l, 50000);
	life_end(&l);
	each_end(work_at);
	if (!at.most_work && at.most_call) {
		printf("skipped: this compiler counts no branches\n");
		exit(0);
	}
	printf("ok: %llu branches at the most, in %s\n", (unsigned long long)at.most_work,
	       at.most_call ? at.most_call : "none");
	exit(0);
}

static void partings(void)
{
	u32 flows, i;

	for (flows = 0; flows <= (takes_flows() ? 16u : 0u); flows += 16) {
		struct life l = ready(flows, 0, 13);

		for (i = 0; i < STEPS; i++) {
			life_step(&l, true);
			if (!life_settled(&l))
				failed("a packet left, and neither the verdict nor gone says "
				       "so");
			if (!(i & 255) && !conserved(&l.b))
				failed("packets or bytes are lost");
		}
		life_end(&l);
	}
}

static void stopped_link(void)
{
	struct period seen[2] = {{0, 0, 0}, {0, 0, 0}};
	bool good;

	pause_run(algo, seen);
	good = alike_periods(&seen[1], &seen[0]);
	printf("%s: delay %.1f ms, signals %.2f %% of packets; 10 s after a minute's stop "
	       "%.1f ms, %.2f %%\n",
	       good ? "ok" : "FAILED it does not come back", delay_ms(&seen[0]),
	       signals_pct(&seen[0]), delay_ms(&seen[1]), signals_pct(&seen[1]));
	exit(!good);
}

/* Ours keep 0.9 and more of what they used without dips. */
#define DIPS_KEEP 0.8

static void dips(void)
{
	double without = dips_run(algo, false), with = dips_run(algo, true);
	bool good = with >= DIPS_KEEP * without;

	printf("%s: the link is used to %.1f %%, and to %.1f %% while its rate dips to a tenth "
	       "for "
	       "100 ms every 2 s\n",
	       good ? "ok" : "FAILED it leaves the link idle", 100 * without, 100 * with);
	exit(!good);
}

static void forgetting(void)
{
	static const u32 sizes[] = {FORGET_SMALL, 576, 1514, 9000}, loads_pct[] = {5, 20, 50};
	u32 i, k;

	for (i = 0; i < 4; i++)
		for (k = 0; k < 3; k++) {
			struct life l = forget_life(algo);
			u64 signals = forget_run(&l, sizes[i], loads_pct[k], FORGET_AFTER);

			if (!signals)
				continue;
			printf("FAILED it does not forget: from 10 to 15 s after an overload "
			       "%llu "
			       "signals to packets of %u bytes at %u %% of the link\n",
			       (unsigned long long)signals, sizes[i], loads_pct[k]);
			exit(1);
		}
}

static struct period usual;

static void changed(const struct aqm_field *row, bool largest)
{
	struct period seen = {0, 0, 0};

	if (row->flags & AQM_FIXED ||
	    !senders_after(algo, row, largest ? row->max : row->min, &seen) ||
	    alike_periods(&seen, &usual))
		return;
	printf("FAILED 10 s after %s was at its %s: delay %.1f ms, signals %.2f %% of packets, "
	       "and not %.1f ms, %.2f %%\n",
	       row->name, largest ? "largest" : "least", delay_ms(&seen), signals_pct(&seen),
	       delay_ms(&usual), signals_pct(&usual));
	exit(1);
}

static void changes(void)
{
	if (algo->params && algo->params->name)
		senders_after(algo, algo->params, algo->params->def, &usual);
	each_end(changed);
}

static void calm_with(const struct aqm_field *row, u64 from, u64 to)
{
	s64 signals = calm_signals(algo, row, from, to);

	/* The new value may bring signals by itself. */
	if (signals <= 0 || calm_signals(algo, row, to, to))
		return;
	printf("FAILED %lld signals at 90 %% of the link after %s went from %llu to %llu, and "
	       "none with either\n",
	       (long long)signals, row->name, (unsigned long long)from, (unsigned long long)to);
	exit(1);
}

static void calm_end(const struct aqm_field *row, bool largest)
{
	u64 value = largest ? row->max : row->min;

	if (row->flags & AQM_FIXED)
		return;
	calm_with(row, value, row->def);
	calm_with(row, row->def, value);
}

static void calm(void)
{
	each_end(calm_end);
}

static const u32 extremes[] = {0, 1, 255, 65536, 1u << 20, 1u << 31, U32_MAX};

#define EXTREME(r_) extremes[rng_below((r_), sizeof(extremes) / sizeof(extremes[0]))]

/* Rows at random, but for those with one of these flags. */
static void any_row(struct life *l, struct aqm_rng *r, u8 but)
{
	const struct aqm_field *row;

	for (row = algo->params; row && row->name; row++) {
		u64 span = row->max - row->min, any = (u64)rng_u32(r) << 32;

		if (rng_below(r, 3) || row->flags & but)
			continue;
		any |= rng_u32(r);
		/* Most ranges are wide: small values as often as large ones. */
		any >>= rng_below(r, 64);
		value_of(l, row, row->min + (span + 1 ? any % (span + 1) : any));
	}
}

static void any_life(struct aqm_rng *r)
{
	struct life l = life_new(algo, SLOTS, rng_u32(r));
	u32 i;

	any_row(&l, r, 0);
	if (!rng_below(r, 4))
		l.b.mtu_bytes = EXTREME(r);
	if (takes_flows())
		set_row(&l.b, "flows", rng_below(r, 3) * 8);
	if (!life_start(&l, rng_u32(r))) {
		life_end(&l);
		return;
	}
	for (i = 0; i < 300; i++) {
		life_step(&l, true);
		if (!rng_below(r, 20)) {
			u32 flow = rng_u32(r), len = EXTREME(r);

			life_arrive(&l, flow, len, (u8)rng_below(r, 4));
		}
		if (!rng_below(r, 100)) {
			any_row(&l, r, AQM_FIXED);
			if (bench_change(&l.b).sentence)
				memcpy(l.b.conf, queue_conf(l.b.q), algo->conf_bytes);
		}
		l.b.host->refuses_marks = !rng_below(r, 3);
	}
	if (!conserved(&l.b))
		failed("packets or bytes are lost");
	life_end(&l);
}

static void any(void)
{
	struct aqm_rng r;
	u32 i;

	looked_for = ALL_RULES;
	rng_seed(&r, 1, 2);
	for (i = 0; i < 300; i++)
		any_life(&r);
}

static const struct property {
	const char *name, *what;
	void (*run)(void);
} properties[] = {
        {"tables", "rows and texts are sound", tables},
        {"verdicts", "each verdict keeps the rules of aqm.h", verdicts},
        {"marks", "no packet is marked that may not be", marking},
        {"gone", "each packet that leaves otherwise is reported once", partings},
        {"statistics", "shares, bools and counters stay what they are", statistics},
        {"seeds", "equal seeds and packets give equal verdicts", seeds},
        {"copies", "a copied state has the same future", copies},
        {"time", "times later by a multiple of 2^32 ns change nothing", clock_time},
        {"again", "a change to the same values changes nothing", same_rows},
        {"idle", "a time without events may be split anywhere", idling},
        {"bounds", "the ends of each row's range work, and nothing beyond", bounds},
        {"work", "no call takes long, however long the queue or the pause", work},
        {"pause", "a link that stops for a minute is as before 10 s later", stopped_link},
        {"dips", "a link whose rate dips is used all the same", dips},
        {"forget", "10 s after an overload a link without a queue gets no signal", forgetting},
        {"changes", "10 s after a row has changed its old value is forgotten", changes},
        {"calm", "a row that changes while nothing waits brings no signal", calm},
        {"fuzz", "any rows, packets and times", any},
};

#define PROPERTIES (sizeof(properties) / sizeof(properties[0]))

int main(int argc, char **argv)
{
	u32 i;

	if (argc < 2) {
		for (i = 0; i < PROPERTIES; i++)
			printf("%s\t%s\n", properties[i].name, properties[i].what);
		return 0;
	}
	algo = watch(aqm_all[0]);
	watch_signals();
	for (i = 0; i < PROPERTIES; i++)
		if (!strcmp(argv[1], properties[i].name)) {
			properties[i].run();
			printf("ok\n");
			return 0;
		}
	fprintf(stderr, "check: there is no property %s\n", argv[1]);
	return 2;
}
