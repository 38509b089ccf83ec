// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * counter.c: preloaded into the kernel process; the time-stamp counter of its guest's processes
 * counts their readings. The processor's own is a clock of the host, and the loader of each
 * program reads it: so a reading must not fail either.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counter.h"

/* As a processor of 1 GHz that takes a microsecond for each reading. */
enum { STEP = 1000 };
/* Instructions, the first byte lowest. */
enum { RDTSC = 0x310f, RDTSC_MASK = 0xffff, RDTSCP = 0xf9010f, RDTSCP_MASK = 0xffffff };

static long resumed_with;

void note_request(long request)
{
	/* So each process of the guest begins. */
	if (request == PTRACE_TRACEME)
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	if (request == PTRACE_SYSEMU || request == PTRACE_SYSEMU_SINGLESTEP)
		resumed_with = request;
}

static long ask(long request, pid_t pid, void *data)
{
	return syscall(SYS_ptrace, request, pid, NULL, data);
}

/* Whether the process stands at a reading; then it gets one, and goes on. */
static int give_reading(pid_t pid)
{
	static uint64_t counter;
	struct user_regs_struct regs;
	siginfo_t why;
	long code;

	/* A page that is missing has an address, an instruction that is refused has none. */
	if (ask(PTRACE_GETSIGINFO, pid, &why) || why.si_code != SI_KERNEL ||
	    ask(PTRACE_GETREGS, pid, &regs) ||
	    syscall(SYS_ptrace, PTRACE_PEEKTEXT, pid, regs.rip, &code))
		return 0;
	if ((code & RDTSC_MASK) == RDTSC) {
		regs.rip += 2;
	} else if ((code & RDTSCP_MASK) == RDTSCP) {
		regs.rip += 3;
		regs.rcx = 0; /* the processor's number */
	} else {
		return 0;
	}
	counter += STEP;
	regs.rax = counter & UINT32_MAX;
	regs.rdx = counter >> 32;
	return !ask(PTRACE_SETREGS, pid, &regs) && !ask(resumed_with, pid, NULL);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	pid_t found;
	int how = 0;

	do {
		found = (pid_t)syscall(SYS_wait4, pid, &how, options, NULL);
	} while (found > 0 && resumed_with && WIFSTOPPED(how) && WSTOPSIG(how) == SIGSEGV &&
	         give_reading(found));
	if (status)
		*status = how;
	return found;
}
