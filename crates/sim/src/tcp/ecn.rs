// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! ECN at both ends: the receiver echoes a mark until the sender says that it
//! reduced its window (RFC 3168 §6.1), or, under DCTCP, echoes every change of
//! the mark (RFC 8257 §3.2).

use super::connection::Connection;
use super::segment::{Flags, Segment};
use crate::base::ecn::Ecn;

/// State of the negotiation and of the echo.
#[derive(Clone, Debug, Default)]
pub(super) struct EcnState {
    /// Both ends agreed.
    pub ok: bool,
    /// Sender: the next new segment carries CWR.
    pub queue_cwr: bool,
    /// Receiver: acknowledgements carry ECE.
    pub demand_cwr: bool,
    /// Receiver: a packet with ECT or CE has arrived.
    seen: bool,
    /// DCTCP receiver: the last segment was marked, and the offset expected
    /// before it.
    last_ce: bool,
    prior_nxt: u64,
}

impl EcnState {
    /// Flags of an acknowledgement.
    #[inline]
    pub fn echo(&self) -> Flags {
        Flags::when(self.ok && self.demand_cwr, Flags::ECE)
    }
}

/// Acknowledgements sent at once after a mark or an unexpected Not-ECT.
const QUICK_ACKS_AFTER_MARK: u32 = 2;

impl Connection {
    /// Code point of a segment: new data only, unless the law wants every
    /// packet marked (tcp_ecn_send).
    #[inline]
    pub(super) fn ecn_of(&self, new_data: bool) -> Ecn {
        if self.ecn.ok && (new_data || self.cc.needs_ecn()) {
            self.capable()
        } else {
            Ecn::NotEct
        }
    }

    /// What a packet that a queue may mark carries.
    #[inline]
    pub(super) fn capable(&self) -> Ecn {
        if self.config.ect1 {
            Ecn::Ect1
        } else {
            Ecn::Ect0
        }
    }

    /// Takes CWR of an arriving segment; data with CWR is acknowledged at once.
    #[inline]
    pub(super) fn accept_cwr(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::CWR) {
            self.ecn.demand_cwr = false;
            if segment.seq_len() > 0 {
                self.rcv.ack.now = true;
            }
        }
    }

    /// Takes the code point of an arriving data segment.
    #[inline]
    pub(super) fn note_codepoint(&mut self, ecn: Ecn) {
        if self.ecn.ok {
            self.take_codepoint(ecn);
        }
    }

    fn take_codepoint(&mut self, ecn: Ecn) {
        match ecn {
            // Not-ECT after ECT is most likely a retransmission.
            Ecn::NotEct => {
                if self.ecn.seen {
                    self.enter_quick_ack(QUICK_ACKS_AFTER_MARK);
                }
            }
            Ecn::Ce => {
                self.counts.ce_received += 1;
                if self.cc.needs_ecn() {
                    self.note_dctcp_mark(true);
                }
                if !self.ecn.demand_cwr {
                    self.enter_quick_ack(QUICK_ACKS_AFTER_MARK);
                    self.ecn.demand_cwr = true;
                }
                self.ecn.seen = true;
            }
            Ecn::Ect0 | Ecn::Ect1 => {
                if self.cc.needs_ecn() {
                    self.note_dctcp_mark(false);
                }
                self.ecn.seen = true;
            }
        }
    }

    /// An acknowledgement that was being delayed is sent with the old echo
    /// before the echo changes.
    fn note_dctcp_mark(&mut self, ce: bool) {
        if self.ecn.last_ce != ce {
            if self.rcv.ack.timer {
                self.ecn.demand_cwr = self.ecn.last_ce;
                self.send_ack_of(self.ecn.prior_nxt);
                // The segment in hand may still open the window.
                self.rcv.wnd_settled = false;
            }
            self.rcv.ack.now = true;
        }
        self.ecn.prior_nxt = self.rcv.nxt;
        self.ecn.last_ce = ce;
        self.ecn.demand_cwr = ce;
    }

    /// The peer must hear that the window was reduced.
    pub(super) fn queue_cwr(&mut self) {
        self.ecn.queue_cwr |= self.ecn.ok;
    }
}
