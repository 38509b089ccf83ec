// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// netlink.c: reads options and writes statistics, see netlink.h.
//
// The policy below tests the common attributes. Values inside a nest are tested
// against the rows themselves, so that a limit is written once and the sentence that
// refuses a value can give its name and range.

#include <linux/in6.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "compat.h"
#include "field.h"
#include "netlink.h"
#include "probe.h"

static const struct nla_policy policy[TCA_SOJOURN_END] = {
        [TCA_SOJOURN_ALGO] = {.type = NLA_NUL_STRING, .len = SOJOURN_NAME - 1},
        [TCA_SOJOURN_HOST] = {.type = NLA_NESTED},
        [TCA_SOJOURN_QUEUE] = {.type = NLA_NESTED},
        [TCA_SOJOURN_PARAMS] = {.type = NLA_NESTED},
        [TCA_SOJOURN_ANEW] = {.type = NLA_FLAG},
        [TCA_SOJOURN_RESPONDER6] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
};

/* Of a queue for which no algorithm was chosen. */
static struct {
	const struct aqm_algo *algo;
	u32 flows;
} unchosen;

static u32 row_bytes(const struct aqm_field *row)
{
	return row->type == AQM_U64 ? sizeof(u64) : sizeof(u32);
}

static const struct aqm_field *row_of(const struct aqm_field *rows, int attr)
{
	for (; rows && rows->name; rows++)
		if (rows->attr == attr)
			return rows;
	return NULL;
}

static int read_row(const struct nlattr *nla, const struct aqm_field *row, void *base,
                    struct netlink_ext_ack *extack)
{
	u64 value;

	if (nla_len(nla) != row_bytes(row)) {
		SAY(extack, "%s: %d bytes given, %u wanted", row->name, nla_len(nla),
		    row_bytes(row));
		return -EINVAL;
	}
	value = row->type == AQM_U64 ? nla_get_u64(nla) : nla_get_u32(nla);
	if (!aqm_field_set(row, base, value))
		return 0;
	SAY(extack, "%s: %llu is not in %llu to %llu", row->name, value, row->min, row->max);
	return -ERANGE;
}

static int read_rows(const struct nlattr *nest, const struct aqm_field *rows, void *base,
                     struct netlink_ext_ack *extack)
{
	const struct nlattr *nla;
	const struct aqm_field *row;
	int rest, err;

	nla_for_each_nested(nla, nest, rest) {
		if (nla_type(nla) == SOJOURN_PADDING && !nla_len(nla))
			continue;
		NL_SET_BAD_ATTR(extack, nla);
		row = row_of(rows, nla_type(nla));
		if (!row) {
			SAY(extack, "no row has the number %d", nla_type(nla));
			return -EINVAL;
		}
		if (nla_find(nla_data(nest), (void *)nla - nla_data(nest), row->attr)) {
			SAY(extack, "%s: given twice", row->name);
			return -EINVAL;
		}
		err = read_row(nla, row, base, extack);
		if (err)
			return err;
	}
	if (rest) {
		NL_SET_BAD_ATTR(extack, nest);
		NL_SET_ERR_MSG(extack, "bytes left over behind the last row");
		return -EINVAL;
	}
	return 0;
}

static int read_algo(struct sojourn_choice *choice, const struct sojourn_choice *old,
                     const struct nlattr *nla, struct netlink_ext_ack *extack)
{
	choice->algo = nla ? aqm_find(nla_data(nla)) : old ? old->algo : unchosen.algo;
	if (nla && !choice->algo) {
		NL_SET_BAD_ATTR(extack, nla);
		SAY(extack, "no algorithm is called %s", (char *)nla_data(nla));
		return -ENOENT;
	}
	if (old && choice->algo != old->algo) {
		NL_SET_BAD_ATTR(extack, nla);
		SAY(extack, "this queue is %s; replace makes it another", old->algo->name);
		return -EOPNOTSUPP;
	}
	return 0;
}

static void begin_with(struct sojourn_choice *choice, const struct sojourn_choice *old)
{
	if (old) {
		choice->host = old->host;
		choice->setup = old->setup;
		memcpy(choice->conf, old->conf, choice->algo->conf_bytes);
	} else {
		memset(&choice->host, 0, sizeof(choice->host));
		memset(&choice->setup, 0, sizeof(choice->setup));
		aqm_field_defaults(sojourn_rows, &choice->host);
		aqm_setup_defaults(choice->algo, &choice->setup);
		aqm_field_defaults(choice->algo->params, choice->conf);
	}
}

static int read_tables(struct sojourn_choice *choice, struct nlattr **tb,
                       struct netlink_ext_ack *extack)
{
	const struct {
		int type;
		const struct aqm_field *rows;
		void *base;
	} tables[] = {
	        {TCA_SOJOURN_HOST, sojourn_rows, &choice->host},
	        {TCA_SOJOURN_QUEUE, aqm_setup_rows, &choice->setup},
	        {TCA_SOJOURN_PARAMS, choice->algo->params, choice->conf},
	};
	int i, err;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		if (!tb[tables[i].type])
			continue;
		err = read_rows(tb[tables[i].type], tables[i].rows, tables[i].base, extack);
		if (err)
			return err;
	}
	if (extack)
		extack->bad_attr = NULL;
	return 0;
}

static int read_responders(struct sojourn_choice *choice, struct nlattr **tb,
                           struct netlink_ext_ack *extack)
{
	const struct nlattr *nla = tb[TCA_SOJOURN_RESPONDER6];

	if (nla)
		nla_memcpy(choice->host.responder6, nla, sizeof(choice->host.responder6));
	return sojourn_check_responders(&choice->host, extack);
}

/* All rows together: as a change of `old`, or as a queue of their own. */
static struct aqm_refusal check(const struct sojourn_choice *choice,
                                const struct sojourn_choice *old, u32 room)
{
	return aqm_setup_check(choice->algo, &choice->setup, choice->conf,
	                       old ? &old->setup : NULL, old ? old->conf : NULL, room);
}

static int choose_rows(struct sojourn_choice *choice, const struct sojourn_choice *old,
                       u32 room, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	const struct sojourn_choice *base = tb[TCA_SOJOURN_ANEW] ? NULL : old;
	struct aqm_refusal no;
	int err;

	begin_with(choice, base);
	if (!base && !tb[TCA_SOJOURN_ALGO])
		choice->setup.flows = unchosen.flows;
	err = read_tables(choice, tb, extack);
	if (err)
		return err;
	err = read_responders(choice, tb, extack);
	if (err)
		return err;
	no = check(choice, base, room);
	if (no.sentence) {
		/* Sentences about several rows contain their names already. */
		SAY(extack, "%s%s%s", no.row ? no.row->name : "", no.row ? ": " : "",
		    no.sentence);
		return -EINVAL;
	}
	choice->anew = !old || choice->algo != old->algo || check(choice, old, room).sentence;
	return 0;
}

int sojourn_choose(struct sojourn_choice *choice, const struct sojourn_choice *old, u32 room,
                   struct nlattr *options, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_SOJOURN_END] = {};
	int err;

	if (options) {
		err = nla_parse_nested(tb, TCA_SOJOURN_END - 1, options, policy, extack);
		if (err)
			return err;
	}
	err = read_algo(choice, tb[TCA_SOJOURN_ANEW] ? NULL : old, tb[TCA_SOJOURN_ALGO],
	                extack);
	if (err)
		return err;
	choice->conf = kzalloc(choice->algo->conf_bytes, GFP_KERNEL_ACCOUNT);
	if (!choice->conf)
		return -ENOMEM;
	err = choose_rows(choice, old, room, tb, extack);
	if (err)
		kfree(choice->conf);
	return err;
}

int sojourn_set_default(const char *words)
{
	const char *name = strncmp(words, "fq ", 3) ? words : words + 3;
	struct netlink_ext_ack answer = {}, *extack = &answer;
	struct sojourn_choice choice;
	int err = -EINVAL;

	unchosen.algo = aqm_find(name);
	unchosen.flows = name == words ? 0 : SOJOURN_FQ_FLOWS;
	if (unchosen.algo)
		err = sojourn_choose(&choice, NULL, 0, NULL, extack);
	else
		SAY(extack, "no algorithm is called %s", name);
	if (err)
		pr_err("sch_sojourn: default=\"%s\": %s\n", words, extack->_msg ?: "no memory");
	else
		kfree(choice.conf);
	return err;
}

int sojourn_put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, SOJOURN_PADDING);
}

static int put_rows(struct sk_buff *skb, int nest_type, const struct aqm_field *rows,
                    const void *base)
{
	struct nlattr *nest = nla_nest_start(skb, nest_type);

	if (!nest)
		return -EMSGSIZE;
	for (; rows && rows->name; rows++) {
		u64 value = aqm_field_get(rows, base);

		if (rows->type == AQM_U64 ? sojourn_put_u64(skb, rows->attr, value)
		                          : nla_put_u32(skb, rows->attr, (u32)value))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_responder6(struct sk_buff *skb, const struct sojourn_conf *conf)
{
	if (!memchr_inv(conf->responder6, 0, sizeof(conf->responder6)))
		return 0;
	return nla_put(skb, TCA_SOJOURN_RESPONDER6, sizeof(conf->responder6), conf->responder6);
}

int sojourn_put_choice(struct sk_buff *skb, const struct sojourn_choice *choice)
{
	if (nla_put_string(skb, TCA_SOJOURN_ALGO, choice->algo->name) ||
	    put_responder6(skb, &choice->host) ||
	    put_rows(skb, TCA_SOJOURN_HOST, sojourn_rows, &choice->host) ||
	    put_rows(skb, TCA_SOJOURN_QUEUE, aqm_setup_rows, &choice->setup) ||
	    put_rows(skb, TCA_SOJOURN_PARAMS, choice->algo->params, choice->conf))
		return -EMSGSIZE;
	return 0;
}

int sojourn_put_numbers(struct sk_buff *skb, int nest_type, const u64 *numbers, u32 count)
{
	struct nlattr *nest = nla_nest_start(skb, nest_type);
	u32 i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < count; i++)
		if (sojourn_put_u64(skb, i + 1, numbers[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
