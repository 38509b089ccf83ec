// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A source that writes at times of its own, whatever becomes of it: datagrams, or bytes on one
//! connection.

use super::burst::Burst;
use super::{Conversation, End, Move, Source, cbr, files, onoff, ping, poisson};

/// Which times, and how much.
#[derive(Clone, Debug)]
enum Stream {
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

impl Stream {
    fn source(self) -> Source {
        let transfers = matches!(self, Stream::Files(_));
        Source::once(Conversation::sending(Drawn {
            stream: self,
            transfers,
            at_ns: None,
            written_bytes: 0,
        }))
    }
}

impl From<cbr::Even> for Source {
    fn from(even: cbr::Even) -> Self {
        Stream::Even(even).source()
    }
}

impl From<ping::Echoes> for Source {
    fn from(echoes: ping::Echoes) -> Self {
        Stream::Ping(echoes).source()
    }
}

impl From<onoff::Bursts> for Source {
    fn from(bursts: onoff::Bursts) -> Self {
        Stream::OnOff(bursts).source()
    }
}

impl From<poisson::Arrivals> for Source {
    fn from(arrivals: poisson::Arrivals) -> Self {
        Stream::Poisson(arrivals).source()
    }
}

impl From<files::Arrivals> for Source {
    fn from(arrivals: files::Arrivals) -> Self {
        Stream::Files(arrivals).source()
    }
}
