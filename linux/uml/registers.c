// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * registers.c: preloaded into the kernel process; transfers the vector registers of its
 * guest's processes on processors that have more of them than the kernel supports.
 *
 * Linux 6.12 and older keep 2696 bytes of them, but a current host requires as many as the
 * processor has: 11,008 with AMX, where each guest would panic at its first process. The
 * rest keeps its initial state: no program in a guest requests AMX.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "counter.h"

/* More than any processor has; the host writes only the existing ones. */
static _Alignas(64) unsigned char whole[1 << 16];
static size_t whole_bytes;

static long ask(long request, pid_t pid, void *addr, void *data)
{
	return syscall(SYS_ptrace, request, pid, addr, data);
}

static long take(pid_t pid, struct iovec *part)
{
	struct iovec all = {.iov_base = whole, .iov_len = sizeof(whole)};
	long failed = ask(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &all);

	if (failed)
		return failed;
	whole_bytes = all.iov_len;
	if (part->iov_len > whole_bytes)
		part->iov_len = whole_bytes;
	memcpy(part->iov_base, whole, part->iov_len);
	return 0;
}

static long give(pid_t pid, const struct iovec *part)
{
	struct iovec all = {.iov_base = whole, .iov_len = whole_bytes};

	if (part->iov_len >= whole_bytes)
		return ask(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, (void *)part);
	memcpy(whole, part->iov_base, part->iov_len);
	memset(whole + part->iov_len, 0, whole_bytes - part->iov_len);
	return ask(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &all);
}

long ptrace(enum __ptrace_request request, ...)
{
	va_list words;
	pid_t pid;
	void *addr, *data;
	long word, result;

	va_start(words, request);
	pid = va_arg(words, pid_t);
	addr = va_arg(words, void *);
	data = va_arg(words, void *);
	va_end(words);
	if (addr == (void *)NT_X86_XSTATE && request == PTRACE_GETREGSET)
		return take(pid, data);
	if (addr == (void *)NT_X86_XSTATE && request == PTRACE_SETREGSET)
		return give(pid, data);
	note_request(request);
	/* The kernel stores a peeked word; the library returns it. */
	if (request != PTRACE_PEEKTEXT && request != PTRACE_PEEKDATA &&
	    request != PTRACE_PEEKUSER)
		return ask(request, pid, addr, data);
	result = ask(request, pid, addr, &word);
	if (result)
		return result;
	errno = 0;
	return word;
}
