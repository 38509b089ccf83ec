// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Rules of a link by itself.

use super::fault::{Found, fault};
use super::range::{later, rate, time};
use super::{Fault, LinkSpec, ShaperKind};

/// Larger counts are typing errors, or would exhaust memory.
const MAX_RING_PKTS: u32 = 1_000_000;

impl LinkSpec {
    /// What can be said of a link alone, and of packets of `largest_bytes` with its header.
    pub(super) fn check(&self, at: &str, largest_bytes: u32, found: &mut Found) {
        found.see(self.check_rate(at));
        found.see(self.check_ring(at));
        found.see(self.check_opportunities(at));
        found.see(self.check_schedule(at));
        found.see(self.check_delays(at));
        found.see(time(&format!("{at}.delay_ns"), self.delay_ns));
        let sd_ns = self.jitter.map_or(0, |jitter| jitter.sd_ns);
        found.see(time(&format!("{at}.jitter.sd_ns"), sd_ns));
        if !(0.0..=1.0).contains(&self.loss) {
            found.say(
                format!("{at}.loss"),
                format!("{} is outside 0 to 1", self.loss),
            );
        }
        // A queue takes no rate that is none.
        let rate_bps = self.rate_bps.filter(|&bps| rate("", bps).is_ok());
        found.see(
            self.queue
                .build(&format!("{at}.queue"), rate_bps, 0)
                .map(drop),
        );
        if self.shaper != ShaperKind::Line && self.burst_bytes < largest_bytes {
            let reason = format!(
                "{} is less than a full packet of {largest_bytes} bytes",
                self.burst_bytes
            );
            found.say(format!("{at}.burst_bytes"), reason);
        }
    }

    fn check_rate(&self, at: &str) -> Result<(), Fault> {
        if let Some(rate_bps) = self.rate_bps {
            return rate(&format!("{at}.rate_bps"), rate_bps);
        }
        if !self.schedule.is_empty() {
            let reason = "a schedule of rates needs a rate to begin with";
            return fault(format!("{at}.schedule"), reason);
        }
        match self.shaper {
            ShaperKind::Line => Ok(()),
            ShaperKind::Tbf => fault(format!("{at}.shaper"), "'tbf' needs a rate"),
            ShaperKind::Htb => fault(format!("{at}.shaper"), "'htb' needs a rate"),
        }
    }

    fn check_ring(&self, at: &str) -> Result<(), Fault> {
        let key = format!("{at}.ring_pkts");
        if self.ring_pkts > MAX_RING_PKTS {
            return fault(
                key,
                format!("{} is more than {MAX_RING_PKTS}", self.ring_pkts),
            );
        }
        if self.ring_pkts > 0 && self.rate_bps.is_none() {
            return fault(key, "a driver ring needs a rate");
        }
        if self.ring_pkts > 0 && self.shaper != ShaperKind::Line {
            return fault(
                key,
                "a driver ring needs the shaper 'wire': below a token bucket nothing waits",
            );
        }
        Ok(())
    }

    fn check_schedule(&self, at: &str) -> Result<(), Fault> {
        let mut last_ns = None;
        for (i, step) in self.schedule.iter().enumerate() {
            let key = format!("{at}.schedule[{i}]");
            rate(&format!("{key}.rate_bps"), step.rate_bps)?;
            later(&key, step.at_ns, &mut last_ns)?;
        }
        Ok(())
    }

    fn check_delays(&self, at: &str) -> Result<(), Fault> {
        let mut last_ns = None;
        for (i, step) in self.delays.iter().enumerate() {
            let key = format!("{at}.delays[{i}]");
            time(&format!("{key}.delay_ns"), step.delay_ns)?;
            later(&key, step.at_ns, &mut last_ns)?;
        }
        Ok(())
    }

    /// Of all the run.
    pub(super) fn least_delay_ns(&self) -> u64 {
        let later = self.delays.iter().map(|step| step.delay_ns);
        later.fold(self.delay_ns, u64::min)
    }

    fn check_opportunities(&self, at: &str) -> Result<(), Fault> {
        let Some(trace) = &self.opportunities else {
            return Ok(());
        };
        if self.rate_bps.is_none() || self.shaper != ShaperKind::Line || self.ring_pkts > 0 {
            return fault(
                format!("{at}.opportunities"),
                "a trace needs a mean rate and the shaper 'wire', without a ring",
            );
        }
        if trace.bytes == Some(0) {
            return fault(
                format!("{at}.opportunities.bytes"),
                "an opportunity of no bytes would never send a packet",
            );
        }
        let last_ms = trace.at_ms.last().map_or(u64::MAX, |&ms| u64::from(ms));
        if !trace.at_ms.is_sorted() || last_ms > trace.cycle_ms || trace.cycle_ms == 0 {
            return fault(
                format!("{at}.opportunities"),
                "a trace is a list of times in order, which are within its cycle",
            );
        }
        Ok(())
    }
}
