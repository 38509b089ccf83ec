/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * paths.h: what stands in the way of packets: IPsec and a firewall. Each call answers 0, or
 * why it was refused.
 */
#ifndef HOSTILE_PATHS_H
#define HOSTILE_PATHS_H

#include "draw.h"
#include "wire.h"

/* A drawn policy out or in: to block, or to want ESP; now and then with its state. */
int ipsec_add(struct wire *xfrm, struct draw *);
int ipsec_flush(struct wire *xfrm);

/* Masquerade what leaves, let in only what belongs to something known, or both. */
int firewall_add(struct wire *netfilter, struct draw *);
int firewall_flush(struct wire *netfilter);

#endif
