// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// books.c: a tree as the kernel shows it, see books.h.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>

#include "books.h"
#include "kinds.h"

static void copy_text(char *to, size_t room, const struct nlattr *from)
{
	snprintf(to, room, "%.*s", from ? (int)payload_bytes(from) : 0,
	         from ? (const char *)payload(from) : "");
}

static uint64_t sum_of(const struct nlattr *nest)
{
	const char *at, *end;
	uint64_t sum = 0;

	if (!nest)
		return 0;
	at = payload(nest);
	end = at + payload_bytes(nest);
	while (end - at >= NLA_HDRLEN) {
		const struct nlattr *a = (const void *)at;

		if (a->nla_len < NLA_HDRLEN || a->nla_len > end - at)
			break;
		if (a->nla_type & NLA_TYPE_MASK)
			sum += as_number(a);
		at += NLA_ALIGN(a->nla_len);
	}
	return sum;
}

static void read_probes(struct qdisc *q, const struct nlattr *nest)
{
	const struct nlattr *n[SOJOURN_PROBES + 1];

	if (!nest)
		return;
	sort_attributes(n, SOJOURN_PROBES + 1, payload(nest), payload_bytes(nest));
	for (uint32_t i = 0; i < SOJOURN_PROBES; i++)
		q->probed[i] = as_number(n[1 + i]);
	q->probes =
	        q->probed[SOJOURN_JOINED] - q->probed[SOJOURN_LEFT] - q->probed[SOJOURN_FREED];
}

static void read_own(struct qdisc *q, const struct nlattr *own)
{
	const struct nlattr *part[TCA_SOJOURN_STATS_END], *count[SOJOURN_COUNTS + 1];
	const struct nlattr *counts;

	sort_attributes(part, TCA_SOJOURN_STATS_END, payload(own), payload_bytes(own));
	counts = part[TCA_SOJOURN_STATS_COUNTS];
	if (!counts)
		return;
	sort_attributes(count, SOJOURN_COUNTS + 1, payload(counts), payload_bytes(counts));
	q->ours = true;
	q->in_pkts = as_number(count[1 + SOJOURN_IN_PKTS]);
	q->in_bytes = as_number(count[1 + SOJOURN_IN_BYTES]);
	q->out_pkts = as_number(count[1 + SOJOURN_OUT_PKTS]);
	q->out_bytes = as_number(count[1 + SOJOURN_OUT_BYTES]);
	q->drop_bytes = as_number(count[1 + SOJOURN_DROP_BYTES]);
	q->dropped = sum_of(part[TCA_SOJOURN_STATS_DROPS]);
	q->marked = sum_of(part[TCA_SOJOURN_STATS_MARKS]);
	q->bad = sum_of(part[TCA_SOJOURN_STATS_BAD]);
	q->memory_bytes = as_number(part[TCA_SOJOURN_STATS_MEMORY]);
	read_probes(q, part[TCA_SOJOURN_STATS_PROBES]);
}

static struct gnet_stats_queue read_queue(const struct nlattr **part,
                                          const struct nlattr *stats)
{
	struct gnet_stats_queue queue = {0};

	sort_attributes(part, TCA_STATS_MAX + 1, payload(stats), payload_bytes(stats));
	if (part[TCA_STATS_QUEUE] && payload_bytes(part[TCA_STATS_QUEUE]) >= sizeof(queue))
		memcpy(&queue, payload(part[TCA_STATS_QUEUE]), sizeof(queue));
	return queue;
}

static void read_stats(struct qdisc *q, const struct nlattr *stats)
{
	const struct nlattr *part[TCA_STATS_MAX + 1];
	struct gnet_stats_queue queue = read_queue(part, stats);
	struct gnet_stats_basic basic = {0};

	if (part[TCA_STATS_BASIC])
		memcpy(&basic, payload(part[TCA_STATS_BASIC]), 12);
	q->qlen = queue.qlen;
	q->backlog_bytes = queue.backlog;
	q->drops = queue.drops;
	q->sent_pkts = basic.packets;
	if (part[TCA_STATS_APP] && !strcmp(q->kind, SOJOURN_KIND))
		read_own(q, part[TCA_STATS_APP]);
}

static const struct tcmsg *of_device(const struct tree *t, const struct nlmsghdr *head,
                                     const struct nlattr **part)
{
	const struct tcmsg *tc = NLMSG_DATA(head);
	const size_t before = NLMSG_LENGTH(sizeof(*tc));

	if (head->nlmsg_len < before || tc->tcm_ifindex != (int)t->index)
		return NULL;
	sort_attributes(part, TCA_MAX + 1, (const char *)head + NLMSG_ALIGN(before),
	                head->nlmsg_len - NLMSG_ALIGN(before));
	return tc;
}

static void take_qdisc(void *to, const struct nlmsghdr *head)
{
	const struct nlattr *part[TCA_MAX + 1];
	struct tree *t = to;
	const struct tcmsg *tc = of_device(t, head, part);
	struct qdisc *q = &t->qdisc[t->qdiscs];

	if (!tc || t->qdiscs == QDISCS_MOST || tc->tcm_parent == TC_H_INGRESS)
		return;
	memset(q, 0, sizeof(*q));
	q->handle = tc->tcm_handle;
	q->parent = tc->tcm_parent;
	copy_text(q->kind, sizeof(q->kind), part[TCA_KIND]);
	if (part[TCA_STATS2])
		read_stats(q, part[TCA_STATS2]);
	if (q->ours && part[TCA_OPTIONS])
		q->readable = choice_read(&q->choice, payload(part[TCA_OPTIONS]),
		                          payload_bytes(part[TCA_OPTIONS]));
	t->qdiscs++;
}

static void take_class(void *to, const struct nlmsghdr *head)
{
	const struct nlattr *part[TCA_MAX + 1];
	struct tree *t = to;
	const struct tcmsg *tc = of_device(t, head, part);
	struct class *c = &t->class[t->classes];

	if (!tc || t->classes == CLASSES_SEEN_MOST)
		return;
	memset(c, 0, sizeof(*c));
	c->id = tc->tcm_handle;
	copy_text(c->kind, sizeof(c->kind), part[TCA_KIND]);
	/* Those of our queues are flows, with nothing below them, and too many for this list.
	 */
	if (!strcmp(c->kind, SOJOURN_KIND))
		return;
	if (part[TCA_STATS2]) {
		const struct nlattr *inner[TCA_STATS_MAX + 1];
		struct gnet_stats_queue queue = read_queue(inner, part[TCA_STATS2]);

		c->qlen = queue.qlen;
		c->backlog_bytes = queue.backlog;
	}
	t->classes++;
}

void tree_read(struct wire *w, struct tree *t, uint32_t index)
{
	struct message m;

	t->index = index;
	t->qdiscs = t->classes = 0;
	begin_tc(&m, RTM_GETQDISC, 0, 0, 0, 0, 0);
	put(&m, TCA_DUMP_INVISIBLE, NULL, 0);
	wire_dump(w, &m, take_qdisc, t);
	begin_tc(&m, RTM_GETTCLASS, 0, index, 0, 0, 0);
	wire_dump(w, &m, take_class, t);
}

/* ---- finding one's way ---- */

const struct qdisc *tree_root(const struct tree *t)
{
	for (uint32_t i = 0; i < t->qdiscs; i++)
		if (t->qdisc[i].parent == TC_H_ROOT)
			return &t->qdisc[i];
	return NULL;
}

const struct qdisc *tree_parent(const struct tree *t, const struct qdisc *q)
{
	for (uint32_t i = 0; i < t->qdiscs; i++)
		if (q->parent != TC_H_ROOT && t->qdisc[i].handle &&
		    t->qdisc[i].handle == TC_H_MAJ(q->parent))
			return &t->qdisc[i];
	return NULL;
}

uint32_t tree_depth(const struct tree *t, const struct qdisc *q)
{
	uint32_t depth = 0;

	while ((q = tree_parent(t, q)) && depth < QDISCS_MOST)
		depth++;
	return depth;
}

uint32_t tree_held(const struct tree *t)
{
	const struct qdisc *root = tree_root(t);

	return root ? root->qlen : 0;
}

uint64_t tree_memory(const struct tree *t)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->qdiscs; i++)
		sum += t->qdisc[i].memory_bytes;
	return sum;
}

uint64_t tree_sent(const struct tree *t)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->qdiscs; i++)
		sum += t->qdisc[i].sent_pkts;
	return sum;
}

/* ---- do they agree? ---- */

struct check {
	const struct tree *tree;
	char *trouble;
};

static bool differs(const struct check *c, const struct qdisc *q, const char *form, ...)
{
	va_list more;
	int n = snprintf(c->trouble, TROUBLE_ROOM, "%s %x: below %x:%x: ", q->kind,
	                 q->handle >> 16, q->parent >> 16, q->parent & 0xffff);

	va_start(more, form);
	vsnprintf(c->trouble + n, (size_t)(TROUBLE_ROOM - n), form, more);
	va_end(more);
	return false;
}

struct sum {
	uint32_t pkts, bytes, children;
};

/* Classes tell what the qdiscs below them hold, of which a dump of qdiscs does not show all:
 * in the place of one that is deleted some kinds put one that nobody sees. Kinds with one
 * class have a child that is seen, and tell nothing of it. */
static struct sum sum_of_children(const struct tree *t, const struct qdisc *parent,
                                  bool by_class)
{
	struct sum sum = {0};

	for (uint32_t i = 0; by_class && i < t->classes; i++) {
		if (TC_H_MAJ(t->class[i].id) != parent->handle)
			continue;
		sum.children++;
		sum.pkts += t->class[i].qlen;
		sum.bytes += t->class[i].backlog_bytes;
	}
	for (uint32_t i = 0; !by_class && i < t->qdiscs; i++) {
		if (tree_parent(t, &t->qdisc[i]) != parent)
			continue;
		sum.children++;
		sum.pkts += t->qdisc[i].qlen;
		sum.bytes += t->qdisc[i].backlog_bytes;
	}
	return sum;
}

/* A parent holds what its children hold, and the one packet at which its own parent has
 * peeked; the root, what the device would not take. */
static bool parent_agrees(const struct check *c, const struct qdisc *parent)
{
	const struct kind *kind = kind_find(parent->kind);
	struct sum below;
	uint32_t pkts, bytes;

	if (!kind || !parent->handle)
		return true;
	below = sum_of_children(c->tree, parent, kind->classes != CLASSES_ONE);
	pkts = parent->qlen - below.pkts;
	bytes = parent->backlog_bytes - below.bytes;
	if (!below.children)
		return true;
	if ((int32_t)pkts < 0)
		return differs(c, parent, "its children hold %d packets more than its %u",
		               -(int32_t)pkts, parent->qlen);
	if (kind->keeps_own || (parent->parent == TC_H_ROOT && pkts))
		return true;
	if (pkts > 1)
		return differs(c, parent, "it counts %u packets that no child holds", pkts);
	if (!pkts && bytes)
		return differs(c, parent, "it counts %d bytes beside its children's %u",
		               (int32_t)bytes, below.bytes);
	return true;
}

static bool leaf_agrees(const struct check *c, const struct qdisc *q)
{
	uint64_t held = q->in_pkts - q->out_pkts - q->dropped + q->probes;
	uint32_t bytes = (uint32_t)(q->in_bytes - q->out_bytes - q->drop_bytes);

	if (q->bad)
		return differs(c, q, "%llu verdicts broke a rule", (unsigned long long)q->bad);
	if (q->qlen < held ||
	    (q->qlen != held && q->parent != TC_H_ROOT && q->qlen != held + 1))
		return differs(c, q, "in %llu, out %llu, dropped %llu, held %u",
		               (unsigned long long)q->in_pkts, (unsigned long long)q->out_pkts,
		               (unsigned long long)q->dropped, q->qlen);
	/* How long a probe is hangs on the link header of the packet that asked. */
	if (!q->probes && q->qlen == held && q->backlog_bytes != bytes)
		return differs(c, q, "%u bytes are held, %u by its own count", q->backlog_bytes,
		               bytes);
	if ((uint32_t)q->dropped != q->drops)
		return differs(c, q, "%u drops, %llu by its own count", q->drops,
		               (unsigned long long)q->dropped);
	if (!q->readable)
		return differs(c, q, "a dump shows not every row in its range");
	if (held > q->choice.setup.limit)
		return differs(c, q, "%llu packets held, the limit is %u",
		               (unsigned long long)held, q->choice.setup.limit);
	return true;
}

bool books_agree(const struct tree *t, bool dry, char trouble[TROUBLE_ROOM])
{
	struct check c = {t, trouble};

	for (uint32_t i = 0; i < t->qdiscs; i++) {
		const struct qdisc *q = &t->qdisc[i];

		if (dry && (q->qlen || q->backlog_bytes))
			return differs(&c, q, "%u packets of %u bytes where nothing is held",
			               q->qlen, q->backlog_bytes);
		if (!parent_agrees(&c, q) || (q->ours && !leaf_agrees(&c, q)))
			return false;
	}
	return true;
}
