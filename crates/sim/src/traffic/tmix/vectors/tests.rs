// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Files of vectors, sound and broken.

use super::*;
use crate::traffic::{End, Move};

const ORIGINAL: &str = "\
SEQ 6851 1 21217 555382       # starts at 6.851 ms
w 64800 6432
r 1176194
l 0.000000 0.000000
> 245
t 51257
< 510
t 6304943

CONC 1429381 2 2 26876 793318
w 65535 5840
r 36556
l 0.000000 0.000000
c> 222
t> 62436302
c< 726
t< 62400173
c> 16
t> 725
c< 84
t< 130
";
const ALTERNATE: &str = "\
S 6851 1 21217 555382
w 64800 6432
r 1176194
L 0.000000 0.000000
I 0 0 245
A 0 51257 510
A 6304943 0 0
C 1429381 2 2 26876 793318
w 65535 5840
r 36556
l 0.000000 0.000000
I 0 0 222
A 0 0 726
I 62436302 0 16
A 62400173 0 84
I 725 0 0
A 130 0 0
";

fn read(text: &str) -> Result<Vectors, String> {
    Vectors::try_from(text.to_owned())
}

#[test]
fn both_formats_say_the_same() {
    let [original, alternate] = [ORIGINAL, ALTERNATE].map(|text| read(text).expect("sound"));
    for nth in 0..2 {
        let [a, b] = [&original, &alternate].map(|vectors| vectors.get(nth).expect("two"));
        assert_eq!((a.start_us, a.rtt_us), (b.start_us, b.rtt_us));
        assert_eq!(a.initiator, b.initiator);
        assert_eq!(a.acceptor, b.acceptor);
    }
    assert!(original.get(2).is_none());
}

#[test]
fn an_exchange_is_what_its_lines_say() {
    let vectors = read(ORIGINAL).expect("sound");
    let first = vectors.get(0).expect("one");
    assert_eq!(first.initiator, [Move::write(245).until(End::To, 510)]);
    let answer = Move::write(510)
        .after_hearing(245)
        .after_waiting(51_257_000);
    let fin = Move::close().after_waiting(6_304_943_000);
    assert_eq!(first.acceptor, [answer, fin]);
}

#[test]
fn an_epoch_in_which_one_end_is_silent_counts() {
    let greeting = read("S 0 2 1 1\nA 0 0 90\nI 0 3000 400\n").expect("two epochs");
    let first = greeting.get(0).expect("one");
    assert_eq!(first.acceptor, [Move::write(90)]);
    let answer = Move::write(400).after_hearing(90).after_waiting(3_000_000);
    assert_eq!(first.initiator[0], answer);
    for (epochs, sends) in [
        (1, "> 5\n< 5\n"),
        (2, "< 5\n> 5\n"),
        (2, "> 5\nt 9\n> 5\n< 5\n"),
        (2, "> 5\n< 5\nt 9\n< 5\n"),
        (3, "< 5\n> 5\n< 5\n> 5\n"),
        (4, "< 5\nt 9\n< 5\n> 5\nt 9\n> 5\n"),
    ] {
        let of = |said: u64| read(&format!("SEQ 0 {said} 1 1\n{sends}"));
        assert!(of(epochs).is_ok(), "{sends}");
        let reason = of(epochs + 1).expect_err(sends);
        assert!(reason.contains("fewer epochs than it says"), "{reason}");
    }
}

#[test]
fn connections_stand_in_the_order_of_their_starts() {
    let late_first = "SEQ 9 1 0 0\n> 1\n< 1\nSEQ 3 1 0 0\n> 2\n< 2\n";
    let vectors = read(late_first).expect("sound");
    assert_eq!(vectors.get(0).expect("one").start_us, 3);
}

#[test]
fn what_is_no_vector_is_refused_with_its_line() {
    for (text, words) in [
        ("", "no connections"),
        ("> 5", "line 1 of the vectors: '>' before a connection"),
        (
            "SEQ 0 2 1 1\n> 5\n< 5\n",
            "line 1 of the vectors: the connection has fewer epochs",
        ),
        ("SEQ 0 1 1 1\n", "fewer epochs"),
        ("SEQ 0 0 1 1\n", "fewer epochs"),
        ("SEQ 0", "needs a start in µs and epochs"),
        ("SEQ x 1 1 1", "'x' is not a whole number"),
        (
            "SEQ 0 1 1 1\n> -5",
            "line 2 of the vectors: '-5' is not a whole number",
        ),
        (
            "SEQ 0 1 1 1\n> 99999999999999999",
            "is more than 1000000000000000",
        ),
        (
            "SEQ 0 1 1 1\n> 99999999999999999999999",
            "is not a whole number",
        ),
        (
            "SEQ 0 1 1 1\nc> 5",
            "'c>' is not of a sequential connection",
        ),
        ("S 0 1 1 1\nI 5 5 5", "both waits are more than 0"),
        ("S 0 1 1 1\nI 0 0 0\nI 0 0 5", "has closed already"),
        ("S 0 1 1 1\nI 0 5", "'I' has 2 numbers, not 3"),
        ("CONC 0 1 1 1\nc> 5\n", "fewer sends"),
    ] {
        let reason = read(text).expect_err(text);
        assert!(reason.contains(words), "{text:?}: {reason}");
    }
}
