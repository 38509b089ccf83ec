// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A source that writes at times of its own, whatever becomes of it: datagrams, or bytes on one
//! connection.

use super::{Conversation, End, Move, Source, cbr, files, onoff, ping, poisson};

/// Something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// When, after the start.
    pub at_ns: u64,
    /// How much; over UDP, one datagram.
    pub bytes: u64,
}

/// Which times, and how much.
#[derive(Clone, Debug)]
pub enum Stream {
    /// At a constant rate.
    Even(cbr::Even),
    /// At equal distances.
    Ping(ping::Echoes),
    /// In bursts.
    OnOff(onoff::Bursts),
    /// A Poisson process of datagrams.
    Poisson(poisson::Arrivals),
    /// A Poisson process of files.
    Files(files::Arrivals),
}

impl Stream {
    fn next_burst(&mut self) -> Burst {
        match self {
            Self::Even(even) => even.next_burst(),
            Self::Ping(echoes) => echoes.next_burst(),
            Self::OnOff(bursts) => bursts.next_burst(),
            Self::Poisson(arrivals) => arrivals.next_burst(),
            Self::Files(arrivals) => arrivals.next_burst(),
        }
    }
}

/// The moves of an end that plays a stream.
#[derive(Clone, Debug)]
pub struct Drawn {
    stream: Stream,
    /// Each write is a transfer.
    transfers: bool,
    at_ns: Option<u64>,
    written_bytes: u64,
}

impl Drawn {
    pub(super) fn next_move(&mut self) -> Move {
        let burst = self.stream.next_burst();
        // Two of them never stand at one time: a source that has no gaps between its draws would
        // stop the clock.
        let at_ns = self
            .at_ns
            .map_or(burst.at_ns, |last| burst.at_ns.max(last + 1));
        let wait_ns = at_ns - self.at_ns.unwrap_or(0);
        self.at_ns = Some(at_ns);
        self.written_bytes = self.written_bytes.saturating_add(burst.bytes);
        let write = Move::write(burst.bytes).after_waiting(wait_ns);
        if self.transfers {
            write.until(End::To, self.written_bytes)
        } else {
            write
        }
    }
}

impl From<Stream> for Source {
    fn from(stream: Stream) -> Self {
        let transfers = matches!(stream, Stream::Files(_));
        Self::once(Conversation::sending(Drawn {
            stream,
            transfers,
            at_ns: None,
            written_bytes: 0,
        }))
    }
}
