// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* visits.c: visits, and when the conversations in them begin and are over. */
#include <stdlib.h>

#include "play.h"

struct stay *stays;
static size_t nstays;

static void begin_visit(size_t flow)
{
	const struct visit *visit = &flows[flow].visits[flows[flow].next++];
	struct stay *stay;
	size_t number;

	for (number = 0; number < nstays && stays[number].visit; number++)
		;
	if (number == nstays) {
		stays = more(stays, nstays, sizeof(*stays));
		nstays++;
	}
	stay = &stays[number];
	*stay = (struct stay){flow,  visit->nplans, flows[flow].next,
	                      visit, here_ns,       calloc(1, visit->nplans + 1)};
	if (!stay->begun)
		die("memory");
	for (size_t i = 0; i < visit->nplans; i++)
		if (visit->plans[i].after < 0)
			start_talk(flow, number, i, 0);
}

static void remind_of_visit(size_t number)
{
	struct flow *flow = &flows[number];

	if (!flow->stopped && flow->next < flow->nvisits)
		remind(here_ns + flow->visits[flow->next].wait_ns, VISIT, number, 0, 0);
}

void on_visit(size_t flow)
{
	if (flows[flow].stopped)
		return;
	begin_visit(flow);
	if (flows[flow].open)
		remind_of_visit(flow);
}

/* The opener is done with a conversation, and perhaps with the visit. */
void end_talk(size_t number)
{
	struct talk *talk = &talks[number];
	struct stay *stay = &stays[talk->stay];
	size_t flow = talk->flow;

	if (talk->over)
		return;
	talk->over = 1;
	if (--stay->left)
		return;
	if (stay->visit->page)
		tell("page", flow, stay->begun_ns);
	free(stay->begun);
	stay->visit = NULL;
	if (!flows[flow].open)
		remind_of_visit(flow);
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
