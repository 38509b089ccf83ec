// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! NewReno (RFC 5681 §3.1): one packet more per window, half after a loss.

use super::window::Window;

/// Half the window, not below two packets (RFC 5681, equation 4).
pub(super) fn ssthresh(window: &Window) -> u32 {
    (window.cwnd >> 1).max(2)
}

#[inline]
pub(super) fn grow(window: &mut Window, mut acked: u32) {
    if !window.is_limited() {
        return;
    }
    if window.in_slow_start() {
        acked = window.slow_start(acked);
        if acked == 0 {
            return;
        }
    }
    window.increase(window.cwnd, acked);
}

/// The larger of the windows before and after the reduction.
pub(super) fn undo(window: &Window) -> u32 {
    window.cwnd.max(window.prior_cwnd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::config::TcpConfig;

    #[test]
    fn window_doubles_in_slow_start_and_gains_one_behind_the_threshold() {
        let mut window = Window::new(&TcpConfig::default());
        window.was_limited = true;
        grow(&mut window, 10);
        assert_eq!(window.cwnd, 20);
        window.ssthresh = 20;
        grow(&mut window, 20);
        assert_eq!(window.cwnd, 21);
        assert_eq!(ssthresh(&window), 10);
    }
}
