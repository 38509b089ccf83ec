// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// paths.c: IPsec and a firewall, see paths.h.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/xfrm.h>

#include "paths.h"

/* ---- IPsec ---- */

static void put_template(struct message *m, bool six)
{
	struct xfrm_user_tmpl wanted = {
	        .id.proto = IPPROTO_ESP,
	        .family = six ? AF_INET6 : AF_INET,
	        .mode = XFRM_MODE_TRANSPORT,
	        .aalgos = ~0u,
	        .ealgos = ~0u,
	        .calgos = ~0u,
	};

	put(m, XFRMA_TMPL, &wanted, sizeof(wanted));
}

static void put_algorithm(struct message *m, uint16_t type, const char *name, uint32_t bytes)
{
	struct {
		struct xfrm_algo head;
		char key[64];
	} a = {.head.alg_key_len = bytes * 8};

	strcpy(a.head.alg_name, name);
	put(m, type, &a, sizeof(a.head) + bytes);
}

/* From the near address to the far one, and back. */
static int add_state(struct wire *xfrm, bool six, bool back)
{
	static const uint8_t ends[2][2][16] = {
	        {{10, 0, 0, 1}, {10, 0, 0, 2}},
	        {{0xfd, [15] = 1}, {0xfd, [15] = 2}},
	};
	struct xfrm_usersa_info state = {
	        .id = {.spi = htonl(0x100u + back), .proto = IPPROTO_ESP},
	        .lft = {.soft_byte_limit = XFRM_INF,
	                .hard_byte_limit = XFRM_INF,
	                .soft_packet_limit = XFRM_INF,
	                .hard_packet_limit = XFRM_INF},
	        .family = six ? AF_INET6 : AF_INET,
	        .mode = XFRM_MODE_TRANSPORT,
	        .replay_window = 32,
	};
	struct message m;

	memcpy(&state.saddr, ends[six][back], 16);
	memcpy(&state.id.daddr, ends[six][!back], 16);
	begin_message(&m, XFRM_MSG_NEWSA, NLM_F_CREATE | NLM_F_EXCL, &state, sizeof(state));
	put_algorithm(&m, XFRMA_ALG_CRYPT, "ecb(cipher_null)", 0);
	put_algorithm(&m, XFRMA_ALG_AUTH, "digest_null", 0);
	return wire_ask(xfrm, &m);
}

int ipsec_add(struct wire *xfrm, struct draw *d)
{
	bool six = one_in(d, 2);
	struct xfrm_userpolicy_info policy = {
	        .sel.family = six ? AF_INET6 : AF_INET,
	        .lft = {.soft_byte_limit = XFRM_INF,
	                .hard_byte_limit = XFRM_INF,
	                .soft_packet_limit = XFRM_INF,
	                .hard_packet_limit = XFRM_INF},
	        .priority = below(d, 100),
	        .dir = (uint8_t)below(d, 3),
	        .action = one_in(d, 3) ? XFRM_POLICY_BLOCK : XFRM_POLICY_ALLOW,
	};
	struct message m;

	/* Of all packets, or of those that probes are. */
	if (one_in(d, 2))
		policy.sel.proto = six ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	else if (one_in(d, 2))
		policy.sel.proto = 253;
	begin_message(&m, XFRM_MSG_UPDPOLICY, NLM_F_CREATE, &policy, sizeof(policy));
	if (policy.action == XFRM_POLICY_ALLOW && !one_in(d, 4))
		put_template(&m, six);
	if (one_in(d, 2)) {
		add_state(xfrm, six, false);
		add_state(xfrm, six, true);
	}
	return wire_ask(xfrm, &m);
}

int ipsec_flush(struct wire *xfrm)
{
	struct xfrm_usersa_flush states = {0};
	struct message m;
	char nothing = 0;

	begin_message(&m, XFRM_MSG_FLUSHSA, 0, &states, sizeof(states));
	wire_ask(xfrm, &m);
	begin_message(&m, XFRM_MSG_FLUSHPOLICY, 0, &nothing, 0);
	return wire_ask(xfrm, &m);
}

/* ---- the firewall: a batch of messages, of which each is answered ---- */

enum { BATCH_ROOM = 16384, STATE_ESTABLISHED_RELATED = 2 | 4, REGISTER = NFT_REG_1 };

struct batch {
	unsigned char bytes[BATCH_ROOM];
	uint32_t used, messages;
};

static void put_be(struct message *m, uint16_t type, uint32_t value)
{
	put_u32(m, type, htonl(value));
}

static void begin_rules(struct message *m, uint16_t type, uint16_t flags, uint8_t family)
{
	struct nfgenmsg fixed = {.nfgen_family = family, .version = NFNETLINK_V0};

	if (type == NFNL_MSG_BATCH_BEGIN || type == NFNL_MSG_BATCH_END)
		fixed.res_id = htons(NFNL_SUBSYS_NFTABLES);
	else
		type |= NFNL_SUBSYS_NFTABLES << 8;
	begin_message(m, type, flags, &fixed, sizeof(fixed));
}

static void append(struct wire *w, struct batch *b, struct message *m, bool answered)
{
	struct nlmsghdr *head = (struct nlmsghdr *)(void *)m->bytes;

	if (b->used + m->used > BATCH_ROOM)
		return;
	head->nlmsg_len = m->used;
	head->nlmsg_seq = ++w->sequence;
	if (answered) {
		head->nlmsg_flags |= NLM_F_ACK;
		b->messages++;
	}
	memcpy(b->bytes + b->used, m->bytes, m->used);
	b->used += m->used;
}

static void frame_batch(struct wire *w, struct batch *b, bool begins)
{
	struct message m;

	begin_rules(&m, begins ? NFNL_MSG_BATCH_BEGIN : NFNL_MSG_BATCH_END, 0, AF_UNSPEC);
	append(w, b, &m, false);
}

/* The first refusal; where the whole batch is refused, no more answers come. */
static int commit(struct wire *w, const struct batch *b)
{
	static _Alignas(struct nlmsghdr) char buffer[BATCH_ROOM];
	struct timeval soon = {.tv_sec = 1};
	uint32_t answers = 0;
	int err = 0;

	if (w->fd < 0)
		return EPROTONOSUPPORT;
	setsockopt(w->fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	if (send(w->fd, b->bytes, b->used, 0) != (ssize_t)b->used)
		return -1;
	while (answers < b->messages && !err) {
		ssize_t got = recv(w->fd, buffer, sizeof(buffer), 0);
		unsigned left = got < 0 ? 0 : (unsigned)got;
		struct nlmsghdr *answer = (void *)buffer;

		if (got <= 0)
			return -1;
		for (; NLMSG_OK(answer, left); answer = NLMSG_NEXT(answer, left)) {
			if (answer->nlmsg_type != NLMSG_ERROR)
				continue;
			answers++;
			if (!err)
				err = -((const struct nlmsgerr *)NLMSG_DATA(answer))->error;
		}
	}
	/* What else was refused in this batch. */
	while (err && recv(w->fd, buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
		;
	return err;
}

static void add_table(struct wire *w, struct batch *b)
{
	struct message m;

	begin_rules(&m, NFT_MSG_NEWTABLE, NLM_F_CREATE, NFPROTO_INET);
	put_text(&m, NFTA_TABLE_NAME, "storm");
	append(w, b, &m, true);
}

static void add_chain(struct wire *w, struct batch *b, const char *name, const char *type,
                      uint32_t hook, int32_t priority)
{
	struct message m;
	uint32_t at;

	begin_rules(&m, NFT_MSG_NEWCHAIN, NLM_F_CREATE, NFPROTO_INET);
	put_text(&m, NFTA_CHAIN_TABLE, "storm");
	put_text(&m, NFTA_CHAIN_NAME, name);
	at = nest_begin(&m, NFTA_CHAIN_HOOK);
	put_be(&m, NFTA_HOOK_HOOKNUM, hook);
	put_be(&m, NFTA_HOOK_PRIORITY, (uint32_t)priority);
	nest_end(&m, at);
	put_text(&m, NFTA_CHAIN_TYPE, type);
	append(w, b, &m, true);
}

static uint32_t begin_rule(struct message *m, const char *chain)
{
	begin_rules(m, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, NFPROTO_INET);
	put_text(m, NFTA_RULE_TABLE, "storm");
	put_text(m, NFTA_RULE_CHAIN, chain);
	return nest_begin(m, NFTA_RULE_EXPRESSIONS);
}

struct expression {
	uint32_t element, data;
};

static struct expression begin_expression(struct message *m, const char *name)
{
	struct expression e = {.element = nest_begin(m, NFTA_LIST_ELEM)};

	put_text(m, NFTA_EXPR_NAME, name);
	e.data = nest_begin(m, NFTA_EXPR_DATA);
	return e;
}

static void end_expression(struct message *m, struct expression e)
{
	nest_end(m, e.data);
	nest_end(m, e.element);
}

static void put_value(struct message *m, uint16_t type, uint32_t value)
{
	uint32_t at = nest_begin(m, type);

	put(m, NFTA_DATA_VALUE, &value, sizeof(value));
	nest_end(m, at);
}

static void put_verdict(struct message *m, uint32_t verdict)
{
	struct expression e = begin_expression(m, "immediate");
	uint32_t data, code;

	put_be(m, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = nest_begin(m, NFTA_IMMEDIATE_DATA);
	code = nest_begin(m, NFTA_DATA_VERDICT);
	put_be(m, NFTA_VERDICT_CODE, verdict);
	nest_end(m, code);
	nest_end(m, data);
	end_expression(m, e);
}

/* ct state established,related */
static void put_known(struct message *m)
{
	struct expression e = begin_expression(m, "ct");

	put_be(m, NFTA_CT_KEY, NFT_CT_STATE);
	put_be(m, NFTA_CT_DREG, REGISTER);
	end_expression(m, e);
	e = begin_expression(m, "bitwise");
	put_be(m, NFTA_BITWISE_SREG, REGISTER);
	put_be(m, NFTA_BITWISE_DREG, REGISTER);
	put_be(m, NFTA_BITWISE_LEN, 4);
	put_value(m, NFTA_BITWISE_MASK, STATE_ESTABLISHED_RELATED);
	put_value(m, NFTA_BITWISE_XOR, 0);
	end_expression(m, e);
	e = begin_expression(m, "cmp");
	put_be(m, NFTA_CMP_SREG, REGISTER);
	put_be(m, NFTA_CMP_OP, NFT_CMP_NEQ);
	put_value(m, NFTA_CMP_DATA, 0);
	end_expression(m, e);
}

static void add_rule(struct wire *w, struct batch *b, struct message *m, uint32_t at)
{
	nest_end(m, at);
	append(w, b, m, true);
}

static void add_stateful(struct wire *w, struct batch *b)
{
	struct message m;
	uint32_t at;

	add_chain(w, b, "in", "filter", NF_INET_LOCAL_IN, 0);
	at = begin_rule(&m, "in");
	put_known(&m);
	put_verdict(&m, NF_ACCEPT);
	add_rule(w, b, &m, at);
	at = begin_rule(&m, "in");
	put_verdict(&m, NF_DROP);
	add_rule(w, b, &m, at);
}

static void add_masquerade(struct wire *w, struct batch *b)
{
	struct message m;
	uint32_t at;

	add_chain(w, b, "out", "nat", NF_INET_POST_ROUTING, 100);
	at = begin_rule(&m, "out");
	end_expression(&m, begin_expression(&m, "masq"));
	add_rule(w, b, &m, at);
}

int firewall_add(struct wire *netfilter, struct draw *d)
{
	uint32_t which = below(d, 3);
	struct batch b = {0};

	frame_batch(netfilter, &b, true);
	add_table(netfilter, &b);
	if (which != 0)
		add_stateful(netfilter, &b);
	if (which != 1)
		add_masquerade(netfilter, &b);
	frame_batch(netfilter, &b, false);
	return commit(netfilter, &b);
}

int firewall_flush(struct wire *netfilter)
{
	struct batch b = {0};
	struct message m;

	frame_batch(netfilter, &b, true);
	begin_rules(&m, NFT_MSG_DELTABLE, 0, NFPROTO_INET);
	put_text(&m, NFTA_TABLE_NAME, "storm");
	append(netfilter, &b, &m, true);
	frame_batch(netfilter, &b, false);
	return commit(netfilter, &b);
}
