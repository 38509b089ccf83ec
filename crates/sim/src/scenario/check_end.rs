// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Rules of the stages at a link's end.

use std::collections::{HashMap, HashSet};

use super::end::{ClassSpec, Classes, Match, Part, QueueStage, RingSpec, Stage, inside};
use super::fault::Faults;
use super::names::Names;
use super::range::{check_dscp, later, rate};
use super::{Fault, LinkSpec, QueueSpec, ShaperKind};

/// More are typing errors; each is a queue that costs memory and time at the start.
const MAX_CLASSES: usize = 4_096;
const MAX_STAGES: usize = 8;
/// As many as sch_prio has.
const MAX_BANDS: usize = 16;
/// Deeper trees `tc` refuses.
const MAX_LEVELS: usize = 8;
const MAX_RING_PKTS: u32 = 65_536;
/// As in sch_htb.
const MAX_PRIO: u8 = 7;

impl LinkSpec {
    /// Checks its stages; `largest_bytes` is the longest packet with its header.
    pub(super) fn check_end(
        &self,
        at: &str,
        largest_bytes: u32,
        names: &Names<'_>,
        parts: &[Part<'_>],
        faults: &mut Faults,
    ) {
        if self.end.is_empty() {
            return;
        }
        self.check_alone(at, faults);
        if self.end.len() > MAX_STAGES {
            let reason = format!("{} stages are more than {MAX_STAGES}", self.end.len());
            faults.add(format!("{at}.end"), reason);
        }
        let mut seen = HashSet::new();
        for (i, stage) in self.end.iter().enumerate() {
            let at = format!("{at}.end[{i}]");
            if !seen.insert(stage.name()) {
                let reason = format!("'{}' is there twice", stage.name());
                faults.add(format!("{at}.name"), reason);
            }
            let above_ring = matches!(self.end.get(i + 1), Some(Stage::Ring(_)));
            match stage {
                Stage::Queue(queue) => {
                    check_queue(&at, queue, above_ring, largest_bytes, names, faults)
                }
                Stage::Ring(ring) => {
                    let is_last = i + 1 == self.end.len();
                    check_ring(&at, ring, i > 0 && is_last, faults);
                }
                Stage::Htb(_) => check_classes(&at, stage, names, faults),
                Stage::Prio(_) | Stage::Drr(_) => {
                    if !above_ring {
                        let reason = "has no pace of its own: put a ring directly below it";
                        faults.add(format!("{at}.kind"), format!("'{}' {reason}", stage.kind()));
                    }
                    check_classes(&at, stage, names, faults);
                }
            }
        }
        for leaf in parts.iter().flat_map(|part| &part.leaves) {
            let rate_bps = leaf.rate_bps.filter(|&bps| rate("", bps).is_ok());
            let key = format!("{}.queue", inside(at, &leaf.at));
            faults.take(leaf.queue.build(&key, rate_bps, 0).map(drop));
        }
    }

    /// Keys of a single queue do not go with stages.
    fn check_alone(&self, at: &str, faults: &mut Faults) {
        let queue = QueueSpec::default();
        let is_default = self.queue.algorithm == queue.algorithm && self.queue.rows == queue.rows;
        for (key, given) in [
            ("rate", self.rate_bps.is_some()),
            ("schedule", !self.schedule.is_empty()),
            ("trace", self.trace_ms.is_some()),
            ("shaper", self.shaper != ShaperKind::Line),
            ("sim.ring", self.sim.ring_pkts > 0),
            ("queue", !is_default),
            ("responder", self.responder.is_some()),
        ] {
            if given {
                let reason = "the link has an `end`, whose stages say this: leave it out";
                faults.add(format!("{at}.{key}"), reason);
            }
        }
    }
}

fn check_queue(
    at: &str,
    stage: &QueueStage,
    above_ring: bool,
    largest_bytes: u32,
    names: &Names<'_>,
    faults: &mut Faults,
) {
    if let Some(name) = &stage.medium {
        names.medium(format!("{at}.medium"), name, faults);
        let key = match (stage.rate_bps, stage.shaper, above_ring) {
            (Some(_), ..) => "rate",
            (_, ShaperKind::Tbf | ShaperKind::Htb, _) => "shaper",
            (.., true) => "medium",
            _ if !stage.schedule.is_empty() => "schedule",
            _ => return,
        };
        let reason = "a medium grants the turns: leave out rate, schedule, shaper and a ring below";
        return faults.add(format!("{at}.{key}"), reason);
    }
    match stage.rate_bps {
        Some(_) if above_ring => {
            let reason = "the ring below sets the pace: leave it out, or shape by a stage 'htb'";
            faults.add(format!("{at}.rate"), reason);
        }
        Some(rate_bps) => faults.take(rate(&format!("{at}.rate"), rate_bps)),
        None if !above_ring => {
            let reason = "a queue without a ring directly below it needs a rate, or a medium";
            faults.add(format!("{at}.rate"), reason);
        }
        None => {}
    }
    faults.take(check_schedule(at, &stage.schedule, |step| {
        (step.at_ns, step.rate_bps)
    }));
    if stage.rate_bps.is_none() && !stage.schedule.is_empty() {
        let reason = "a schedule of rates needs a rate to begin with";
        faults.add(format!("{at}.schedule"), reason);
    }
    if stage.shaper != ShaperKind::Line && stage.rate_bps.is_none() {
        faults.add(format!("{at}.shaper"), "a token bucket needs a rate");
    } else if stage.shaper != ShaperKind::Line && stage.burst_bytes < largest_bytes {
        let reason = format!(
            "{} is less than a full packet: give {largest_bytes} bytes or more",
            stage.burst_bytes
        );
        faults.add(format!("{at}.burst"), reason);
    }
}

fn check_ring(at: &str, ring: &RingSpec, is_placed: bool, faults: &mut Faults) {
    if !is_placed {
        let reason = "a ring is the last stage, and pulls from one above it";
        faults.add(format!("{at}.kind"), reason);
    }
    faults.take(rate(&format!("{at}.rate"), ring.rate_bps));
    if ring.packets > MAX_RING_PKTS {
        let reason = format!("{} is more than {MAX_RING_PKTS}", ring.packets);
        faults.add(format!("{at}.packets"), reason);
    }
}

fn check_schedule<S>(at: &str, schedule: &[S], of: impl Fn(&S) -> (u64, u64)) -> Result<(), Fault> {
    let mut last_ns = None;
    for (i, step) in schedule.iter().enumerate() {
        let key = format!("{at}.schedule[{i}]");
        let (at_ns, rate_bps) = of(step);
        rate(&format!("{key}.rate"), rate_bps)?;
        later(&key, at_ns, &mut last_ns)?;
    }
    Ok(())
}

/// The classes of a stage, and of all disciplines inside.
fn check_classes(at: &str, stage: &Stage, names: &Names<'_>, faults: &mut Faults) {
    let mut seen = HashSet::new();
    check_discipline(at, stage, names, &mut seen, faults);
    if seen.len() > MAX_CLASSES {
        let reason = format!("{} classes are more than {MAX_CLASSES}", seen.len());
        faults.add(at, reason);
    }
}

fn check_discipline<'a>(
    at: &str,
    stage: &'a Stage,
    names: &Names<'_>,
    seen: &mut HashSet<&'a str>,
    faults: &mut Faults,
) {
    let Some(of) = stage.classes() else {
        let reason = format!("'{}' has no classes: htb, prio or drr", stage.kind());
        return faults.add(format!("{at}.kind"), reason);
    };
    let list = stage.list();
    if of.classes.is_empty() {
        faults.add(format!("{at}.{list}"), "is empty: give one at least");
    }
    if matches!(stage, Stage::Prio(_)) && of.classes.len() > MAX_BANDS {
        let reason = format!("{} bands are more than {MAX_BANDS}", of.classes.len());
        faults.add(format!("{at}.{list}"), reason);
    }
    let parents: HashSet<_> = of
        .classes
        .iter()
        .filter_map(|class| class.parent.as_deref())
        .collect();
    for (i, class) in of.classes.iter().enumerate() {
        let at = format!("{at}.{list}[{i}]");
        if !seen.insert(&class.name) {
            faults.add(
                format!("{at}.name"),
                format!("'{}' is there twice", class.name),
            );
        }
        check_class(&at, stage, class, faults);
        check_leaf(&at, class, parents.contains(class.name.as_str()), faults);
        for (i, entry) in class.matches.iter().enumerate() {
            check_match(&format!("{at}.match[{i}]"), entry, names, faults);
        }
        if let Some(inner) = &class.inner {
            check_discipline(&format!("{at}.inner"), inner, names, seen, faults);
        }
    }
    if matches!(stage, Stage::Htb(_)) {
        check_parents(at, of, faults);
    }
    if let Some(name) = &of.default {
        let leaf = of
            .classes
            .iter()
            .any(|class| &class.name == name && !parents.contains(name.as_str()));
        if !leaf {
            faults.add(format!("{at}.default"), format!("'{name}' is no leaf here"));
        }
    }
}

/// Keys of a class by its kind.
fn check_class(at: &str, stage: &Stage, class: &ClassSpec, faults: &mut Faults) {
    let is_htb = matches!(stage, Stage::Htb(_));
    if class.quantum_bytes == Some(0) {
        faults.add(
            format!("{at}.quantum"),
            "0 sends nothing; allowed: 1 byte and more",
        );
    }
    if !is_htb {
        for (key, given) in [
            ("parent", class.parent.is_some()),
            ("rate", class.rate_bps.is_some()),
            ("ceil", class.ceil_bps.is_some()),
            ("schedule", !class.schedule.is_empty()),
            ("prio", class.prio > 0),
        ] {
            if given {
                faults.add(
                    format!("{at}.{key}"),
                    format!("a class of '{}' has none", stage.kind()),
                );
            }
        }
        return;
    }
    let Some(rate_bps) = class.rate_bps else {
        return faults.add(format!("{at}.rate"), "a class of 'htb' needs a rate");
    };
    faults.take(rate(&format!("{at}.rate"), rate_bps));
    if let Some(ceil_bps) = class.ceil_bps {
        faults.take(rate(&format!("{at}.ceil"), ceil_bps));
        if ceil_bps < rate_bps {
            let reason = format!("{ceil_bps} is below the rate, {rate_bps}");
            faults.add(format!("{at}.ceil"), reason);
        }
    }
    if class.prio > MAX_PRIO {
        faults.add(
            format!("{at}.prio"),
            format!("{} is outside 0 to {MAX_PRIO}", class.prio),
        );
    }
    faults.take(check_schedule(at, &class.schedule, |step| {
        (step.at_ns, step.rate_bps)
    }));
    for (i, (_, rate_bps, ceil_bps)) in class.steps().enumerate() {
        let key = format!("{at}.schedule[{i}].ceil");
        if ceil_bps < rate_bps {
            faults.add(key, format!("{ceil_bps} is below the rate, {rate_bps}"));
        } else {
            faults.take(rate(&key, ceil_bps));
        }
    }
}

/// A class has children, or a queue, or a discipline inside.
fn check_leaf(at: &str, class: &ClassSpec, has_children: bool, faults: &mut Faults) {
    match (has_children, &class.queue, &class.inner) {
        (true, Some(_), _) => {
            faults.add(
                format!("{at}.queue"),
                "a class with children holds no packets: leave it out",
            );
        }
        (true, _, Some(_)) => {
            faults.add(
                format!("{at}.inner"),
                "a class with children holds no packets: leave it out",
            );
        }
        (false, Some(_), Some(_)) => {
            faults.add(
                format!("{at}.inner"),
                "a class has a queue or a discipline inside, not both",
            );
        }
        (false, None, None) => {
            faults.add(
                format!("{at}.queue"),
                "a class without children needs a queue or an `inner`",
            );
        }
        _ => {}
    }
    if has_children && !class.matches.is_empty() {
        faults.add(
            format!("{at}.match"),
            "packets go to leaves only: leave it out",
        );
    }
}

fn check_match(at: &str, entry: &Match, names: &Names<'_>, faults: &mut Faults) {
    if entry.is_empty() {
        let keys = "dscp, flows, from, to, via, transport";
        faults.add(at, format!("fits nothing: give one of {keys}"));
    }
    for dscp in entry.dscp.iter().flatten() {
        faults.take(check_dscp(at, *dscp));
    }
    for (key, nodes) in [
        ("from", &entry.from),
        ("to", &entry.to),
        ("via", &entry.via),
    ] {
        for name in nodes.iter().flatten() {
            names.node(format!("{at}.{key}"), name, faults);
        }
    }
    for name in entry.flows.iter().flatten() {
        names.group(format!("{at}.flows"), name, faults);
    }
    for name in entry.transport.iter().flatten() {
        if !["tcp", "udp", "probe"].contains(&name.as_str()) {
            let reason = format!("'{name}' is none of 'tcp', 'udp', 'probe'");
            faults.add(format!("{at}.transport"), reason);
        }
    }
}

/// Each parent is there, none is above itself, and no leaf is too deep.
fn check_parents(at: &str, of: &Classes, faults: &mut Faults) {
    let by_name: HashMap<_, _> = of
        .classes
        .iter()
        .map(|class| (&class.name, class))
        .collect();
    for (i, class) in of.classes.iter().enumerate() {
        let key = format!("{at}.classes[{i}].parent");
        let (mut above, mut levels) = (class.parent.as_ref(), 1);
        while let Some(name) = above {
            let Some(parent) = by_name.get(name) else {
                if levels == 1 {
                    let known = of.classes.iter().map(|class| &class.name);
                    let reason = format!("there is no class '{name}'");
                    faults.unknown(key, reason, name, known);
                }
                break;
            };
            levels += 1;
            if levels > MAX_LEVELS {
                let reason = format!(
                    "'{}' is above itself, or more than {MAX_LEVELS} levels deep",
                    class.name
                );
                faults.add(key, reason);
                break;
            }
            above = parent.parent.as_ref();
        }
    }
}
