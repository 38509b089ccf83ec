/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * value.h: converts a row's value from and to text, exactly, and prints it.
 */
#ifndef SOJOURN_VALUE_H
#define SOJOURN_VALUE_H

#include "aqm.h"

#define VALUE_TEXT 48

/* NULL; or the form expected instead of `text`. */
const char *value_read(const struct aqm_field *row, const char *text, u64 *value);

/* In the largest unit that is exact, so that reading it gives the value back. */
void value_write(const struct aqm_field *row, u64 value, char text[VALUE_TEXT]);

/* The words of an AQM_CHOICE, until the next call. */
const char *value_words(const struct aqm_field *row, const char *between);

/* Of a probability's Q0.32. */
double value_share(u64 value);

/* By tc: text that a command accepts; JSON in the row's own unit, but a fraction for a
 * probability. */
void value_print(const struct aqm_field *row, u64 value);

#endif
