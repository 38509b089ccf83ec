# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Units are read as people write them, and never guessed."""

from __future__ import annotations

import re

import pytest
from sojourn.core.units import Duration, Rate, Share, Size, UnitError


@pytest.mark.parametrize(
    ("kind", "text", "number"),
    [
        (Rate, "100 Mbit/s", 100_000_000),
        (Rate, "100mbit", 100_000_000),
        (Rate, "12.5 MB/s", 100_000_000),
        (Rate, "87.2 kbit/s", 87_200),
        (Rate, "1 Tbit/s", 10**12),
        (Rate, "10tbit", 10**13),
        (Rate, "808Kbit", 808_000),
        (Rate, "10Mibit", 10 * 2**20),
        (Duration, "50 ms", 50_000_000),
        (Duration, "1.5 min", 90_000_000_000),
        (Duration, "3 \N{MICRO SIGN}s", 3_000),
        (Duration, "3 \N{GREEK SMALL LETTER MU}s", 3_000),
        (Duration, "5msec", 5_000_000),
        (Duration, "5000usec", 5_000_000),
        (Size, "250 kB", 250_000),
        (Size, "64 KiB", 65_536),
        (Size, "12000 bit", 1_500),
    ],
)
def test_a_quantity_is_an_exact_integer(
    kind: type[Rate | Duration | Size], text: str, number: int
) -> None:
    assert kind(text) == number


@pytest.mark.parametrize("number", [1, 999, 1000, 87_200, 10**9, 123_456_789, 2**40, 2**64 - 1])
@pytest.mark.parametrize("kind", [Rate, Duration, Size])
def test_what_is_written_reads_back(kind: type[Rate | Duration | Size], number: int) -> None:
    assert kind(str(kind(number))) == number


@pytest.mark.parametrize("number", [2**64, 10**30])
@pytest.mark.parametrize("kind", [Rate, Duration, Size])
def test_a_number_that_would_not_read_back_is_refused(
    kind: type[Rate | Duration | Size], number: int
) -> None:
    with pytest.raises(UnitError, match=rf"^{number} is more than the engine can hold"):
        kind(number)


@pytest.mark.parametrize(
    ("kind", "number", "text"),
    [
        (Size, 2**32 - 1, "4.294967295 GB"),
        (Size, 2**25, "33.554432 MB"),
        (Size, 1514, "1.514 kB"),
        (Rate, 2**44, "17.592186044416 Tbit/s"),
        (Rate, 9_500_000, "9.5 Mbit/s"),
        (Duration, 1_000_000_001, "1.000000001 s"),
        (Duration, 999, "999 ns"),
    ],
)
def test_a_quantity_is_written_in_the_largest_unit_of_which_it_has_one(
    kind: type[Rate | Duration | Size], number: int, text: str
) -> None:
    assert str(kind(number)) == text and kind(text) == number


@pytest.mark.parametrize("text", ["100 bps", "100 Mbps", "1 kBps", "2 Gbps"])
def test_bps_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(UnitError, match=r"tc reads it as bytes per second.*Mbit/s.*MB/s"):
        Rate(text)


@pytest.mark.parametrize(
    ("text", "instead"),
    [("32Mb", "MiB for its bytes or Mbit"), ("16Kb", "KiB for its bytes or Kbit"), ("9b", "B for")],
)
def test_a_size_that_tc_prints_is_refused_with_what_it_means(text: str, instead: str) -> None:
    with pytest.raises(UnitError, match=f"tc reads it as bytes; write {instead}"):
        Size(text)


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        (Duration, "50", "has no unit; write it as '50 s' or '50 ms'"),
        (Duration, "50 msek", "unknown unit 'msek'. Did you mean 'msec'"),
        (Duration, "50 MB", "is in 'MB'; write it as '50 ms'"),
        (Duration, "-1 s", "negative"),
        (Duration, "0.5 ns", "whole number of ns"),
        (Duration, "1e9999999 s", "more than the engine can hold; allowed: below 2^64 ns"),
        (Duration, "soon", "not a number with a unit"),
        (Rate, "0 Mbit/s", "a rate of zero would never send a packet; allowed: 8 bit/s and more"),
        (Rate, "100 MB", "write it as '100 Mbit/s'"),
        (Size, "1 kbb", "Did you mean 'kB'"),
        (Size, "1 B*B", "write it as"),
        (Size, "16k", "write kB for 1000s of bytes or KiB for 1024s"),
        (Size, "16 G", "write GB for 1000s of bytes or GiB for 1024s"),
        (Rate, "10M", "write Mbit/s for bits or MB/s for bytes"),
        (Rate, "10T", "write Tbit/s for bits"),
        (Rate, "32Mb", "'Mb' may be bits or bytes; write Mbit/s for bits or MB/s for bytes"),
        (Rate, "9b", "write bit/s for bits or B/s for bytes"),
        (Duration, "5m", "write ms or min"),
        (Duration, "5k", "unknown unit 'k'. Valid names: h, hour"),
    ],
)
def test_what_is_no_quantity_is_refused(
    kind: type[Rate | Duration | Size], text: str, reason: str
) -> None:
    with pytest.raises(UnitError, match=re.escape(reason)):
        kind(text)


@pytest.mark.parametrize("kind", [Duration, Rate, Size])
@pytest.mark.parametrize("prefix", ["k", "K", "m", "M", "G", "T", "Ki", "Mi"])
def test_each_unit_that_is_advised_in_place_of_a_prefix_can_be_read(
    kind: type[Rate | Duration | Size], prefix: str
) -> None:
    with pytest.raises(UnitError) as refusal:
        kind(f"1{prefix}")
    for unit in re.findall(r"\b(?:write|or) (\S+)", str(refusal.value)):
        assert kind(f"1 {unit}") > 0


def test_a_share_is_a_number_or_percent() -> None:
    assert Share("1 %") == Share(0.01) == 0.01
    with pytest.raises(UnitError, match="outside 0 to 1"):
        Share("101 %")
