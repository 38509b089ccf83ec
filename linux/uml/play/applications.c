// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* applications.c: asks a flow's application for its moves, in place of a script. */
#include <errno.h>
#include <math.h>

#include "play.h"

void begin_application(struct flow *flow, const char *words)
{
	if (flow->application) {
		application_begins_anew(flow->application);
		return;
	}
	flow->application = application_of(words, exp);
	if (!flow->application) {
		errno = EINVAL;
		die(words);
	}
}

void end_application(struct flow *flow)
{
	flow->viewed = viewing_of(flow);
	application_end(flow->application);
	flow->application = NULL;
}

/* A move that was due earlier may be asked for after an arrival. Time never goes back for the
 * application. */
uint64_t decision_ns(struct flow *flow)
{
	if (here() > flow->decided_ns)
		flow->decided_ns = here();
	return flow->decided_ns;
}

struct move decide(struct talk *talk, int end, size_t n)
{
	struct side *side = &talk->sides[end];
	struct flow *flow = &flows[talk->flow];

	if (side->ndecided == n) {
		struct decision decision =
		        application_next(flow->application, end, decision_ns(flow));

		side->decided =
		        (struct move){decision.heard_bytes, decision.wait_ns, decision.bytes,
		                      decision.hears_bytes, decision.hears,   !decision.bytes};
		side->ndecided++;
	}
	return side->decided;
}

struct viewing viewing_of(struct flow *flow)
{
	if (!flow->application)
		return flow->viewed;
	return application_viewing(flow->application, decision_ns(flow));
}
