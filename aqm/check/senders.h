/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * senders.h: plays senders that respond to signals, for a queue under watch.
 *
 * Five senders over 10 Mbit/s and a round trip of 40 ms: a window grows by a packet a
 * round trip, and a signal halves it, at most once a round trip. Steps of a millisecond,
 * in which the link sends one packet. Nobody retransmits: only the load matters. Each probe
 * is answered, a round trip after it has left the queue.
 */
#ifndef AQM_CHECK_SENDERS_H
#define AQM_CHECK_SENDERS_H

#include "life.h"

#define SENDERS      5
#define RTT_MS       40
#define FEEDBACK_MAX 4096
#define SENDERS_SIZE 2000

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
	u64 freed, signals;
	u8 was_inside[SENDERS_SIZE];
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

	for (h = 0; life_freed(l) != s->freed && h < SENDERS_SIZE; h++)
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

/* A queue for them, at which they begin. Its rows may still change. */
static inline struct life senders_life(const struct aqm_algo *algo, struct senders *s)
{
	struct life l = life_new(algo, SENDERS_SIZE, NS_PER_S);
	u32 i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < SENDERS; i++)
		s->window[i] = 2;
	set_row(&l.b, "limit", 500);
	return l;
}

/* A millisecond, in which the link may send a packet or not. */
static inline void senders_step(struct senders *s, struct life *l, u32 ms, bool sends,
                                struct period *a)
{
	u64 signals;

	receive(s, l, ms);
	send_all(s, l, ms);
	l->b.now += NS_PER_MS;
	if (sends)
		send_one(s, l, ms, a);
	signals = drops(&l->b) + marks(&l->b);
	a->signals += (double)(signals - s->signals);
	s->signals = signals;
}

static inline bool near(double is, double was, double times, double more)
{
	return is <= was * times + more && was <= is * times + more;
}

static inline double delay_ms(const struct period *p)
{
	return p->packets > 0 ? p->delay_ms / p->packets : 0;
}

static inline double signals_pct(const struct period *p)
{
	return p->packets > 0 ? 100 * p->signals / p->packets : 0;
}

/* Ours, with few signals, differ by factors of up to 2 and 3 between any two periods of ten
 * seconds. */
static inline bool alike_periods(const struct period *is, const struct period *was)
{
	return is->packets > 0 && near(delay_ms(is), delay_ms(was), 2, 10) &&
	       near(signals_pct(is), signals_pct(was), 3, 0.5);
}

#endif
