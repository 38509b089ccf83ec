/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * compat.h: differences of the kernels from 6.1 on. No other file tests the version.
 */
#ifndef SOJOURN_COMPAT_H
#define SOJOURN_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "the module needs Linux 6.1 or newer: install a newer kernel and its headers"
#endif

#include <linux/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <net/gso.h>
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* The kernel loads a qdisc by this alias since 6.9; before, by the file's name. */
#ifndef MODULE_ALIAS_NET_SCH
#define MODULE_ALIAS_NET_SCH(kind)
#endif

/* A segment after splitting is one packet of its own length. */
static inline void set_pkt_len(struct sk_buff *skb, u32 bytes)
{
	qdisc_skb_cb(skb)->pkt_len = bytes;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	qdisc_skb_cb(skb)->pkt_segs = 1;
#endif
}

/*
 * A sentence with numbers in it. Since 6.2 a reply has room for 80 characters of its
 * own. Before, it points at ours, and the kernel reads it soon after it releases the RTNL
 * lock: only eight more refusals in between would overwrite it, and even then it ends
 * where its memory ends.
 */
#ifdef NL_SET_ERR_MSG_FMT
#define SAY(extack, ...) NL_SET_ERR_MSG_FMT(extack, __VA_ARGS__)
#else
static char __maybe_unused sentences[8][80];
static unsigned int __maybe_unused said;

#define SAY(extack, ...)                                                                       \
	do {                                                                                   \
		char *sentence = sentences[said++ % ARRAY_SIZE(sentences)];                    \
		snprintf(sentence, sizeof(sentences[0]), __VA_ARGS__);                         \
		if (extack)                                                                    \
			(extack)->_msg = sentence;                                             \
	} while (0)
#endif

#endif
