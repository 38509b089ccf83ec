// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Congestion control: which law moves the `window`. Each law is a file; the
//! choice is an enum, so that the per-acknowledgement calls need no pointer.

mod cubic;
mod dctcp;
mod htcp;
mod hystart;
mod newreno;
pub(super) mod window;

use super::clock::Clock;
use super::config::{CongestionControl, TcpConfig};
use window::{CaState, Window};

/// What a law may know of the sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub clock: Clock,
    pub una: u64,
    pub nxt: u64,
    /// Packets delivered, and those whose delivery carried an ECN echo.
    pub delivered: u32,
    pub delivered_ce: u32,
    /// Bytes per second that pacing would use.
    pub pacing_rate: u64,
}

#[cfg(test)]
impl Facts {
    /// `ms` after the start, nothing sent so far.
    fn at_ms(ms: u64) -> Self {
        Self {
            clock: Clock::at(crate::base::time::Time(ms * 1_000_000)),
            una: 1,
            nxt: 1,
            delivered: 0,
            delivered_ce: 0,
            pacing_rate: 0,
        }
    }
}

/// What an acknowledgement told.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckSample {
    /// Round trip of the last packet acknowledged, if it is known.
    pub rtt_us: Option<u32>,
    pub pkts_acked: u32,
}

/// The law in force.
#[derive(Clone, Debug)]
pub(super) enum Cc {
    Cubic(cubic::Cubic),
    Reno,
    Htcp(htcp::Htcp),
    Dctcp(dctcp::Dctcp),
}

impl Cc {
    pub fn new(config: &TcpConfig) -> Self {
        match config.cc {
            CongestionControl::Cubic => Self::Cubic(cubic::Cubic::new(config)),
            CongestionControl::Reno => Self::Reno,
            CongestionControl::Htcp => Self::Htcp(htcp::Htcp::new()),
            CongestionControl::Dctcp => Self::Dctcp(dctcp::Dctcp::new()),
        }
    }

    /// The handshake is complete. `ecn`: ECN was agreed; DCTCP becomes Reno
    /// without it.
    pub fn start(&mut self, facts: Facts, ecn: bool) {
        match self {
            Self::Cubic(cubic) => cubic.start(facts),
            Self::Htcp(htcp) => htcp.start(facts),
            Self::Dctcp(dctcp) if ecn => dctcp.start(facts),
            Self::Dctcp(_) => *self = Self::Reno,
            Self::Reno => {}
        }
    }

    /// Whether every packet carries ECT and the receiver echoes each mark.
    #[inline]
    pub fn needs_ecn(&self) -> bool {
        matches!(self, Self::Dctcp(_))
    }

    /// Threshold after a loss or an ECN echo.
    pub fn ssthresh(&mut self, window: &Window, facts: Facts) -> u32 {
        match self {
            Self::Cubic(cubic) => cubic.ssthresh(window),
            Self::Reno => newreno::ssthresh(window),
            Self::Htcp(htcp) => htcp.ssthresh(window, facts),
            Self::Dctcp(dctcp) => dctcp.ssthresh(window),
        }
    }

    /// Growth after `acked` packets were delivered.
    #[inline(always)]
    pub fn grow(&mut self, window: &mut Window, acked: u32, facts: Facts) {
        let acked = window.counted(acked);
        match self {
            Self::Cubic(cubic) => cubic.grow(window, acked, facts),
            Self::Reno | Self::Dctcp(_) => newreno::grow(window, acked),
            Self::Htcp(htcp) => htcp.grow(window, acked, facts),
        }
    }

    /// A round trip was measured, or packets were acknowledged without one.
    #[inline]
    pub fn on_sample(&mut self, window: &mut Window, sample: AckSample, facts: Facts) {
        match self {
            Self::Cubic(cubic) => cubic.on_sample(window, sample, facts),
            Self::Htcp(htcp) => htcp.on_sample(window, sample, facts),
            Self::Reno | Self::Dctcp(_) => {}
        }
    }

    /// An acknowledgement was processed, before losses are looked for.
    #[inline]
    pub fn on_ack(&mut self, facts: Facts) {
        if let Self::Dctcp(dctcp) = self {
            dctcp.on_ack(facts);
        }
    }

    /// The sender goes from one state to another (which may be the same).
    pub fn on_state(&mut self, window: &mut Window, to: CaState, facts: Facts) {
        match self {
            Self::Cubic(cubic) => cubic.on_state(to, facts),
            Self::Htcp(htcp) => htcp.on_state(to, facts),
            Self::Dctcp(dctcp) => dctcp.on_state(window, to),
            Self::Reno => {}
        }
    }

    /// The first packet after an idle time is about to leave; the last one
    /// left `idle_jiffies` ago.
    #[inline]
    pub fn on_send_start(&mut self, idle_jiffies: u64, facts: Facts) {
        if let Self::Cubic(cubic) = self {
            cubic.on_send_start(idle_jiffies, facts);
        }
    }

    /// A timeout begins a new loss episode.
    pub fn on_timeout(&mut self, window: &mut Window) {
        if let Self::Dctcp(dctcp) = self {
            dctcp.react_to_loss(window);
        }
    }

    /// Window to return to when a reduction proves needless.
    pub fn undo(&mut self, window: &Window) -> u32 {
        match self {
            Self::Htcp(htcp) => htcp.undo(window),
            Self::Dctcp(dctcp) => dctcp.undo(window),
            Self::Cubic(_) | Self::Reno => newreno::undo(window),
        }
    }
}
