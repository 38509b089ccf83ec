/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * test.h: tests whose names are sentences.
 *
 *   TEST(marks_only_ect) { CHECK(...); CHECK_EQ(got, wanted); }
 *
 * A file with TESTs is a program; it runs them all, or those whose names contain
 * its first argument.
 */
#ifndef TEST_H
#define TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A test that hangs fails; the slowest takes a few seconds under sanitizers. */
#define TEST_LIMIT_S 120

struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
};

static struct test *tests, **last_test = &tests;
static int failures;

#define TEST(name_)                                                                            \
	static void name_(void);                                                               \
	static struct test test_##name_ = {#name_, name_, NULL};                               \
	__attribute__((constructor)) static void add_##name_(void)                             \
	{                                                                                      \
		*last_test = &test_##name_;                                                    \
		last_test = &test_##name_.next;                                                \
	}                                                                                      \
	static void name_(void)

#define CHECK(what_)                                                                           \
	do {                                                                                   \
		if (!(what_)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what_);    \
			failures++;                                                            \
		}                                                                              \
	} while (0)

#define CHECK_EQ(got_, wanted_)                                                                \
	do {                                                                                   \
		long long g_ = (long long)(got_), w_ = (long long)(wanted_);                   \
		if (g_ != w_) {                                                                \
			fprintf(stderr, "%s:%d: %s is %lld and not %lld\n", __FILE__,          \
			        __LINE__, #got_, g_, w_);                                      \
			failures++;                                                            \
		}                                                                              \
	} while (0)

#define CHECK_NEAR(got_, wanted_, by_)                                                         \
	do {                                                                                   \
		double g_ = (double)(got_), w_ = (double)(wanted_);                            \
		if (!(g_ - w_ <= (by_) && w_ - g_ <= (by_))) {                                 \
			fprintf(stderr, "%s:%d: %s is %.9g and not %.9g\n", __FILE__,          \
			        __LINE__, #got_, g_, w_);                                      \
			failures++;                                                            \
		}                                                                              \
	} while (0)

int main(int argc, char **argv)
{
	struct test *t;
	int run = 0, failed = 0;

	for (t = tests; t; t = t->next) {
		if (argc > 1 && !strstr(t->name, argv[1]))
			continue;
		failures = 0;
		alarm(TEST_LIMIT_S);
		t->run();
		run++;
		if (failures) {
			failed++;
			fprintf(stderr, "FAILED %s\n", t->name);
		}
	}
	printf("%d tests, %d failed\n", run, failed);
	return failed || !run;
}

#endif
