// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * play.c: the flows of a scenario over real sockets: scripts of conversations, as the engine's
 * crates/sim/src/net/play.rs plays them. All ends are in one process, which is asleep whenever
 * possible: a guest that spins would stop virtual time. Here is what happens when; play/ has a
 * file for each of its parts, and play.h their list.
 *
 *   play T0_NS < FLOWS > PLAYED          times are after T0_NS of the wall clock
 *
 *   edge NS                              read all counters then; the last one ends the run
 *   samples, group                       see samples.h
 *   transfers                            each transfer is told, with when its first byte came
 *   flow NUMBER PORT FROM TO SOURCE TARGET CC START_NS STOP_NS
 *       FROM and TO are network namespaces, SOURCE and TARGET addresses in them, ends 0 and 1.
 *       With the word `udp` for CC the writes of end 0 are datagrams.
 *   source OPEN ECHO AGAIN               of the flow above
 *       With OPEN a visit waits from the begin of the one before, else from its end. With ECHO
 *       end 1 sends each datagram back. With AGAIN the last visit is repeated without end.
 *   dscp DSCP                            of the flow above: of the packets of both ends
 *   visit WAIT_NS PAGE                   of the flow above; PAGE: how long it takes is told
 *   talk OPENER DONE AFTER HEARD WAIT_NS
 *       of the visit above: a connection. Its opener is done when it has heard DONE bytes (-1:
 *       when both ends are closed). It is opened WAIT_NS after the opener of talk AFTER of the
 *       visit has heard HEARD bytes (-1: at once).
 *   move END HEARD WAIT_NS BYTES HEARS HEARS_BYTES
 *       of the talk above: when END has heard HEARD bytes, and WAIT_NS later, it writes BYTES
 *       (0: it closes). A transfer is complete when end HEARS (-1: none) has heard HEARS_BYTES.
 *   even END BYTES RATE_BPS              of the talk above: moves without end, which write
 *       BYTES each from the opening on, at RATE_BPS
 *   decides WORDS                        of the talk above, the only one of its flow: an
 *       application decides the moves of both ends; see traffic/application.h
 *
 *   count EDGE FLOW DELIVERED_BYTES ANSWERED_BYTES OPENED DATA_PKTS RETRANSMITTED_PKTS TIMEOUTS
 *       SRTT_US ARRIVED_PKTS DELAY_NS DIFFERENCES DIFFERENCES_NS EXPECTED_PKTS
 *       delivered to end 1, answered to end 0. The last five are of datagrams: how many
 *       arrived at end 1, the sum of their delays, how many differences between successive
 *       delays there are, their sum, and how many have arrived or are lost. To the last are
 *       added those that an application sent from end 1 and that are lost.
 *   view EDGE FLOW SEGMENTS BPS RUNGS SWITCHES STALLS STALLED_NS
 *       what the viewer of a flow has seen, as traffic/application.h has it
 *   took EDGE FLOW NS ...                delays of the datagrams that arrived since the edge
 *       before, or since the begin
 *   done FLOW AT_NS TOOK_NS              a transfer that is complete
 *   transfer FLOW VISIT CONNECTION NUMBER OPENED_NS BEGUN_NS FIRST_NS LAST_NS BYTES
 *       a transfer that is complete or, at the end of its connection, its flow or the run, is
 *       not (-1: that byte has not come); numbers from 1, as in the script
 *   page FLOW AT_NS TOOK_NS              a visit that is over
 *   echo FLOW SENT_NS RTT_NS             at the end of the run: a datagram, and when it came
 * back (0: it has not)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "play/play.h"
#include "samples.h"

enum { MAX_EDGES = 4096, EVENTS = 64 };

uint64_t t0_ns;
int epoll;
/* Of what happens now: none from the network was due; 0: the clock was not read yet. */
static uint64_t due_ns, read_ns;
static uint64_t edges_ns[MAX_EDGES];
static int nedges;

uint64_t clock_ns(void)
{
	if (!read_ns)
		read_ns = now_ns();
	return read_ns;
}

uint64_t here(void)
{
	return due_ns ? due_ns : clock_ns();
}

static void happens(uint64_t at_ns)
{
	due_ns = at_ns;
	read_ns = 0;
}

static void on_timer(const struct timer *timer)
{
	struct talk *talk = &talks[timer->number];

	if (timer->cause == VISIT) {
		on_visit(timer->number);
		return;
	}
	if (!talk->plan || talk->age != timer->age)
		return;
	if (timer->cause == OPENING) {
		open_talk(timer->number);
		return;
	}
	talk->sides[timer->end].waiting = 0;
	speak(timer->number, timer->end);
	if (!flows[talk->flow].udp)
		settle(timer->number);
}

static uint64_t next_ns(int edge)
{
	uint64_t next = edges_ns[edge];

	if (next_sample_ns() < next)
		next = next_sample_ns();
	if (next_timer_ns() < next)
		next = next_timer_ns();
	for (size_t i = 0; i < nflows; i++)
		next = flows[i].stop_ns < next ? flows[i].stop_ns : next;
	return next;
}

static void set_timer(int timer, uint64_t at_ns)
{
	struct itimerspec when = {.it_value = {at_ns / 1000000000, at_ns % 1000000000}};

	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL))
		die("timerfd_settime");
}

/* Whether it was the timer that ended the sleep: what came later comes again. */
static int sleep_once(int timer)
{
	struct epoll_event events[EVENTS];

	for (int i = 0, n = epoll_wait(epoll, events, EVENTS, -1); i < n; i++) {
		uint64_t word = events[i].data.u64, expired;

		happens(0);
		switch ((enum what)(word & 3)) {
		case LISTENER:
			on_listener(word >> 3);
			break;
		case TALK:
			on_talk(word >> 3, word >> 2 & 1, events[i].events);
			break;
		case TIMER:
			if (read(timer, &expired, sizeof(expired)) > 0)
				return 1;
			break;
		}
	}
	return 0;
}

/* A reading comes before what happens at its time, as in the engine. */
static void do_until(uint64_t next_ns, int *edge)
{
	happens(next_ns);
	while (next_sample_ns() <= next_ns)
		take_sample();
	while (*edge < nedges && edges_ns[*edge] <= next_ns)
		print_counts((*edge)++);
	for (size_t i = 0; i < nflows; i++)
		if (flows[i].stop_ns <= next_ns)
			stop(i);
	while (next_timer_ns() <= next_ns) {
		struct timer due = take_timer();

		happens(due.at_ns);
		on_timer(&due);
	}
}

static void run(void)
{
	int timer = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
	struct epoll_event on = {.events = EPOLLIN, .data.u64 = TIMER};
	uint64_t next, set = 0;

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &on))
		die("epoll_ctl");
	for (int edge = 0; edge < nedges;) {
		next = next_ns(edge);
		if (next != set)
			set_timer(timer, next);
		set = next;
		if (!sleep_once(timer))
			continue;
		set = 0;
		do_until(next, &edge);
	}
}

int main(int argc, char **argv)
{
	char *line = NULL;
	size_t size = 0;

	if (argc != 2) {
		fprintf(stderr, "play T0_NS < FLOWS\n");
		return 2;
	}
	t0_ns = strtoull(argv[1], NULL, 10);
	allow_many_files();
	epoll = epoll_create1(0);
	while (getline(&line, &size, stdin) > 0) {
		unsigned long long ns;

		if (sscanf(line, "edge %llu", &ns) == 1 && nedges < MAX_EDGES) {
			edges_ns[nedges++] = t0_ns + ns;
		} else if (!strcmp(line, "transfers\n")) {
			tells_transfers = 1;
		} else if (!samples_line(line, t0_ns) && read_line(line)) {
			fprintf(stderr, "play: what is '%s'?\n", line);
			return 2;
		}
	}
	for (size_t i = 0; i < nflows; i++)
		listen_for(i);
	run();
	print_echoes();
	tell_all_unfinished();
	return 0;
}
