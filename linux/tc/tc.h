/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * tc.h: declarations from iproute2, which ships no headers for plugins.
 *
 * The structure's layout has been the same since 6.0; since 6.9 its functions take a
 * pointer to const, which makes no difference to a caller. The functions are tc's own; the
 * loader finds them when tc loads the plugin.
 */
#ifndef SOJOURN_TC_H
#define SOJOURN_TC_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(const struct qdisc_util *self, int argc, char **argv,
	                  struct nlmsghdr *message, const char *dev);
	int (*print_qopt)(const struct qdisc_util *self, FILE *out, struct rtattr *options);
	int (*print_xstats)(const struct qdisc_util *self, FILE *out, struct rtattr *stats);
	int (*parse_copt)(const struct qdisc_util *self, int argc, char **argv,
	                  struct nlmsghdr *message, const char *dev);
	int (*print_copt)(const struct qdisc_util *self, FILE *out, struct rtattr *options);
	int (*has_block)(const struct qdisc_util *self, struct rtattr *options, uint32_t block,
	                 bool *has);
};

/* Where a value is printed: as text, as JSON. */
enum { TC_TEXT = 1, TC_JSON = 2, TC_ANY = 4 };
enum { TC_NO_COLOUR = 6 };
/* The longest message that tc has room for. */
enum { TC_MESSAGE_BYTES = 16384 };

int addattr_l(struct nlmsghdr *message, int room, int type, const void *data, int bytes);

struct rtattr *addattr_nest(struct nlmsghdr *message, int room, int type);

int addattr_nest_end(struct nlmsghdr *message, struct rtattr *nest);

void open_json_object(const char *key);

void close_json_object(void);

bool is_json_context(void);

void print_nl(void);

int print_color_string(int where, int colour, const char *key, const char *format,
                       const char *value);

int print_color_u64(int where, int colour, const char *key, const char *format, uint64_t value);

int print_color_s64(int where, int colour, const char *key, const char *format, int64_t value);

int print_color_float(int where, int colour, const char *key, const char *format, double value);

int print_color_bool(int where, int colour, const char *key, const char *format, bool value);

#endif
