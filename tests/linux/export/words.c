// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// words.c: reads the words of its command line with an exported plugin of tc, and prints them
// as the plugin does.
//
// PLUGIN is the exported file, UTIL the table by which tc finds it.

#include <stdio.h>

/* What the plugin prints on either stream, until the next call. */
static FILE *page;
#undef stderr
#define stderr page
#include PLUGIN
#include "as_tc.h"

int main(int argc, char **argv)
{
	static char room[TC_MESSAGE_BYTES + NLMSG_HDRLEN];
	struct nlmsghdr *message = (void *)room;
	int status;

	message->nlmsg_len = NLMSG_HDRLEN;
	open_page();
	status = UTIL.parse_qopt(NULL, argc - 1, argv + 1, message, "dev");
	if (!status)
		UTIL.print_qopt(NULL, page, (void *)(room + NLMSG_HDRLEN));
	puts(close_page());
	return status ? 1 : 0;
}
