/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * as_tc.h: small copies of the functions that tc itself has, behind the plugin that calls them.
 * It prints to `page`, which stands for either stream.
 */
#ifndef SOJOURN_TESTS_AS_TC_H
#define SOJOURN_TESTS_AS_TC_H

#include <inttypes.h>

static char *printed;
static size_t printed_bytes;
static bool json, first;

static void open_page(void)
{
	free(printed);
	page = open_memstream(&printed, &printed_bytes);
}

static const char *close_page(void)
{
	fclose(page);
	return printed;
}

int addattr_l(struct nlmsghdr *message, int room, int type, const void *data, int bytes)
{
	struct rtattr *last = (void *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));

	if (NLMSG_ALIGN(message->nlmsg_len) + RTA_SPACE(bytes) > (u32)room)
		return -1;
	*last = (struct rtattr){(unsigned short)RTA_LENGTH(bytes), (unsigned short)type};
	if (bytes)
		memcpy(RTA_DATA(last), data, (size_t)bytes);
	message->nlmsg_len = NLMSG_ALIGN(message->nlmsg_len) + RTA_SPACE(bytes);
	return 0;
}

struct rtattr *addattr_nest(struct nlmsghdr *message, int room, int type)
{
	struct rtattr *nest = (void *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));

	addattr_l(message, room, type, NULL, 0);
	return nest;
}

int addattr_nest_end(struct nlmsghdr *message, struct rtattr *nest)
{
	char *end = (char *)message + NLMSG_ALIGN(message->nlmsg_len);

	nest->rta_len = (unsigned short)(end - (char *)nest);
	return 0;
}

static bool prints(int where, const char *key)
{
	if (where == (json ? TC_TEXT : TC_JSON))
		return false;
	if (json) {
		fprintf(page, "%s\"%s\":", first ? "" : ",", key);
		first = false;
	}
	return true;
}

void open_json_object(const char *key)
{
	if (!json)
		return;
	prints(TC_JSON, key);
	fputc('{', page);
	first = true;
}

void close_json_object(void)
{
	if (json)
		fputc('}', page);
	first = false;
}

bool is_json_context(void)
{
	return json;
}

void print_nl(void)
{
	if (!json)
		fputc('\n', page);
}

int print_color_string(int where, int colour, const char *key, const char *format,
                       const char *value)
{
	(void)colour;
	if (prints(where, key))
		fprintf(page, json ? "\"%s\"" : format, value);
	return 0;
}

int print_color_u64(int where, int colour, const char *key, const char *format, uint64_t value)
{
	(void)colour;
	if (prints(where, key))
		fprintf(page, json ? "%" PRIu64 : format, value);
	return 0;
}

int print_color_s64(int where, int colour, const char *key, const char *format, int64_t value)
{
	(void)colour;
	if (prints(where, key))
		fprintf(page, json ? "%" PRId64 : format, value);
	return 0;
}

int print_color_float(int where, int colour, const char *key, const char *format, double value)
{
	(void)colour;
	if (prints(where, key))
		fprintf(page, json ? "%g" : format, value);
	return 0;
}

int print_color_bool(int where, int colour, const char *key, const char *format, bool value)
{
	(void)colour;
	if (prints(where, key))
		fprintf(page, json ? "%s" : format, value ? "true" : "false");
	return 0;
}

#endif
