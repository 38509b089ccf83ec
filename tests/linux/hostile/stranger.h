/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * stranger.h: users without rights.
 */
#ifndef HOSTILE_STRANGER_H
#define HOSTILE_STRANGER_H

#include "storm.h"

enum { NOBODY = 65534 };

/* Tries changes on a queue of root's; each must be refused. */
bool stranger_is_refused(struct storm *, const struct qdisc *root);

/* Become nobody, with all rights in a user namespace of one's own. */
bool become_nobody(void);

#endif
