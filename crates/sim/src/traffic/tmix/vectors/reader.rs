// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Files of connection vectors, in the two formats of tmix (doc/tmix.tex of ns-2.35):
//!
//! ```text
//! SEQ START_US EPOCHS ID ID          S START_US EPOCHS ID ID
//! w BYTES BYTES                      w BYTES BYTES
//! r MIN_RTT_US                       r MIN_RTT_US
//! l LOSS LOSS                        l LOSS LOSS
//! > BYTES                            I SEND_WAIT_US RECV_WAIT_US BYTES
//! t WAIT_US                          A SEND_WAIT_US RECV_WAIT_US BYTES
//! < BYTES
//! ```
//!
//! `CONC` and `C` have two numbers of sends in place of the epochs, and the first of them `c>`,
//! `t>`, `c<` and `t<` in place of the marks. Zero bytes are the end of what is written. Windows
//! and losses are read and left aside: they are the network's, which is under test here.

use super::Vector;
use crate::base::time::NS_PER_S;
use crate::traffic::{Act, End, Move};

/// An end without a time for its FIN waits so long after its last write.
pub const FIN_NS: u64 = NS_PER_S;
/// Two weeks; a wait in microseconds that is longer is a mistake.
const MOST_US: u64 = 1_209_600_000_000;
/// A petabyte.
const MOST_BYTES: u64 = 1_000_000_000_000_000;
/// More would not fit beside the run.
const MOST_VECTORS: usize = 2_000_000;

/// Of a connection that is being read.
#[derive(Debug)]
struct Draft {
    line: usize,
    start_us: u64,
    rtt_us: u64,
    /// How many epochs of a sequential connection must come, or sends of the initiator.
    wanted: u64,
    /// Sends of the acceptor, of a concurrent connection.
    wanted_of_acceptor: u64,
    epochs: u64,
    sequential: bool,
    sides: [Side; 2],
    /// Who did the last thing.
    last: Option<usize>,
    /// A wait that has yet to find what it is for.
    wait_us: Option<u64>,
    /// Where the exchange under way began.
    asked: Option<usize>,
}

#[derive(Debug, Default)]
struct Side {
    moves: Vec<Move>,
    written: u64,
    sends: u64,
    closed: bool,
    wait_us: u64,
}

const INITIATOR: usize = 0;
const ACCEPTOR: usize = 1;

#[derive(Default)]
pub(super) struct Reader {
    done: Vec<Vector>,
    draft: Option<Draft>,
}

impl Reader {
    pub(super) fn read(&mut self, mark: &str, words: &[&str], line: usize) -> Result<(), String> {
        match mark {
            "SEQ" | "S" | "CONC" | "C" => {
                self.close()?;
                if self.done.len() == MOST_VECTORS {
                    return Err(format!("more than {MOST_VECTORS} connections"));
                }
                self.draft = Some(Draft::new(mark, words, line)?);
                return Ok(());
            }
            _ => {}
        }
        let Some(draft) = &mut self.draft else {
            return Err(format!(
                "'{mark}' before a connection; one begins with SEQ, CONC, S or C"
            ));
        };
        draft.read(mark, words)
    }

    fn close(&mut self) -> Result<(), String> {
        if let Some(draft) = self.draft.take() {
            self.done.push(draft.finish()?);
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Vec<Vector>, String> {
        self.close()?;
        if self.done.is_empty() {
            return Err("no connections; one begins with SEQ, CONC, S or C".into());
        }
        Ok(self.done)
    }
}

impl Draft {
    fn new(mark: &str, words: &[&str], line: usize) -> Result<Self, String> {
        let sequential = matches!(mark, "SEQ" | "S");
        let least = if sequential { 2 } else { 3 };
        if words.len() < least {
            let sends = if sequential {
                "epochs"
            } else {
                "two numbers of sends"
            };
            return Err(format!("'{mark}' needs a start in µs and {sends}"));
        }
        let wanted_of_acceptor = match sequential {
            true => 0,
            false => number(words[2], MOST_BYTES)?,
        };
        Ok(Self {
            line,
            start_us: number(words[0], MOST_US)?,
            rtt_us: 0,
            wanted: number(words[1], MOST_BYTES)?,
            wanted_of_acceptor,
            epochs: 0,
            sequential,
            sides: Default::default(),
            last: None,
            wait_us: None,
            asked: None,
        })
    }

    fn read(&mut self, mark: &str, words: &[&str]) -> Result<(), String> {
        let count = match mark {
            "w" | "l" | "L" => 2,
            "I" | "A" => 3,
            _ => 1,
        };
        if words.len() != count {
            return Err(format!("'{mark}' has {} numbers, not {count}", words.len()));
        }
        match (mark, self.sequential) {
            ("w" | "l" | "L", _) => Ok(()),
            ("r", _) => number(words[0], MOST_US).map(|us| self.rtt_us = us),
            (">", true) => self.send_in_turn(INITIATOR, number(words[0], MOST_BYTES)?),
            ("<", true) => self.send_in_turn(ACCEPTOR, number(words[0], MOST_BYTES)?),
            ("t", true) => {
                self.wait_us = Some(number(words[0], MOST_US)?);
                Ok(())
            }
            ("c>", false) => self.send_alone(INITIATOR, number(words[0], MOST_BYTES)?),
            ("c<", false) => self.send_alone(ACCEPTOR, number(words[0], MOST_BYTES)?),
            ("t>", false) => self.wait(INITIATOR, words[0]),
            ("t<", false) => self.wait(ACCEPTOR, words[0]),
            ("I", _) => self.send_alternate(INITIATOR, words),
            ("A", _) => self.send_alternate(ACCEPTOR, words),
            _ => Err(format!(
                "'{mark}' is not of a {} connection",
                if self.sequential {
                    "sequential"
                } else {
                    "concurrent"
                }
            )),
        }
    }

    fn wait(&mut self, side: usize, word: &str) -> Result<(), String> {
        self.sides[side].wait_us = number(word, MOST_US)?;
        Ok(())
    }

    /// An application waits behind what it has heard where the other one spoke last, and else
    /// behind what it wrote.
    fn send_in_turn(&mut self, side: usize, bytes: u64) -> Result<(), String> {
        let heard = self.sides[1 - side].written;
        let wait_us = self.wait_us.take().unwrap_or(0);
        self.send(side, bytes, heard, wait_us)
    }

    fn send_alone(&mut self, side: usize, bytes: u64) -> Result<(), String> {
        let wait_us = std::mem::take(&mut self.sides[side].wait_us);
        self.send(side, bytes, 0, wait_us)
    }

    fn send_alternate(&mut self, side: usize, words: &[&str]) -> Result<(), String> {
        let behind_send_us = number(words[0], MOST_US)?;
        let behind_receipt_us = number(words[1], MOST_US)?;
        let bytes = number(words[2], MOST_BYTES)?;
        if behind_send_us > 0 && behind_receipt_us > 0 {
            return Err("both waits are more than 0; one of them tells behind what".into());
        }
        let hears = self.sequential && behind_send_us == 0;
        let heard = if hears {
            self.sides[1 - side].written
        } else {
            0
        };
        self.send(side, bytes, heard, behind_send_us + behind_receipt_us)
    }

    fn send(&mut self, side: usize, bytes: u64, heard: u64, wait_us: u64) -> Result<(), String> {
        let own = &mut self.sides[side];
        if own.closed {
            return Err("this end has closed already".into());
        }
        let act = match bytes {
            0 => Act::Close,
            _ => Act::Write(bytes),
        };
        own.closed = bytes == 0;
        own.written += bytes;
        own.sends += u64::from(bytes > 0);
        if own.written > MOST_BYTES {
            return Err(format!("more than {MOST_BYTES} B on a connection"));
        }
        own.moves.push(Move {
            heard_bytes: heard,
            wait_ns: wait_us * 1_000,
            act,
            transfer: None,
        });
        if self.sequential && bytes > 0 {
            self.note_exchange(side);
            // An epoch is what the initiator writes and then the acceptor; one of them may be
            // silent in it.
            let answers = side == ACCEPTOR && self.last == Some(INITIATOR);
            self.epochs += u64::from(!answers);
        }
        self.last = Some(side);
        Ok(())
    }

    /// An exchange begins with what the initiator writes after it was answered, and is over when
    /// all that is written until it writes again has been heard.
    fn note_exchange(&mut self, side: usize) {
        if side == INITIATOR {
            if self.last != Some(INITIATOR) {
                self.asked = Some(self.sides[INITIATOR].moves.len() - 1);
            }
        } else if let Some(asked) = self.asked {
            let answered = self.sides[ACCEPTOR].written;
            self.sides[INITIATOR].moves[asked].transfer = Some((End::To, answered));
        }
    }

    fn finish(mut self) -> Result<Vector, String> {
        let [of_initiator, of_acceptor] = [INITIATOR, ACCEPTOR].map(|side| self.sides[side].sends);
        let (found, unit) = match self.sequential {
            true => (self.epochs, "epochs"),
            false => (of_initiator, "sends"),
        };
        let is_short = found < self.wanted || of_acceptor < self.wanted_of_acceptor;
        if is_short || of_initiator + of_acceptor == 0 {
            return Err(format!(
                "line {} of the vectors: the connection has fewer {unit} than it says; is the \
                 file cut off?",
                self.line
            ));
        }
        self.add_fins();
        let [initiator, acceptor] = self.sides.map(|side| side.moves);
        Ok(Vector {
            start_us: self.start_us,
            rtt_us: self.rtt_us,
            acceptor,
            initiator,
        })
    }

    /// Of a sequential connection the end that wrote last closes it, after the wait that stands
    /// last; of a concurrent one each end that wrote.
    fn add_fins(&mut self) {
        let trailing_ns = self.wait_us.take().map(|us| us * 1_000);
        let closed = self.sides.iter().any(|side| side.closed);
        for (number, side) in self.sides.iter_mut().enumerate() {
            let own_ns = (side.wait_us > 0).then_some(side.wait_us * 1_000);
            let closes = match self.sequential {
                true => !closed && self.last == Some(number),
                false => !side.closed && side.sends > 0,
            };
            if closes {
                let wait_ns = trailing_ns.or(own_ns).unwrap_or(FIN_NS);
                side.moves.push(Move::close().after_waiting(wait_ns));
            }
        }
    }
}

fn number(word: &str, most: u64) -> Result<u64, String> {
    match word.parse() {
        Ok(number) if number <= most => Ok(number),
        Ok(number) => Err(format!("{number} is more than {most}")),
        Err(_) => Err(format!(
            "'{}' is not a whole number",
            word.chars().take(20).collect::<String>()
        )),
    }
}
