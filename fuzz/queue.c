// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// queue.c: any bytes are a life of a queue: an algorithm, rows good and bad, arrivals,
// departures, changes, resets. Whatever they say, packets and bytes are conserved, no
// verdict breaks a rule, and what is refused is refused with a sentence.

#include "storm.h"

#define PACKETS      256
#define SENTENCE_MAX 79
#define LOOK_EVERY   64

struct input {
	const u8 *at;
	size_t left;
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Of an MTU, and of a packet's length. */
static const u32 extremes[] = {
        0, 1, 255, 256, 65536, 1u << 20, (1u << 31) - 14, 1u << 31, U32_MAX - 1, U32_MAX,
};

static u64 calls;

static u32 byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static u64 word(struct input *in, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | byte(in);
	return value;
}

static void is_sentence(const char *text)
{
	if (!*text || strlen(text) > SENTENCE_MAX)
		broken("a refusal is a sentence of at most 79 characters");
}

static u32 rows_of(const struct aqm_field *rows)
{
	u32 n = 0;

	while (rows && rows[n].name)
		n++;
	return n;
}

/* Near the ends of a row's range, and anywhere. */
static u64 value_for(struct input *in, const struct aqm_field *row)
{
	switch (byte(in) % 8) {
	case 0:
		return row->min - 1;
	case 1:
		return row->max + 1;
	case 2:
		return row->min;
	case 3:
		return row->max;
	case 4:
		return row->min + byte(in);
	case 5:
		return row->def;
	case 6:
		return word(in, 8);
	default:
		return word(in, 1 + byte(in) % 4);
	}
}

/* One row of the queue or of the algorithm gets a value, or a refusal and keeps its own. */
static void set_any_row(struct bench *b, struct input *in)
{
	u32 setups = rows_of(aqm_setup_rows), params = rows_of(b->algo->params);
	u32 pick = byte(in) % (setups + params);
	const struct aqm_field *row =
	        pick < setups ? &aqm_setup_rows[pick] : &b->algo->params[pick - setups];
	void *base = pick < setups ? (void *)&b->setup : b->conf;
	u64 value = value_for(in, row), before = aqm_field_get(row, base);
	const char *no = aqm_field_set(row, base, value);

	if (no) {
		is_sentence(no);
		if (aqm_field_get(row, base) != before)
			broken("a refused value is not stored");
	} else if (value < row->min || value > row->max || aqm_field_get(row, base) != value) {
		broken("an accepted value is in range and stored as given");
	}
	/* this test is not about memory */
	if (b->setup.flows > 64)
		b->setup.flows %= 64;
}

static void change(struct bench *b, struct input *in)
{
	struct aqm_setup setup = b->setup;
	char conf[512];
	struct aqm_refusal no;

	if (b->algo->conf_bytes > sizeof(conf))
		broken("the fuzzer's copy of conf is large enough");
	memcpy(conf, b->conf, b->algo->conf_bytes);
	set_any_row(b, in);
	no = bench_change(b);
	if (!no.sentence)
		return;
	is_sentence(no.sentence);
	b->setup = setup;
	memcpy(b->conf, conf, b->algo->conf_bytes);
}

/* Mostly a length on a wire; sometimes one that only a parent's size table makes. */
static u32 length(struct input *in, u32 kind)
{
	if (kind % 25 == 3)
		return extremes[byte(in) % COUNT_OF(extremes)];
	return 1 + (kind & 1 ? byte(in) * 6 : 1513);
}

static void come(struct bench *b, struct input *in, u32 kind)
{
	arrive(b, kind % 5 << 29 | (kind % 7 == 0 ? byte(in) : 0), length(in, kind), kind & 3);
	if (aqm_probe_asked(b->q) && byte(in) % 8)
		join_probe(b);
}

/* A probe that leaves is answered, mostly, after any time. */
static void go(struct bench *b, struct input *in)
{
	aqm_h h = leave(b);

	if (h != AQM_NIL && packet_of(b->host, h)->probe && byte(in) % 8)
		aqm_echo(b->q, b->now, packet_of(b->host, h)->inst, word(in, byte(in) % 9));
}

static void step(struct bench *b, struct input *in)
{
	u32 kind = byte(in);

	calls++;
	if (kind < 100)
		come(b, in, kind);
	else if (kind < 190)
		go(b, in);
	else if (kind < 215)
		b->now += word(in, 2);
	else if (kind < 235)
		b->now += word(in, 3) << (kind & 7);
	else if (kind < 237)
		b->now += word(in, 5);
	else if (kind < 247)
		change(b, in);
	else if (kind < 252)
		storm_dump(b);
	else if (kind < 254)
		b->host->refuses_marks = kind & 1;
	else
		aqm_queue_reset(b->q, b->now);
}

static void check(const struct bench *b)
{
	if (!conserved(b))
		broken("packets and bytes are conserved");
	if (bad_verdicts(b))
		broken("verdicts keep the rules");
}

static void live(struct bench *b, struct input *in)
{
	u32 n = 0;

	while (in->left) {
		step(b, in);
		if (++n % LOOK_EVERY == 0)
			check(b);
	}
	while (leave(b) != AQM_NIL)
		calls++;
	check(b);
	if (b->q->pkts || b->q->bytes)
		broken("an emptied queue holds nothing");
}

/* FUZZ_CALLS: stop after so many calls of the queue, whatever the fuzzer wants. */
static void count_calls(void)
{
	static u64 wanted;
	const char *text = getenv("FUZZ_CALLS");

	if (!wanted)
		wanted = text ? strtoull(text, NULL, 10) : UINT64_MAX;
	if (calls < wanted)
		return;
	printf("calls %llu\n", (unsigned long long)calls);
	fflush(NULL);
	_Exit(0);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = {data, size};
	struct bench b;
	u32 algos = 0, rows;
	struct aqm_refusal no;

	while (aqm_all[algos])
		algos++;
	b = bench_new(aqm_all[byte(&in) % algos], PACKETS, word(&in, 2));
	if (byte(&in) % 4 == 0)
		b.mtu_bytes = extremes[byte(&in) % COUNT_OF(extremes)];
	for (rows = byte(&in) % 8; rows; rows--)
		set_any_row(&b, &in);
	no = bench_start(&b, byte(&in));
	if (no.sentence)
		is_sentence(no.sentence);
	else
		live(&b, &in);
	bench_end(&b);
	count_calls();
	return 0;
}
