// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// kinds.c: parents and their options, see kinds.h.

#include <arpa/inet.h>
#include <string.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>

#include "kinds.h"

/* Faster ones hold nothing. */
enum { RATE_RANGE = 100 };
/* The longest queue of a round robin's own turns for one packet. */
enum { TURNS_MOST = 4096 };

static uint32_t rate(struct draw *d, const struct bounds *b)
{
	return (uint32_t)spread(d, b->rate_least, (uint64_t)b->rate_least * RATE_RANGE);
}

/* Round robin adds a quantum per turn, in a loop, until the packet is paid for. */
static uint32_t quantum(struct draw *d, const struct bounds *b)
{
	return (uint32_t)spread(d, 1 + b->packet_bytes / TURNS_MOST, 1u << 30);
}

/* The kernel's unit of time here is 64 ns. */
static uint32_t ticks(uint64_t ns)
{
	return (uint32_t)(ns >> 6);
}

static void htb_options(struct draw *d, struct message *m, const struct bounds *b, uint32_t n)
{
	struct tc_htb_glob glob = {.version = 3, .rate2quantum = 10, .defcls = DEFAULT_MINOR};
	uint32_t at = nest_begin(m, TCA_OPTIONS);

	(void)d, (void)b, (void)n;
	put(m, TCA_HTB_INIT, &glob, sizeof(glob));
	/* What has no class is dropped: it would wait in a queue that no dump shows. */
	put_u32(m, TCA_HTB_DIRECT_QLEN, 0);
	nest_end(m, at);
}

static void htb_class(struct draw *d, struct message *m, const struct bounds *b)
{
	struct tc_htb_opt opt = {.quantum = 1 + below(d, 200000), .prio = below(d, 8)};
	uint32_t at = nest_begin(m, TCA_OPTIONS);

	opt.rate.rate = rate(d, b);
	opt.ceil.rate = one_in(d, 2) ? opt.rate.rate : rate(d, b);
	opt.buffer = ticks(spread(d, 1000, 100000000));
	opt.cbuffer = ticks(spread(d, 1000, 100000000));
	put(m, TCA_HTB_PARMS, &opt, sizeof(opt));
	nest_end(m, at);
}

static void hfsc_options(struct draw *d, struct message *m, const struct bounds *b, uint32_t n)
{
	struct tc_hfsc_qopt opt = {.defcls = DEFAULT_MINOR};

	(void)d, (void)b, (void)n;
	put(m, TCA_OPTIONS, &opt, sizeof(opt));
}

static void put_curve(struct draw *d, struct message *m, uint16_t type, const struct bounds *b)
{
	struct tc_service_curve curve = {.m2 = rate(d, b)};

	if (one_in(d, 3)) {
		curve.m1 = rate(d, b);
		curve.d = (uint32_t)spread(d, 1, 1000000);
	}
	put(m, type, &curve, sizeof(curve));
}

static void hfsc_class(struct draw *d, struct message *m, const struct bounds *b)
{
	uint32_t at = nest_begin(m, TCA_OPTIONS);

	put_curve(d, m, TCA_HFSC_FSC, b);
	if (one_in(d, 3))
		put_curve(d, m, TCA_HFSC_RSC, b);
	if (one_in(d, 2))
		put_curve(d, m, TCA_HFSC_USC, b);
	nest_end(m, at);
}

static void drr_class(struct draw *d, struct message *m, const struct bounds *b)
{
	uint32_t at = nest_begin(m, TCA_OPTIONS);

	put_u32(m, TCA_DRR_QUANTUM, quantum(d, b));
	nest_end(m, at);
}

static void qfq_class(struct draw *d, struct message *m, const struct bounds *b)
{
	uint32_t at = nest_begin(m, TCA_OPTIONS);

	(void)b;
	put_u32(m, TCA_QFQ_WEIGHT, (uint32_t)spread(d, 1, 1024));
	put_u32(m, TCA_QFQ_LMAX, (uint32_t)spread(d, 512, 1 << 16));
	nest_end(m, at);
}

static void ets_options(struct draw *d, struct message *m, const struct bounds *b, uint32_t n)
{
	uint32_t at = nest_begin(m, TCA_OPTIONS), inner, strict = below(d, n + 1);

	put_u8(m, TCA_ETS_NBANDS, (uint8_t)n);
	put_u8(m, TCA_ETS_NSTRICT, (uint8_t)strict);
	inner = nest_begin(m, TCA_ETS_QUANTA);
	for (uint32_t i = strict; i < n; i++)
		put_u32(m, TCA_ETS_QUANTA_BAND, quantum(d, b));
	nest_end(m, inner);
	inner = nest_begin(m, TCA_ETS_PRIOMAP);
	for (uint32_t i = 0; i <= TC_PRIO_MAX; i++)
		put_u8(m, TCA_ETS_PRIOMAP_BAND, (uint8_t)below(d, n));
	nest_end(m, inner);
	nest_end(m, at);
}

static void prio_options(struct draw *d, struct message *m, const struct bounds *b, uint32_t n)
{
	struct tc_prio_qopt opt = {.bands = (int)(n < 2 ? 2 : n)};

	(void)b;
	for (uint32_t i = 0; i <= TC_PRIO_MAX; i++)
		opt.priomap[i] = (uint8_t)below(d, n);
	put(m, TCA_OPTIONS, &opt, sizeof(opt));
}

static void tbf_options(struct draw *d, struct message *m, const struct bounds *b, uint32_t n)
{
	struct tc_tbf_qopt opt = {.limit = 100000};
	uint32_t at = nest_begin(m, TCA_OPTIONS);

	(void)n;
	opt.rate.rate = rate(d, b);
	put(m, TCA_TBF_PARMS, &opt, sizeof(opt));
	put_u32(m, TCA_TBF_BURST, b->burst_bytes);
	nest_end(m, at);
}

static void red_options(struct draw *d, struct message *m, const struct bounds *b, uint32_t n)
{
	struct tc_red_qopt opt = {.limit = 1 << 20, .qth_min = 20000, .Wlog = 9, .Plog = 10};
	uint8_t idle[256] = {1, 2, 3, 4};
	uint32_t at = nest_begin(m, TCA_OPTIONS);

	(void)b, (void)n;
	opt.qth_max = 2 * opt.qth_min + below(d, 1 << 18);
	opt.Scell_log = (unsigned char)below(d, 20);
	put(m, TCA_RED_PARMS, &opt, sizeof(opt));
	put(m, TCA_RED_STAB, idle, sizeof(idle));
	put_u32(m, TCA_RED_MAX_P, 1u << 24);
	nest_end(m, at);
}

/*
 * The kernel's defaults, but without a mark: INET_ECN_set_ce() would write that into the tag
 * of a frame that a raw socket on a VLAN device has sent with one of its own. Such a packet
 * has the protocol of its IP header and the network header of its tag.
 */
static void sfb_options(struct draw *d, struct message *m, const struct bounds *b, uint32_t n)
{
	struct tc_sfb_qopt opt = {
	        .rehash_interval = 600000,
	        .warmup_time = 60000,
	        .max = 25,
	        .bin_size = 20,
	        .increment = 0,
	        .decrement = 0,
	        .penalty_rate = 10,
	        .penalty_burst = 20,
	};
	uint32_t at = nest_begin(m, TCA_OPTIONS);

	(void)d, (void)b, (void)n;
	put(m, TCA_SFB_PARMS, &opt, sizeof(opt));
	nest_end(m, at);
}

static void netem_options(struct draw *d, struct message *m, const struct bounds *b, uint32_t n)
{
	struct tc_netem_qopt opt = {.limit = (uint32_t)spread(d, 1, 100000)};
	uint32_t at = m->used;

	(void)b, (void)n;
	opt.latency = ticks(spread(d, 0, 50000000));
	opt.jitter = one_in(d, 2) ? opt.latency / 2 : 0;
	put(m, TCA_OPTIONS, &opt, sizeof(opt));
	nest_end(m, at);
}

/*
 * Not multiq, which keeps no count of bytes. At the root only, where nobody peeks at them:
 * netem, which does not conserve work, and a QFQ above it panics; red and sfb, which forget
 * at dequeue the packet that their child has shown to a peek.
 */
const struct kind kinds[] = {
        {"htb", CLASSES_MADE, true, false, false, htb_options, htb_class},
        {"hfsc", CLASSES_MADE, true, false, false, hfsc_options, hfsc_class},
        {"drr", CLASSES_MADE, false, false, false, NULL, drr_class},
        {"qfq", CLASSES_MADE, false, false, false, NULL, qfq_class},
        {"ets", CLASSES_BANDS, false, false, false, ets_options, NULL},
        {"prio", CLASSES_BANDS, false, false, false, prio_options, NULL},
        {"mq", CLASSES_BANDS, false, true, false, NULL, NULL},
        {"tbf", CLASSES_ONE, true, false, false, tbf_options, NULL},
        {"red", CLASSES_ONE, false, true, false, red_options, NULL},
        {"sfb", CLASSES_ONE, false, true, false, sfb_options, NULL},
        {"netem", CLASSES_ONE, false, true, true, netem_options, NULL},
};

uint32_t kind_count(void)
{
	return sizeof(kinds) / sizeof(*kinds);
}

const struct kind *kind_find(const char *name)
{
	for (uint32_t i = 0; i < kind_count(); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

void filter_options(struct message *m, uint32_t classid, bool all, uint8_t bits)
{
	struct {
		struct tc_u32_sel sel;
		struct tc_u32_key key;
	} match = {.sel = {.flags = TC_U32_TERMINAL, .nkeys = 1}};
	uint32_t at = nest_begin(m, TCA_OPTIONS);

	if (!all) {
		match.key.mask = htonl(3);
		match.key.val = htonl(bits & 3u);
	}
	put_u32(m, TCA_U32_CLASSID, classid);
	put(m, TCA_U32_SEL, &match, sizeof(match.sel) + sizeof(match.key));
	nest_end(m, at);
}

void put_size_table(struct draw *d, struct message *m, uint32_t most_bytes)
{
	enum { SIZES = 64 };
	struct tc_sizespec spec = {.cell_log = (unsigned char)below(d, 16), .tsize = SIZES};
	uint16_t sizes[SIZES];
	uint32_t at = nest_begin(m, TCA_STAB);

	while (spec.size_log < 30 && 0xffffu << (spec.size_log + 1) < most_bytes)
		spec.size_log++;
	spec.overhead = (int)below(d, 200) - 100;
	for (uint32_t i = 0; i < SIZES; i++)
		sizes[i] = (uint16_t)between(d, 0, 0xffff);
	put(m, TCA_STAB_BASE, &spec, sizeof(spec));
	put(m, TCA_STAB_DATA, sizes, sizeof(sizes));
	nest_end(m, at);
}
