// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What any host counted of the flows of a run, and what it comes to.

use super::flows::{
    EchoReport, FlowReport, FlowsReport, FlowsWindow, GroupWindow, RoundTrips, ScriptWindow,
    TransportWindow, ViewWindow, goodputs_mbps,
};
use super::times::{Kept, PAGES, TRANSFERS, completions, merged, of_part};
use crate::base::time::Time;
use crate::measure::counts::{Completion, Echo, FlowCounts};
use crate::measure::record::{Delays, Distribution, Quantity, Sum, TransferTimes};
use crate::scenario::{FlowSpec, Scenario, WindowSpec};

/// What one flow has counted in the whole run, beside its counts.
pub struct FlowCounted<'a> {
    /// Smoothed round trip at the end; 0 without a connection.
    pub srtt_us: u32,
    /// How many transfers are done.
    pub transfers: u64,
    /// The transfers that were kept one by one.
    pub completions: &'a [Completion],
    /// The pages that were.
    pub pages: &'a [Completion],
    /// Of a flow whose datagrams are sent back.
    pub echoes: Option<&'a [Echo]>,
}

/// What all flows of a run have counted, in the order of the scenario. Every host reckons from this.
pub struct Counted<'a> {
    /// The run.
    pub scenario: &'a Scenario,
    /// Each flow's counts at each edge of a window.
    pub edges: &'a [(Time, Vec<FlowCounts>)],
    /// Each flow's at the end.
    pub end: Vec<FlowCounts>,
    /// What else each has counted.
    pub flows: Vec<FlowCounted<'a>>,
    /// Of the transfers and pages that were not kept one by one.
    pub times: &'a TransferTimes,
}

impl Counted<'_> {
    /// All of it, reckoned.
    pub fn report(&self) -> FlowsReport {
        let windows = self.scenario.windows();
        let each = windows.iter().enumerate();
        let transport: Vec<_> = each.map(|(n, window)| self.transport(n, window)).collect();
        let first = &transport[0].all;
        FlowsReport {
            goodput_mbps: first.goodput_mbps,
            jain: first.jain,
            fct_s: first.fct_s.clone(),
            flows: self.flow_reports(&windows),
            echoes: self.echoes(),
            times: self.times(&windows),
            transport,
        }
    }

    fn names(&self) -> impl Iterator<Item = (&str, u32)> {
        let specs = self.scenario.flows.iter();
        specs.flat_map(|spec| (0..spec.count).map(|index| (spec.name.as_str(), index)))
    }

    fn counts_at(&self, ns: u64) -> &[FlowCounts] {
        let edge = self.edges.iter().find(|(at, _)| at.0 == ns);
        edge.map_or(&[], |(_, flow_counts)| flow_counts)
    }

    /// What each flow has counted in a window.
    fn in_window(&self, window: &WindowSpec) -> Vec<FlowCounts> {
        let begin = self.counts_at(window.from_ns).iter();
        let end = self.counts_at(window.to_ns).iter();
        end.zip(begin)
            .map(|(end, begin)| end.since(begin))
            .collect()
    }

    fn transport(&self, number: usize, window: &WindowSpec) -> TransportWindow {
        let counted = self.in_window(window);
        let wholes = 0..self.times.names().len();
        let every = wholes.map(|whole| &self.times.of(whole, number).transfers);
        let every: Vec<_> = every.collect();
        let fct_s = completions(&self.flows, TRANSFERS, window, &every);
        let all = FlowsWindow::of(&counted, window, fct_s);
        let mut first = 0;
        let group = |(group, spec): (usize, &FlowSpec)| {
            let members = first..first + spec.count as usize;
            first = members.end;
            let (counted, flows) = (&counted[members.clone()], &self.flows[members]);
            let whole = self.times.of(self.times.whole_of(group), number);
            let share = self.times.share_of(group, number);
            let took = |kept: Kept, whole, share: Option<&Sum>| match share {
                Some(sum) => of_part(flows, kept, window, sum),
                None => completions(flows, kept, window, &[whole]),
            };
            let fct_s = took(TRANSFERS, &whole.transfers, share.map(|of| &of.transfers));
            let all = FlowsWindow::of(counted, window, fct_s);
            let has_pages = spec.app.has_pages();
            let page_s = has_pages.then(|| took(PAGES, &whole.pages, share.map(|of| &of.pages)));
            let is_script = spec.app.is_script();
            let script = is_script.then(|| ScriptWindow::of(counted, page_s));
            let echoes = spec.app.echo_interval_ns();
            let round_trips = echoes.map(|_| RoundTrips::of(&round_trips(flows, window)));
            let view = spec.app.has_viewers().then(|| ViewWindow::of(counted));
            let of_part = Delays::default();
            let datagrams = share.map_or(&whole.datagrams, |_| &of_part);
            GroupWindow {
                script,
                round_trips,
                view,
                ..GroupWindow::of(spec, counted, window, datagrams, all)
            }
        };
        let groups = self.scenario.flows.iter().enumerate().map(group).collect();
        TransportWindow {
            name: window.name.clone(),
            groups,
            all,
        }
    }

    /// Of whole groups that have any.
    fn times(&self, windows: &[WindowSpec]) -> Vec<Distribution> {
        let mut found = Vec::new();
        let parts = self.parts();
        for (number, window) in windows.iter().enumerate() {
            for (whole, name) in self.times.names().iter().enumerate() {
                let times = self.times.of(whole, number);
                let with_kept = |times: &Delays, kept: Kept| {
                    let mut seen = times.clone();
                    for flows in &parts[whole] {
                        seen.add_all(&merged(flows, kept, window, &[]));
                    }
                    seen
                };
                for (quantity, seen) in [
                    (
                        Quantity::CompletionTime,
                        with_kept(&times.transfers, TRANSFERS),
                    ),
                    (Quantity::PageTime, with_kept(&times.pages, PAGES)),
                    (Quantity::DatagramDelay, times.datagrams.clone()),
                ] {
                    if seen.count() > 0 {
                        found.push(Distribution {
                            quantity,
                            of: name.clone(),
                            window: window.name.clone(),
                            seen,
                        });
                    }
                }
            }
        }
        found
    }

    /// Of each whole group, the flows of its parts.
    fn parts(&self) -> Vec<Vec<&[FlowCounted<'_>]>> {
        let mut parts = vec![Vec::new(); self.times.names().len()];
        let mut left = &self.flows[..];
        for (group, spec) in self.scenario.flows.iter().enumerate() {
            let (flows, others) = left.split_at(spec.count as usize);
            left = others;
            parts[self.times.whole_of(group)].push(flows);
        }
        parts
    }

    fn echoes(&self) -> Vec<EchoReport> {
        let echo = |(flow, (name, index)): (&FlowCounted<'_>, (&str, u32))| {
            let echoes = flow.echoes?;
            let rtts = echoes.iter().map(|echo| echo.rtt_ns);
            Some(EchoReport {
                name: name.to_owned(),
                index,
                sent_s: echoes.iter().map(|echo| echo.sent.seconds()).collect(),
                rtt_ms: rtts.map(|rtt| rtt.map(|ns| ns as f64 / 1e6)).collect(),
            })
        };
        self.flows
            .iter()
            .zip(self.names())
            .filter_map(echo)
            .collect()
    }

    fn flow_reports(&self, windows: &[WindowSpec]) -> Vec<FlowReport> {
        let goodputs = |window| goodputs_mbps(&self.in_window(window), window);
        let of_windows: Vec<_> = windows.iter().map(goodputs).collect();
        let report = |(i, (name, index)): (usize, (&str, u32))| {
            let (counts, flow) = (self.end[i], &self.flows[i]);
            FlowReport {
                name: name.to_owned(),
                index,
                goodput_mbps: of_windows[0][i],
                goodput_mbps_of_windows: of_windows.iter().map(|of| of[i]).collect(),
                delivered_bytes: counts.delivered_bytes,
                data_pkts_sent: counts.data_pkts_sent,
                retransmitted_pkts: counts.retransmitted_pkts,
                timeouts: counts.timeouts,
                completions: flow.transfers,
                srtt_ms: (flow.srtt_us > 0).then(|| f64::from(flow.srtt_us) / 1e3),
            }
        };
        self.names().enumerate().map(report).collect()
    }
}

/// Those of the echoes that were sent in a window.
fn round_trips(flows: &[FlowCounted<'_>], window: &WindowSpec) -> Delays {
    let mut rtts = Delays::default();
    let echoes = flows
        .iter()
        .flat_map(|flow| flow.echoes.into_iter().flatten());
    for echo in echoes.filter(|echo| (window.from_ns..window.to_ns).contains(&echo.sent.0)) {
        if let Some(ns) = echo.rtt_ns {
            rtts.add(ns);
        }
    }
    rtts
}
