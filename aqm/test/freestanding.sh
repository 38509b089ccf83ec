#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# freestanding.sh: compile aqm/ and the queue template for targets without a library, as
# a kernel does, and see that nothing but memset and memcpy is wanted from outside. Each part of
# the template compiles alone: it includes all that it needs.
set -eu
cd "$(dirname "$0")/.."
out=${BUILD:-../build/aqm-freestanding}
nm=${NM:-$(command -v llvm-nm-16 || command -v llvm-nm)}
flags='-std=gnu11 -O2 -ffreestanding -fno-pic -Wall -Wextra -Wconversion -Wsign-conversion
	-Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wframe-larger-than=512
	-Werror -Wno-unused-function'

# A host that owns nothing but an array: what the template itself needs.
mkdir -p "$out"
cat >"$out/packets.h" <<'HOST'
#include "aqm.h"
#define AQM_NIL U32_MAX
typedef u32 aqm_h;
struct slot { struct aqm_keep keep; u32 len, next; u8 ds, why; };
typedef struct slot *aqm_ctx;
struct aqm_event;
static inline struct aqm_keep *host_keep(aqm_ctx s, aqm_h h) { return &s[h].keep; }
static inline u32 host_len(aqm_ctx s, aqm_h h) { return s[h].len; }
static inline u32 host_mem(aqm_ctx s, aqm_h h) { return s[h].len; }
static inline u32 host_flow(aqm_ctx s, aqm_h h) { return s[h].keep.flow; }
static inline u8 host_ds(aqm_ctx s, aqm_h h) { return s[h].ds; }
static inline bool host_mark(aqm_ctx s, aqm_h h) { s[h].ds |= AQM_CE; return true; }
static inline aqm_h host_next(aqm_ctx s, aqm_h h) { return s[h].next; }
static inline void host_set_next(aqm_ctx s, aqm_h h, aqm_h n) { s[h].next = n; }
static inline void host_free(aqm_ctx s, aqm_h h, u8 why) { s[h].why = why; }
static inline bool host_is_probe(aqm_ctx s, aqm_h h) { return !s[h].keep.flow; }
static inline void host_trace(aqm_ctx s, const struct aqm_event *e) { (void)s, (void)e; }
HOST
cat >"$out/host.c" <<'HOST'
#include "packets.h"
#include "queue.h"
_Static_assert(sizeof(struct aqm_keep) == 16, "a qdisc has 20 bytes in skb->cb");
_Static_assert(sizeof(struct aqm_pkt) == 32, "aqm_pkt");
_Static_assert(sizeof(struct aqm_verdict) == 28, "aqm_verdict");
bool put(struct aqm_queue *q, u64 now, u32 h);
bool put(struct aqm_queue *q, u64 now, u32 h) { return aqm_enqueue(q, now, h); }
bool probe(struct aqm_queue *q, u64 now, u32 h);
bool probe(struct aqm_queue *q, u64 now, u32 h)
{
	aqm_echo(q, now, 0, 1);
	return aqm_probe_asked(q) && aqm_join_probe(q, now, h);
}
u32 get(struct aqm_queue *q, u64 now);
u32 get(struct aqm_queue *q, u64 now) { return aqm_dequeue(q, now); }
void init(struct aqm_queue *q, const struct aqm_algo *a, const struct aqm_setup *s, const void *c);
void init(struct aqm_queue *q, const struct aqm_algo *a, const struct aqm_setup *s, const void *c)
{
	aqm_queue_init(q, a, s, c, 1514, 0, 0);
	aqm_queue_apply(q, 1, s, c);
	aqm_queue_reset(q, 2);
}
HOST

# What one object wants that no file of ours defines.
wanted() {
	"$nm" -u "$1" | sed 's/.* //; /^aqm_/d; /^memset$/d; /^memcpy$/d; /^$/d'
}

compile() { # name, then the compiler and its target
	name=$1
	shift
	for source in ./*.c algorithms/*.c "$out/host.c"; do
		object=$out/$name-$(basename "$source" .c).o
		# shellcheck disable=SC2086
		"$@" $flags -I. -c "$source" -o "$object"
		extra=$(wanted "$object")
		if [ -n "$extra" ]; then
			echo "$name: $source wants" $extra >&2
			exit 1
		fi
	done
	echo "$name: compiles, and wants at most memset and memcpy"
}

for part in queue/*.h; do
	# shellcheck disable=SC2086
	printf '#include "packets.h"\n#include "%s"\n' "$part" |
		gcc $flags -mgeneral-regs-only -I. -I"$out" -fsyntax-only -x c -
done
echo 'queue/: each part compiles alone'

compile x86_64 clang-16 --target=x86_64-linux-gnu -mgeneral-regs-only
compile i386 clang-16 --target=i386-linux-gnu -mgeneral-regs-only
compile arm clang-16 --target=armv7-linux-gnueabi -msoft-float
compile aarch64 clang-16 --target=aarch64-linux-gnu -mgeneral-regs-only
compile powerpc clang-16 --target=powerpc-linux-gnu -msoft-float
compile s390x clang-16 --target=s390x-linux-gnu -msoft-float
compile gcc gcc -mgeneral-regs-only
compile gcc-32 gcc -m32 -mgeneral-regs-only
