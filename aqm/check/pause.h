/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * pause.h: stops a link for a minute, and lets the rate of another dip.
 */
#ifndef AQM_CHECK_PAUSE_H
#define AQM_CHECK_PAUSE_H

#include "senders.h"

#define STOP_MS 30000
#define GO_MS   90000
#define END_MS  110000

/* A tenth of the rate for a twentieth of the time. */
#define DIP_MS       100
#define DIP_EVERY_MS 2000
#define DIP_SLOWER   10
#define DIPS_FROM_MS 10000
#define DIPS_MS      50000

/* Ten seconds before the stop, and ten seconds that begin ten seconds after it. */
static inline void pause_run(const struct aqm_algo *algo, struct period seen[2])
{
	static struct senders s;
	struct life l = senders_life(algo, &s);
	struct period none = {0, 0, 0};
	u32 ms;

	life_must_start(&l, 5);
	for (ms = 0; ms < END_MS; ms++) {
		bool was = ms >= STOP_MS - 10000 && ms < STOP_MS, is = ms >= END_MS - 10000;

		senders_step(&s, &l, ms, ms < STOP_MS || ms >= GO_MS,
		             was  ? &seen[0]
		             : is ? &seen[1]
		                  : &none);
	}
	life_end(&l);
}

static inline void dip_rate(struct life *l, u64 rate_bytes_s)
{
	set_row(&l->b, "bandwidth", rate_bytes_s);
	life_change(l);
}

/* How much of what it can send a link sends while its rate dips, or does not. Its queue hears
 * of each change. */
static inline double dips_run(const struct aqm_algo *algo, bool dips)
{
	static struct senders s;
	struct life l = senders_life(algo, &s);
	struct period sent = {0, 0, 0};
	u32 ms, could = 0;

	set_row(&l.b, "bandwidth", 1250000);
	life_must_start(&l, 5);
	for (ms = 0; ms < DIPS_MS; ms++) {
		u32 at = ms % DIP_EVERY_MS;
		bool dip = dips && ms >= DIPS_FROM_MS, slow = dip && at < DIP_MS;
		bool sends = !slow || ms % DIP_SLOWER == 0;

		if (dip && (!at || at == DIP_MS))
			dip_rate(&l, at ? 1250000 : 1250000 / DIP_SLOWER);
		if (ms == DIPS_FROM_MS)
			sent.packets = 0;
		could += ms >= DIPS_FROM_MS && sends;
		senders_step(&s, &l, ms, sends, &sent);
	}
	life_end(&l);
	return sent.packets / could;
}

#endif
