// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* visits.c: visits, and when the conversations in them begin and are over. */
#include <stdlib.h>

#include "play.h"

struct stay *stays;
static size_t nstays;

/* NULL: there are no more. */
static const struct visit *next_visit(const struct flow *flow)
{
	if (flow->next < flow->nvisits)
		return &flow->visits[flow->next];
	return flow->again ? &flow->visits[flow->nvisits - 1] : NULL;
}

static void begin_visit(size_t flow)
{
	const struct visit *visit = next_visit(&flows[flow]);
	struct stay *stay;
	size_t number;

	flows[flow].next++;
	for (number = 0; number < nstays && stays[number].visit; number++)
		;
	if (number == nstays) {
		stays = more(stays, nstays, sizeof(*stays));
		nstays++;
	}
	stay = &stays[number];
	*stay = (struct stay){
	        .flow = flow,
	        .left = visit->nplans,
	        .number = flows[flow].next,
	        .visit = visit,
	        .begun_ns = here(),
	        .begun = calloc(1, visit->nplans + 1),
	};
	if (!stay->begun)
		die("memory");
	for (size_t i = 0; i < visit->nplans; i++)
		if (visit->plans[i].after < 0)
			start_talk(flow, number, i, 0);
}

static void remind_of_visit(size_t number)
{
	const struct visit *next = next_visit(&flows[number]);

	if (!flows[number].stopped && next)
		remind(here() + next->wait_ns, VISIT, number, 0, 0);
}

void on_visit(size_t flow)
{
	if (flows[flow].stopped)
		return;
	begin_visit(flow);
	if (flows[flow].open)
		remind_of_visit(flow);
}

/* What has not begun would wait for the answers of a conversation that broke off. */
static void give_up(struct stay *stay)
{
	stay->broken = 1;
	for (size_t i = 0; i < stay->visit->nplans; i++) {
		stay->left -= !stay->begun[i];
		stay->begun[i] = 1;
	}
}

/* The opener is done with a conversation, and perhaps with the visit. */
void end_talk(size_t number)
{
	struct talk *talk = &talks[number];
	struct stay *stay = &stays[talk->stay];
	const struct visit *next;
	size_t flow = talk->flow;

	if (talk->over)
		return;
	talk->over = 1;
	if (talk->broken)
		give_up(stay);
	if (--stay->left)
		return;
	if (stay->visit->page && !stay->broken)
		tell("page", flow, stay->begun_ns);
	free(stay->begun);
	stay->visit = NULL;
	/* What broke off begins anew, as the engine's never breaks off; an application's
	 * conversation ends in no other way. */
	if ((stay->broken || talk->plan->words) && flows[flow].nvisits == 1)
		flows[flow].next = 0;
	next = next_visit(&flows[flow]);
	if (flows[flow].open || !next)
		return;
	if (next->wait_ns)
		remind_of_visit(flow);
	else
		on_visit(flow);
}

/* Begins what waits for so many bytes at this conversation. */
void follow(size_t number, uint64_t heard)
{
	size_t stay = talks[number].stay, place = talks[number].place,
	       flow = talks[number].flow;
	const struct visit *visit = stays[stay].visit;

	if (talks[number].over)
		return;
	for (size_t i = 0; i < visit->nplans; i++) {
		const struct plan *plan = &visit->plans[i];

		if (plan->after == (int)place && plan->heard <= heard && !stays[stay].begun[i])
			start_talk(flow, stay, i, plan->wait_ns);
	}
	if (talks[number].plan->done <= heard)
		end_talk(number);
}
