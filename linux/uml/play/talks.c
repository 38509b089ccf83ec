// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* talks.c: conversations, from their opening to their end. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../dump.h"
#include "play.h"

struct talk *talks;
size_t ntalks;

int writes(const struct plan *plan, int end)
{
	return plan->words || plan->nmoves[end] || plan->even_bps[end];
}

int counts(const struct talk *talk, int end)
{
	return !flows[talk->flow].udp && talk->sides[end].fd >= 0 && writes(talk->plan, end);
}

static void leave(struct talk *talk, int end)
{
	struct flow *flow = &flows[talk->flow];
	struct side *side = &talk->sides[end];

	if (side->fd < 0)
		return;
	if (counts(talk, end))
		add_counts(&flow->past, counts_of(side->fd, end ? NULL : &flow->srtt_us));
	close(side->fd);
	side->fd = -1;
}

static void leave_silently(struct talk *talk, int end)
{
	if (talk->sides[end].fd >= 0 && !flows[talk->flow].udp)
		silence(talk->sides[end].fd);
	leave(talk, end);
}

static void free_talk(struct talk *talk)
{
	tell_unfinished(talk);
	for (int end = 0; end < 2; end++)
		free(talk->sides[end].transfers);
	talk->plan = NULL;
	talk->age++;
}

static int socket_of(const struct flow *flow, int end)
{
	int fd = open_socket(flow->space[end], &flow->address[end], flow->cc, flow->dscp);

	if (!flow->udp)
		hold_little(fd, nflows);
	return fd;
}

static size_t claim_talk(size_t flow, size_t stay, size_t place)
{
	struct talk *talk;
	size_t i;
	unsigned age;
	static size_t hint;

	for (i = 0; i < ntalks && talks[(i + hint) % ntalks].plan; i++)
		;
	if (i == ntalks) {
		talks = more(talks, ntalks, sizeof(*talks));
		memset(&talks[ntalks], 0, sizeof(*talks));
		hint = ntalks++;
	} else {
		hint = (i + hint) % ntalks;
	}
	talk = &talks[hint];
	age = talk->age;
	*talk = (struct talk){.flow = flow, .stay = stay, .place = place, .age = age};
	talk->plan = &stays[stay].visit->plans[place];
	talk->visit = stays[stay].number;
	if (talk->plan->words)
		begin_application(&flows[flow], talk->plan->words);
	talk->sides[0].fd = talk->sides[1].fd = -1;
	return hint;
}

/* Begins a conversation of a visit, now or after a wait. */
void start_talk(size_t flow, size_t stay, size_t place, uint64_t wait_ns)
{
	size_t number = claim_talk(flow, stay, place);

	stays[stay].begun[place] = 1;
	if (wait_ns)
		remind(here() + wait_ns, OPENING, number, 0, talks[number].age);
	else
		open_talk(number);
}

void open_talk(size_t number)
{
	struct talk *talk = &talks[number];
	struct flow *flow = &flows[talk->flow];
	int end = talk->plan->opener;
	union endpoint from = flow->address[end], to = flow->address[!end];
	socklen_t size = sizeof(from);
	int fd = socket_of(flow, end);

	flow->opened++;
	talk->opened_ns = clock_ns();
	draw_port_late(fd);
	if (bind(fd, &from.any, size_of(&from)))
		die("bind");
	to.v4.sin_port = flow->port;
	if (connect(fd, &to.any, size_of(&to)) && errno != EINPROGRESS)
		die("connect");
	if (getsockname(fd, &from.any, &size))
		die("getsockname");
	talk->port = from.v4.sin_port;
	talk->sides[end].fd = fd;
	if (flow->udp) {
		talk->sides[!end].fd = flow->listener;
		/* An application speaks at both ends. */
		if (flow->application && connect(flow->listener, &from.any, size_of(&from)))
			die("connect");
		watch(number, !end);
	}
	speak(number, end);
}

void on_listener(size_t flow)
{
	union endpoint peer;
	socklen_t size = sizeof(peer);
	int fd = accept4(flows[flow].listener, &peer.any, &size, SOCK_NONBLOCK), end;
	size_t i;

	if (fd < 0)
		return; /* reset before it was taken */
	for (i = 0; i < ntalks; i++) {
		const struct talk *talk = &talks[i];

		if (talk->plan && talk->flow == flow && talk->port == peer.v4.sin_port &&
		    talk->sides[!talk->plan->opener].fd < 0)
			break;
	}
	if (i == ntalks) {
		close(fd); /* its opener is gone */
		return;
	}
	end = !talks[i].plan->opener;
	dump_note_accepted(fd);
	if (writes(talks[i].plan, end))
		hold_little(fd, nflows);
	talks[i].sides[end].fd = fd;
	talks[i].sides[end].connected = 1;
	speak(i, end);
}

/* Both ends have closed, or one was reset. */
void settle(size_t number)
{
	struct talk *talk = &talks[number];
	int gone[2];

	for (int end = 0; end < 2; end++) {
		struct side *side = &talk->sides[end];

		if (side->fd >= 0 && side->fin_sent && side->peer_closed)
			leave(talk, end);
		gone[end] = side->fd < 0 && side->fin_sent && side->peer_closed;
	}
	/* One end was reset or gave up; the other may never hear of it. An application closes
	 * in no other way. */
	if ((talk->broken || talk->plan->words) && (gone[0] || gone[1])) {
		for (int end = 0; end < 2; end++)
			leave_silently(talk, end);
		gone[0] = gone[1] = 1;
	}
	if (gone[talk->plan->opener])
		end_talk(number);
	/* The next one may have moved the array. */
	if (gone[0] && gone[1])
		free_talk(&talks[number]);
}

void stop(size_t flow)
{
	flows[flow].stopped = 1;
	flows[flow].stop_ns = NEVER;
	end_application(&flows[flow]);
	for (size_t i = 0; i < ntalks; i++) {
		struct talk *talk = &talks[i];

		if (!talk->plan || talk->flow != flow)
			continue;
		for (int end = 0; end < 2; end++)
			leave_silently(talk, end);
		free_talk(talk);
	}
}

void listen_for(size_t number)
{
	struct flow *flow = &flows[number];
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = number << 3 | LISTENER};
	union endpoint address;
	int end;

	if (!flow->nvisits)
		return;
	end = !flow->visits[0].plans[0].opener;
	address = flow->address[end];
	address.v4.sin_port = flow->port;
	flow->listener = socket_of(flow, end);
	if (bind(flow->listener, &address.any, size_of(&address)) ||
	    (!flow->udp && listen(flow->listener, 512)))
		die("listen");
	if (!flow->udp && epoll_ctl(epoll, EPOLL_CTL_ADD, flow->listener, &event))
		die("epoll_ctl");
	remind(flow->start_ns + flow->visits[0].wait_ns, VISIT, number, 0, 0);
}
