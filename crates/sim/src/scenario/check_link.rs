// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Rules of a link by itself.

use super::fault::{Faults, fault};
use super::frame::LinkLayer;
use super::range::{later, rate, time};
use super::{Fault, HEADER_BYTES, LinkSpec, MTU_BYTES, ShaperKind};

/// Headers of tunnels and of ATM are far shorter.
const MAX_HEADER_BYTES: u32 = 256;
/// Larger counts are typing errors, or would exhaust memory.
const MAX_RING_PKTS: u32 = 1_000_000;

impl LinkSpec {
    /// What can be said of a link alone, and of packets of `largest_bytes` with its header.
    pub(super) fn check(&self, at: &str, largest_bytes: u32, faults: &mut Faults) {
        faults.take(self.check_frames(at));
        faults.take(self.check_rate(at));
        faults.take(self.check_ring(at));
        faults.take(self.check_trace(at));
        faults.take(self.check_schedule(at));
        faults.take(self.check_delays(at));
        faults.take(time(&format!("{at}.delay"), self.delay_ns));
        let sd_ns = self.jitter.map_or(0, |jitter| jitter.sd_ns);
        faults.take(time(&format!("{at}.jitter.sd"), sd_ns));
        if !(0.0..=1.0).contains(&self.loss) {
            faults.add(
                format!("{at}.loss"),
                format!("{} is outside 0 to 1", self.loss),
            );
        }
        // A queue takes no rate that is none.
        let rate_bps = self.rate_bps.filter(|&bps| rate("", bps).is_ok());
        faults.take(
            self.queue
                .build(&format!("{at}.queue"), rate_bps, 0)
                .map(drop),
        );
        if self.shaper != ShaperKind::Line && self.burst_bytes < largest_bytes {
            let reason = format!(
                "{} is less than a full packet: give {largest_bytes} bytes or more",
                self.burst_bytes
            );
            faults.add(format!("{at}.burst"), reason);
        }
    }

    fn check_frames(&self, at: &str) -> Result<(), Fault> {
        for (key, given) in [
            ("header", self.header_bytes != HEADER_BYTES),
            ("mpu", self.mpu_bytes > 0),
            ("linklayer", self.linklayer != LinkLayer::Ethernet),
        ] {
            if given && self.rate_bps.is_none() && self.end.is_empty() {
                let reason = "a packet takes no time here, however long it is; give a rate";
                return fault(format!("{at}.{key}"), reason);
            }
        }
        for (key, bytes, most_bytes) in [
            ("header", self.header_bytes, MAX_HEADER_BYTES),
            ("mpu", self.mpu_bytes, MTU_BYTES),
        ] {
            if bytes > most_bytes {
                let reason = format!("{bytes} is outside 0 to {most_bytes}");
                return fault(format!("{at}.{key}"), reason);
            }
        }
        Ok(())
    }

    fn check_rate(&self, at: &str) -> Result<(), Fault> {
        if let Some(rate_bps) = self.rate_bps {
            return rate(&format!("{at}.rate"), rate_bps);
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
        let key = format!("{at}.sim.ring");
        let ring_pkts = self.sim.ring_pkts;
        if ring_pkts > MAX_RING_PKTS {
            return fault(key, format!("{ring_pkts} is more than {MAX_RING_PKTS}"));
        }
        if ring_pkts > 0 && self.rate_bps.is_none() {
            return fault(key, "a driver ring needs a rate");
        }
        if ring_pkts > 0 && self.shaper != ShaperKind::Line {
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
            rate(&format!("{key}.rate"), step.rate_bps)?;
            later(&key, step.at_ns, &mut last_ns)?;
        }
        Ok(())
    }

    fn check_delays(&self, at: &str) -> Result<(), Fault> {
        let mut last_ns = None;
        for (i, step) in self.delays.iter().enumerate() {
            let key = format!("{at}.delays[{i}]");
            time(&format!("{key}.delay"), step.delay_ns)?;
            later(&key, step.at_ns, &mut last_ns)?;
        }
        Ok(())
    }

    /// Of all the run.
    pub(super) fn least_delay_ns(&self) -> u64 {
        let later = self.delays.iter().map(|step| step.delay_ns);
        later.fold(self.delay_ns, u64::min)
    }

    fn check_trace(&self, at: &str) -> Result<(), Fault> {
        let Some(trace_ms) = &self.trace_ms else {
            return Ok(());
        };
        let key = format!("{at}.trace");
        if self.rate_bps.is_none() || self.shaper != ShaperKind::Line || self.sim.ring_pkts > 0 {
            let reason = "a trace needs a mean rate and the shaper 'wire', without a ring";
            return fault(key, reason);
        }
        if !trace_ms.is_sorted() || trace_ms.last().is_none_or(|&last_ms| last_ms == 0) {
            return fault(
                key,
                "a trace is a list of times in order, the last after 0 ms",
            );
        }
        Ok(())
    }
}
