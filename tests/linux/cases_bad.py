# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_bad.py: what the qdisc must refuse, and that nothing changes by it."""

from __future__ import annotations

import errno
import random
from collections.abc import Iterator
from contextlib import contextmanager

from tests.linux import netlink as nl
from tests.linux.cases import MS
from tests.linux.net import Sender, case, lay_wire
from tests.linux.netlink import Netlink, Refused
from tests.linux.trees import books, drain, lay_tree


@contextmanager
def refuses(code: int, *words: str) -> Iterator[None]:
    try:
        yield
    except Refused as answer:
        assert answer.code == code, answer
        assert all(word in answer.sentence for word in words), answer
    else:
        raise AssertionError(f"accepted: {words}")


@case
def bad_options_are_refused_and_nothing_changes() -> None:
    lay_wire()
    kernel = Netlink()
    queue, params = nl.QUEUE, nl.PARAMS
    # Rows of codel, and numbers that no row and no nest has.
    target, interval, no_param, no_queue_row, no_nest = 1, 2, 99, 9, 9
    tca_options = 2
    name = nl.algorithm("codel")
    bad: list[tuple[int, tuple[str, ...], bytes]] = [
        (errno.ERANGE, ("limit", "0", "1 to 16777216"), nl.nest(queue, nl.u32(nl.LIMIT, 0))),
        (errno.ERANGE, ("limit: 16777217",), nl.nest(queue, nl.u32(nl.LIMIT, 16777217))),
        (errno.ERANGE, ("ecn: 2", "0 to 1"), nl.nest(queue, nl.u32(nl.ECN, 2))),
        (errno.ERANGE, ("flows: 65537",), nl.nest(queue, nl.u32(nl.FLOWS, 65537))),
        (errno.ERANGE, ("split_gso: 7",), nl.nest(nl.HOST, nl.u32(nl.SPLIT_GSO, 7))),
        (
            errno.ERANGE,
            ("target: 999", "1000 to 10000000000"),
            nl.nest(params, nl.u64(target, 999)),
        ),
        (
            errno.ERANGE,
            ("interval: 18446744073709551615 is not in 1000 to 100000000000",),
            nl.nest(params, nl.u64(interval, 2**64 - 1)),
        ),
        (errno.EINVAL, ("quantum: ", "256"), nl.nest(queue, nl.u32(nl.QUANTUM, 255))),
        (errno.EINVAL, ("limit: 8 bytes given, 4 wanted",), nl.nest(queue, nl.u64(nl.LIMIT, 5))),
        (errno.EINVAL, ("target: 4 bytes given",), nl.nest(params, nl.u32(target, 5000))),
        (errno.EINVAL, ("target: 0 bytes given",), nl.nest(params, nl.attribute(target, b""))),
        (errno.EINVAL, (f"number {no_param}",), nl.nest(params, nl.u64(no_param, 5000))),
        (errno.EINVAL, (f"number {no_queue_row}",), nl.nest(queue, nl.u32(no_queue_row, 5))),
        (
            errno.EINVAL,
            ("limit: given twice",),
            nl.nest(queue, nl.u32(nl.LIMIT, 5), nl.u32(nl.LIMIT, 6)),
        ),
        (errno.EINVAL, ("left over",), nl.nest(queue, nl.u32(nl.LIMIT, 5), b"\3\0\0\0")),
        (errno.EINVAL, (), nl.attribute(queue, nl.u32(nl.LIMIT, 5))),
        (errno.EINVAL, (), nl.nest(no_nest, nl.u32(target, 5))),
        (errno.ERANGE, (), nl.attribute(nl.HOST | nl.NESTED, b"\1")),
    ]
    for code, words, options in bad:
        with refuses(code, *words):
            kernel.add("c0", "root", "1:", name, options)
    names = [
        (errno.ENOENT, "no algorithm is called nosuch", nl.algorithm("nosuch")),
        (errno.ENOENT, "no algorithm is called ", nl.algorithm("")),
        (errno.EINVAL, "", nl.algorithm("x" * 32)),
        (errno.EINVAL, "", nl.attribute(nl.ALGO, b"codel")),
    ]
    for code, words_, options in names:
        with refuses(code, words_):
            kernel.add("c0", "root", "1:", options)
    with refuses(errno.EINVAL):
        kernel.put_raw(
            "c0", "root", "1:", nl.CREATE | nl.EXCLUSIVE, nl.attribute(tca_options, name)
        )
    assert all(q.kind != "sojourn" for q in kernel.dump("c0").values())

    kernel.add("c0", "root", "1:", name, nl.nest(params, nl.u64(target, 7 * MS)))
    Sender().send(3)
    before = kernel.dump("c0")["1:"]
    # A valid row beside the bad one must not act either. Bytes 2 and 3 of an attribute are its
    # type: where the bad row is in the parameters, a nest of them would be given twice.
    kind = slice(2, 4)
    for code, words, options in bad:
        beside = options[kind] != nl.nest(params)[kind]
        good = nl.nest(params, nl.u64(target, 9 * MS)) if beside else b""
        with refuses(code, *words):
            kernel.change("c0", "root", "1:", good, options)
    with refuses(errno.EOPNOTSUPP, "this queue is codel"):
        kernel.change("c0", "root", "1:", nl.algorithm("pie"))
    with refuses(errno.EINVAL, "flows: this row cannot be changed"):
        kernel.change("c0", "root", "1:", nl.nest(queue, nl.u32(nl.FLOWS, 5)))
    assert kernel.dump("c0")["1:"] == before


@case
def each_row_may_be_given_once_however_many_there_are() -> None:
    lay_wire()
    kernel = Netlink()
    name, rows = nl.algorithm("many"), [nl.u64(n, n) for n in range(10, 80)]
    kernel.add("c0", "root", "1:", name, nl.nest(nl.PARAMS, *rows))
    for n in (10, 42, 73, 74, 79):
        with refuses(errno.EINVAL, f"r{n}: given twice"):
            kernel.change("c0", "root", "1:", nl.nest(nl.PARAMS, *rows, nl.u64(n, 5)))
    # Empty attributes of type 0 only align others; with bytes in them they are none.
    padded = [part for row in rows for part in (nl.attribute(0, b""), row)]
    kernel.change("c0", "root", "1:", nl.nest(nl.PARAMS, *padded))
    with refuses(errno.EINVAL, "no row has the number 0"):
        kernel.change("c0", "root", "1:", nl.nest(nl.PARAMS, nl.u64(0, 5)))


@case
def a_demand_for_too_much_memory_is_refused() -> None:
    lay_wire()
    kernel = Netlink()
    # Rows of choke.
    min_, max_ = 1, 2
    many = nl.nest(nl.QUEUE, nl.u32(nl.FLOWS, 65536))
    with refuses(errno.E2BIG, "64 MB is the most"):
        kernel.add("c0", "root", "1:", nl.algorithm("duk"), many)
    long = nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 1 << 24))
    with refuses(errno.EINVAL, "limit: an algorithm that samples"):
        kernel.add("c0", "root", "1:", nl.algorithm("choke"), long)
    kernel.add("c0", "root", "1:", nl.algorithm("codel"), many)
    mine = kernel.dump("c0")["1:"]
    assert 1 << 20 < int.from_bytes(mine.stats[nl.MEMORY], "little") < 64 << 20
    kernel.delete("c0", "root", "1:")
    kernel.add("c0", "root", "1:", nl.algorithm("choke"))
    with refuses(errno.EINVAL, "limit: limit is above what this queue was made for"):
        kernel.change("c0", "root", "1:", nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 1025)))
    with refuses(errno.EINVAL, "min"):
        kernel.change("c0", "root", "1:", nl.nest(nl.PARAMS, nl.u32(min_, 60), nl.u32(max_, 20)))


@case
def noise_is_refused_or_taken_but_never_hurts() -> None:
    """Random attributes: the kernel must stay silent and the books right."""
    lay_wire()
    kernel = Netlink()
    below = lay_tree(kernel, "htb", nl.algorithm("pie"))
    draw = random.Random(1)
    sender = Sender(nl.handle("1:10"))
    taken = 0
    for _ in range(3000):
        options = []
        for _ in range(draw.randrange(1, 4)):
            inside = [
                draw.choice((nl.u32, nl.u64))(
                    draw.randrange(9), draw.getrandbits(draw.randrange(1, 32))
                )
                for _ in range(draw.randrange(3))
            ]
            kind = draw.randrange(6) | draw.choice((nl.NESTED, nl.NESTED, 0))
            options.append(nl.attribute(kind, b"".join(inside)[: draw.choice((99, 99, 99, 7))]))
        try:
            kernel.change("c0", *below[0], *options)
            taken += 1
        except Refused:
            pass
        sender.send(draw.randrange(3))
        books(kernel)
    assert taken > 20, taken
    drain(kernel)
