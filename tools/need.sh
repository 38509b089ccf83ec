#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# need.sh TASK: see that the system packages of a task are there.
# As root on a Debian system it installs what is missing; otherwise it names the packages and stops.
set -euo pipefail

# probe (a command on PATH, or a file) and the Debian package that brings it
build_needs=(gcc:gcc make:make python3:python3 /usr/include/stdlib.h:libc6-dev)
test_needs=("${build_needs[@]}" clang-16:clang-16 clang-format-16:clang-format-16 clang-tidy-16:clang-tidy-16
	llvm-nm-16:llvm-16 /usr/lib/llvm-16/lib/clang/16/lib/linux/libclang_rt.fuzzer-x86_64.a:libclang-rt-16-dev
	/usr/lib/gcc/x86_64-linux-gnu/12/32/libgcc.a:gcc-12-multilib valgrind:valgrind
	flex:flex bison:bison bc:bc xz:xz-utils /sbin/tc:iproute2 /sbin/ethtool:ethtool /sbin/sysctl:procps
	/sbin/insmod:kmod /sbin/nft:nftables sparse:sparse)

# the deep ones play the module in one of Debian's own kernels, too
deep_needs=("${test_needs[@]}" busybox:busybox-static qemu-system-x86_64:qemu-system-x86 ns:ns2
	qemu-system-aarch64:qemu-system-arm qemu-system-s390x:qemu-system-misc
	qemu-system-mipsel:qemu-system-mips
	mmdebstrap:mmdebstrap /sbin/mke2fs:e2fsprogs
	tshark:tshark qemu-s390x-static:qemu-user-static
	aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu /usr/aarch64-linux-gnu/lib/libc.a:libc6-dev-arm64-cross
	arm-linux-gnueabihf-gcc:gcc-arm-linux-gnueabihf /usr/arm-linux-gnueabihf/lib/libc.a:libc6-dev-armhf-cross
	mipsel-linux-gnu-gcc:gcc-mipsel-linux-gnu /usr/mipsel-linux-gnu/lib/libc.a:libc6-dev-mipsel-cross
	s390x-linux-gnu-gcc:gcc-s390x-linux-gnu /usr/s390x-linux-gnu/lib/libc.a:libc6-dev-s390x-cross
	'/lib/modules/*/build:linux-headers-cloud-amd64')

deb_needs=("${build_needs[@]}" dpkg-buildpackage:dpkg-dev dh:debhelper dh_dkms:dh-dkms lintian:lintian)

# what tests do without, saying so: the qdisc's need a kernel to run in
kernel_source=/usr/src/linux-source-6.12.tar.xz:linux-source-6.12

present() {
	case "$1" in
	/*) compgen -G "$1" >/dev/null ;;
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

case "${1:-}" in
build) needs=("${build_needs[@]}") ;;
test) needs=("${test_needs[@]}") ;;
deep) needs=("${deep_needs[@]}") ;;
deb) needs=("${deb_needs[@]}") ;;
*)
	echo "usage: tools/need.sh build|test|deep|deb" >&2
	exit 2
	;;
esac

missing=()
for need in "${needs[@]}"; do
	present "${need%:*}" || missing+=("${need#*:}")
done
python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)

can_install() {
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

updated=
update_once() {
	[ -n "$updated" ] || apt-get update -qq
	updated=yes
}

if [[ $1 == test || $1 == deep ]] && ! present "${kernel_source%:*}" && can_install; then
	update_once
	if apt-cache show "${kernel_source#*:}" >/dev/null 2>&1; then
		missing+=("${kernel_source#*:}")
	else
		echo "this Debian has no ${kernel_source#*:}: the tests of the qdisc will be skipped"
	fi
fi

if [ "${#missing[@]}" -gt 0 ]; then
	if can_install; then
		echo "installing: ${missing[*]}"
		update_once
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
	else
		echo "missing system packages: ${missing[*]}" >&2
		echo "install them with: sudo apt-get install ${missing[*]}" >&2
		exit 1
	fi
fi

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
	echo "Python 3.11 or newer is needed; $(python3 --version) is what python3 names here" >&2
	exit 1
}
command -v cargo >/dev/null || {
	echo "the Rust toolchain is missing: install rustup (https://rustup.rs)" >&2
	echo "the version is pinned in rust-toolchain.toml and rustup fetches it by itself" >&2
	exit 1
}
pinned=$(sed -n 's/^channel = "\(.*\)"/\1/p' "$(dirname "$0")/../rust-toolchain.toml")
found=$(cd "$(dirname "$0")/.." && cargo --version | cut -d' ' -f2)
[ "$(printf '%s\n' "$pinned" "$found" | sort -V | head -n 1)" = "$pinned" ] || {
	echo "Rust $pinned or newer is needed; this cargo is $found: install rustup (https://rustup.rs)" >&2
	exit 1
}
