/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kernel.h: as much of a kernel, in user space, as an exported qdisc calls. A packet has a
 * number and a DS field in place of headers; the clock and the random number are the test's.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64, __u64;
typedef int32_t s32;
typedef int64_t s64;

#define U32_MAX               0xffffffffu
#define EOPNOTSUPP_           EOPNOTSUPP
#define noinline              __attribute__((noinline))
#define static_assert         _Static_assert
#define min(a, b)             ((a) < (b) ? (a) : (b))
#define clamp(x, least, most) ((x) < (least) ? (least) : (x) > (most) ? (most) : (x))
#define __read_mostly
#define __init
#define __exit
#define THIS_MODULE        NULL
#define htons(x)           (x)
#define GFP_KERNEL_ACCOUNT 0

/* ---- packets ---- */

struct sk_buff {
	struct sk_buff *next;
	u32 id, len, hash;
	u8 ds;
	bool probe;
	char cb[20] __attribute__((aligned(8)));
};

enum { ETH_P_IP, ETH_P_IPV6, INET_ECN_MASK = 3 };
struct iphdr {
	u8 none;
};
struct ipv6hdr {
	u8 none;
};
#define skb_protocol(skb, behind)            ETH_P_IP
#define pskb_network_may_pull(skb, bytes)    ((skb) != NULL)
#define ip_hdr(skb)                          (skb)
#define ipv6_hdr(skb)                        (skb)
#define ipv4_get_dsfield(skb)                ((skb)->ds)
#define ipv6_get_dsfield(skb)                ((skb)->ds)
#define skb_get_hash(skb)                    ((skb)->hash)
#define qdisc_skb_cb(skb)                    ((struct qdisc_skb_cb *)(void *)(skb)->cb)
#define qdisc_cb_private_validate(skb, size) ((void)0)
#define qdisc_pkt_len(skb)                   ((skb)->len)

struct qdisc_skb_cb {
	char data[20];
};

static inline int INET_ECN_set_ce(struct sk_buff *skb)
{
	if (!(skb->ds & INET_ECN_MASK))
		return 0;
	skb->ds |= INET_ECN_MASK;
	return 1;
}

/* ---- the qdisc ---- */

struct netlink_ext_ack {
	const char *told;
};
#define NL_SET_ERR_MSG_MOD(extack, text)             ((extack)->told = (text))
#define NL_SET_ERR_MSG_FMT_MOD(extack, format, text) ((extack)->told = (text))

struct qdisc_skb_head {
	struct sk_buff *head, *tail;
	u32 qlen;
};

struct Qdisc {
	struct qdisc_skb_head q;
	u32 limit;
	struct {
		u64 backlog;
	} qstats;
	void *priv;
	struct sk_buff *gso_skb; /* peeked: its parent takes it from here */
};

struct gnet_dump {
	u64 stats[64];
};

struct nlattr {
	u16 nla_len, nla_type;
};

struct Qdisc_ops {
	const char *id;
	size_t priv_size;
	int (*enqueue)(struct sk_buff *, struct Qdisc *, struct sk_buff **);
	struct sk_buff *(*dequeue)(struct Qdisc *);
	struct sk_buff *(*peek)(struct Qdisc *);
	int (*init)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
	void (*reset)(struct Qdisc *);
	void (*destroy)(struct Qdisc *);
	int (*change)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
	int (*dump)(struct Qdisc *, struct sk_buff *);
	int (*dump_stats)(struct Qdisc *, struct gnet_dump *);
	void *owner;
};

static u64 clock_ns, random_u64;
static struct Qdisc_ops *registered;
/* What became of packets that did not leave. */
static void freed(struct sk_buff *skb);

/* Packets and bytes of the queue by the count of a parent. */
static u64 parent_pkts, parent_bytes;
/* Reports, and those while the queue had no packet: a parent takes its class for empty. */
static u64 told, told_empty;

enum { NET_XMIT_SUCCESS, NET_XMIT_DROP, NET_XMIT_CN, __NET_XMIT_STOLEN = 0x10000 };
#define ktime_get_ns()                     clock_ns
#define get_random_u64()                   random_u64
#define qdisc_priv(sch)                    ((sch)->priv)
#define qdisc_dev(sch)                     (sch)
#define psched_mtu(dev)                    1514u
#define sch_tree_lock(sch)                 ((void)0)
#define sch_tree_unlock(sch)               ((void)0)
#define qdisc_qstats_drop(sch)             ((void)0)
#define qdisc_qstats_backlog_inc(sch, skb) ((sch)->qstats.backlog += (skb)->len)
#define qdisc_qstats_backlog_dec(sch, skb) ((sch)->qstats.backlog -= (skb)->len)
#define qdisc_bstats_update(sch, skb)      ((void)0)
#define rtnl_kfree_skbs(first, last)       freed(first)
#define kfree_skb(skb)                     freed(skb)
#define kvcalloc(count, bytes, flags)      calloc(count, bytes)
#define kvfree(memory)                     free(memory)
#define div64_u64(a, b)                    ((u64)(a) / (u64)(b))
#define register_qdisc(ops)                ((registered = (ops)), 0)
#define unregister_qdisc(ops)              ((void)(ops))
#define skb_peek(list)                     (*(list))
#define __skb_queue_head(list, skb)        (*(list) = (skb))
#define module_init(start)                 int (*module_start)(void) = start;
#define module_exit(stop)                  void (*module_stop)(void) = stop;
#define MODULE_AUTHOR(text)                _Static_assert(1, text)
#define MODULE_LICENSE(text)               _Static_assert(1, text)
#define MODULE_DESCRIPTION(text)           _Static_assert(1, text)
#define MODULE_ALIAS_NET_SCH(text)         _Static_assert(1, text)

static inline u32 roundup_pow_of_two(u32 x)
{
	u32 n = 1;

	while (n < x)
		n <<= 1;
	return n;
}

static inline void qdisc_tree_reduce_backlog(struct Qdisc *sch, int pkts, int bytes)
{
	told++;
	told_empty += !sch->q.qlen;
	parent_pkts -= (u64)pkts;
	parent_bytes -= (u64)bytes;
}

static inline void __qdisc_drop(struct sk_buff *skb, struct sk_buff **to_free)
{
	(void)to_free;
	freed(skb);
}

static inline int qdisc_drop(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	(void)sch, (void)to_free;
	freed(skb);
	return NET_XMIT_DROP;
}

static inline int qdisc_enqueue_tail(struct sk_buff *skb, struct Qdisc *sch)
{
	skb->next = NULL;
	if (sch->q.head)
		sch->q.tail->next = skb;
	else
		sch->q.head = skb;
	sch->q.tail = skb;
	sch->q.qlen++;
	sch->qstats.backlog += skb->len;
	return NET_XMIT_SUCCESS;
}

static inline struct sk_buff *__qdisc_dequeue_head(struct qdisc_skb_head *q)
{
	struct sk_buff *skb = q->head;

	if (skb) {
		q->head = skb->next;
		q->qlen--;
	}
	return skb;
}

static inline void qdisc_reset_queue(struct Qdisc *sch)
{
	struct sk_buff *skb;

	while ((skb = __qdisc_dequeue_head(&sch->q)))
		freed(skb);
	/* It has left the core's queue already. */
	sch->gso_skb = NULL;
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
}

static inline int gnet_stats_copy_app(struct gnet_dump *d, const void *from, size_t bytes)
{
	memcpy(d->stats, from, bytes);
	return 0;
}

static inline struct sk_buff *qdisc_peek_dequeued(struct Qdisc *sch)
{
	if (sch->gso_skb)
		return sch->gso_skb;
	sch->gso_skb = registered->dequeue(sch);
	if (sch->gso_skb) {
		sch->q.qlen++;
		qdisc_qstats_backlog_inc(sch, sch->gso_skb);
	}
	return sch->gso_skb;
}

/* ---- work for later: the test does it when the call under way has ended ---- */

typedef int spinlock_t;
struct tasklet_struct {
	void (*call)(struct tasklet_struct *);
};
static struct tasklet_struct *scheduled;
/* The root was asked to run again. */
static bool asked_again;
#define tasklet_setup(tasklet, function) ((tasklet)->call = (function))
#define tasklet_schedule(tasklet)        (scheduled = (tasklet))
#define tasklet_kill(tasklet)            ((void)(tasklet))
#define from_tasklet(var, tasklet, member)                                                     \
	((__typeof__(var))(void *)((char *)(tasklet)-offsetof(__typeof__(*(var)), member)))
#define rcu_read_lock()          ((void)0)
#define rcu_read_unlock()        ((void)0)
#define spin_lock(lock)          ((void)(lock))
#define spin_unlock(lock)        ((void)(lock))
#define qdisc_root_sleeping(sch) (sch)
#define qdisc_root(sch)          (sch)
#define qdisc_lock(root)         ((spinlock_t *)(void *)(root))
#define __netif_schedule(root)   ((void)(root), asked_again = true)

/* ---- netlink: a policy is the kernel's affair; here an attribute is a number ---- */

struct netlink_range_validation {
	u64 min, max;
};
struct nla_policy {
	u8 type;
	const struct netlink_range_validation *range;
	u64 max;
};
enum { NLA_U32 = 1, NLA_U64, TCA_OPTIONS = 2 };
#define NLA_POLICY_FULL_RANGE(kind, range_)                                                    \
	{                                                                                      \
		.type = kind, .range = range_                                                  \
	}
#define NLA_POLICY_MAX(kind, most)                                                             \
	{                                                                                      \
		.type = kind, .max = most                                                      \
	}

static inline u64 nla_get_u64(const struct nlattr *nla)
{
	u64 value;

	memcpy(&value, nla + 1, sizeof(value));
	return value;
}
#define nla_get_u32(nla) ((u32)nla_get_u64(nla))

/* Attributes of 12 bytes each, in a frame that holds their number. */
static inline int nla_parse_nested(struct nlattr **tb, int most, struct nlattr *nest,
                                   const struct nla_policy *policy,
                                   struct netlink_ext_ack *told)
{
	char *at = (char *)(nest + 1);
	int i;

	(void)policy, (void)told;
	memset(tb, 0, sizeof(*tb) * (size_t)(most + 1));
	for (i = 0; i < nest->nla_len; i++, at += 12)
		tb[((struct nlattr *)(void *)at)->nla_type] = (void *)at;
	return 0;
}

static inline u64 *dumped_to(void);
static inline int nla_put_u32(struct sk_buff *skb, int type, u32 value)
{
	(void)skb;
	dumped_to()[type] = value;
	return 0;
}
static inline int nla_put_u64_64bit(struct sk_buff *skb, int type, u64 value, int pad)
{
	(void)skb, (void)pad;
	dumped_to()[type] = value;
	return 0;
}

/* ---- addresses ---- */

struct in6_addr {
	u8 bytes[16];
};
struct net;
#define fallthrough      __attribute__((fallthrough))
#define dev_net(dev)     NULL
#define IS_ERR(pointer)  false
#define PTR_ERR(pointer) 0
#define NLA_POLICY_EXACT_LEN(bytes)                                                            \
	{                                                                                      \
		.max = bytes                                                                   \
	}
#define htonl(x)                        (x)
#define ntohl(x)                        (x)
#define nla_get_in_addr                 nla_get_u32
#define nla_put_in_addr                 nla_put_u32
#define nla_memcpy(to, nla, bytes)      memcpy(to, (nla) + 1, bytes)
#define nla_put(skb, type, bytes, data) 0
#define memchr_inv(from, c, bytes)      NULL

#define nla_nest_start(skb, type)  ((struct nlattr *)(void *)(skb))
#define nla_nest_end(skb, nest)    0
#define nla_nest_cancel(skb, nest) ((void)0)

#endif
