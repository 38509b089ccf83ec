// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * init.c: process 1 of the guest. Mounts the usual file systems, runs the job of
 * the folder that the kernel was started in, prints its status, powers off.
 *
 * That folder is found as /proc/self/cwd through the host's own /proc, which the
 * root file system still shows here: so the kernel's command line, which is mixed
 * into its random pool, is the same wherever the job lies.
 */
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
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

int main(void)
{
	char folder[PATH_MAX];
	ssize_t length = readlink("/proc/self/cwd", folder, sizeof(folder) - 1);

	folder[length < 0 ? 0 : length] = '\0';
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/run", 1);
	setenv("TMPDIR", "/run", 1);
	setenv("LC_ALL", "C", 1);
	if (mount("proc", "/proc", "proc", 0, NULL) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL) ||
	    mount("tmpfs", "/run", "tmpfs", 0, NULL) || chdir(folder))
		perror("init: mount");
	loopback_up();
	fflush(stdout);
	printf("job status %d\n", run("./job"));
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
