// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* script.c: scripts of conversations, as play.c describes their lines. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"

struct flow *flows;
size_t nflows;

void *more(void *array, size_t count, size_t size)
{
	/* Doubled at each power of two. */
	if (count & (count - 1) && count)
		return array;
	array = realloc(array, (count ? 2 * count : 1) * size);
	if (!array)
		die("memory");
	return array;
}

static int read_flow(const char *line)
{
	struct flow *flow;
	char address[2][48];
	unsigned port;
	unsigned long long start_ns, stop_ns;

	flows = more(flows, nflows, sizeof(*flows));
	flow = memset(&flows[nflows++], 0, sizeof(*flow));
	if (sscanf(line, "flow %u %u %31s %31s %47s %47s %15s %llu %llu", &flow->number, &port,
	           flow->space[0], flow->space[1], address[0], address[1], flow->cc, &start_ns,
	           &stop_ns) != 9)
		return -1;
	flow->udp = !strcmp(flow->cc, "udp");
	for (int end = 0; end < 2; end++)
		flow->address[end] = endpoint_of(address[end]);
	flow->port = htons((uint16_t)port);
	flow->start_ns = t0_ns + start_ns;
	flow->stop_ns = stop_ns ? t0_ns + stop_ns : NEVER;
	return 0;
}

static int read_part(const char *line)
{
	struct flow *flow = nflows ? &flows[nflows - 1] : NULL;
	struct visit *visit = flow && flow->nvisits ? &flow->visits[flow->nvisits - 1] : NULL;
	struct plan *plan = visit && visit->nplans ? &visit->plans[visit->nplans - 1] : NULL;
	unsigned long long a, b, c, d;
	long long done;
	int end, other;

	if (flow &&
	    sscanf(line, "source %d %d %d", &flow->open, &flow->echo, &flow->again) == 3)
		return 0;
	if (flow && sscanf(line, "dscp %d", &flow->dscp) == 1)
		return 0;
	if (flow && sscanf(line, "visit %llu %d", &a, &end) == 2) {
		flow->visits = more(flow->visits, flow->nvisits, sizeof(*visit));
		flow->visits[flow->nvisits++] = (struct visit){.wait_ns = a, .page = end};
	} else if (visit && sscanf(line, "talk %d %lld %d %llu %llu", &end, &done, &other, &a,
	                           &b) == 5) {
		visit->plans = more(visit->plans, visit->nplans, sizeof(*plan));
		visit->plans[visit->nplans++] =
		        (struct plan){.opener = end & 1,
		                      .after = other,
		                      .heard = a,
		                      .wait_ns = b,
		                      .done = done < 0 ? NEVER : (uint64_t)done};
	} else if (plan && sscanf(line, "move %d %llu %llu %llu %d %llu", &end, &a, &b, &c,
	                          &other, &d) == 6) {
		end &= 1;
		plan->moves[end] =
		        more(plan->moves[end], plan->nmoves[end], sizeof(struct move));
		plan->moves[end][plan->nmoves[end]++] = (struct move){a, b, c, d, other, 0};
	} else if (plan && sscanf(line, "even %d %llu %llu", &end, &a, &b) == 3 && b) {
		plan->even_bytes[end & 1] = a;
		plan->even_bps[end & 1] = b;
	} else if (plan && !strncmp(line, "decides ", 8)) {
		plan->words = strdup(line + 8);
		if (!plan->words)
			die("memory");
	} else {
		return -1;
	}
	return 0;
}

int read_line(const char *line)
{
	return strncmp(line, "flow ", 5) ? read_part(line) : read_flow(line);
}
