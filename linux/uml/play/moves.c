// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* moves.c: what an end does when it has heard enough and waited long enough. */
#include "play.h"

/* When write n is due, from the opening on. A rounded gap would add up: so it is of the number,
 * as in the engine. */
uint64_t even_ns(const struct plan *plan, int end, uint64_t n)
{
	unsigned __int128 bits = (unsigned __int128)n * plan->even_bytes[end] * 8;

	return (uint64_t)(bits * 1000000000 / plan->even_bps[end]);
}

static struct move move_of(struct talk *talk, int end, size_t n)
{
	const struct plan *plan = talk->plan;

	if (plan->words)
		return decide(talk, end, n);
	if (!plan->even_bps[end])
		return plan->moves[end][n];
	return (struct move){.wait_ns =
	                             n ? even_ns(plan, end, n) - even_ns(plan, end, n - 1) : 0,
	                     .bytes = plan->even_bytes[end],
	                     .hears = -1};
}

static int has_move(const struct plan *plan, int end, size_t n)
{
	return plan->words || plan->even_bps[end] || n < plan->nmoves[end];
}

uint64_t awaited(const struct talk *talk, int end)
{
	const struct plan *plan = talk->plan;
	const struct side *side = &talk->sides[end];

	if (plan->words)
		return side->next < side->ndecided ? side->decided.heard : 0;
	return side->next < plan->nmoves[end] ? plan->moves[end][side->next].heard : 0;
}

static void act(size_t number, int end, const struct move *move)
{
	struct talk *talk = &talks[number];
	struct side *side = &talk->sides[end];

	if (flows[talk->flow].udp) {
		if (move->bytes)
			send_datagram(&flows[talk->flow], side->fd, end, move->bytes);
		return;
	}
	if (move->looks)
		return;
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
	struct move move = move_of(&talks[number], end, next);

	if (move.heard > side->heard)
		return 1;
	if (!move.wait_ns || side->waited == next + 1)
		return 0;
	side->waiting = 1;
	side->waited = next + 1;
	remind(here() + move.wait_ns, MOVE, number, end, talks[number].age);
	return 1;
}

/* Lets an end do all that it can do now. */
void speak(size_t number, int end)
{
	const struct plan *plan = talks[number].plan;

	for (;;) {
		struct side *side = &talks[number].sides[end];
		size_t next = side->next;
		struct move move;

		if (side->waiting)
			break;
		if (!has_move(plan, end, next)) {
			if (side->peer_closed && !side->closed) {
				side->closed = 1;
				flush(number, end);
			}
			break;
		}
		if (waits(number, end, next))
			break;
		move = move_of(&talks[number], end, next);
		side->next++;
		/* The wait of the one behind it begins with it. */
		if (has_move(plan, end, side->next))
			waits(number, end, side->next);
		act(number, end, &move);
	}
	wake_at_least(number, end);
	watch(number, end);
}
