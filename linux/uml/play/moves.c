// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* moves.c: what an end does when it has heard enough and waited long enough. */
#include "play.h"

static void act(size_t number, int end, const struct move *move)
{
	struct talk *talk = &talks[number];
	struct side *side = &talk->sides[end];

	if (flows[talk->flow].udp) {
		if (move->bytes)
			send_datagram(&flows[talk->flow], side->fd, move->bytes);
		return;
	}
	if (move->hears >= 0) {
		begin_transfer(talk, move);
		wake_at_least(number, move->hears);
	}
	side->owed += move->bytes;
	side->closed |= !move->bytes;
	flush(number, end);
}

/* Waits of a move whose bytes were heard, until its time. */
static int waits(size_t number, int end, size_t next)
{
	struct side *side = &talks[number].sides[end];
	const struct move *move = &talks[number].plan->moves[end][next];

	if (move->heard > side->heard)
		return 1;
	if (!move->wait_ns || side->waited == next + 1)
		return 0;
	side->waiting = 1;
	side->waited = next + 1;
	remind(here_ns + move->wait_ns, MOVE, number, end, talks[number].age);
	return 1;
}

/* Lets an end do all that it can do now. */
void speak(size_t number, int end)
{
	const struct plan *plan = talks[number].plan;

	for (;;) {
		struct side *side = &talks[number].sides[end];
		size_t next = side->next;

		if (side->waiting)
			break;
		if (next == plan->nmoves[end]) {
			if (side->peer_closed && !side->closed) {
				side->closed = 1;
				flush(number, end);
			}
			break;
		}
		if (waits(number, end, next))
			break;
		side->next++;
		/* The wait of the one behind it begins with it. */
		if (side->next < plan->nmoves[end])
			waits(number, end, side->next);
		act(number, end, &plan->moves[end][next]);
	}
	wake_at_least(number, end);
	watch(number, end);
}
