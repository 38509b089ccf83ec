// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* ends.c: bytes at an end of a conversation, and what it is woken for. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "play.h"

static const char payload[1 << 16];

/* What an end is to be woken for. */
void watch(size_t number, int end)
{
	struct side *side = &talks[number].sides[end];
	struct epoll_event event = {.data.u64 =
	                                    (uint64_t)number << 3 | (uint64_t)end << 2 | TALK};
	int how = side->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (side->fd < 0)
		return;
	event.events = EPOLLERR; /* which is always told: so none is zero */
	event.events |= side->peer_closed ? 0 : EPOLLIN;
	if (!flows[talks[number].flow].udp)
		event.events |= side->owed || !side->connected ? EPOLLOUT : 0;
	if (event.events == side->events)
		return;
	if (epoll_ctl(epoll, how, side->fd, &event))
		die("epoll_ctl");
	side->events = event.events;
}

/* At how many bytes an end has something to do: it is woken then, or for as many as are worth
 * it. */
void wake_at_least(size_t number, int end)
{
	struct talk *talk = &talks[number];
	struct side *side = &talk->sides[end];
	const struct plan *plan = talk->plan;
	uint64_t wake = NEVER, most = side->heard + READ_AT_LEAST_BYTES;

	if (side->fd < 0 || flows[talk->flow].udp || !writes(plan, !end))
		return;
	if (!side->waiting && awaited(talk, end) > side->heard)
		wake = awaited(talk, end);
	if (transfer_wakes_at(side) < wake)
		wake = transfer_wakes_at(side);
	if (end == plan->opener && !talk->over) {
		const struct visit *visit = stays[talk->stay].visit;

		if (plan->done < wake)
			wake = plan->done;
		for (size_t i = 0; i < visit->nplans; i++)
			if (visit->plans[i].after == (int)talk->place &&
			    !stays[talk->stay].begun[i] && visit->plans[i].heard < wake)
				wake = visit->plans[i].heard;
	}
	if (wake <= side->heard || wake > most)
		wake = most;
	if ((int)(wake - side->heard) != side->lowat) {
		side->lowat = (int)(wake - side->heard);
		option(side->fd, SOL_SOCKET, SO_RCVLOWAT, side->lowat);
	}
}

/* The connection was reset, timed out or never opened: this end hears and says no more. */
static void break_off(struct talk *talk, int end)
{
	struct side *side = &talk->sides[end];

	talk->broken = 1;
	side->owed = 0;
	side->peer_closed = side->fin_sent = side->closed = 1;
}

/* Hands over what is owed, then the end of it. */
void flush(size_t number, int end)
{
	struct side *side = &talks[number].sides[end];

	while (side->fd >= 0 && side->connected && side->owed) {
		size_t most = side->owed < sizeof(payload) ? side->owed : sizeof(payload);
		ssize_t sent = send(side->fd, payload, most, MSG_NOSIGNAL);

		if (sent > 0)
			side->owed -= (uint64_t)sent;
		else if (errno != EAGAIN)
			break_off(&talks[number], end);
		/* A short write means that the buffer is full: no further call to confirm it.
		 */
		if (sent != (ssize_t)most)
			break;
	}
	if (side->fd >= 0 && side->connected && !side->owed && side->closed &&
	    !side->fin_sent) {
		side->fin_sent = 1;
		shutdown(side->fd, SHUT_WR);
	}
}

static void on_heard(size_t number, int end)
{
	hear_transfers(&talks[number], end);
	if (end == talks[number].plan->opener)
		follow(number, talks[number].sides[end].heard);
	speak(number, end);
}

/* Reads what there is. Conversations that begin meanwhile move the arrays. */
void drain(size_t number, int end)
{
	ssize_t bytes = 0;

	while (talks[number].sides[end].fd >= 0 && !talks[number].sides[end].peer_closed &&
	       (bytes = recv(talks[number].sides[end].fd, NULL, 1 << 24, MSG_TRUNC)) > 0) {
		talks[number].sides[end].heard += (uint64_t)bytes;
		flows[talks[number].flow].delivered[end] += (uint64_t)bytes;
		on_heard(number, end);
	}
	if (talks[number].sides[end].fd < 0)
		return;
	if (bytes == 0 || (bytes < 0 && errno != EAGAIN)) {
		talks[number].sides[end].peer_closed = 1;
		if (bytes < 0)
			break_off(&talks[number], end);
		speak(number, end);
	}
	settle(number);
}

void on_talk(size_t number, int end, uint32_t events)
{
	struct side *side = &talks[number].sides[end];

	if (!talks[number].plan || side->fd < 0)
		return;
	if (flows[talks[number].flow].udp) {
		take_datagrams(number, end);
		return;
	}
	if (events & EPOLLOUT) {
		side->connected = 1;
		flush(number, end);
		watch(number, end);
	}
	/* An end that is not done is closed both ways. It is read no more, so no call tells
	 * why. */
	if (events & EPOLLHUP && side->peer_closed)
		break_off(&talks[number], end);
	if (events != EPOLLOUT)
		drain(number, end);
}
