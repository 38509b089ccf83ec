// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* tell.c: transfers and pages that are complete, and counters of each flow. */
#include <stdio.h>

#include "../samples.h"
#include "play.h"

void tell(const char *what, size_t flow, uint64_t begun_ns)
{
	printf("%s %u %llu %llu\n", what, flows[flow].number,
	       (unsigned long long)(here_ns - t0_ns), (unsigned long long)(here_ns - begun_ns));
}

void print_counts(int edge)
{
	for (size_t i = 0; i < ntalks; i++)
		for (int end = 0; end < 2; end++)
			on_talk(i, end, 0);
	for (size_t i = 0; i < nflows; i++) {
		struct flow *flow = &flows[i];
		struct counts counts = flow->past;

		counts.data_pkts += flow->nsent;
		for (size_t j = 0; j < ntalks; j++)
			for (int end = 0; end < 2 && !flow->udp; end++)
				if (talks[j].plan && talks[j].flow == i &&
				    talks[j].sides[end].fd >= 0)
					add_counts(&counts,
					           counts_of(talks[j].sides[end].fd,
					                     end ? NULL : &flow->srtt_us));
		printf("count %d %u %llu %llu %llu %llu %llu %llu %u %llu %llu %llu %llu "
		       "%llu\n",
		       edge, flow->number, (unsigned long long)flow->delivered[1],
		       (unsigned long long)flow->delivered[0], (unsigned long long)flow->opened,
		       (unsigned long long)counts.data_pkts,
		       (unsigned long long)counts.retransmitted_pkts,
		       (unsigned long long)counts.timeouts, flow->srtt_us,
		       (unsigned long long)flow->transit.arrived_pkts,
		       (unsigned long long)flow->transit.delay_ns,
		       (unsigned long long)flow->transit.differences,
		       (unsigned long long)flow->transit.differences_ns,
		       (unsigned long long)expected_pkts(flow));
	}
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

void print_echoes(void)
{
	for (size_t i = 0; i < nflows; i++)
		for (size_t n = 0; flows[i].echo && n < flows[i].nsent; n++)
			printf("echo %u %llu %llu\n", flows[i].number,
			       (unsigned long long)(flows[i].sent_ns[n] - t0_ns),
			       (unsigned long long)flows[i].rtt_ns[n]);
}
