// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// q.c: the plugin of tc around one algorithm's rows, from which `sojourn linux export` makes a
// file.
//
// It compiles in no build of ours; see sch.c.

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define U32_MAX 0xffffffffu

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

/* EXPORT: sources */

/* EXPORT: words */

static const struct aqm_field options[] = {
        /* EXPORT: options */
        AQM_END,
};

/* As the qdisc's xstats: 8 bytes each. */
static const struct aqm_field statistics[] = {
        /* EXPORT: statistics */
        AQM_END,
};

static const struct aqm_field *find_row(const char *name)
{
	const struct aqm_field *row;

	for (row = options; row->name; row++)
		if (!strcmp(row->name, name))
			return row;
	return NULL;
}

static void put_row(struct nlmsghdr *message, const struct aqm_field *row, u64 value)
{
	u32 narrow = value;

#ifdef EXPORT_ECHO
	if (row->unit == AQM_IPV4)
		narrow = htonl(narrow);
#endif
	if (row->type == AQM_U64)
		addattr_l(message, TC_MESSAGE_BYTES, row->attr, &value, sizeof(value));
	else
		addattr_l(message, TC_MESSAGE_BYTES, row->attr, &narrow, sizeof(narrow));
}

static int refuse(const struct aqm_field *row, const char *text, const char *wanted)
{
	fprintf(stderr, "EXPORT_NAME: %s: %s is wanted, not %s\n", row->name, wanted, text);
	return -1;
}

#ifdef EXPORT_ECHO
/* The row takes one address of each family. */
static int parse_responder6(struct nlmsghdr *message, const char *text)
{
	struct in6_addr address;

	if (inet_pton(AF_INET6, text, &address) != 1)
		return refuse(find_row("responder"), text, "an address, as in 2001:db8::1");
	addattr_l(message, TC_MESSAGE_BYTES, TCA_AQM_RESPONDER6, &address, sizeof(address));
	return 2;
}

static void print_responder6(struct rtattr *nest)
{
	char text[INET6_ADDRSTRLEN];
	int left = RTA_PAYLOAD(nest);
	struct rtattr *rta = RTA_DATA(nest);

	while (RTA_OK(rta, left) && rta->rta_type != TCA_AQM_RESPONDER6)
		rta = RTA_NEXT(rta, left);
	if (!RTA_OK(rta, left) || RTA_PAYLOAD(rta) != sizeof(struct in6_addr))
		return;
	inet_ntop(AF_INET6, RTA_DATA(rta), text, sizeof(text));
	print_color_string(TC_JSON, TC_NO_COLOUR, "responder6", NULL, text);
	print_color_string(TC_TEXT, TC_NO_COLOUR, NULL, "responder %s ", text);
}

#endif
static void help_row(const struct aqm_field *row)
{
	const char *note = aqm_units[row->unit].note;
	char def[VALUE_TEXT], min[VALUE_TEXT], max[VALUE_TEXT];

	value_write(row, row->def, def);
	value_write(row, row->min, min);
	value_write(row, row->max, max);
	if (row->type == AQM_BOOL)
		fprintf(stderr, "  %s | no%s (default %s%s)\n", row->name, row->name,
		        row->def ? "" : "no", row->name);
	else if (row->type == AQM_CHOICE)
		fprintf(stderr, "  %s %s (default %s)\n", row->name, value_words(row, " | "),
		        def);
	else
		fprintf(stderr, "  %s %s to %s (default %s)\n", row->name, min, max, def);
	fprintf(stderr, "      %s", row->help);
	if (note)
		fprintf(stderr, " (%s)", note);
	fprintf(stderr, "%s\n", row->flags & AQM_FIXED ? "; cannot be changed later" : "");
#ifdef EXPORT_ECHO
	if (row->unit == AQM_IPV4)
		fprintf(stderr, "      also an IPv6 address, for its IPv6 probes\n");
#endif
}

static void help(void)
{
	const struct aqm_field *row;

	fprintf(stderr, "Usage: ... EXPORT_NAME [ ROW VALUE | ROW | noROW ] ...\nRows:\n");
	for (row = options; row->name; row++)
		help_row(row);
}

/* One option; the number of words used, or -1. */
static int parse_row(struct nlmsghdr *message, int argc, char **argv)
{
	const struct aqm_field *row = find_row(argv[0]);
	bool no = !row && !strncmp(argv[0], "no", 2);
	char most[VALUE_TEXT + 8] = "at most ";
	const char *wanted;
	u64 value;

	if (no)
		row = find_row(argv[0] + 2);
	if (!row || (no && row->type != AQM_BOOL)) {
		fprintf(stderr, "EXPORT_NAME: what is \"%s\"? Try \"EXPORT_NAME help\"\n",
		        argv[0]);
		return -1;
	}
	if (row->type == AQM_BOOL) {
		put_row(message, row, !no);
		return 1;
	}
	if (argc < 2)
		return refuse(row, "nothing", "a value");
#ifdef EXPORT_ECHO
	if (row->unit == AQM_IPV4 && strchr(argv[1], ':'))
		return parse_responder6(message, argv[1]);
#endif
	wanted = value_read(row, argv[1], &value);
	if (wanted)
		return refuse(row, argv[1], wanted);
	/* The kernel refuses what is out of range, of the bits that it gets. */
	if (value > U32_MAX && row->type != AQM_U64) {
		value_write(row, row->max, most + strlen(most));
		return refuse(row, argv[1], most);
	}
	put_row(message, row, value);
	return 2;
}

static int parse(const struct qdisc_util *self, int argc, char **argv, struct nlmsghdr *message,
                 const char *dev)
{
	struct rtattr *nest =
	        addattr_nest(message, TC_MESSAGE_BYTES, TCA_OPTIONS | NLA_F_NESTED);

	while (argc > 0) {
		int used;

		if (!strcmp(argv[0], "help")) {
			help();
			return -1;
		}
		used = parse_row(message, argc, argv);
		if (used < 0)
			return -1;
		argc -= used;
		argv += used;
	}
	addattr_nest_end(message, nest);
	return 0;
}

static int print_options(const struct qdisc_util *self, FILE *out, struct rtattr *nest)
{
	const struct aqm_field *row;
	struct rtattr *rta;
	u64 value;

	if (!nest)
		return 0;
	for (row = options; row->name; row++) {
		int left = RTA_PAYLOAD(nest);

		for (rta = RTA_DATA(nest); RTA_OK(rta, left); rta = RTA_NEXT(rta, left)) {
			if (rta->rta_type != row->attr)
				continue;
			value = 0;
			if (row->type == AQM_U64)
				memcpy(&value, RTA_DATA(rta), sizeof(value));
			else
				value = *(u32 *)RTA_DATA(rta);
#ifdef EXPORT_ECHO
			if (row->unit == AQM_IPV4)
				value = ntohl(value);
#endif
			value_print(row, value);
		}
	}
#ifdef EXPORT_ECHO
	print_responder6(nest);
#endif
	return 0;
}

static int print_xstats(const struct qdisc_util *self, FILE *out, struct rtattr *xstats)
{
	const struct aqm_field *row;
	size_t at = 0;
	u64 value;

	if (!xstats)
		return 0;
	for (row = statistics; row->name; row++, at += sizeof(value)) {
		if (at + sizeof(value) > RTA_PAYLOAD(xstats))
			break;
		memcpy(&value, (char *)RTA_DATA(xstats) + at, sizeof(value));
		value_print(row, value);
	}
	return 0;
}

/* tc finds it by this name. */
__attribute__((visibility("default"))) struct qdisc_util EXPORT_NAME_qdisc_util = {
        .id = "EXPORT_NAME",
        .parse_qopt = parse,
        .print_qopt = print_options,
        .print_xstats = print_xstats,
};
