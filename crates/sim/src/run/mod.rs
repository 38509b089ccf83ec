// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The room of a run, from a scenario to a report. It is the last one and uses all others.

mod groups;
mod report;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sojourn_core::Counters;

use crate::base::event::{Events, Source};
use crate::base::ring::Ring;
use crate::base::rng::{Rng, flow_hash};
use crate::base::time::{NS_PER_MS, Time, serialisation_ns};
use crate::link::Link;
use crate::link::packet::{PacketCounts, Packets, Path};
use crate::link::port::ProbePath;
use crate::link::shared::Shared;
use crate::measure::counts::FlowCounts;
use crate::measure::record::{QueueRecord, Transfer, TransferTimes};
use crate::net::endpoint::Kind;
use crate::net::flow::Flow;
use crate::net::path::Paths;
use crate::net::{Net, Owner};
use crate::scenario::graph::Graph;
use crate::scenario::{DelayStep, Fault, MTU_BYTES, Scenario, WindowSpec};

use groups::Groups;
pub use report::{ConservationReport, Report};

/// Events between two looks at the wall clock: far less than 50 ms of work.
const EVENTS_PER_LOOK: u32 = 1 << 14;

/// Who watches a run.
pub trait Control {
    /// Called at least every 50 ms of wall time.
    fn progress(&mut self, now_ns: u64, end_ns: u64) -> ControlFlow<()>;

    /// Takes the transfers that have ended since it was last called, where the scenario records
    /// them: the run keeps none.
    fn transfers(&mut self, _: &[Transfer]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Lets a run go to its end.
pub struct Unwatched;

impl Control for Unwatched {
    fn progress(&mut self, _now_ns: u64, _end_ns: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The scenario is wrong.
    Scenario(Fault),
    /// `Control` said stop.
    Stopped,
    /// Packets came from nowhere or went there: a fault of the engine.
    Conservation(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Scenario(fault) => fault.fmt(f),
            Self::Stopped => f.write_str("stopped"),
            Self::Conservation(what) => write!(f, "packets are not conserved: {what}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Scenario(fault)
    }
}

/// What the clock does by itself.
#[derive(Clone, Copy)]
enum Step {
    Rate { link: usize, bps: u64 },
    Delay { link: usize, ns: u64 },
    Edge,
    Series,
    Response,
}

struct Simulation<'a> {
    scenario: &'a Scenario,
    net: Net,
    windows: Vec<WindowSpec>,
    steps: VecDeque<(Time, Step)>,
    control: Source,
    /// What each flow has counted at each edge of a window.
    edges: Vec<(Time, Vec<FlowCounts>)>,
    groups: Groups,
}

/// Runs a scenario.
///
/// # Errors
/// See [`Error`].
pub fn run(scenario: &Scenario, seed: u64, control: &mut dyn Control) -> Result<Report, Error> {
    scenario.check()?;
    let mut patience = Patience::new(control, scenario.duration_ns);
    let mut run = Simulation::new(scenario, seed, &mut patience)?;
    run.go(&mut patience)?;
    run.report()
}

/// Asks whoever watches whether to go on, when it is time to.
struct Patience<'a> {
    control: &'a mut dyn Control,
    end_ns: u64,
    looked: Instant,
}

impl<'a> Patience<'a> {
    fn new(control: &'a mut dyn Control, end_ns: u64) -> Self {
        Self {
            control,
            end_ns,
            looked: Instant::now(),
        }
    }

    fn ask(&mut self, now: Time) -> Result<(), Error> {
        if self.looked.elapsed() < Duration::from_millis(20) {
            return Ok(());
        }
        self.looked = Instant::now();
        goes_on(self.control.progress(now.0, self.end_ns))
    }

    fn hand_over(&mut self, net: &mut Net) -> Result<(), Error> {
        let Some(ended) = net.ended.as_mut().filter(|ended| !ended.is_empty()) else {
            return Ok(());
        };
        goes_on(self.control.transfers(ended))?;
        ended.clear();
        Ok(())
    }
}

fn goes_on(answer: ControlFlow<()>) -> Result<(), Error> {
    match answer {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped),
    }
}

impl<'a> Simulation<'a> {
    fn new(scenario: &'a Scenario, seed: u64, patience: &mut Patience<'_>) -> Result<Self, Error> {
        let windows = scenario.windows();
        let mut net = Net {
            shared: Shared {
                events: Events::default(),
                packets: Packets::default(),
                arrived: Ring::default(),
                packet_counts: Vec::new(),
                delivered_bytes: Vec::new(),
                dropped_pkts: 0,
                lost_pkts: 0,
            },
            links: Vec::new(),
            endpoints: Vec::new(),
            flows: Vec::new(),
            conversations: Vec::new(),
            visits: Vec::new(),
            times: TransferTimes::new(scenario.flows.len(), &windows),
            ended: scenario.record.transfers.then(Vec::new),
            paths: Paths::default(),
            owners: Vec::new(),
            free: Vec::new(),
            free_conversations: Vec::new(),
            free_visits: Vec::new(),
            seed,
            delivered_pkts: 0,
            stale_pkts: 0,
        };
        let control = net.source(Owner::Control);
        let mut run = Self {
            scenario,
            net,
            windows,
            steps: VecDeque::new(),
            control,
            edges: Vec::new(),
            groups: Groups::new(scenario),
        };
        run.add_links(seed, patience)?;
        run.add_flows(seed, patience)?;
        run.add_probes()?;
        run.plan();
        Ok(run)
    }

    fn add_links(&mut self, seed: u64, patience: &mut Patience<'_>) -> Result<(), Error> {
        let recorded: HashSet<_> = self.scenario.record.queues.iter().collect();
        for (i, spec) in self.scenario.links.iter().enumerate() {
            patience.ask(Time(0))?;
            let queue_seed = Rng::stream(seed, &format!("link/{}/queue", spec.name)).bits();
            let at = format!("links[{i}].queue");
            let queue = spec.queue.build(&at, spec.rate_bps, queue_seed)?;
            let mut link = Link::new(spec, queue, seed, &mut self.net.shared.events);
            self.net.owners.extend(
                [Owner::Entry, Owner::Service, Owner::Arrival].map(|owner| owner(i as u32)),
            );
            if recorded.contains(&spec.name) {
                let Some(rate_bps) = spec.rate_bps else {
                    return Err(Error::Scenario(Fault::new(
                        format!("links[{i}].rate"),
                        "a link whose queue is measured needs a rate",
                    )));
                };
                let events = self.scenario.record.events;
                let counters = link.port.queue.counters();
                let mut record =
                    QueueRecord::new(&spec.name, rate_bps, counters, &self.windows, events);
                if let Some(trace) = spec.opportunities() {
                    record.follow(trace);
                }
                link.port.record = Some(record);
            }
            self.net.links.push(link);
        }
        Ok(())
    }

    fn add_flows(&mut self, seed: u64, patience: &mut Patience<'_>) -> Result<(), Error> {
        let graph = Graph::of(self.scenario);
        for (i, spec) in self.scenario.flows.iter().enumerate() {
            let at = format!("flows[{i}]");
            let tcp = spec.tcp(&at)?.map(Arc::new);
            let (forth, back) = graph.paths(spec, &at)?;
            let delays_ns = self.scenario.delays_ns(&forth, &back);
            let added_ns = spec.added_ns(delays_ns, seed);
            let jitter_ns = spec
                .sim
                .send_jitter_ns
                .unwrap_or_else(|| self.packet_time_ns(&forth));
            let constant_ns = |link: usize| self.net.links[link].constant_delay_ns();
            // The sender delays every packet anyway: it takes over what the first
            // links do, if that is all they do.
            let leads = forth.iter().map_while(|&link| constant_ns(link));
            let holds = jitter_ns > 0 || spec.rtt.is_some() || spec.app.has_round_trips();
            let most = if holds { forth.len() - 1 } else { 0 };
            let leads: Vec<_> = leads.take(most).collect();
            // What does nothing to packets need not be asked about each of them; but the
            // sender needs a link for its packets to wait at.
            let acts = |link: &usize| self.net.links[*link].constant_delay_ns() != Some(0);
            let (first, rest) = forth[leads.len()..].split_at(usize::from(holds));
            let rest = rest.iter().copied().filter(acts);
            let forth: Vec<_> = first.iter().copied().chain(rest).collect();
            let back: Vec<_> = back.into_iter().filter(acts).collect();
            let paths = [forth, back].map(|links| self.net.paths.add(&links));
            let ahead_ns =
                [&spec.from, &spec.to].map(|node| self.scenario.clock_ahead_ns(node, seed));
            let starts = spec.starts(seed);
            for index in 0..spec.count {
                patience.ask(Time(0))?;
                let number = self.net.flows.len() as u32;
                let mut flow = Flow::new(spec, i as u32, index, starts[index as usize], seed);
                (flow.tcp, flow.delays_ns) = (tcp.clone(), delays_ns);
                flow.source = self.net.source(Owner::Flow(number));
                flow.stopper = self.net.source(Owner::Stop(number));
                (flow.paths, flow.jitter_ns, flow.holds) = (paths, jitter_ns, holds);
                flow.lead_ns = leads.iter().sum::<u64>() + added_ns[index as usize];
                flow.clocks_ahead_ns = ahead_ns;
                self.net.shared.events.schedule(flow.source, flow.start);
                if let Some(stop_ns) = spec.stop_ns {
                    self.net.shared.events.schedule(flow.stopper, Time(stop_ns));
                }
                self.net.flows.push(flow);
                self.net.shared.delivered_bytes.push([0, 0]);
                self.net.shared.packet_counts.push(PacketCounts::default());
            }
        }
        Ok(())
    }

    /// Lays out where probes go. They are counted as one flow more.
    fn add_probes(&mut self) -> Result<(), Error> {
        let flow = self.net.flows.len() as u32;
        let graph = Graph::of(self.scenario);
        for (i, spec) in self.scenario.links.iter().enumerate() {
            if !self.net.links[i].port.queue.algorithm().probes() {
                continue;
            }
            let paths = graph.probe_paths(spec, &format!("links[{i}]"))?;
            let [forth, back] = paths.map(|links| self.net.paths.add(&links));
            let hash = flow_hash(self.net.seed, &format!("probes/{}", spec.name));
            self.net.links[i].port.probes = Some(ProbePath {
                link: i as u32,
                forth: Path {
                    hop: forth,
                    flow,
                    ..Path::default()
                },
                back_hop: back,
                hash,
            });
        }
        self.net.shared.packet_counts.push(PacketCounts::default());
        Ok(())
    }

    /// The time of a full packet on the slowest link, by the rates of the start. Moments of a trace
    /// are whole milliseconds: to be out of step with them takes no longer.
    fn packet_time_ns(&self, links: &[usize]) -> u64 {
        let times_ns = links.iter().filter_map(|&link| {
            let spec = &self.scenario.links[link];
            let most_ns = spec.trace_ms.as_ref().map_or(u64::MAX, |_| NS_PER_MS);
            Some(serialisation_ns(MTU_BYTES, spec.rate_bps?).min(most_ns))
        });
        times_ns.max().unwrap_or(0)
    }

    fn plan(&mut self) {
        let mut steps = Vec::new();
        for (link, spec) in self.scenario.links.iter().enumerate() {
            let rates = spec.schedule.iter();
            steps.extend(rates.map(|s| {
                (
                    Time(s.at_ns),
                    Step::Rate {
                        link,
                        bps: s.rate_bps,
                    },
                )
            }));
        }
        for (link, spec) in self.scenario.links.iter().enumerate() {
            let delay = |step: &DelayStep| {
                let ns = step.delay_ns;
                (Time(step.at_ns), Step::Delay { link, ns })
            };
            steps.extend(spec.delays.iter().map(delay));
        }
        for window in &self.windows {
            steps.extend([
                (Time(window.from_ns), Step::Edge),
                (Time(window.to_ns), Step::Edge),
            ]);
        }
        let grid_ns = self.scenario.record.series_ns;
        if grid_ns > 0 {
            let grid = (0..=self.scenario.duration_ns).step_by(grid_ns as usize);
            steps.extend(grid.map(|ns| (Time(ns), Step::Series)));
        }
        let edges = self.scenario.bin_edges().into_iter();
        steps.extend(edges.map(|at| (at, Step::Response)));
        steps.sort_by_key(|&(at, step)| {
            (at, matches!(step, Step::Rate { .. } | Step::Delay { .. }))
        });
        self.steps = steps.into();
        self.schedule_step();
    }

    fn schedule_step(&mut self) {
        if let Some(&(at, _)) = self.steps.front() {
            self.net.shared.events.schedule_first(self.control, at);
        }
    }

    fn on_steps(&mut self, now: Time) {
        // What happens at this very time belongs to what begins now.
        if let Some(before) = now.0.checked_sub(1) {
            for link in &mut self.net.links {
                link.catch_up(Time(before), &mut self.net.shared);
            }
        }
        while let Some(&(at, step)) = self.steps.front() {
            if at > now {
                break;
            }
            self.steps.pop_front();
            match step {
                Step::Rate { link, bps } => {
                    self.net.links[link].set_rate(now, bps, &mut self.net.shared);
                    self.net.drain_arrivals(now);
                }
                Step::Delay { link, ns } => self.net.links[link].set_delay(ns),
                Step::Edge => {
                    self.each_record(|record, pkts, counts| record.on_edge(now, pkts, counts));
                    if self.edges.last().is_none_or(|&(at, _)| at != now) {
                        let flow_counts = self.flow_counts();
                        self.edges.push((now, flow_counts));
                    }
                }
                Step::Response => self.each_record(|record, _, _| record.on_response(now)),
                Step::Series => {
                    self.each_record(|record, pkts, counts| record.on_step(now, pkts, counts));
                    self.read_statistics(now);
                    self.groups.on_step(now, &self.net);
                }
            }
        }
        self.schedule_step();
    }

    fn each_record(&mut self, act: impl Fn(&mut QueueRecord, u32, Counters)) {
        for link in &mut self.net.links {
            let pkts = link.port.users_pkts();
            if let Some(record) = &mut link.port.record {
                act(record, pkts, link.port.queue.counters());
            }
        }
    }

    /// The series has no row of the begin of a run, so the statistics have none.
    fn read_statistics(&mut self, now: Time) {
        for link in self.net.links.iter_mut().filter(|_| now > Time(0)) {
            if let Some(record) = &mut link.port.record {
                record.on_statistics(now, &link.port.queue.statistics());
            }
        }
    }

    fn flow_counts(&self) -> Vec<FlowCounts> {
        let flows = self.net.flows.iter().zip(&self.net.shared.packet_counts);
        let mut flow_counts: Vec<_> = flows
            .zip(&self.net.shared.delivered_bytes)
            .map(|((flow, packets), &bytes)| flow.counts(packets, bytes))
            .collect();
        // The sender's, as a sender's host would count: not the SYN-ACK that a receiver repeats.
        for end in self.net.endpoints.iter().filter(|end| end.counts) {
            if let Kind::Tcp(connection) = &end.kind {
                flow_counts[end.flow as usize].add(&connection.stats().counts);
            }
        }
        flow_counts
    }

    fn go(&mut self, patience: &mut Patience<'_>) -> Result<(), Error> {
        let end = Time(self.scenario.duration_ns);
        let mut left = EVENTS_PER_LOOK;
        while let Some(due) = self.net.shared.events.pop() {
            if due.at > end {
                break;
            }
            if due.source == self.control {
                self.on_steps(due.at);
            } else {
                self.net.handle(due.at, due.source);
            }
            left -= 1;
            if left == 0 {
                left = EVENTS_PER_LOOK;
                patience.hand_over(&mut self.net)?;
                patience.ask(due.at)?;
            }
        }
        for link in &mut self.net.links {
            link.finish(&mut self.net.shared);
        }
        if self.net.ended.is_some() {
            self.net.note_all_unfinished();
        }
        patience.hand_over(&mut self.net)
    }
}
