// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * settings.c: settings of many network namespaces at once that no batch of ip or tc can
 * make. A process for each would take the guest longer than all the rest of a boot.
 *
 *   settings < LINES
 *
 *   space NAME            the lines below are about this namespace
 *   sysctl PATH VALUE...  below /proc/sys
 *   plain DEV             no offloads: each packet is built, and checked, as for a wire
 *   large DEV             with them: large segments, and arrivals joined to such
 *   alone DEV             no multicast
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const unsigned int offloads[] = {ETHTOOL_STSO, ETHTOOL_SGSO,    ETHTOOL_SGRO,
                                        ETHTOOL_SSG,  ETHTOOL_STXCSUM, ETHTOOL_SRXCSUM};

static int open_in(const char *folder, const char *name, int how)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return open(path, how | O_CLOEXEC);
}

static int enter(const char *space)
{
	int fd = open_in("/run/netns", space, O_RDONLY);
	int failed = fd < 0 || setns(fd, CLONE_NEWNET);

	close(fd);
	return failed;
}

static int set(const char *path, const char *value)
{
	int fd = open_in("/proc/sys", path, O_WRONLY);
	int failed = fd < 0 || write(fd, value, strlen(value)) < 0;

	close(fd);
	return failed;
}

static int offload(const char *dev, unsigned int on)
{
	int sock = socket(AF_INET, SOCK_DGRAM, 0), failed = sock < 0;

	for (size_t i = 0; i < sizeof(offloads) / sizeof(*offloads); i++) {
		struct ethtool_value wanted = {.cmd = offloads[i], .data = on};
		struct ifreq request = {.ifr_data = (void *)&wanted};

		snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", dev);
		failed = failed || ioctl(sock, SIOCETHTOOL, &request);
	}
	close(sock);
	return failed;
}

static int leave_groups(const char *dev)
{
	int sock = socket(AF_INET, SOCK_DGRAM, 0), failed = sock < 0;
	struct ifreq request = {};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", dev);
	failed = failed || ioctl(sock, SIOCGIFFLAGS, &request);
	request.ifr_flags &= ~IFF_MULTICAST;
	failed = failed || ioctl(sock, SIOCSIFFLAGS, &request);
	close(sock);
	return failed;
}

static int carry_out(const char *verb, const char *name, const char *rest)
{
	if (!strcmp(verb, "space"))
		return enter(name);
	if (!strcmp(verb, "sysctl"))
		return set(name, rest);
	if (!strcmp(verb, "plain"))
		return offload(name, 0);
	if (!strcmp(verb, "large"))
		return offload(name, 1);
	if (!strcmp(verb, "alone"))
		return leave_groups(name);
	errno = EINVAL;
	return -1;
}

int main(void)
{
	char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		char *rest = line, *verb, *name;

		rest[strcspn(rest, "\n")] = '\0';
		verb = strsep(&rest, " ");
		name = strsep(&rest, " ");
		if (!name || carry_out(verb, name, rest ? rest : "")) {
			fprintf(stderr, "settings: %s %s: %m\n", verb, name ? name : "");
			return 1;
		}
	}
	return 0;
}
