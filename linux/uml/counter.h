// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* counter.h: counter.c is told of the kernel's requests to ptrace. */
#ifndef SOJOURN_UML_COUNTER_H
#define SOJOURN_UML_COUNTER_H

void note_request(long request);

#endif
