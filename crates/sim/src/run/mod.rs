// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The room of a run, from a scenario to a report. It is the last one and uses all others.

mod groups;
mod report;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};
use std::rc::Rc;
use std::time::{Duration, Instant};

use sojourn_core::Counters;

use crate::base::event::{Events, Source};
use crate::base::ring::Ring;
use crate::base::rng::{Rng, flow_hash};
use crate::base::time::{NS_PER_MS, Time, serialisation_ns};
use crate::link::Link;
use crate::link::gate::{Gate, ProbePath};
use crate::link::medium::Medium;
use crate::link::packet::{PacketCounts, Packets, Path};
use crate::link::shared::Shared;
use crate::link::tree::{Choice, ClassRate, DSCPS, Tree};
use crate::measure::counts::FlowCounts;
use crate::measure::record::{ClassRecord, QueueRecord, Transfer, TransferTimes};
use crate::net::endpoint::Kind;
use crate::net::flow::Flow;
use crate::net::path::Paths;
use crate::net::{Net, Owner};
use crate::scenario::end::{Part, Subject, inside};
use crate::scenario::graph::{Graph, Way};
use crate::scenario::{DelayStep, Fault, MTU_BYTES, QueueSpec, Scenario, WindowSpec};
use crate::tcp::PathMetrics;

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
    Class { link: usize, to: ClassRate },
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
    /// By link of the scenario, its parts, and their numbers among the links of the net.
    parts: Vec<Vec<Part<'a>>>,
    numbers: Vec<Range<usize>>,
    /// What each recorded part's classes have counted, by its number.
    classes: Vec<(usize, Vec<Option<ClassRecord>>)>,
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
            media: Vec::new(),
            endpoints: Vec::new(),
            flows: Vec::new(),
            conversations: Vec::new(),
            visits: Vec::new(),
            times: TransferTimes::new(&scenario.flows, &windows),
            ended: scenario.record.transfers.then(Vec::new),
            paths: Paths::default(),
            owners: Vec::new(),
            metrics: Vec::new(),
            free: Vec::new(),
            spare: Vec::new(),
            free_conversations: Vec::new(),
            free_visits: Vec::new(),
            name: String::new(),
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
            parts: Vec::new(),
            numbers: Vec::new(),
            classes: Vec::new(),
            edges: Vec::new(),
            groups: Groups::new(scenario),
        };
        run.add_links(seed, patience)?;
        run.add_media(seed);
        run.add_flows(seed, patience)?;
        run.add_probes()?;
        run.plan();
        Ok(run)
    }

    fn add_links(&mut self, seed: u64, patience: &mut Patience<'_>) -> Result<(), Error> {
        let recorded: HashSet<_> = self.scenario.record.queues.iter().collect();
        for (i, spec) in self.scenario.links.iter().enumerate() {
            patience.ask(Time(0))?;
            let first = self.net.links.len();
            let parts = spec.parts(&self.scenario.media);
            for part in &parts {
                let all = recorded.contains(&spec.name);
                let is_recorded = |name: &String| all || recorded.contains(name);
                self.add_part(&format!("links[{i}]"), part, seed, is_recorded)?;
            }
            self.parts.push(parts);
            self.numbers.push(first..self.net.links.len());
        }
        Ok(())
    }

    /// Adds a link, or a part of one, whose key in the scenario is `at`.
    fn add_part(
        &mut self,
        at: &str,
        part: &Part<'_>,
        seed: u64,
        is_recorded: impl Fn(&String) -> bool,
    ) -> Result<(), Error> {
        let number = self.net.links.len();
        let mut gates = Vec::new();
        for leaf in &part.leaves {
            let queue_seed = Rng::stream(seed, &format!("link/{}/queue", leaf.name)).bits();
            let at = inside(at, &leaf.at);
            let queue = leaf
                .queue
                .build(&format!("{at}.queue"), leaf.rate_bps, queue_seed)?;
            let mut gate = Gate::new(&part.link, leaf.queue, queue);
            if is_recorded(&leaf.name) {
                let Some(most_bps) = leaf.most_bps else {
                    let reason = "a link whose queue is measured needs a rate";
                    return Err(Error::Scenario(Fault::new(format!("{at}.rate"), reason)));
                };
                let (events, counters) = (self.scenario.record.events, gate.queue.counters());
                let mut record =
                    QueueRecord::new(&leaf.name, most_bps, counters, &self.windows, events);
                record.beside_each_packet(part.link.beside_each_packet());
                if let Some(trace) = part.link.opportunities() {
                    record.follow(trace);
                }
                gate.record = Some(record);
            }
            gates.push(gate);
        }
        let (gate, tree) = if part.is_tree() {
            let spec = QueueSpec::default();
            let unused = Gate::new(&part.link, &spec, spec.build(at, None, 0)?);
            (unused, Some(Tree::new(part, gates)))
        } else {
            (gates.remove(0), None)
        };
        let (is_granted, events) = (part.medium.is_some(), &mut self.net.shared.events);
        let link = Link::new(&part.link, gate, tree, is_granted, seed, events);
        self.net.links.push(link);
        let owners = [Owner::Entry, Owner::Service, Owner::Arrival];
        let owners = owners.map(|owner| owner(number as u32));
        self.net.owners.extend(owners);
        let classes = part.classes.iter().map(|class| (&class.name, class.kind));
        let ring = part.ring_name.iter().map(|name| (name, "ring"));
        let record = |(name, kind): (&String, &'static str)| {
            is_recorded(name).then(|| ClassRecord::new(name.clone(), kind, &self.windows))
        };
        let records: Vec<_> = classes.chain(ring).map(record).collect();
        if records.iter().any(Option::is_some) {
            self.classes.push((number, records));
        }
        Ok(())
    }

    fn add_media(&mut self, seed: u64) {
        for (number, spec) in self.scenario.media.iter().enumerate() {
            let source = self.net.source(Owner::Medium(number as u32));
            let parts = self.parts.iter().flatten().zip(0..);
            let members = parts.filter(|(part, _)| part.medium == Some(spec.name.as_str()));
            let links = members.map(|(_, link)| link).collect();
            self.net.media.push(Medium::new(spec, links, source, seed));
            self.net.shared.events.schedule(source, Time(0));
        }
    }

    fn add_flows(&mut self, seed: u64, patience: &mut Patience<'_>) -> Result<(), Error> {
        let graph = Graph::of(self.scenario);
        let mut paths_known = HashMap::new();
        for (i, spec) in self.scenario.flows.iter().enumerate() {
            let at = format!("flows[{i}]");
            let tcp = spec.tcp(&at)?.map(Rc::new);
            let ways = graph.ways(spec, &at)?;
            let [forth, back] = [&ways[0].links, &ways[1].links];
            let delays_ns = self.scenario.delays_ns(forth, back);
            let added_ns = spec.added_ns(delays_ns, seed);
            let subjects = [ways[0].subject(Some(spec)), ways[1].subject(Some(spec))];
            let jitter_ns = spec
                .sim
                .send_jitter_ns
                .unwrap_or_else(|| self.packet_time_ns(forth));
            let [forth, back] = [forth, back].map(|links| self.in_parts(links));
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
            let paths = [
                self.lay(&forth, &subjects[0])?,
                self.lay(&back, &subjects[1])?,
            ];
            let ahead_ns =
                [&spec.from, &spec.to].map(|node| self.scenario.clock_ahead_ns(node, seed));
            let starts = spec.starts(seed);
            let keeps = tcp.as_ref().is_some_and(|tcp| tcp.path_metrics);
            let metrics = keeps.then(|| {
                [(&spec.from, &spec.to), (&spec.to, &spec.from)].map(|hosts| {
                    let next = paths_known.len() as u32;
                    *paths_known.entry(hosts).or_insert(next)
                })
            });
            for index in 0..spec.count {
                patience.ask(Time(0))?;
                let number = self.net.flows.len() as u32;
                let mut flow = Flow::new(spec, i as u32, index, starts[index as usize], seed);
                (flow.tcp, flow.delays_ns) = (tcp.clone(), delays_ns);
                flow.source = self.net.source(Owner::Flow(number));
                flow.stopper = self.net.source(Owner::Stop(number));
                (flow.paths, flow.jitter_ns, flow.holds) = (paths, jitter_ns, holds);
                flow.lead_ns = leads.iter().sum::<u64>() + added_ns[index as usize];
                (flow.clocks_ahead_ns, flow.metrics) = (ahead_ns, metrics);
                self.net.shared.events.schedule(flow.source, flow.start);
                if let Some(stop_ns) = spec.stop_ns {
                    self.net.shared.events.schedule(flow.stopper, Time(stop_ns));
                }
                self.net.flows.push(flow);
                self.net.shared.delivered_bytes.push([0, 0]);
                self.net.shared.packet_counts.push(PacketCounts::default());
            }
        }
        self.net
            .metrics
            .resize(paths_known.len(), PathMetrics::default());
        Ok(())
    }

    /// The parts of these links, one after the other.
    fn in_parts(&self, links: &[usize]) -> Vec<usize> {
        let parts = links.iter().flat_map(|&link| self.numbers[link].clone());
        parts.collect()
    }

    /// Lays out a path through the net, and into which queue its packets go at each link.
    fn lay(&mut self, links: &[usize], subject: &Subject<'_>) -> Result<u32, Error> {
        let first = self.net.paths.add(links);
        for (hop, &number) in (first..).zip(links) {
            if let Some(tree) = self.net.links[number].tree_mut() {
                let link = self.numbers.partition_point(|parts| parts.end <= number);
                let part = &self.parts[link][number - self.numbers[link].start];
                tree.choose(hop, choice(part, &format!("links[{link}]"), subject)?);
            }
        }
        Ok(first)
    }

    /// Lays out where probes go. They are counted as one flow more.
    fn add_probes(&mut self) -> Result<(), Error> {
        let scenario = self.scenario;
        let graph = Graph::of(scenario);
        for (i, spec) in scenario.links.iter().enumerate() {
            for (nth, number) in self.numbers[i].clone().enumerate() {
                for gate in 0..self.parts[i][nth].leaves.len() {
                    let queue = &self.net.links[number].gates()[gate].queue;
                    if queue.algorithm().probes() {
                        let leaf = &self.parts[i][nth].leaves[gate];
                        let at = inside(&format!("links[{i}]"), &leaf.at);
                        let hash = flow_hash(self.net.seed, &format!("probes/{}", leaf.name));
                        let ways = graph.probe_ways(spec, leaf.responder, &at)?;
                        let below = number + 1..self.numbers[i].end;
                        self.add_probes_of([number, gate], hash, below, &ways)?;
                    }
                }
            }
        }
        self.net.shared.packet_counts.push(PacketCounts::default());
        Ok(())
    }

    /// Of a queue. Its probes pass the parts `below` it at its own link first.
    fn add_probes_of(
        &mut self,
        [number, gate]: [usize; 2],
        hash: u32,
        below: Range<usize>,
        [forth, back]: &[Way<'_>; 2],
    ) -> Result<(), Error> {
        let ahead: Vec<_> = below.chain(self.in_parts(&forth.links)).collect();
        let hop = self.lay(&ahead, &forth.subject(None))?;
        let back_hop = self.lay(&self.in_parts(&back.links), &back.subject(None))?;
        let flow = self.net.flows.len() as u32;
        let forth = Path {
            hop,
            flow,
            ..Path::default()
        };
        self.net.links[number].gates_mut()[gate].probes = Some(ProbePath {
            link: number as u32,
            gate: gate as u32,
            forth,
            back_hop,
            hash,
        });
        Ok(())
    }

    /// The time of a full packet on the slowest link, by the rates of the start. Moments of a trace
    /// are whole milliseconds: to be out of step with them takes no longer.
    fn packet_time_ns(&self, links: &[usize]) -> u64 {
        let times_ns = links.iter().filter_map(|&link| {
            let spec = &self.scenario.links[link];
            let most_ns = spec.trace_ms.as_ref().map_or(u64::MAX, |_| NS_PER_MS);
            Some(serialisation_ns(MTU_BYTES, spec.pace_bps(&self.scenario.media)?).min(most_ns))
        });
        times_ns.max().unwrap_or(0)
    }

    fn plan(&mut self) {
        let mut steps = Vec::new();
        for (parts, numbers) in self.parts.iter().zip(&self.numbers) {
            for (part, link) in parts.iter().zip(numbers.clone()) {
                let rates = part.link.schedule.iter();
                steps.extend(rates.map(|step| {
                    let bps = step.rate_bps;
                    (Time(step.at_ns), Step::Rate { link, bps })
                }));
                for (class, of) in part.classes.iter().enumerate() {
                    steps.extend(of.spec.steps().map(|(at_ns, rate_bps, ceil_bps)| {
                        let to = ClassRate {
                            class,
                            gate: of.leaf,
                            rate_bps,
                            ceil_bps,
                        };
                        (Time(at_ns), Step::Class { link, to })
                    }));
                }
            }
        }
        for (i, spec) in self.scenario.links.iter().enumerate() {
            let link = self.numbers[i].end - 1;
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
            let changes = matches!(
                step,
                Step::Rate { .. } | Step::Class { .. } | Step::Delay { .. }
            );
            (at, changes)
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
                Step::Class { link, to } => {
                    self.net.links[link].set_class_rate(now, to, &mut self.net.shared);
                    self.net.drain_arrivals(now);
                }
                Step::Delay { link, ns } => self.net.links[link].set_delay(ns),
                Step::Edge => {
                    self.each_record(|record, pkts, counts| record.on_edge(now, pkts, counts));
                    self.read_classes(now);
                    if self.edges.last().is_none_or(|&(at, _)| at != now) {
                        let flow_counts = self.flow_counts(now);
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
        for gate in self.net.links.iter_mut().flat_map(Link::gates_mut) {
            let pkts = gate.users_pkts();
            if let Some(record) = &mut gate.record {
                act(record, pkts, gate.queue.counters());
            }
        }
    }

    fn read_classes(&mut self, now: Time) {
        for (link, records) in &mut self.classes {
            let readings = self.net.links[*link].tree_mut().map(|tree| tree.read(now));
            for (record, reading) in records.iter_mut().zip(readings.unwrap_or_default()) {
                if let Some(record) = record {
                    record.on_edge(now, &reading);
                }
            }
        }
    }

    /// The series has no row of the begin of a run, so the statistics have none.
    fn read_statistics(&mut self, now: Time) {
        let links = self.net.links.iter_mut().filter(|_| now > Time(0));
        for gate in links.flat_map(Link::gates_mut) {
            if let Some(record) = &mut gate.record {
                record.on_statistics(now, &gate.queue.statistics());
            }
        }
    }

    fn flow_counts(&self, now: Time) -> Vec<FlowCounts> {
        let flows = self.net.flows.iter().zip(&self.net.shared.packet_counts);
        let mut flow_counts: Vec<_> = flows
            .zip(&self.net.shared.delivered_bytes)
            .map(|((flow, packets), &bytes)| flow.counts(now, packets, bytes))
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

/// The queue of packets at a part: probes and answers have the DSCPs of the packets that asked.
fn choice(part: &Part<'_>, at: &str, subject: &Subject<'_>) -> Result<Choice, Fault> {
    if let Some(group) = subject.group {
        let gate = part.leaf(at, subject, group.dscp)?;
        return Ok(Choice::Gate(gate as u16));
    }
    let mut gates = Box::new([0; DSCPS]);
    for (dscp, gate) in gates.iter_mut().enumerate() {
        *gate = part.leaf(at, subject, dscp as u8)? as u16;
    }
    Ok(Choice::ByDscp(gates))
}
