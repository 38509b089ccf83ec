// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What a host keeps of its path to another from one connection to the next: the threshold and the
//! reordering (`tcp_metrics.c` of Linux before 5.6; later kernels keep the reordering alone).

use super::cc::window::{CaState, UNLIMITED};
use super::connection::Connection;

/// What a host knows of a path; 0: nothing yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathMetrics {
    ssthresh_pkts: u32,
    reordering_pkts: u32,
}

impl Connection {
    /// The handshake is complete: begins with what the host knows of the path
    /// (tcp_init_metrics).
    pub fn load_path(&mut self, known: PathMetrics) {
        let snd = &mut self.snd;
        if known.ssthresh_pkts > 0 {
            snd.window.ssthresh = known.ssthresh_pkts.min(snd.window.clamp);
        }
        if known.reordering_pkts > 0 {
            snd.reordering = known.reordering_pkts;
        }
    }

    /// The connection is over: leaves what it has learnt (tcp_update_metrics). A threshold is
    /// first known from congestion avoidance; from elsewhere it may only rise.
    pub fn save_path(&self, known: &mut PathMetrics) {
        let (snd, window) = (&self.snd, &self.snd.window);
        if snd.backoff > 0 || snd.rtt.srtt8_us() == 0 {
            return;
        }
        let raised = |least| {
            let old = known.ssthresh_pkts;
            if old == 0 { 0 } else { old.max(least) }
        };
        if window.ssthresh >= UNLIMITED {
            known.ssthresh_pkts = raised(window.cwnd >> 1);
        } else if window.cwnd > window.ssthresh && window.state == CaState::Open {
            known.ssthresh_pkts = window.ssthresh.max(window.cwnd >> 1);
        } else {
            known.ssthresh_pkts = raised(window.ssthresh);
            if snd.reordering != self.config.reordering_pkts {
                known.reordering_pkts = known.reordering_pkts.max(snd.reordering);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::base::time::Time;
    use crate::tcp::TcpConfig;

    /// A connection with a round trip and this window.
    fn ended(cwnd: u32, ssthresh: u32, state: CaState) -> Connection {
        let config = Rc::new(TcpConfig::default());
        let mut connection = Connection::client(&config, Time(0), 0, None);
        connection.snd.rtt.sample(50_000, 1, 1);
        let window = &mut connection.snd.window;
        (window.cwnd, window.ssthresh, window.state) = (cwnd, ssthresh, state);
        *connection
    }

    fn after(old: u32, connection: &Connection) -> u32 {
        let mut known = PathMetrics {
            ssthresh_pkts: old,
            reordering_pkts: 0,
        };
        connection.save_path(&mut known);
        known.ssthresh_pkts
    }

    #[test]
    fn congestion_avoidance_leaves_its_threshold_or_half_its_window() {
        assert_eq!(after(0, &ended(30, 20, CaState::Open)), 20);
        assert_eq!(after(50, &ended(60, 20, CaState::Open)), 30);
    }

    #[test]
    fn other_ends_only_raise_a_threshold_that_is_known() {
        for (cwnd, ssthresh, state, left) in [
            (40, UNLIMITED, CaState::Open, 20),
            (10, 12, CaState::Open, 12),
            (30, 12, CaState::Recovery, 12),
        ] {
            let connection = ended(cwnd, ssthresh, state);
            assert_eq!(after(0, &connection), 0);
            assert_eq!(after(5, &connection), left);
            assert_eq!(after(25, &connection), 25);
        }
    }

    #[test]
    fn a_connection_that_ends_in_timeouts_leaves_nothing() {
        let mut connection = ended(30, 20, CaState::Open);
        connection.snd.backoff = 1;
        assert_eq!(after(0, &connection), 0);
    }

    #[test]
    fn reordering_is_left_by_a_recovery_and_taken_up() {
        let mut known = PathMetrics::default();
        let mut connection = ended(10, 20, CaState::Recovery);
        connection.save_path(&mut known);
        assert_eq!(known.reordering_pkts, 0);
        connection.snd.reordering = 17;
        connection.save_path(&mut known);
        connection.snd.reordering = 9;
        connection.save_path(&mut known);
        let mut next = ended(10, UNLIMITED, CaState::Open);
        next.load_path(known);
        assert_eq!(
            (next.snd.reordering, next.snd.window.ssthresh),
            (17, UNLIMITED)
        );
    }
}
