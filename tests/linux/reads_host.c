// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* reads_host.c: what a program can read of its machine without a file. */
#include <stdio.h>
#include <sys/auxv.h>
#include <x86intrin.h>

int main(void)
{
	unsigned int processor;
	unsigned long long first = __rdtsc(), second = __rdtscp(&processor);

	printf("counter %llu %llu, processor %u\n", first, second, processor);
	printf("features %lx, stack %p, library %p, vdso %lx\n", getauxval(AT_HWCAP),
	       (void *)&first, (void *)printf, getauxval(AT_SYSINFO_EHDR));
	return second <= first;
}
