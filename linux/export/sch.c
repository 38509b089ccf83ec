// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// sch.c: the qdisc around one algorithm, from which `sojourn linux export` makes a file.
//
// It compiles in no build of ours. aqm/ has the algorithm; python/sojourn/linux/export puts it
// in the place of the line about it, chooses the EXPORT_ parts by the calls that it has, writes
// the lines of its rows, and gives every name the algorithm's own. One queue without flows:
// where a call is made, and with which rows, is as in aqm/queue. Of an algorithm that probes
// linux/qdisc has the probes, and where they join and leave is as in sch_sojourn.c there.

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/errno.h>
#ifdef EXPORT_HEAD
#include <linux/interrupt.h>
#endif
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
/* EXPORT: includes */

/* For include/uapi/linux/pkt_sched.h. */
enum {
	TCA_AQM_UNSPEC,
	TCA_AQM_LIMIT,
	TCA_AQM_ECN,
#ifdef EXPORT_RATE
	TCA_AQM_BANDWIDTH,
#endif
#ifdef EXPORT_ECHO
	TCA_AQM_RESPONDER,
	TCA_AQM_RESPONDER6,
#endif
	/* EXPORT: attributes */
	TCA_AQM_PAD,
	__TCA_AQM_MAX
};

#define TCA_AQM_MAX (__TCA_AQM_MAX - 1)

struct tc_aqm_xstats {
	/* EXPORT: xstats */
	__u64 early; /* dropped by the algorithm */
	__u64 full;  /* dropped at the limit */
	__u64 ecn_mark;
#ifdef EXPORT_ECHO
	/* Of probes: in this queue, then on their way. */
#endif
	/* EXPORT: probe xstats */
};

#ifdef EXPORT_ECHO
/* Who answers the probes; 0: the next hop. */
struct sojourn_conf {
	u32 responder;     /* of those by IPv4 */
	u8 responder6[16]; /* of those by IPv6 */
};

#endif
/* EXPORT: algorithm */

struct aqm_sched_data {
	/* The rows in use, and those that the next event takes */
	struct aqm_conf conf, wanted;
	u32 ecn;
	bool changed;
#ifdef EXPORT_FIXED
	bool live; /* made: some rows can no longer be changed */
#endif
#ifdef EXPORT_RATE
	u64 bandwidth;
#endif
	struct aqm_view view;
#ifdef EXPORT_TICK
	u64 tick_ns;
	u32 ticks; /* since the last event */
#endif
#ifdef EXPORT_SAMPLES
	/* The packets of the list by number, from the head on */
	struct sk_buff **slot;
	u32 first, mask;
#endif
#ifdef EXPORT_HEAD
	/* Dropped by the algorithm, and counted as held until parents hear of it */
	u32 lost_pkts, lost_bytes;
	struct tasklet_struct teller;
#endif
	u64 seed;
	u64 early, full, ecn_mark;
#ifdef EXPORT_ECHO
	struct sojourn_conf asked;
	struct sojourn_probes *probes;
	bool hears;
	bool is_due; /* a probe, with the next packet that may ask for one */
	u64 last_ns; /* of the last event */
	u64 joined, refused, left, freed, answered;
#endif
	struct aqm_state state;
};

static const struct aqm_conf aqm_sch_initial = {
        /* EXPORT: defaults */
};

/* EXPORT: ranges */

static const struct netlink_range_validation aqm_sch_limit_range = {
        .min = 1,
        .max = EXPORT_LIMIT_MAX,
};

static const struct nla_policy aqm_sch_policy[TCA_AQM_MAX + 1] = {
        [TCA_AQM_LIMIT] = NLA_POLICY_FULL_RANGE(NLA_U32, &aqm_sch_limit_range),
        [TCA_AQM_ECN] = NLA_POLICY_MAX(NLA_U32, 1),
#ifdef EXPORT_RATE
        [TCA_AQM_BANDWIDTH] = {.type = NLA_U64},
#endif
#ifdef EXPORT_ECHO
        [TCA_AQM_RESPONDER] = {.type = NLA_U32},
        [TCA_AQM_RESPONDER6] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
#endif
        /* EXPORT: policy */
};

static struct aqm_keep *aqm_sch_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct aqm_keep));
	return (struct aqm_keep *)qdisc_skb_cb(skb)->data;
}

static u8 aqm_sch_dsfield(struct sk_buff *skb)
{
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		if (pskb_network_may_pull(skb, sizeof(struct iphdr)))
			return ipv4_get_dsfield(ip_hdr(skb));
		break;
	case htons(ETH_P_IPV6):
		if (pskb_network_may_pull(skb, sizeof(struct ipv6hdr)))
			return ipv6_get_dsfield(ipv6_hdr(skb));
		break;
	}
	return 0;
}

static struct aqm_pkt aqm_sch_describe(struct sk_buff *skb, u32 nth)
{
	u8 ds = aqm_sch_dsfield(skb);

	return (struct aqm_pkt){
	        .k = *aqm_sch_cb(skb),
	        .len = qdisc_pkt_len(skb),
	        .ecn = ds & INET_ECN_MASK,
	        .dscp = ds >> 2,
	        .nth = nth,
	};
}

static struct sk_buff *aqm_sch_nth(const struct Qdisc *sch, u32 slot)
{
	const struct aqm_sched_data *q = qdisc_priv(sch);

	if (slot >= q->view.pkts)
		return NULL;
#ifdef EXPORT_SAMPLES
	return q->slot[(q->first + slot) & q->mask];
#else
	return slot ? NULL : sch->q.head;
#endif
}

static bool aqm_sch_peek(const struct aqm_view *view, u32 slot, struct aqm_pkt *pkt)
{
	struct sk_buff *skb = aqm_sch_nth(view->host, slot);
#ifdef EXPORT_ECHO
	struct Qdisc *sch = view->host;
	const struct aqm_sched_data *q = qdisc_priv(sch);
#endif

	if (!skb)
		return false;
	*pkt = aqm_sch_describe(skb, 0);
#ifdef EXPORT_ECHO
	pkt->probe = sojourn_is_probe(q->probes, skb);
#endif
	return true;
}

static void aqm_sch_join(struct Qdisc *sch, struct sk_buff *skb)
{
	struct aqm_sched_data *q = qdisc_priv(sch);

#ifdef EXPORT_SAMPLES
	q->slot[(q->first + q->view.pkts) & q->mask] = skb;
#endif
	q->view.pkts++;
	q->view.slots++;
	q->view.bytes += qdisc_pkt_len(skb);
	qdisc_enqueue_tail(skb, sch);
}

static struct sk_buff *aqm_sch_take(struct Qdisc *sch)
{
	struct aqm_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = __qdisc_dequeue_head(&sch->q);

	if (!skb)
		return NULL;
#ifdef EXPORT_SAMPLES
	q->first++;
#endif
	q->view.pkts--;
	q->view.slots--;
	q->view.bytes -= qdisc_pkt_len(skb);
	qdisc_qstats_backlog_dec(sch, skb);
	return skb;
}

static void aqm_sch_mark(struct aqm_sched_data *q, struct sk_buff *skb)
{
	if (INET_ECN_set_ce(skb))
		q->ecn_mark++;
}

#ifdef EXPORT_TICK
/* A timer would do the same: between two events nothing changes in a queue. */
static void aqm_sch_run_ticks(struct aqm_sched_data *q, u64 now)
{
	u32 most = q->view.pkts ? AQM_TICKS_STUCK : AQM_TICKS_EMPTY;

	while (q->tick_ns <= now && q->ticks < most) {
		q->ticks++;
		q->tick_ns = call_tick(&q->state, &q->conf, q->tick_ns, &q->view);
	}
	if (q->tick_ns <= now)
		q->tick_ns = call_idle(&q->state, &q->conf, &q->view, q->tick_ns, now);
}

/* A shorter period counts from now on. */
static void aqm_sch_hasten(struct aqm_sched_data *q, u64 now)
{
	/* EXPORT: periods */
}
#endif

static void aqm_sch_take_rows(struct Qdisc *sch)
{
	struct aqm_sched_data *q = qdisc_priv(sch);

	q->conf = q->wanted;
	q->changed = false;
	q->view.limit_pkts = sch->limit;
	q->view.limit_bytes = U32_MAX;
	q->view.ecn = q->ecn;
#ifdef EXPORT_RATE
	q->view.rate_bytes_s = q->bandwidth;
#endif
#ifdef EXPORT_CONFIGURE
	call_configure(&q->state, &q->conf, &q->view);
#endif
}

static void aqm_sch_change_rows(struct Qdisc *sch, u64 now)
{
	struct aqm_sched_data *q = qdisc_priv(sch);

	if (!q->changed)
		return;
#ifdef EXPORT_TICK
	aqm_sch_hasten(q, now);
#endif
	aqm_sch_take_rows(sch);
}

static void aqm_sch_begin(struct Qdisc *sch, u64 now)
{
#ifdef EXPORT_TICK
	struct aqm_sched_data *q = qdisc_priv(sch);

	/* They still see the rows before a change. */
	aqm_sch_run_ticks(q, now);
	q->ticks = 0;
#endif
	aqm_sch_change_rows(sch, now);
}

#ifdef EXPORT_ECHO
/* Passes on the answers since the last event, each with its time of arrival. */
static void aqm_sch_hear(struct Qdisc *sch, u64 now)
{
	struct aqm_sched_data *q = qdisc_priv(sch);
	struct sojourn_answer answer;

	while (sojourn_probes_hear(q->probes, &answer)) {
		u64 at = clamp(answer.at_ns, q->last_ns, now);

		aqm_sch_begin(sch, at);
		q->answered++;
		call_echo(&q->state, &q->conf, at, &q->view, answer.rtt_ns);
		q->last_ns = at;
	}
	q->last_ns = now;
}

/* A probe occupies the link and the limit as any packet does, and is offered to no law. */
static bool aqm_sch_join_probe(struct sk_buff *skb, struct Qdisc *sch, u64 now,
                               struct sk_buff **to_free)
{
	struct aqm_sched_data *q = qdisc_priv(sch);

	if (q->view.pkts >= sch->limit) {
		q->refused++;
		__qdisc_drop(skb, to_free);
		return false;
	}
	q->joined++;
	*aqm_sch_cb(skb) = (struct aqm_keep){.enq_ns = now};
	aqm_sch_join(sch, skb);
	return true;
}

/* A probe is to follow this packet. One that is ready joins at once: parents, which add one
 * packet for this call, are told of one more. */
static void aqm_sch_ask(struct sk_buff *asking, struct Qdisc *sch, u64 now,
                        struct sk_buff **to_free)
{
	struct aqm_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	int bytes;

	q->is_due = !sojourn_probe_may_ask(asking);
	if (q->is_due)
		return;
	skb = sojourn_probe_ask(q->probes, asking, &q->asked, now);
	if (!skb)
		return;
	bytes = qdisc_pkt_len(skb);
	if (aqm_sch_join_probe(skb, sch, now, to_free))
		qdisc_tree_reduce_backlog(sch, -1, -bytes);
}

/* A probe of this queue comes as any packet does. */
static int aqm_sch_enqueue_probe(struct sk_buff *skb, struct Qdisc *sch, u64 now,
                                 struct sk_buff **to_free)
{
	struct aqm_sched_data *q = qdisc_priv(sch);

	switch (sojourn_probe_comes(q->probes, skb, now)) {
	case PROBE_STALE:
		__qdisc_drop(skb, to_free);
		fallthrough;
	case PROBE_PARKED:
		return NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
	case PROBE_JOINS:
		break;
	}
	return aqm_sch_join_probe(skb, sch, now, to_free) ? NET_XMIT_SUCCESS : NET_XMIT_CN;
}
#endif

static int aqm_sch_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct aqm_sched_data *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct aqm_verdict v;
	struct aqm_pkt pkt;

#ifdef EXPORT_ECHO
	aqm_sch_hear(sch, now);
	if (sojourn_is_probe(q->probes, skb))
		return aqm_sch_enqueue_probe(skb, sch, now, to_free);
	sojourn_probes_drop_route(q->probes, skb);
	sojourn_probe_prime(q->probes, skb, &q->asked, now);
#endif
	aqm_sch_begin(sch, now);
	*aqm_sch_cb(skb) = (struct aqm_keep){
	        .enq_ns = now,
#ifdef EXPORT_FLOW
	        .flow = skb_get_hash(skb),
#endif
	};
	pkt = aqm_sch_describe(skb, 0);
	if (q->view.pkts >= sch->limit) {
#ifdef EXPORT_OVERFLOW
		call_overflow(&q->state, &q->conf, now, &q->view, &pkt);
#endif
		q->full++;
		return qdisc_drop(skb, sch, to_free);
	}
#ifdef EXPORT_ENQUEUE
	v = call_enqueue(&q->state, &q->conf, now, &q->view, &pkt);
#else
	v = aqm_pass();
#endif
	if (v.act == AQM_DROP) {
		q->early++;
		return qdisc_drop(skb, sch, to_free);
	}
	if (v.act == AQM_MARK)
		aqm_sch_mark(q, skb);
	aqm_sch_cb(skb)->own = pkt.k.own;
	aqm_sch_join(sch, skb);
#ifdef EXPORT_ECHO
	if (v.probe || q->is_due)
		aqm_sch_ask(skb, sch, now, to_free);
#endif
	return NET_XMIT_SUCCESS;
}

#ifdef EXPORT_HEAD
static void aqm_sch_tell(struct Qdisc *sch)
{
	struct aqm_sched_data *q = qdisc_priv(sch);
	u32 pkts = q->lost_pkts, bytes = q->lost_bytes;

	q->lost_pkts = q->lost_bytes = 0;
	sch->q.qlen -= pkts;
	sch->qstats.backlog -= bytes;
	if (pkts)
		qdisc_tree_reduce_backlog(sch, pkts, bytes);
}

/* As soon as the root's call has ended. A parent that got nothing is asked again. */
static void aqm_sch_tell_later(struct tasklet_struct *teller)
{
	struct aqm_sched_data *q = from_tasklet(q, teller, teller);
	struct Qdisc *sch = q->view.host;
	spinlock_t *lock;

	rcu_read_lock();
	lock = qdisc_lock(qdisc_root_sleeping(sch));
	spin_lock(lock);
	aqm_sch_tell(sch);
	__netif_schedule(qdisc_root(sch));
	spin_unlock(lock);
	rcu_read_unlock();
}

static void aqm_sch_lose(struct Qdisc *sch, struct sk_buff *skb)
{
	struct aqm_sched_data *q = qdisc_priv(sch);

	q->early++;
	qdisc_qstats_drop(sch);
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
	q->lost_pkts++;
	q->lost_bytes += qdisc_pkt_len(skb);
	kfree_skb(skb);
}
#endif

#ifdef EXPORT_OFFERS
static struct aqm_verdict aqm_sch_offer(struct Qdisc *sch, struct sk_buff *skb, u64 now,
                                        u32 nth)
{
	struct aqm_sched_data *q = qdisc_priv(sch);
#ifdef EXPORT_DEQUEUE
	struct aqm_pkt pkt;
#endif

#ifdef EXPORT_ECHO
	if (sojourn_is_probe(q->probes, skb)) {
		q->left++;
		sojourn_probe_leaves(q->probes, skb);
		return aqm_pass();
	}
#endif
#ifdef EXPORT_DEQUEUE
	pkt = aqm_sch_describe(skb, nth);
	return call_dequeue(&q->state, &q->conf, now, &q->view, &pkt);
#else
	return aqm_pass();
#endif
}
#endif

/* Parents have not heard yet of packets that are dropped before the one that leaves. */
static struct sk_buff *aqm_sch_next(struct Qdisc *sch)
{
#ifdef EXPORT_NEXT
	struct aqm_sched_data *q = qdisc_priv(sch);
#endif
	u64 now = ktime_get_ns();
#ifdef EXPORT_HEAD
	struct aqm_verdict v;
	u32 nth = 0;
#endif
	struct sk_buff *skb;

#ifdef EXPORT_ECHO
	aqm_sch_hear(sch, now);
#endif
	aqm_sch_begin(sch, now);
#ifdef EXPORT_HEAD
	while ((skb = aqm_sch_take(sch))) {
		v = aqm_sch_offer(sch, skb, now, nth);
		if (v.act == AQM_MARK)
			aqm_sch_mark(q, skb);
		if (v.act != AQM_DROP || nth == AQM_DROPS_PER_DEQUEUE)
			break;
		nth++;
		aqm_sch_lose(sch, skb);
	}
#else
	skb = aqm_sch_take(sch);
#ifdef EXPORT_OFFERS
	if (skb)
		aqm_sch_offer(sch, skb, now, 0);
#endif
#endif
	if (skb)
		qdisc_bstats_update(sch, skb);
#ifdef EXPORT_EMPTY
	else
		call_empty(&q->state, &q->conf, now, &q->view);
#endif
	return skb;
}
#ifdef EXPORT_HEAD

/* Where nothing is left the parent that asks hears of losses later: told now that its class is
 * empty, QFQ would lose it, and HTB would remove it twice. */
static struct sk_buff *aqm_sch_dequeue(struct Qdisc *sch)
{
	struct aqm_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = aqm_sch_next(sch);

	if (sch->q.qlen > q->lost_pkts)
		aqm_sch_tell(sch);
	else if (q->lost_pkts)
		tasklet_schedule(&q->teller);
	return skb;
}

/* HFSC and QFQ peek at an arrival, which those above them have not counted yet: a report of
 * losses, as qdisc_peek_dequeued() makes, would bring their count to zero. */
static struct sk_buff *aqm_sch_peek_next(struct Qdisc *sch)
{
	struct aqm_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = skb_peek(&sch->gso_skb);

	if (skb)
		return skb;
	skb = aqm_sch_next(sch);
	if (skb) {
		__skb_queue_head(&sch->gso_skb, skb);
		sch->q.qlen++;
		qdisc_qstats_backlog_inc(sch, skb);
	}
	if (q->lost_pkts)
		tasklet_schedule(&q->teller);
	return skb;
}
#endif

/* Drop from the head what a lowered limit has no room for. */
static void aqm_sch_shed(struct Qdisc *sch, u64 now)
{
	struct aqm_sched_data *q = qdisc_priv(sch);
	u32 dropped = 0, dropped_bytes = 0;
#ifdef EXPORT_GONE
	struct aqm_pkt pkt;
#endif

#ifdef EXPORT_TICK
	if (q->view.pkts > sch->limit)
		aqm_sch_run_ticks(q, now);
#endif
	while (q->view.pkts > sch->limit) {
		struct sk_buff *skb = aqm_sch_take(sch);

		dropped++;
		dropped_bytes += qdisc_pkt_len(skb);
#ifdef EXPORT_ECHO
		if (sojourn_is_probe(q->probes, skb)) {
			q->freed++;
			rtnl_kfree_skbs(skb, skb);
			continue;
		}
#endif
		qdisc_qstats_drop(sch);
#ifdef EXPORT_GONE
		pkt = aqm_sch_describe(skb, 0);
#ifdef EXPORT_TICK
		now = min(now, q->tick_ns);
#endif
		call_gone(&q->state, &q->conf, now, &q->view, &pkt, AQM_WHY_LOWERED);
#endif
		rtnl_kfree_skbs(skb, skb);
	}
	if (dropped)
		qdisc_tree_reduce_backlog(sch, dropped, dropped_bytes);
}

static void aqm_sch_start(struct Qdisc *sch)
{
	struct aqm_sched_data *q = qdisc_priv(sch);

	q->view.pkts = 0;
	q->view.slots = 0;
	q->view.bytes = 0;
	memset(&q->state, 0, sizeof(q->state));
	aqm_sch_take_rows(sch);
#ifdef EXPORT_TICK
	q->ticks = 0;
	q->tick_ns = call_start(&q->state, &q->conf, ktime_get_ns(), rng_mix(q->seed));
#elif defined(EXPORT_START)
	call_start(&q->state, &q->conf, ktime_get_ns(), rng_mix(q->seed));
#endif
}

static void aqm_sch_reset(struct Qdisc *sch)
{
#ifdef EXPORT_RESET
	struct aqm_sched_data *q = qdisc_priv(sch);

#endif
#ifdef EXPORT_ECHO
	/* None was made where init has failed. */
	if (q->probes)
		sojourn_probes_forget(q->probes);
	q->freed = q->joined - q->left;
	q->is_due = false;
#endif
	qdisc_reset_queue(sch);
#ifdef EXPORT_HEAD
	q->lost_pkts = q->lost_bytes = 0;
#endif
	aqm_sch_start(sch);
}

#ifdef EXPORT_REFUSES
static int aqm_sch_check_rows(struct Qdisc *sch, const struct aqm_conf *conf, u32 limit,
                              struct netlink_ext_ack *extack)
{
#ifdef EXPORT_CHECK
	const char *sentence = call_check(conf);

	if (sentence) {
		NL_SET_ERR_MSG_FMT_MOD(extack, "%s", sentence);
		return -EINVAL;
	}
#endif
#ifdef EXPORT_SAMPLES
	const struct aqm_sched_data *q = qdisc_priv(sch);

	if (q->slot && limit > q->mask + 1) {
		NL_SET_ERR_MSG_MOD(extack, "limit is above what this queue was made for");
		return -EINVAL;
	}
#endif
	return 0;
}
#endif

static int aqm_sch_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct aqm_sched_data *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_AQM_MAX + 1];
	struct aqm_conf conf = q->wanted;
#ifdef EXPORT_ECHO
	struct sojourn_conf asked = q->asked;
#endif
	u32 limit = sch->limit;
	u64 now;
	int err;

	err = nla_parse_nested(tb, TCA_AQM_MAX, opt, aqm_sch_policy, extack);
	if (err < 0)
		return err;
	if (tb[TCA_AQM_LIMIT])
		limit = nla_get_u32(tb[TCA_AQM_LIMIT]);
		/* EXPORT: reads */
#ifdef EXPORT_REFUSES
	err = aqm_sch_check_rows(sch, &conf, limit, extack);
	if (err)
		return err;
#endif
#ifdef EXPORT_ECHO
	if (tb[TCA_AQM_RESPONDER])
		asked.responder = ntohl(nla_get_in_addr(tb[TCA_AQM_RESPONDER]));
	if (tb[TCA_AQM_RESPONDER6])
		nla_memcpy(asked.responder6, tb[TCA_AQM_RESPONDER6], sizeof(asked.responder6));
	err = sojourn_check_responders(&asked, extack);
	if (err)
		return err;
#endif
	sch_tree_lock(sch);
	now = ktime_get_ns();
	aqm_sch_change_rows(sch, now);
	q->wanted = conf;
	q->changed = true;
	sch->limit = limit;
	if (tb[TCA_AQM_ECN])
		q->ecn = nla_get_u32(tb[TCA_AQM_ECN]);
#ifdef EXPORT_RATE
	if (tb[TCA_AQM_BANDWIDTH])
		q->bandwidth = nla_get_u64(tb[TCA_AQM_BANDWIDTH]);
#endif
#ifdef EXPORT_ECHO
	q->asked = asked;
#endif
	aqm_sch_shed(sch, now);
	sch_tree_unlock(sch);
	return 0;
}

static int aqm_sch_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct aqm_sched_data *q = qdisc_priv(sch);
	int err;

#ifdef EXPORT_HEAD
	/* The kernel destroys also what init has refused. */
	tasklet_setup(&q->teller, aqm_sch_tell_later);
#endif
	sch->limit = EXPORT_LIMIT;
	q->ecn = EXPORT_ECN;
	q->wanted = aqm_sch_initial;
	q->seed = get_random_u64();
	q->view.peek = aqm_sch_peek;
	q->view.host = sch;
	q->view.all_bytes = &q->view.bytes;
	q->view.mtu_bytes = clamp(psched_mtu(qdisc_dev(sch)), AQM_MTU_MIN, AQM_MTU_MAX);
	aqm_sch_take_rows(sch);
	if (opt) {
		err = aqm_sch_change(sch, opt, extack);
		if (err)
			return err;
	}
#ifdef EXPORT_RATE
	if (!q->bandwidth) {
		NL_SET_ERR_MSG_MOD(extack, "the rate of the link is needed: bandwidth");
		return -EINVAL;
	}
#endif
#ifdef EXPORT_SAMPLES
	q->mask = roundup_pow_of_two(sch->limit) - 1;
	q->slot = kvcalloc(q->mask + 1, sizeof(*q->slot), GFP_KERNEL_ACCOUNT);
	if (!q->slot)
		return -ENOMEM;
#endif
#ifdef EXPORT_ECHO
	err = hear_echo(dev_net(qdisc_dev(sch)));
	if (err)
		return err;
	q->hears = true;
	q->last_ns = ktime_get_ns();
	q->probes = sojourn_probes_new(sch);
	if (IS_ERR(q->probes)) {
		err = PTR_ERR(q->probes);
		q->probes = NULL;
		return err;
	}
#endif
#ifdef EXPORT_FIXED
	q->live = true;
#endif
	aqm_sch_start(sch);
	return 0;
}

#ifdef EXPORT_DESTROY
static void aqm_sch_destroy(struct Qdisc *sch)
{
	struct aqm_sched_data *q = qdisc_priv(sch);

#ifdef EXPORT_HEAD
	tasklet_kill(&q->teller);
#endif
#ifdef EXPORT_ECHO
	sojourn_probes_free(q->probes);
	if (q->hears)
		hear_echo_no_more(dev_net(qdisc_dev(sch)));
#endif
#ifdef EXPORT_SAMPLES
	kvfree(q->slot);
#endif
}
#endif

static int aqm_sch_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct aqm_sched_data *q = qdisc_priv(sch);
	const struct aqm_conf *conf = &q->wanted;
	struct nlattr *opts = nla_nest_start(skb, TCA_OPTIONS);

	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_AQM_LIMIT, sch->limit))
		goto fail;
	if (nla_put_u32(skb, TCA_AQM_ECN, q->ecn))
		goto fail;
#ifdef EXPORT_RATE
	if (nla_put_u64_64bit(skb, TCA_AQM_BANDWIDTH, q->bandwidth, TCA_AQM_PAD))
		goto fail;
#endif
#ifdef EXPORT_ECHO
	if (nla_put_in_addr(skb, TCA_AQM_RESPONDER, htonl(q->asked.responder)))
		goto fail;
	if (memchr_inv(q->asked.responder6, 0, sizeof(q->asked.responder6)) &&
	    nla_put(skb, TCA_AQM_RESPONDER6, sizeof(q->asked.responder6), q->asked.responder6))
		goto fail;
#endif
	/* EXPORT: writes */
	return nla_nest_end(skb, opts);

fail:
	nla_nest_cancel(skb, opts);
	return -EMSGSIZE;
}

static int aqm_sch_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct aqm_sched_data *q = qdisc_priv(sch);
	struct tc_aqm_xstats st = {};
#ifdef EXPORT_ECHO
	struct sojourn_probe_counts counts;
#endif

	sch_tree_lock(sch);
#ifdef EXPORT_ECHO
	counts = sojourn_probes_counts(q->probes);
#endif
	/* EXPORT: statistics */
	st.early = q->early;
	st.full = q->full;
	st.ecn_mark = q->ecn_mark;
	/* EXPORT: probe statistics */
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops aqm_sch_ops __read_mostly = {
        .id = "EXPORT_NAME",
        .priv_size = sizeof(struct aqm_sched_data),
        .enqueue = aqm_sch_enqueue,
#ifdef EXPORT_HEAD
        .dequeue = aqm_sch_dequeue,
        .peek = aqm_sch_peek_next,
#else
        .dequeue = aqm_sch_next,
        .peek = qdisc_peek_dequeued,
#endif
        .init = aqm_sch_init,
        .reset = aqm_sch_reset,
#ifdef EXPORT_DESTROY
        .destroy = aqm_sch_destroy,
#endif
        .change = aqm_sch_change,
        .dump = aqm_sch_dump,
        .dump_stats = aqm_sch_dump_stats,
        .owner = THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("EXPORT_NAME");

static int __init aqm_module_init(void)
{
#ifdef EXPORT_ECHO
	int err;

	err = probe_senders_start();
	if (err)
		return err;
	err = hear_start();
	if (err)
		goto no_hearing;
	err = keep_start();
	if (err)
		goto no_keeping;
	err = register_qdisc(&aqm_sch_ops);
	if (!err)
		return 0;
	keep_stop();
no_keeping:
	hear_stop();
no_hearing:
	probe_senders_stop();
	return err;
#else
	return register_qdisc(&aqm_sch_ops);
#endif
}

static void __exit aqm_module_exit(void)
{
	unregister_qdisc(&aqm_sch_ops);
#ifdef EXPORT_ECHO
	keep_stop();
	hear_stop();
	probe_senders_stop();
#endif
}

module_init(aqm_module_init);
module_exit(aqm_module_exit);

MODULE_AUTHOR("The Sojourn authors");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("EXPORT_BRIEF");
