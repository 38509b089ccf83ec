/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * deps.h: names all that this folder needs from outside.
 *
 * Fixed-width integers, bool, size_t and NULL; two memory functions, which
 * a compiler may call by itself anyway. Nothing else: no libc, no floating
 * point, no clock, no allocation.
 */
#ifndef AQM_DEPS_H
#define AQM_DEPS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#ifndef U32_MAX
#define U32_MAX 0xffffffffu
#endif
#endif

#define aqm_zero(to, bytes)       __builtin_memset((to), 0, (bytes))
#define aqm_copy(to, from, bytes) __builtin_memcpy((to), (from), (bytes))

#endif
