// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// replay.c: give a kernel's recorded inputs to the same core in user space. Every record
// that the queue then writes must be the kernel's next one, byte by byte.
//
//   replay FILE       a line for each queue; status 1 when one differs

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aqm.h"

typedef u32 aqm_h;
#define AQM_NIL U32_MAX
typedef struct replay *aqm_ctx;
struct aqm_event;

/* Numbered as the kernel numbers arrivals; never used twice. */
struct packet {
	struct aqm_keep keep;
	u32 len, flow, next, mem;
	u8 ds, probe;
};

struct replay {
	const struct sojourn_record *records; /* of all queues */
	u64 count, at;
	u32 queue; /* the one that is replayed */
	struct packet *packets;
	u32 arrivals, room;
	char *sentence; /* the first difference, where there is one */
};

static inline struct aqm_keep *host_keep(aqm_ctx c, aqm_h h)
{
	return &c->packets[h].keep;
}

static inline u32 host_len(aqm_ctx c, aqm_h h)
{
	return c->packets[h].len;
}

static inline u32 host_mem(aqm_ctx c, aqm_h h)
{
	return c->packets[h].mem;
}

static inline u32 host_flow(aqm_ctx c, aqm_h h)
{
	return c->packets[h].flow;
}

static inline u8 host_ds(aqm_ctx c, aqm_h h)
{
	return c->packets[h].ds;
}

static inline aqm_h host_next(aqm_ctx c, aqm_h h)
{
	return c->packets[h].next;
}

static inline void host_set_next(aqm_ctx c, aqm_h h, aqm_h next)
{
	c->packets[h].next = next;
}

static inline bool host_is_probe(aqm_ctx c, aqm_h h)
{
	return c->packets[h].probe;
}

static bool host_mark(aqm_ctx c, aqm_h h);
static void host_free(aqm_ctx c, aqm_h h, u8 why);
static void host_trace(aqm_ctx c, const struct aqm_event *event);

#include "queue.h"
#include "record.h"

static void record_put(aqm_ctx c, struct sojourn_record *r);

static inline u32 record_number(aqm_ctx c, aqm_h h)
{
	(void)c;
	return h % SOJOURN_PACKETS;
}

#include "events.h"

/* ---- saying what differs ---- */

static const char *const whats[] = {"row",    "init",  "change", "reset", "event", "look",
                                    "number", "state", "joined", "left",  "freed", "marked"};
static const char *const events[] = {"arrival", "request", "enqueue", "overflow", "dequeue",
                                     "gone",    "tick",    "probe",   "echo"};

/* clang-format off */
#define FIELD(name) {#name, offsetof(struct sojourn_record, name), \
	             sizeof(((struct sojourn_record *)0)->name)}
/* clang-format on */

static const struct {
	const char *name;
	size_t offset, bytes;
} fields[] = {
        FIELD(what),      FIELD(ev),        FIELD(now),       FIELD(packet),
        FIELD(act),       FIELD(why),       FIELD(ok),        FIELD(nvictims),
        FIELD(victim[0]), FIELD(victim[1]), FIELD(victim[2]), FIELD(victim[3]),
        FIELD(victim[4]), FIELD(lane),      FIELD(vqueue),    FIELD(probe),
        FIELD(table),     FIELD(row),       FIELD(value),     FIELD(inst),
        FIELD(flow),      FIELD(len),       FIELD(own),       FIELD(ds),
        FIELD(nth),       FIELD(pkts),      FIELD(bytes),
};

static u64 field_of(const struct sojourn_record *r, u32 i)
{
	u64 value = 0;

	/* The lowest byte first, on the machines that this runs on. */
	memcpy(&value, (const char *)r + fields[i].offset, fields[i].bytes);
	return value;
}

static const char *name_of(const struct sojourn_record *r)
{
	if (r->what == RECORD_EVENT && r->ev < sizeof(events) / sizeof(*events))
		return events[r->ev];
	return r->what < sizeof(whats) / sizeof(*whats) ? whats[r->what] : "unknown";
}

static void differ(struct replay *c, const char *format, ...)
{
	va_list words;

	if (c->sentence)
		return;
	c->sentence = calloc(1, 400);
	va_start(words, format);
	vsnprintf(c->sentence, 400, format, words);
	va_end(words);
}

static void differ_in(struct replay *c, const struct sojourn_record *kernel,
                      const struct sojourn_record *here)
{
	u32 i = 0;

	while (i < sizeof(fields) / sizeof(*fields) - 1 &&
	       field_of(kernel, i) == field_of(here, i))
		i++;
	differ(c,
	       "record %llu (%s in the kernel, %s here): %s is %llu in the kernel, %llu here",
	       (unsigned long long)c->at, name_of(kernel), name_of(here), fields[i].name,
	       (unsigned long long)field_of(kernel, i), (unsigned long long)field_of(here, i));
}

/* ---- the kernel's records of one queue, one after the other ---- */

static const struct sojourn_record *next_record(struct replay *c)
{
	while (c->at < c->count && c->records[c->at].queue != c->queue)
		c->at++;
	return c->at < c->count ? &c->records[c->at] : NULL;
}

static void record_put(aqm_ctx c, struct sojourn_record *r)
{
	const struct sojourn_record *kernel = next_record(c);

	r->queue = c->queue;
	if (c->sentence)
		return;
	if (!kernel)
		differ(c, "the kernel's records end, here follows a %s", name_of(r));
	else if (memcmp(kernel, r, sizeof(*r)))
		differ_in(c, kernel, r);
	c->at++;
}

static void host_trace(aqm_ctx c, const struct aqm_event *event)
{
	record_event(c, event);
}

static void host_free(aqm_ctx c, aqm_h h, u8 why)
{
	record_fate(c, RECORD_FREED, record_number(c, h), true, why);
}

/* Whether a header can be written is the host's to say, and whether it was copied to
 * other memory: as it was in the kernel. */
static bool host_mark(aqm_ctx c, aqm_h h)
{
	const struct sojourn_record *kernel = next_record(c);
	bool done = !kernel || kernel->what != RECORD_MARKED || kernel->ok;

	if (kernel && kernel->what == RECORD_MARKED)
		c->packets[h].mem = kernel->mem;
	record_marked(c, h, done);
	if (done)
		c->packets[h].ds |= AQM_CE;
	return done;
}

/* ---- inputs ---- */

struct rows {
	const struct aqm_algo *algo;
	struct aqm_setup setup;
	void *conf;
};

/* Rows stand in front of what they are for: of an init the algorithm is known behind. */
static const struct aqm_algo *algo_of(const struct replay *c)
{
	u64 i;

	for (i = c->at; i < c->count; i++)
		if (c->records[i].queue == c->queue && c->records[i].what == RECORD_INIT)
			return aqm_find(c->records[i].name);
	return NULL;
}

static void set_row(struct replay *c, struct rows *rows, const struct sojourn_record *r)
{
	bool own = r->table == TCA_SOJOURN_QUEUE;
	const struct aqm_field *row = own ? aqm_setup_rows : rows->algo->params;
	const char *no = "there is no such row";

	while (row && row->name && row->attr != r->row)
		row++;
	if (row && row->name)
		no = aqm_field_set(row, own ? (void *)&rows->setup : rows->conf, r->value);
	if (no)
		differ(c, "record %llu (row): %s", (unsigned long long)c->at, no);
}

static struct aqm_queue *begin(struct replay *c, const struct rows *rows,
                               const struct sojourn_record *r)
{
	struct aqm_refusal no =
	        aqm_setup_check(rows->algo, &rows->setup, rows->conf, NULL, NULL, 0);
	struct aqm_queue *q;

	if (no.sentence) {
		differ(c, "record %llu (init): %s", (unsigned long long)c->at, no.sentence);
		return NULL;
	}
	q = calloc(1, aqm_queue_mem(rows->algo, &rows->setup));
	aqm_queue_init(q, rows->algo, &rows->setup, rows->conf, r->len, r->now, r->value);
	q->ctx = c;
	return q;
}

static void change(struct replay *c, struct aqm_queue *q, const struct rows *rows,
                   const struct sojourn_record *r)
{
	struct aqm_refusal no = aqm_setup_check(rows->algo, &rows->setup, rows->conf, &q->setup,
	                                        queue_conf(q), q->room);

	if (no.sentence)
		differ(c, "record %llu (change): %s", (unsigned long long)c->at, no.sentence);
	else
		aqm_queue_apply(q, r->now, &rows->setup, rows->conf);
}

static void arrive(struct replay *c, struct aqm_queue *q, const struct sojourn_record *r)
{
	u32 h = c->arrivals++;
	bool joined;

	if (h == c->room) {
		c->room = c->room * 2 + 1024;
		c->packets = realloc(c->packets, c->room * sizeof(*c->packets));
	}
	c->packets[h] =
	        (struct packet){.len = r->len, .flow = r->flow, .mem = r->mem, .ds = r->ds};
	c->packets[h].probe = r->ev == AQM_EV_PROBE;
	if (r->ev == AQM_EV_PROBE)
		q->probe_inst = r->inst;
	joined = r->ev == AQM_EV_PROBE ? aqm_join_probe(q, r->now, h)
	                               : aqm_enqueue(q, r->now, h);
	record_fate(c, RECORD_JOINED, record_number(c, h), joined, 0);
}

static void give(struct replay *c, struct aqm_queue *q, const struct rows *rows,
                 const struct sojourn_record *r)
{
	if (r->what == RECORD_EVENT && (r->ev == AQM_EV_ARRIVAL || r->ev == AQM_EV_PROBE)) {
		arrive(c, q, r);
	} else if (r->what == RECORD_EVENT && r->ev == AQM_EV_ECHO) {
		aqm_echo(q, r->now, r->inst, r->value);
	} else if (r->what == RECORD_EVENT && r->ev == AQM_EV_REQUEST) {
		record_left(c, q, aqm_dequeue(q, r->now));
	} else if (r->what == RECORD_LOOK) {
		record_look(c, q, r->now);
	} else if (r->what == RECORD_CHANGE) {
		c->at++;
		change(c, q, rows, r);
	} else if (r->what == RECORD_RESET) {
		c->at++;
		aqm_queue_reset(q, r->now);
	} else {
		differ(c,
		       "record %llu: the kernel goes on with a %s, which does not happen here",
		       (unsigned long long)c->at, name_of(r));
	}
}

static void replay(struct replay *c)
{
	struct rows rows = {.algo = algo_of(c)};
	const struct sojourn_record *r;
	struct aqm_queue *q = NULL;

	if (!rows.algo) {
		differ(c, "the algorithm is not in this library");
		return;
	}
	rows.conf = calloc(1, rows.algo->conf_bytes ? rows.algo->conf_bytes : 1);
	while (!c->sentence && (r = next_record(c))) {
		if (r->what == RECORD_ROW) {
			set_row(c, &rows, r);
			c->at++;
		} else if (r->what == RECORD_INIT && !q) {
			q = begin(c, &rows, r);
			c->at++;
		} else if (q) {
			give(c, q, &rows, r);
		} else {
			differ(c, "record %llu stands before its queue was made",
			       (unsigned long long)c->at);
		}
	}
	free(q);
	free(rows.conf);
	free(c->packets);
}

static int fail(const char *sentence)
{
	fprintf(stderr, "replay: %s\n", sentence);
	return 2;
}

static char *contents(const char *path, size_t *bytes)
{
	FILE *in = fopen(path, "rb");
	char *all = NULL;
	long end;

	if (!in || fseek(in, 0, SEEK_END) || (end = ftell(in)) < 0)
		return NULL;
	rewind(in);
	*bytes = (size_t)end;
	all = malloc(*bytes + 1);
	if (fread(all, 1, *bytes, in) != *bytes)
		return NULL;
	fclose(in);
	return all;
}

int main(int argc, char **argv)
{
	size_t bytes = 0;
	char *all = argc == 2 ? contents(argv[1], &bytes) : NULL;
	const struct sojourn_records *head = (void *)all;
	u32 queue, queues = 0;
	int status = 0;
	u64 i;

	if (!all)
		return fail("give one file of records");
	if (bytes < sizeof(*head) ||
	    memcmp(head->magic, SOJOURN_RECORDS, sizeof(head->magic)) ||
	    head->record_bytes != sizeof(struct sojourn_record) ||
	    head->head_bytes != sizeof(*head) ||
	    bytes != sizeof(*head) + head->records * sizeof(struct sojourn_record))
		return fail("this is no whole file of records");
	if (head->lost)
		return fail("the kernel lost records: give the module more room (records=)");
	for (i = 0; i < head->records; i++)
		if (((const struct sojourn_record *)(head + 1))[i].queue >= queues)
			queues = ((const struct sojourn_record *)(head + 1))[i].queue + 1;
	for (queue = 0; queue < queues; queue++) {
		struct replay c = {.records = (const void *)(head + 1),
		                   .count = head->records,
		                   .queue = queue};

		replay(&c);
		printf("queue %u %s\n", queue, c.sentence ? c.sentence : "equal");
		status |= c.sentence != NULL;
		free(c.sentence);
	}
	free(all);
	return status;
}
