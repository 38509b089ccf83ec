// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// plugin.c: tc's plugin beside as_tc.h, for plugin.py.

#include <inttypes.h>
#include <stdio.h>

/* What the plugin prints on either stream, until the next call. */
static FILE *page;
#undef stderr
#define stderr page
#include "q_sojourn.c"

#include "as_tc.h"

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
