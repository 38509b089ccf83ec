/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * attribute.h: finds an attribute in a message of rtnetlink.
 */
#ifndef ATTRIBUTE_H
#define ATTRIBUTE_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>

/* The first of this type in so many bytes; NULL: there is none. */
static inline const struct rtattr *attribute(const void *from, size_t bytes, unsigned type)
{
	const struct rtattr *a = from;
	size_t left = bytes;

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

/* The same in a nest, if there is one. */
static inline const struct rtattr *inside(const struct rtattr *nest, unsigned type)
{
	return nest ? attribute(RTA_DATA(nest), RTA_PAYLOAD(nest), type) : NULL;
}

#endif
