// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// cost.c: what one packet costs in a queue that 1,000 packets of 1,000 flows fill.
//
//   cost NAME TURNS [ROW=VALUE ...]
//
// In each turn the link takes one packet, 1,514 bytes at 100 Mbit/s, and packets come until
// 1,000 wait again, two at the most: an algorithm that will not hold so many keeps what it
// wants. All are ECT and the row `ecn` is on. Prints the packets offered and their CPU time
// in ns, those that waited, summed over the turns, those lost and those marked.
//
// Builds with any core since 07c8c2f, interface 1 to 3.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aqm.h"

#define PACKETS 4096
#define WAITING 1000
#define LEN     1514
#define LINK_NS 121120 /* a packet at 100 Mbit/s */
#define WARM    20000  /* turns before the clock starts: 2.4 s of the link */

typedef u32 aqm_h;
#define AQM_NIL U32_MAX
typedef struct host *aqm_ctx;

struct packet {
	struct aqm_keep keep;
	u32 flow, next;
	u8 ds;
};

struct host {
	struct packet packets[PACKETS];
	u32 spare[PACKETS], spares; /* outside of the queue */
	u64 lost, marked;
};

static inline struct aqm_keep *host_keep(aqm_ctx host, aqm_h h)
{
	return &host->packets[h].keep;
}

static inline u32 host_len(aqm_ctx host, aqm_h h)
{
	(void)host, (void)h;
	return LEN;
}

static inline u32 host_mem(aqm_ctx host, aqm_h h)
{
	return host_len(host, h);
}

static inline u32 host_flow(aqm_ctx host, aqm_h h)
{
	return host->packets[h].flow;
}

static inline u8 host_ds(aqm_ctx host, aqm_h h)
{
	return host->packets[h].ds;
}

static inline bool host_mark(aqm_ctx host, aqm_h h)
{
	host->packets[h].ds |= 3;
	host->marked++;
	return true;
}

static inline aqm_h host_next(aqm_ctx host, aqm_h h)
{
	return host->packets[h].next;
}

static inline void host_set_next(aqm_ctx host, aqm_h h, aqm_h next)
{
	host->packets[h].next = next;
}

static inline void leave(aqm_ctx host, aqm_h h)
{
	host->spare[host->spares++] = h;
}

static inline void host_free(aqm_ctx host, aqm_h h, u8 why)
{
	(void)why;
	host->lost++;
	leave(host, h);
}

static inline bool host_is_probe(aqm_ctx host, aqm_h h)
{
	(void)host, (void)h;
	return false;
}

static inline void host_probe(aqm_ctx host, u64 now)
{
	(void)host, (void)now;
}

struct aqm_event;

static inline void host_trace(aqm_ctx host, const struct aqm_event *event)
{
	(void)host, (void)event;
}

/* As the simulator compiles it; older cores have no such header. */
#if __has_include("cold.h")
#include "cold.h"
#else
#define AQM_FLAT
#endif
#include "queue.h"

static __attribute__((noinline)) AQM_FLAT bool enqueue(struct aqm_queue *q, u64 now, aqm_h h)
{
	return aqm_enqueue(q, now, h);
}

static __attribute__((noinline)) AQM_FLAT aqm_h dequeue(struct aqm_queue *q, u64 now)
{
	return aqm_dequeue(q, now);
}

static void give_up(const char *name, const char *sentence)
{
	fprintf(stderr, "%s: %s\n", name, sentence);
	exit(2);
}

static const struct aqm_algo *algo_of(const char *name)
{
	u32 i;

	for (i = 0; aqm_all[i]; i++)
		if (!strcmp(aqm_all[i]->name, name))
			return aqm_all[i];
	give_up(name, "no such algorithm");
	return NULL;
}

static void set(const struct aqm_algo *algo, struct aqm_setup *setup, void *conf,
                const char *name, u64 value)
{
	const struct aqm_field *own = aqm_field_find(aqm_setup_rows, name);
	const struct aqm_field *row = own ? own : aqm_field_find(algo->params, name);
	const char *sentence;

	if (!row)
		give_up(name, "no such row");
	sentence = aqm_field_set(row, own ? (void *)setup : conf, value);
	if (sentence)
		give_up(name, sentence);
}

static struct aqm_queue *queue_of(const struct aqm_algo *algo, char **rows)
{
	void *conf = calloc(1, algo->conf_bytes + 1);
	struct aqm_setup setup;
	struct aqm_queue *q;
	struct aqm_refusal no;

	memset(&setup, 0, sizeof(setup));
#if AQM_ABI > 1
	aqm_setup_defaults(algo, &setup);
	set(algo, &setup, conf, "bandwidth", 12500000);
#else
	aqm_field_defaults(aqm_setup_rows, &setup);
#endif
	aqm_field_defaults(algo->params, conf);
	set(algo, &setup, conf, "ecn", 1);
	set(algo, &setup, conf, "limit", 2 * WAITING);
	for (; *rows; rows++) {
		char *value = strchr(*rows, '=');

		if (!value)
			give_up(*rows, "write ROW=VALUE");
		*value++ = 0;
		set(algo, &setup, conf, *rows, strtoull(value, NULL, 10));
	}
	no = aqm_setup_check(algo, &setup, conf, NULL, NULL, 0);
	if (no.sentence)
		give_up(algo->name, no.sentence);
	q = malloc(aqm_queue_mem(algo, &setup));
	aqm_queue_init(q, algo, &setup, conf, LEN, 0, 1);
	free(conf);
	return q;
}

struct tally {
	u64 offered, waiting;
};

static inline void offer(struct aqm_queue *q, struct host *host, u64 now, u32 *turn)
{
	u32 h = host->spare[--host->spares];

	/* Flows in turn, each with a hash of its own. */
	*turn = *turn == WAITING - 1 ? 0 : *turn + 1;
	host->packets[h].flow = *turn * 0x9e3779b1u;
	host->packets[h].ds = 2;
	(void)enqueue(q, now, h);
}

static struct tally run(struct aqm_queue *q, struct host *host, u64 *now, u32 *turn, u64 turns)
{
	struct tally sum = {0, 0};

	while (turns--) {
		u32 tries;
		aqm_h h;

		*now += LINK_NS;
		for (tries = 0; tries < 2 && q->pkts < WAITING; tries++) {
			offer(q, host, *now, turn);
			sum.offered++;
		}
		sum.waiting += q->pkts;
		h = dequeue(q, *now);
		if (h != AQM_NIL)
			leave(host, h);
	}
	return sum;
}

static u64 cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

int main(int argc, char **argv)
{
	static struct host host;
	struct aqm_queue *q;
	struct tally sum;
	u64 now = 0, begun, lost, marked;
	u32 turn = 0, i;

	if (argc < 3)
		give_up("cost", "NAME TURNS [ROW=VALUE ...]");
	for (i = 0; i < PACKETS; i++)
		leave(&host, i);
	q = queue_of(algo_of(argv[1]), argv + 3);
	q->ctx = &host;
	for (i = 0; i < WAITING; i++)
		offer(q, &host, now, &turn);
	(void)run(q, &host, &now, &turn, WARM);
	lost = host.lost, marked = host.marked;
	begun = cpu_ns();
	sum = run(q, &host, &now, &turn, strtoull(argv[2], NULL, 10));
	begun = cpu_ns() - begun;
	printf("%llu %llu %llu %llu %llu\n", (unsigned long long)sum.offered,
	       (unsigned long long)begun, (unsigned long long)sum.waiting,
	       (unsigned long long)(host.lost - lost),
	       (unsigned long long)(host.marked - marked));
	free(q);
	return 0;
}
