// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* tell.c: transfers and pages that are complete, and counters of each flow. */
#include <stdio.h>
#include <stdlib.h>

#include "../samples.h"
#include "play.h"

void tell(const char *what, size_t flow, uint64_t begun_ns)
{
	printf("%s %u %llu %llu\n", what, flows[flow].number,
	       (unsigned long long)(here() - t0_ns), (unsigned long long)(here() - begun_ns));
}

/* To what each flow's connections that are over have counted. */
static void add_open_connections(struct counts *sums)
{
	for (size_t i = 0; i < nflows; i++)
		sums[i] = flows[i].past;
	for (size_t i = 0; i < ntalks; i++) {
		struct flow *flow = &flows[talks[i].flow];

		for (int end = 0; end < 2 && talks[i].plan; end++)
			if (counts(&talks[i], end))
				add_counts(&sums[talks[i].flow],
				           counts_of(talks[i].sides[end].fd,
				                     end ? NULL : &flow->srtt_us));
	}
}

static void print_viewing(int edge, struct flow *flow)
{
	struct viewing seen = viewing_of(flow);

	if (seen.segments)
		printf("view %d %u %llu %llu %llu %llu %llu %llu\n", edge, flow->number,
		       (unsigned long long)seen.segments, (unsigned long long)seen.bps,
		       (unsigned long long)seen.rungs, (unsigned long long)seen.switches,
		       (unsigned long long)seen.stalls, (unsigned long long)seen.stalled_ns);
}

void print_counts(int edge)
{
	struct counts *sums = calloc(nflows + 1, sizeof(*sums));

	if (!sums)
		die("memory");
	for (size_t i = 0; i < ntalks; i++)
		for (int end = 0; end < 2; end++)
			on_talk(i, end, 0);
	add_open_connections(sums);
	for (size_t i = 0; i < nflows; i++) {
		struct flow *flow = &flows[i];
		struct counts counts = sums[i];

		counts.data_pkts += flow->sent[0].count;
		printf("count %d %u %llu %llu %llu %llu %llu %llu %u %llu %llu %llu %llu "
		       "%llu\n",
		       edge, flow->number, (unsigned long long)flow->delivered[1],
		       (unsigned long long)flow->delivered[0], (unsigned long long)flow->opened,
		       (unsigned long long)counts.data_pkts,
		       (unsigned long long)counts.retransmitted_pkts,
		       (unsigned long long)counts.timeouts, flow->srtt_us,
		       (unsigned long long)flow->transit[1].arrived_pkts,
		       (unsigned long long)flow->transit[1].delay_ns,
		       (unsigned long long)flow->transit[1].differences,
		       (unsigned long long)flow->transit[1].differences_ns,
		       (unsigned long long)expected_pkts(flow));
		print_delays(edge, flow);
		print_viewing(edge, flow);
	}
	free(sums);
}

void take_sample(void)
{
	for (size_t i = 0; i < nflows; i++)
		sample_flow(flows[i].number, flows[i].delivered[0], flows[i].delivered[1]);
	for (size_t i = 0; i < ntalks; i++)
		for (int end = 0; end < 2; end++)
			if (talks[i].plan && talks[i].sides[end].fd >= 0 &&
			    !flows[talks[i].flow].udp)
				sample_socket(flows[talks[i].flow].number, end,
				              talks[i].sides[end].fd);
	print_sample();
}
