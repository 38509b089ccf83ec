/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sizes.h: lists the structs that a library and the core that loads it must lay out alike.
 *
 * An algorithm compiled apart may have seen another aqm.h. The number of the interface
 * tells most of that; sizes tell a header that was edited without a new number.
 */
#ifndef AQM_SIZES_H
#define AQM_SIZES_H

#include "aqm.h"

struct aqm_sizes {
	u32 abi, algo, field, view, pkt, verdict;
};

#define AQM_SIZES                                                                              \
	{                                                                                      \
		.abi = AQM_ABI, .algo = sizeof(struct aqm_algo),                               \
		.field = sizeof(struct aqm_field), .view = sizeof(struct aqm_view),            \
		.pkt = sizeof(struct aqm_pkt), .verdict = sizeof(struct aqm_verdict)           \
	}

/* What is wrong with an algorithm's tables; see rows.h. */
struct aqm_fault {
	const char *row;      /* NULL: the algorithm itself */
	const char *sentence; /* NULL: nothing */
};

/* The one thing that a library shows. Sizes first: the rest is read if they agree. */
struct aqm_library {
	struct aqm_sizes sizes;
	const struct aqm_algo *algo;
	struct aqm_fault (*fault)(const struct aqm_field *queue_rows);
};

#endif
