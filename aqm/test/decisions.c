// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// decisions.c: a million decisions of each algorithm, alone and in flows, as one digest each.
//
// Every processor must print the same lines; tests/other_targets.sh compares them. The digest
// has each event with its verdict and victims, and at times every statistic. Rows change under
// way, often to an end of their range, where a product is widest.

#include <inttypes.h>

#include "host.h"

#define DECISIONS 1000000
#define PACKETS   512

static u64 state;

static u64 draw(u64 below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static u32 rows_of(const struct aqm_field *rows)
{
	u32 n = 0;

	while (rows && rows[n].name)
		n++;
	return n;
}

static u64 value_for(const struct aqm_field *row)
{
	u64 span = row->max - row->min;

	switch (draw(4)) {
	case 0:
		return row->min;
	case 1:
		return row->max;
	case 2:
		return row->min + (span ? draw(span) : 0);
	}
	return row->def;
}

/* One row of the algorithm or of the queue; what is refused is taken back. */
static void change(struct bench *b)
{
	u32 own = rows_of(b->algo->params);
	u64 old_conf[64];
	struct aqm_setup old = b->setup;

	if (b->algo->conf_bytes > sizeof(old_conf))
		broken("decisions.c has room for the rows of an algorithm");
	memcpy(old_conf, b->conf, b->algo->conf_bytes);
	if (own && draw(2)) {
		const struct aqm_field *row = &b->algo->params[draw(own)];

		set_row(b, row->name, value_for(row));
	} else {
		set_row(b, "limit", draw(2) ? 100 : 10 + draw(90));
		set_row(b, "ecn", draw(2));
	}
	if (bench_change(b).sentence) {
		b->setup = old;
		memcpy(b->conf, old_conf, b->algo->conf_bytes);
	}
}

static void defaults(struct bench *b)
{
	aqm_field_defaults(b->algo->params, b->conf);
	bench_change(b);
}

static void look(struct bench *b)
{
	const struct aqm_field *row;
	u64 value;

	for (row = b->algo->stats; row && row->name; row++)
		if (aqm_queue_stat(b->q, row, &value))
			digest(b->host, value);
}

static void step(struct bench *b)
{
	static u64 left, arrivals, gap_ns;

	if (!left--) {
		left = 50 + draw(2000);
		arrivals = 30 + draw(45);
		gap_ns = 1000ull << draw(12);
	}
	b->now += draw(5000) ? 1 + draw(gap_ns) : draw(3000000000);
	if (!draw(5000)) {
		change(b);
	} else if (!draw(5000)) {
		defaults(b);
	} else if (!draw(50000)) {
		aqm_queue_reset(b->q, b->now);
	} else if (draw(100) < arrivals) {
		/* One after the other: a compiler may evaluate arguments in any order. */
		u32 flow = (u32)(draw(3) ? draw(40) : 7) * 2654435761u;
		u32 len = (u32)(draw(4) ? 1514 - draw(90) : 60 + draw(900));
		u8 ds = (u8)draw(256);

		arrive(b, flow, len, ds);
		if (aqm_probe_asked(b->q))
			join_probe(b);
	} else {
		aqm_h h = leave(b);

		if (h != AQM_NIL && packet_of(b->host, h)->probe)
			aqm_echo(b->q, b->now, packet_of(b->host, h)->inst, draw(200000000));
	}
	if (!draw(50))
		look(b);
}

static u64 decisions(const struct bench *b)
{
	const u64 *events = b->host->events;

	return events[AQM_EV_ENQUEUE] + events[AQM_EV_OVERFLOW] + events[AQM_EV_DEQUEUE];
}

static void play(const struct aqm_algo *algo, u32 flows)
{
	struct bench b = bench_new(algo, PACKETS, 1000000000);

	state = 0x9e3779b97f4a7c15;
	set_row(&b, "flows", flows);
	set_row(&b, "limit", 100);
	set_row(&b, "ecn", 1);
	if (!bench_start(&b, 42).sentence) {
		while (decisions(&b) < DECISIONS)
			step(&b);
		printf("%s %" PRIu32 " %016" PRIx64 "\n", algo->name, flows, b.host->digest);
		fflush(stdout);
	}
	bench_end(&b);
}

int main(int argc, char **argv)
{
	const struct aqm_algo *const *a;

	for (a = aqm_all; *a; a++) {
		if (argc > 1 && strcmp(argv[1], (*a)->name))
			continue;
		play(*a, 0);
		play(*a, 64);
	}
	return 0;
}
