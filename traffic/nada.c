// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * nada.c: a video call over UDP whose sender keeps the delay short: NADA (RFC 8698) with the
 * values of its table 2. The encoder makes each rate at once, in datagrams at even distances;
 * nothing is marked. A datagram that another overtook counts as lost (section 5.1.2).
 *
 *   nada PAYLOAD_BYTES LEAST_BPS MOST_BPS      payload of a datagram; RMIN; RMAX
 */
#include <string.h>

#include "kind.h"

#define NS_PER_MS UINT64_C(1000000)

static const double PRIO = 1, XREF_MS = 10, KAPPA = 0.5, ETA = 2, TAU_MS = 500;
static const uint64_t DELTA_NS = 100 * NS_PER_MS, LOGWIN_NS = 500 * NS_PER_MS;
static const uint64_t QEPS_NS = 10 * NS_PER_MS;
static const double DFILT_MS = 120, GAMMA_MAX = 0.5, QBOUND_MS = 50, MULTILOSS = 7;
static const double QTH_MS = 50, LAMBDA = 0.5, PLRREF = 0.01, DLOSS_MS = 10, ALPHA = 0.1;
/* The largest signal, as in the authors' own simulation (ns3-rmcat). The RFC bounds it only by
 * the 15 bits of a report, 3.27 s: a loss of a tenth would then be a second, and the rate jump
 * to its ends. */
static const double XMAX_MS = 500;
/* Delays of which the least is that of the queue (section 5.1.1). */
enum { LEAST_OF = 15 };
/* Weights of the last gaps between losses, the newest first (RFC 5348, section 5.4). */
static const double WEIGHTS[] = {1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2};
enum { GAPS = sizeof(WEIGHTS) / sizeof(WEIGHTS[0]) + 1 };
/* A report, by our own count: headers of RTCP, and the 6 bytes that section 5.3 asks for. The
 * RFC leaves the form open; section 6.3 reckons with 200 bytes. */
static const uint64_t REPORT_BYTES = 40;

/* What the receiver tells. */
struct report {
	double x_ms;         /* the congestion signal */
	int ramps_up;        /* neither loss nor a queue: the rate may rise fast */
	double received_bps; /* what arrives */
	uint64_t forth_ns;   /* what the last datagram took */
};

/* A datagram under way, or a report, or an arrival of the last LOGWIN. */
struct note {
	uint64_t at_ns; /* sent, or arrived */
	union {
		struct report report;
		struct {
			uint64_t queue_ns, lost; /* its delay; how many before it were lost */
		};
	};
};

/* Notes in order of time. */
struct notes {
	struct note *all;
	size_t first, count, room; /* a power of two */
};

/* Section 4.3. */
struct sender {
	double least_bps, most_bps, rate_bps;
	int has_heard;
	uint64_t heard_ns; /* the signal before, and when it came */
	double x_ms;
};

/* Sections 4.2 and 5.1. */
struct receiver {
	uint64_t payload_bytes, base_ns, forth_ns;
	uint64_t last_ns[LEAST_OF]; /* the last delays of the queue */
	size_t nlast, next_last;
	struct notes window;
	double loss_ratio;
	uint64_t
	        gaps[GAPS]; /* datagrams since the last loss, between the two last, and so on */
	size_t ngaps;
	double (*exponential)(double);
};

/* Both ends. */
struct call {
	struct application application;
	uint64_t payload_bytes;
	struct sender sender;
	struct receiver receiver;
	int begun[2];         /* by end: it has written before */
	struct notes sent;    /* datagrams of which the receiver knows nothing yet */
	struct notes reports; /* those that the sender has not heard */
};

static double ms(uint64_t ns)
{
	return (double)ns / (double)NS_PER_MS;
}

static double least(double a, double b)
{
	return b < a ? b : a;
}

static double largest(double a, double b)
{
	return b > a ? b : a;
}

static struct note *note_at(const struct notes *notes, size_t n)
{
	return &notes->all[(notes->first + n) & (notes->room - 1)];
}

static void push(struct notes *notes, struct note note)
{
	size_t old = notes->room;

	if (notes->count == old) {
		notes->room = old ? 2 * old : 64;
		notes->all = room(notes->all, notes->room * sizeof(note));
		/* Those before the first one follow the last one of the old room. */
		if (notes->first)
			memcpy(notes->all + old, notes->all, notes->first * sizeof(note));
	}
	*note_at(notes, notes->count++) = note;
}

static struct note pop(struct notes *notes)
{
	struct note first = *note_at(notes, 0);

	notes->first = (notes->first + 1) & (notes->room - 1);
	notes->count--;
	return first;
}

/* Equations 3 and 4: a queue that this makes stays below QBOUND. */
static void ramp_up(struct sender *sender, double rtt_ms, double received_bps)
{
	double gamma = least(GAMMA_MAX, QBOUND_MS / (rtt_ms + ms(DELTA_NS) + DFILT_MS));

	sender->rate_bps = largest(sender->rate_bps, (1 + gamma) * received_bps);
}

/* Equations 5 to 7. */
static void follow(struct sender *sender, double delta_ms, double x_before_ms, double x_ms)
{
	double rate = sender->rate_bps;
	double offset_ms = x_ms - PRIO * XREF_MS * sender->most_bps / rate;
	double difference_ms = x_ms - x_before_ms;

	sender->rate_bps -= KAPPA * (delta_ms / TAU_MS) * (offset_ms / TAU_MS) * rate +
	                    KAPPA * ETA * (difference_ms / TAU_MS) * rate;
}

/* A report has come; its way back took so long. */
static void hear_report(struct sender *sender, uint64_t now_ns, uint64_t back_ns,
                        const struct report *report)
{
	if (report->ramps_up)
		ramp_up(sender, ms(report->forth_ns + back_ns), report->received_bps);
	else if (sender->has_heard)
		follow(sender, ms(now_ns - sender->heard_ns), sender->x_ms, report->x_ms);
	sender->rate_bps =
	        least(largest(sender->rate_bps, sender->least_bps), sender->most_bps);
	sender->has_heard = 1;
	sender->heard_ns = now_ns;
	sender->x_ms = report->x_ms;
}

static void forget(struct receiver *receiver, uint64_t now_ns)
{
	struct notes *window = &receiver->window;

	while (window->count && note_at(window, 0)->at_ns + LOGWIN_NS < now_ns)
		pop(window);
}

static void hear_datagram(struct receiver *receiver, uint64_t now_ns, uint64_t delay_ns,
                          uint64_t lost)
{
	uint64_t queue_ns;

	receiver->forth_ns = delay_ns;
	if (delay_ns < receiver->base_ns)
		receiver->base_ns = delay_ns;
	queue_ns = delay_ns - receiver->base_ns;
	receiver->last_ns[receiver->next_last] = queue_ns;
	receiver->next_last = (receiver->next_last + 1) % LEAST_OF;
	receiver->nlast += receiver->nlast < LEAST_OF;
	push(&receiver->window, (struct note){now_ns, .queue_ns = queue_ns, .lost = lost});
	forget(receiver, now_ns);
	if (lost) {
		receiver->ngaps += receiver->ngaps < GAPS;
		memmove(receiver->gaps + 1, receiver->gaps,
		        (receiver->ngaps - 1) * sizeof(receiver->gaps[0]));
		receiver->gaps[0] = 0;
	}
	receiver->gaps[0]++;
}

/* The last loss is no longer ago than some mean gaps between losses. The gap that is still open
 * is not in the mean, as it is in RFC 5348: with it no loss would ever be forgotten. */
static int has_lost(const struct receiver *receiver)
{
	double sum = 0, weights = 0;

	for (size_t i = 1; i < receiver->ngaps; i++) {
		sum += (double)receiver->gaps[i] * WEIGHTS[i - 1];
		weights += WEIGHTS[i - 1];
	}
	return (double)receiver->gaps[0] * weights <= MULTILOSS * sum && weights > 0;
}

/* Equations 1 and 2. */
static double signal_ms(const struct receiver *receiver)
{
	uint64_t queue_ns = receiver->nlast ? receiver->last_ns[0] : 0;
	double queue_ms, loss = receiver->loss_ratio / PLRREF;

	for (size_t i = 1; i < receiver->nlast; i++)
		if (receiver->last_ns[i] < queue_ns)
			queue_ns = receiver->last_ns[i];
	queue_ms = ms(queue_ns);
	if (has_lost(receiver) && queue_ms >= QTH_MS)
		queue_ms =
		        QTH_MS * receiver->exponential(-LAMBDA * (queue_ms - QTH_MS) / QTH_MS);
	return least(queue_ms + DLOSS_MS * loss * loss, XMAX_MS);
}

static struct report report(struct receiver *receiver, uint64_t now_ns)
{
	double arrived, lost = 0, bits;
	int is_empty = 1;

	forget(receiver, now_ns);
	for (size_t i = 0; i < receiver->window.count; i++) {
		const struct note *note = note_at(&receiver->window, i);

		lost += (double)note->lost;
		is_empty &= note->queue_ns < QEPS_NS;
	}
	arrived = (double)receiver->window.count;
	receiver->loss_ratio +=
	        ALPHA * ((arrived > 0 ? lost / (lost + arrived) : 0) - receiver->loss_ratio);
	bits = arrived * (double)receiver->payload_bytes * 8;
	return (struct report){.x_ms = signal_ms(receiver),
	                       .ramps_up = lost == 0 && is_empty,
	                       .received_bps = bits * (double)NS_PER_S / (double)LOGWIN_NS,
	                       .forth_ns = receiver->forth_ns};
}

/* Asked for the second decision and later ones, an end is writing the one before. */
static struct decision next(struct application *application, int end, uint64_t now_ns)
{
	struct call *call = (struct call *)application;
	int writes = call->begun[end];
	uint64_t wait_ns = 0;

	call->begun[end] = 1;
	if (end == END_TO) {
		if (writes)
			push(&call->reports,
			     (struct note){now_ns, .report = report(&call->receiver, now_ns)});
		return (struct decision){
		        .wait_ns = DELTA_NS, .bytes = REPORT_BYTES, .hears = -1};
	}
	if (writes) {
		double bits = (double)call->payload_bytes * 8;

		push(&call->sent, (struct note){.at_ns = now_ns});
		wait_ns = (uint64_t)(bits * (double)NS_PER_S / call->sender.rate_bps);
		wait_ns += !wait_ns;
	}
	return (struct decision){.wait_ns = wait_ns, .bytes = call->payload_bytes, .hears = -1};
}

static int hears(struct application *application, int end, uint64_t now_ns, uint64_t sent_ns,
                 uint64_t delay_ns)
{
	struct call *call = (struct call *)application;
	struct notes *notes = end == END_TO ? &call->sent : &call->reports;
	uint64_t lost = 0;

	/* Those before it were lost. */
	for (; notes->count && note_at(notes, 0)->at_ns <= sent_ns; lost++) {
		struct note note = pop(notes);

		if (note.at_ns != sent_ns)
			continue;
		if (end == END_TO)
			hear_datagram(&call->receiver, now_ns, delay_ns, lost);
		else
			hear_report(&call->sender, now_ns, now_ns - sent_ns, &note.report);
	}
	return end == END_TO && !call->begun[END_TO];
}

static void end(struct application *application)
{
	struct call *call = (struct call *)application;

	free(call->receiver.window.all);
	free(call->sent.all);
	free(call->reports.all);
	free(call);
}

struct application *nada_of(const char *words, double (*exponential)(double))
{
	static const struct kind KIND = {
	        .opener = END_FROM, .next = next, .hears = hears, .end = end};
	uint64_t payload_bytes, least_bps, most_bps;
	struct call *call;

	if (!read_u64(&words, &payload_bytes) || !read_u64(&words, &least_bps) ||
	    !read_u64(&words, &most_bps) || !least_bps)
		return NULL;
	call = room(NULL, sizeof(*call));
	*call = (struct call){
	        .application.kind = &KIND,
	        .payload_bytes = payload_bytes,
	        .sender = {.least_bps = (double)least_bps,
	                   .most_bps = (double)most_bps,
	                   .rate_bps = (double)least_bps},
	        .receiver = {.payload_bytes = payload_bytes,
	                     .base_ns = UINT64_MAX,
	                     .ngaps = 1,
	                     .exponential = exponential},
	};
	return &call->application;
}
