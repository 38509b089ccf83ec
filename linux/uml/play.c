// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * play.c: scripts of conversations over real sockets, as the engine's
 * crates/sim/src/net/play.rs plays them. All ends are in one process, which is asleep whenever
 * possible: a guest that spins would stop virtual time. Here is what happens when; play/ has a
 * file for each of its parts, and play.h their list.
 *
 *   play T0_NS < SCRIPTS > PLAYED        times are after T0_NS of the wall clock
 *
 *   edge NS                              read all counters then; the last one ends the run
 *   samples, group                       see samples.h
 *   transfers                            each transfer is told, with when its first byte came
 *   flow NUMBER PORT FROM TO SOURCE TARGET CC START_NS STOP_NS OPEN ECHO
 *       FROM and TO are network namespaces, SOURCE and TARGET addresses in them, ends 0 and 1.
 *       With OPEN a visit waits from the begin of the one before, else from its end. With the
 *       word `udp` for CC the writes of end 0 are datagrams, which with ECHO end 1 sends back.
 *   visit WAIT_NS PAGE                   of the flow above; PAGE: how long it takes is told
 *   talk OPENER DONE AFTER HEARD WAIT_NS of the visit above: a connection. Its opener is done
 * when it has heard DONE bytes (-1: when both ends are closed). It is opened WAIT_NS after the
 * opener of talk AFTER of the visit has heard HEARD bytes (-1: at once). move END HEARD WAIT_NS
 * BYTES HEARS HEARS_BYTES of the talk above: when END has heard HEARD bytes, and WAIT_NS later,
 * it writes BYTES (0: it closes). A transfer is complete when end HEARS (-1: none) has heard
 * HEARS_BYTES.
 *
 *   count EDGE FLOW DELIVERED_BYTES ANSWERED_BYTES OPENED DATA_PKTS RETRANSMITTED_PKTS TIMEOUTS
 *       SRTT_US ARRIVED_PKTS DELAY_NS DIFFERENCES DIFFERENCES_NS EXPECTED_PKTS
 *       delivered to end 1, answered to end 0; the last five of datagrams, as in traffic.c
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

uint64_t t0_ns, here_ns;
int epoll;
static uint64_t edges_ns[MAX_EDGES];
static int nedges;

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

static void handle(const struct epoll_event *event, int timer)
{
	uint64_t expired;

	switch ((enum what)(event->data.u64 & 3)) {
	case LISTENER:
		on_listener(event->data.u64 >> 3);
		break;
	case TALK:
		on_talk(event->data.u64 >> 3, event->data.u64 >> 2 & 1, event->events);
		break;
	case TIMER:
		if (read(timer, &expired, sizeof(expired)) < 0 && errno != EAGAIN)
			die("timer");
		break;
	}
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

static void run(void)
{
	int timer = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
	struct epoll_event on = {.events = EPOLLIN, .data.u64 = TIMER}, events[EVENTS];

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &on))
		die("epoll_ctl");
	for (int edge = 0; edge < nedges;) {
		uint64_t next = next_ns(edge), now;
		struct itimerspec when = {.it_value = {next / 1000000000, next % 1000000000}};

		if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL))
			die("timerfd_settime");
		for (int i = 0, n = epoll_wait(epoll, events, EVENTS, -1); i < n; i++) {
			here_ns = now_ns();
			handle(&events[i], timer);
		}
		now = here_ns = now_ns();
		/* A reading comes before what happens at its time, as in the engine. */
		while (next_sample_ns() <= now)
			take_sample();
		while (edge < nedges && edges_ns[edge] <= now)
			print_counts(edge++);
		for (size_t i = 0; i < nflows; i++)
			if (flows[i].stop_ns <= now)
				stop(i);
		while (next_timer_ns() <= now) {
			struct timer due = take_timer();

			here_ns = due.at_ns;
			on_timer(&due);
		}
	}
}

int main(int argc, char **argv)
{
	char line[512];

	if (argc != 2) {
		fprintf(stderr, "play T0_NS < SCRIPTS\n");
		return 2;
	}
	t0_ns = strtoull(argv[1], NULL, 10);
	allow_many_files();
	epoll = epoll_create1(0);
	while (fgets(line, sizeof(line), stdin)) {
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
