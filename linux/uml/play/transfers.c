// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* transfers.c: what an end is to hear, and the table of it. */
#include <stdio.h>

#include "play.h"

int tells_transfers;

static long long since_t0(uint64_t at_ns)
{
	return at_ns ? (long long)(at_ns - t0_ns) : -1;
}

static void tell_transfer(const struct talk *talk, const struct transfer *transfer,
                          uint64_t last_ns)
{
	uint64_t first_ns = transfer->first_ns ? transfer->first_ns : last_ns;

	if (!tells_transfers)
		return;
	printf("transfer %u %zu %zu %zu %lld %lld %lld %lld %llu\n", flows[talk->flow].number,
	       talk->visit, talk->place + 1, transfer->number, since_t0(talk->opened_ns),
	       since_t0(transfer->begun_ns), since_t0(first_ns), since_t0(last_ns),
	       (unsigned long long)(transfer->bytes - transfer->from));
}

void begin_transfer(struct talk *talk, const struct move *move)
{
	struct side *hears = &talk->sides[move->hears];

	hears->transfers = more(hears->transfers, hears->ntransfers, sizeof(struct transfer));
	hears->transfers[hears->ntransfers] = (struct transfer){
	        .from = hears->first < hears->ntransfers
	                        ? hears->transfers[hears->ntransfers - 1].bytes
	                        : hears->heard,
	        .bytes = move->hears_bytes,
	        .begun_ns = clock_ns(),
	        .number = ++talk->ntransfers};
	hears->ntransfers++;
}

/* At how many bytes heard the next transfer has something to tell. */
uint64_t transfer_wakes_at(const struct side *side)
{
	const struct transfer *transfer = &side->transfers[side->first];

	if (side->first == side->ntransfers)
		return NEVER;
	return tells_transfers && !transfer->first_ns ? transfer->from + 1 : transfer->bytes;
}

void hear_transfers(struct talk *talk, int end)
{
	struct side *side = &talk->sides[end];

	while (side->first < side->ntransfers &&
	       side->transfers[side->first].bytes <= side->heard) {
		tell("done", talk->flow, side->transfers[side->first].begun_ns);
		tell_transfer(talk, &side->transfers[side->first++], here());
		if (side->first == side->ntransfers)
			side->first = side->ntransfers = 0;
	}
	if (side->first < side->ntransfers) {
		struct transfer *next = &side->transfers[side->first];

		if (next->from < side->heard && !next->first_ns)
			next->first_ns = here();
	}
}

void tell_unfinished(const struct talk *talk)
{
	for (int end = 0; end < 2; end++)
		for (size_t i = talk->sides[end].first; i < talk->sides[end].ntransfers; i++)
			tell_transfer(talk, &talk->sides[end].transfers[i], 0);
}

/* At the end of the run. */
void tell_all_unfinished(void)
{
	for (size_t i = 0; i < ntalks; i++)
		if (talks[i].plan)
			tell_unfinished(&talks[i]);
}
