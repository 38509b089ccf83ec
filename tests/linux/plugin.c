// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// plugin.c: tc's plugin with small copies of the functions that tc itself has, for plugin.py.

#include <inttypes.h>
#include <stdio.h>

/* What the plugin prints on either stream, until the next call. */
static FILE *page;
#undef stderr
#define stderr page
#include "q_sojourn.c"

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

/* ---- tc's functions ---- */

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

/* ---- for plugin.py ---- */

#define API __attribute__((visibility("default")))

/* The attribute of the options is put into `options`; its length, or 0 and a refusal. */
API int plugin_read(int argc, char **argv, int anew, void *options, const char **refusal)
{
	static char room[TC_MESSAGE_BYTES + NLMSG_HDRLEN];
	struct nlmsghdr *message = (void *)room;
	int status, bytes;

	memset(room, 0, sizeof(room));
	*message = (struct nlmsghdr){.nlmsg_len = NLMSG_HDRLEN,
	                             .nlmsg_flags = anew ? NLM_F_REPLACE : 0};
	open_page();
	status = sojourn_qdisc_util.parse_qopt(NULL, argc, argv, message, "dev");
	*refusal = close_page();
	bytes = (int)message->nlmsg_len - NLMSG_HDRLEN;
	memcpy(options, room + NLMSG_HDRLEN, (size_t)bytes);
	return status ? 0 : bytes;
}

/* Options, and statistics unless these are NULL, each an attribute with its head. */
API const char *plugin_show(void *options, void *stats, int in_json)
{
	open_page();
	json = in_json;
	first = true;
	sojourn_qdisc_util.print_qopt(NULL, page, options);
	if (stats) {
		print_nl();
		sojourn_qdisc_util.print_xstats(NULL, page, stats);
	}
	return close_page();
}

/* The row's value as text; the algorithm decides which rows there are. */
API const char *plugin_value(const char *algo, const char *name, u64 value)
{
	static char text[VALUE_TEXT];
	struct said said = {.algo = aqm_find(algo)};
	int type;

	value_write(find(&said, name, &type), value, text);
	return text;
}
