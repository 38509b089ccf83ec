// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * init.c: process 1 of the guest. Lays its file systems, runs ./job in /run/job, prints the
 * job's status, powers off.
 *
 * The kernel is started in a folder that has this program, linked statically, an empty folder
 * `root`, and links to folders of the host. That folder is the guest's first root. Its second
 * is the host's, with file systems of the guest's own above it; each link that the
 * environment's `shown` names is a folder below /run. So no path in the guest, and not the
 * kernel's command line, tells where the host has them.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int sock = socket(AF_INET, SOCK_DGRAM, 0);

	if (sock < 0 || ioctl(sock, SIOCSIFFLAGS, &request))
		perror("init: lo");
	close(sock);
}

static int run(char *job)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		execl(job, job, NULL);
		perror("init: job");
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void lay(const char *what, const char *where, const char *kind, const char *data)
{
	if (mount(what, where, kind, 0, data))
		perror(where);
}

/* A folder of the host, through a link beside this program. */
static void show(const char *name)
{
	char where[64], path[64];

	snprintf(where, sizeof(where), "/run/%s", name);
	/* The point has the host follow the link. */
	snprintf(path, sizeof(path), "/proc/self/cwd/%s/.", name);
	if (mkdir(where, 0755))
		perror(where);
	lay("host", where, "hostfs", path);
}

int main(void)
{
	lay("host", "/root", "hostfs", "/");
	if (chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot("."))
		perror("init: root");
	lay("devtmpfs", "/dev", "devtmpfs", NULL);
	lay("proc", "/proc", "proc", NULL);
	lay("sysfs", "/sys", "sysfs", NULL);
	lay("tmpfs", "/run", "tmpfs", NULL);
	for (char *names = getenv("shown"), *name; (name = strsep(&names, ":"));)
		show(name);
	if (chdir("/run/job"))
		perror("init: job");
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/run", 1);
	setenv("TMPDIR", "/run", 1);
	setenv("LC_ALL", "C", 1);
	loopback_up();
	fflush(stdout);
	printf("job status %d\n", run("./job"));
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
