/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sojourn.h: the netlink format between the qdisc and its configuration tools.
 *
 * Rows are attributes whose number is the row's `attr`, 8 bytes for AQM_U64 and
 * 4 bytes for every other type. Each table of rows has a nest of its own, since
 * numbers are unique in a table only. Numbers are never reused. Where a processor requires
 * alignment to 8 bytes, an empty attribute of type 0 stands in front of them; no row has it.
 */
#ifndef SOJOURN_H
#define SOJOURN_H

#include "aqm.h"

#define SOJOURN_KIND "sojourn"
/* With its end; longer than any name of an algorithm. */
#define SOJOURN_NAME 32

#define SOJOURN_PADDING 0

/* Flows that the word `fq` stands for; a row `flows` says another number. */
#define SOJOURN_FQ_FLOWS 1024

/* In TCA_OPTIONS, both ways. A new queue without ALGO is the module's default. */
enum {
	TCA_SOJOURN_UNSPEC,
	TCA_SOJOURN_ALGO,   /* string */
	TCA_SOJOURN_HOST,   /* nest: sojourn_rows */
	TCA_SOJOURN_QUEUE,  /* nest: aqm_setup_rows */
	TCA_SOJOURN_PARAMS, /* nest: the algorithm's params */
	/* Flag, in requests only: the queue is that of the defaults and the rows given.
	 * Without it a queue keeps its settings, but for the rows that are given. */
	TCA_SOJOURN_ANEW,
	TCA_SOJOURN_RESPONDER6, /* 16 bytes: an IPv6 address; all zero: the next hop */
	TCA_SOJOURN_END
};

/* In TCA_STATS_APP. Every number is 8 bytes, in a nest, numbered from 1 in the
 * order of its enumeration; the algorithm's by the row's `attr`. */
enum {
	TCA_SOJOURN_STATS_UNSPEC,
	TCA_SOJOURN_STATS_COUNTS, /* nest: enum sojourn_count */
	TCA_SOJOURN_STATS_DROPS,  /* nest: enum aqm_why */
	TCA_SOJOURN_STATS_MARKS,  /* nest: enum aqm_why */
	TCA_SOJOURN_STATS_BAD,    /* nest: enum aqm_bad */
	TCA_SOJOURN_STATS_ALGO,   /* nest: the algorithm's stats */
	TCA_SOJOURN_STATS_MEMORY, /* 8 bytes: of the queue, without its packets */
	TCA_SOJOURN_STATS_PROBES, /* nest: enum sojourn_probe, of algorithms that probe */
	TCA_SOJOURN_STATS_FLOWS,  /* nest: enum sojourn_flows, of a queue with flows */
	/* 8 bytes, signed: of a class, which else has ALGO alone, of its flow */
	TCA_SOJOURN_STATS_DEFICIT,
	TCA_SOJOURN_STATS_END
};

/* As struct aqm_counters begins. */
enum sojourn_count {
	SOJOURN_IN_PKTS,
	SOJOURN_IN_BYTES,
	SOJOURN_OUT_PKTS,
	SOJOURN_OUT_BYTES,
	SOJOURN_DROP_BYTES,
	SOJOURN_UNMARKABLE,
	SOJOURN_COUNTS
};

/* As struct aqm_probes, and then struct sojourn_probe_counts. */
enum sojourn_probe {
	SOJOURN_JOINED,
	SOJOURN_REFUSED,
	SOJOURN_LEFT,
	SOJOURN_FREED,
	SOJOURN_ANSWERED,
	SOJOURN_UNMADE,
	SOJOURN_FORGOTTEN,
	SOJOURN_UNHEARD,
	SOJOURN_LEFT_BYTES,
	SOJOURN_ASKED,
	SOJOURN_READY,
	SOJOURN_STRAYED,
	SOJOURN_WAITED_NS,
	SOJOURN_WAITED_MAX_NS,
	SOJOURN_PROBES
};

/* As struct aqm_flows. */
enum sojourn_flows {
	SOJOURN_NEW_FLOW_COUNT,
	SOJOURN_NEW_FLOWS_LEN,
	SOJOURN_OLD_FLOWS_LEN,
	SOJOURN_COLLISIONS,
	SOJOURN_DELAY_MEAN_NS,
	SOJOURN_DELAY_SPARSE_NS,
	SOJOURN_DELAY_PEAK_NS,
	SOJOURN_MEMORY_USED_BYTES,
	SOJOURN_FLOWS
};

/* Of the row `probe`. */
enum sojourn_probe_kind {
	SOJOURN_ECHO,
	SOJOURN_EXPERIMENTAL,
};

/* Rows that only a kernel has; the last is an attribute of its own. */
struct sojourn_conf {
	u32 split_gso;
	u32 respond;   /* answer experimental probes that come to this namespace */
	u32 responder; /* IPv4 address that this queue's probes go to; 0: the next hop */
	u32 probe;     /* enum sojourn_probe_kind */
	u8 responder6[16];
};

extern const struct aqm_field sojourn_rows[];

#endif
