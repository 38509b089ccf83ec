// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// rows.c: the rows that only a kernel has.

#include "sojourn.h"

static const char *const probes[] = {"echo", "experimental"};

/* clang-format off */
const struct aqm_field sojourn_rows[] = {
	AQM_ROW(1, AQM_BOOL, sojourn_conf, split_gso, AQM_COUNT, 1, 0, 1, 0,
		"split large segments into packets of the wire before they are queued"),
	AQM_ROW(2, AQM_BOOL, sojourn_conf, respond, AQM_COUNT, 0, 0, 1, 0,
		"answer the experimental probes of neighbours that come to this namespace"),
	AQM_ROW(3, AQM_U32, sojourn_conf, responder, AQM_IPV4, 0, 0, U32_MAX, 0,
		"who answers this queue's IPv4 probes; 0.0.0.0: the next hop"),
	AQM_ROW_OF_CHOICES(4, sojourn_conf, probe, probes, SOJOURN_ECHO, SOJOURN_EXPERIMENTAL, 0,
		"an echo request, which any host answers, or protocol 253, which respond answers"),
	AQM_END,
};
/* clang-format on */
