/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * pause.h: a link that stops for a minute, with senders that respond to signals.
 *
 * Five senders over 10 Mbit/s and a round trip of 40 ms: a window grows by a packet a
 * round trip, and a signal halves it, at most once a round trip. Steps of a millisecond,
 * in which the link sends one packet. Nobody retransmits: only the load matters. Each probe
 * is answered, a round trip after it has left the queue.
 */
#ifndef AQM_CHECK_PAUSE_H
#define AQM_CHECK_PAUSE_H

#include "life.h"

#define SENDERS      5
#define RTT_MS       40
#define STOP_MS      30000
#define GO_MS        90000
#define END_MS       110000
#define FEEDBACK_MAX 4096
#define PAUSE_SIZE   2000

struct feedback {
	u32 due_ms;
	u8 sender;
	bool signal, probe;
	u32 inst; /* of a probe, and when it joined the queue */
	u64 sent_ns;
};

struct senders {
	double window[SENDERS];
	u32 in_flight[SENDERS], next_cut_ms[SENDERS];
	struct feedback feedback[FEEDBACK_MAX];
	u32 first, last;
	u64 freed;
	u8 was_inside[PAUSE_SIZE];
};

struct period {
	double delay_ms, packets, signals; /* sums over packets, and their numbers */
};

static inline void report(struct senders *s, u32 now_ms, u8 sender, bool signal)
{
	s->feedback[s->last++ % FEEDBACK_MAX] =
	        (struct feedback){now_ms + RTT_MS, sender, signal, false, 0, 0};
}

static inline void report_probe(struct senders *s, u32 now_ms, const struct packet *p)
{
	s->feedback[s->last++ % FEEDBACK_MAX] =
	        (struct feedback){now_ms + RTT_MS, 0, false, true, p->inst, p->keep.enq_ns};
}

static inline void receive(struct senders *s, struct life *l, u32 now_ms)
{
	while (s->first != s->last && s->feedback[s->first % FEEDBACK_MAX].due_ms <= now_ms) {
		struct feedback n = s->feedback[s->first++ % FEEDBACK_MAX];
		double *w = &s->window[n.sender];

		if (n.probe) {
			turn_to(l);
			aqm_echo(l->b.q, l->b.now, n.inst, l->b.now - n.sent_ns);
			look(l);
			continue;
		}
		s->in_flight[n.sender]--;
		if (!n.signal) {
			*w += 1 / *w;
		} else if (now_ms >= s->next_cut_ms[n.sender]) {
			*w = *w > 2 ? *w / 2 : 1;
			s->next_cut_ms[n.sender] = now_ms + RTT_MS;
		}
	}
}

/* The senders of packets that the queue has freed hear of it a round trip later. */
static inline void report_freed(struct senders *s, struct life *l, u32 now_ms)
{
	u32 h;

	for (h = 0; life_freed(l) != s->freed && h < PAUSE_SIZE; h++)
		if (s->was_inside[h] && l->b.host->packets[h].place == OUTSIDE) {
			s->was_inside[h] = 0;
			s->freed++;
			report(s, now_ms, (u8)(l->b.host->packets[h].flow >> 29), true);
		}
}

static inline void send_all(struct senders *s, struct life *l, u32 now_ms)
{
	u8 i;
	u32 h;

	for (i = 0; i < SENDERS; i++)
		while (s->in_flight[i] + 1 <= s->window[i] && s->in_flight[i] < 200) {
			h = packet_new(&l->b, (u32)i << 29, 1250, AQM_ECT0);
			if (h == AQM_NIL)
				return;
			l->numbers[h] = (u32)++l->arrived;
			turn_to(l);
			packet_of(l->b.host, h)->place = INSIDE;
			s->was_inside[h] = 1;
			s->in_flight[i]++;
			aqm_enqueue(l->b.q, l->b.now, h);
			look(l);
			if (aqm_probe_asked(l->b.q))
				join_probe(&l->b);
			report_freed(s, l, now_ms);
		}
}

static inline void send_one(struct senders *s, struct life *l, u32 now_ms, struct period *a)
{
	const struct packet *p;
	aqm_h h;

	turn_to(l);
	h = leave(&l->b);
	look(l);
	p = h != AQM_NIL ? packet_of(l->b.host, h) : NULL;
	if (p && p->probe) {
		report_probe(s, now_ms, p);
	} else if (p) {
		s->was_inside[h] = 0;
		report(s, now_ms, (u8)(p->flow >> 29), (p->ds & 3) == AQM_CE);
		a->delay_ms += (double)(l->b.now - p->keep.enq_ns) / NS_PER_MS;
		a->packets++;
	}
	report_freed(s, l, now_ms);
}

/* Ten seconds before the stop, and ten seconds that begin ten seconds after it. */
static inline void pause_run(const struct aqm_algo *algo, struct period seen[2])
{
	struct life l = life_new(algo, PAUSE_SIZE, NS_PER_S);
	struct senders *s = calloc(1, sizeof(*s));
	struct period none;
	u64 before = 0;
	u32 ms;

	set_row(&l.b, "limit", 500);
	life_must_start(&l, 5);
	for (ms = 0; ms < SENDERS; ms++)
		s->window[ms] = 2;
	for (ms = 0; ms < END_MS; ms++) {
		bool was = ms >= STOP_MS - 10000 && ms < STOP_MS, is = ms >= END_MS - 10000;
		struct period *a = was ? &seen[0] : is ? &seen[1] : &none;

		receive(s, &l, ms);
		send_all(s, &l, ms);
		l.b.now += NS_PER_MS;
		if (ms < STOP_MS || ms >= GO_MS)
			send_one(s, &l, ms, a);
		if (was || is)
			a->signals += (double)(drops(&l.b) + marks(&l.b) - before);
		before = drops(&l.b) + marks(&l.b);
	}
	free(s);
	life_end(&l);
}

#endif
