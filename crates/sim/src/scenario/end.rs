// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A link's end as a list of stages: queues, classes that share a rate, a driver's ring. The
//! engine lays them out as `Part`s: each takes packets into queues of its own, and hands them to
//! the next; the last hands them to the wire. A ring belongs to the part above, from which it
//! pulls.

use std::borrow::Cow;

use serde::Deserialize;

use super::{
    Fault, FlowSpec, LinkSpec, MediumSpec, QueueSpec, RateStep, ShaperKind, TransportSpec,
};

/// A stage.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Stage {
    /// One queue and its shaper.
    Queue(QueueStage),
    /// Classes that lend each other what they do not need, as sch_htb.
    Htb(Classes),
    /// Bands of which the first that has a packet sends, as sch_prio.
    Prio(Classes),
    /// Classes in turn, as sch_drr.
    Drr(Classes),
    /// A driver's ring.
    Ring(RingSpec),
}

/// One queue and its shaper: keys of a link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueStage {
    /// Its name.
    pub name: String,
    /// None: the ring below sets the pace, or a medium.
    #[serde(default, rename = "rate")]
    pub rate_bps: Option<u64>,
    /// The medium that grants it turns.
    #[serde(default)]
    pub medium: Option<String>,
    /// Later rates.
    #[serde(default)]
    pub schedule: Vec<RateStep>,
    /// Manner of service.
    #[serde(default)]
    pub shaper: ShaperKind,
    /// Depth of the token bucket.
    #[serde(default = "super::default_burst_bytes", rename = "burst")]
    pub burst_bytes: u32,
    /// The queue.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Node that answers probes.
    #[serde(default)]
    pub responder: Option<String>,
}

/// A driver's ring.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingSpec {
    /// Its name.
    pub name: String,
    /// Packets that wait in it, beside the one on the line.
    pub packets: u32,
    /// Bytes in it and on the line.
    #[serde(default)]
    pub bql: ByteLimitSpec,
    /// Of the line.
    #[serde(rename = "rate")]
    pub rate_bps: u64,
}

/// How many bytes a ring holds: `false`, `true` or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub enum ByteLimitSpec {
    /// Any.
    #[default]
    Off,
    /// As few as keep the line busy.
    Dynamic,
    /// So many.
    Fixed(u32),
}

impl TryFrom<serde_json::Value> for ByteLimitSpec {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Self, String> {
        let bytes = value.as_u64().and_then(|bytes| u32::try_from(bytes).ok());
        match (value.as_bool(), bytes) {
            (Some(false), _) => Ok(Self::Off),
            (Some(true), _) => Ok(Self::Dynamic),
            (_, Some(bytes)) => Ok(Self::Fixed(bytes)),
            _ => Err(format!("bql is true, false or a size, not {value}")),
        }
    }
}

/// The classes of a discipline.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classes {
    /// Its name; empty: it is inside a class.
    #[serde(default)]
    pub name: String,
    /// The class of packets that no class takes.
    #[serde(default)]
    pub default: Option<String>,
    /// The classes, or bands.
    #[serde(alias = "bands")]
    pub classes: Vec<ClassSpec>,
}

/// A class. Which of its keys it has depends on its kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassSpec {
    /// Its name, unique in the stage.
    pub name: String,
    /// HTB: the class that it borrows from.
    #[serde(default)]
    pub parent: Option<String>,
    /// HTB: its own rate.
    #[serde(default, rename = "rate")]
    pub rate_bps: Option<u64>,
    /// HTB: its rate with all that it borrows; none: `rate`.
    #[serde(default, rename = "ceil")]
    pub ceil_bps: Option<u64>,
    /// HTB: how much may be sent at once at `rate`.
    #[serde(default = "default_class_burst_bytes", rename = "burst")]
    pub burst_bytes: u32,
    /// HTB: the same at `ceil`.
    #[serde(default = "default_class_burst_bytes", rename = "cburst")]
    pub cburst_bytes: u32,
    /// HTB: who borrows first; 0 does.
    #[serde(default)]
    pub prio: u8,
    /// HTB, DRR: bytes of a turn.
    #[serde(default, rename = "quantum")]
    pub quantum_bytes: Option<u32>,
    /// HTB: later rates.
    #[serde(default)]
    pub schedule: Vec<ClassStep>,
    /// Packets that it takes.
    #[serde(default, rename = "match")]
    pub matches: Vec<Match>,
    /// A leaf's queue.
    #[serde(default)]
    pub queue: Option<QueueSpec>,
    /// A leaf's discipline, in place of a queue.
    #[serde(default)]
    pub inner: Option<Box<Stage>>,
    /// Node that answers probes.
    #[serde(default)]
    pub responder: Option<String>,
}

/// As in tc's examples: a full packet and a little.
fn default_class_burst_bytes() -> u32 {
    1_600
}

/// From `at` on, a class has these rates.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassStep {
    /// When.
    #[serde(rename = "at")]
    pub at_ns: u64,
    /// The new rate.
    #[serde(rename = "rate")]
    pub rate_bps: u64,
    /// The new ceiling; none: it stays, or follows the rate where the class gives none.
    #[serde(default, rename = "ceil")]
    pub ceil_bps: Option<u64>,
}

/// What a packet must be: each key that is given must fit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// Its DSCP is one of these.
    #[serde(default)]
    pub dscp: Option<Vec<u8>>,
    /// Its group of flows.
    #[serde(default)]
    pub flows: Option<Vec<String>>,
    /// The node that sent it.
    #[serde(default)]
    pub from: Option<Vec<String>>,
    /// The node that it is for.
    #[serde(default)]
    pub to: Option<Vec<String>>,
    /// A node on its way.
    #[serde(default)]
    pub via: Option<Vec<String>>,
    /// "tcp", "udp" or "probe".
    #[serde(default)]
    pub transport: Option<Vec<String>>,
}

/// What all packets on a way have in common.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Their group of flows; none: they are probes or answers.
    pub group: Option<&'a FlowSpec>,
    /// The nodes of their way, from the first to the last.
    pub nodes: &'a [&'a str],
}

impl Match {
    /// Whether it has a key at all.
    pub fn is_empty(&self) -> bool {
        let names = [
            &self.flows,
            &self.from,
            &self.to,
            &self.via,
            &self.transport,
        ];
        self.dscp.is_none() && names.iter().all(|names| names.is_none())
    }

    fn fits(&self, subject: &Subject<'_>, dscp: u8) -> bool {
        let transport = match subject.group.map(|group| &group.transport) {
            None => "probe",
            Some(TransportSpec::Tcp { .. }) => "tcp",
            Some(TransportSpec::Udp) => "udp",
        };
        let group = subject.group.map(|group| group.name.as_str());
        let nodes = subject.nodes;
        let has = |names: &Option<Vec<String>>, of: &[&str]| {
            let fits = |names: &Vec<String>| names.iter().any(|name| of.contains(&name.as_str()));
            names.as_ref().is_none_or(fits)
        };
        self.dscp.as_ref().is_none_or(|list| list.contains(&dscp))
            && has(&self.flows, group.as_slice())
            && has(&self.from, nodes.get(..1).unwrap_or_default())
            && has(&self.to, nodes.get(nodes.len() - 1..).unwrap_or_default())
            && has(&self.via, nodes)
            && has(&self.transport, &[transport])
    }
}

impl Stage {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Queue(stage) => &stage.name,
            Self::Htb(of) | Self::Prio(of) | Self::Drr(of) => &of.name,
            Self::Ring(ring) => &ring.name,
        }
    }

    /// Its kind, as files call it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Queue(_) => "queue",
            Self::Htb(_) => "htb",
            Self::Prio(_) => "prio",
            Self::Drr(_) => "drr",
            Self::Ring(_) => "ring",
        }
    }

    /// Its classes, if it has any.
    pub fn classes(&self) -> Option<&Classes> {
        match self {
            Self::Htb(of) | Self::Prio(of) | Self::Drr(of) => Some(of),
            Self::Queue(_) | Self::Ring(_) => None,
        }
    }

    /// The key of its classes, as files call it.
    pub fn list(&self) -> &'static str {
        match self {
            Self::Prio(_) => "bands",
            _ => "classes",
        }
    }

    fn is_htb(&self) -> bool {
        matches!(self, Self::Htb(_))
    }
}

/// A queue of a part, and the way to it through the classes.
pub struct Leaf<'a> {
    /// Its key in the scenario, without that of the link: "end[0].classes[2]"; empty: the link.
    pub at: String,
    /// Its name in results.
    pub name: String,
    /// Its specification.
    pub queue: &'a QueueSpec,
    /// Node that answers its probes; none: the link's far end.
    pub responder: Option<&'a str>,
    /// What it can always send, which its algorithm is told.
    pub rate_bps: Option<u64>,
    /// What it can send when all others are idle.
    pub most_bps: Option<u64>,
    /// By discipline, from the outer to the inner one: the place of its class there.
    pub way: Vec<u16>,
}

/// A class of a part.
pub struct ClassAt<'a> {
    /// Its name in results.
    pub name: String,
    /// The kind of its discipline.
    pub kind: &'static str,
    /// Its specification.
    pub spec: &'a ClassSpec,
    /// The place of its queue among those of the part, if it has one.
    pub leaf: Option<usize>,
}

/// What takes packets into queues of its own: a link without stages, or some of its stages.
pub struct Part<'a> {
    /// The link that it would be by itself. Only the last part has the link's wire.
    pub link: Cow<'a, LinkSpec>,
    /// Its name in messages: of the link, or of link and stage.
    pub name: String,
    /// The discipline above its queues, if these are several.
    pub root: Option<&'a Stage>,
    /// The medium that grants it turns.
    pub medium: Option<&'a str>,
    /// The ring that pulls from it.
    pub ring: Option<&'a RingSpec>,
    /// Its name in results.
    pub ring_name: Option<String>,
    /// Its queues.
    pub leaves: Vec<Leaf<'a>>,
    /// Its classes, each before those inside it.
    pub classes: Vec<ClassAt<'a>>,
    /// In the scenario: "end[0]"; empty: the link itself.
    pub at: String,
}

impl LinkSpec {
    /// Its parts, from the first that a packet meets to the wire, with the media of the scenario. A
    /// link that `check` refuses may have none.
    pub fn parts(&self, media: &[MediumSpec]) -> Vec<Part<'_>> {
        if self.end.is_empty() {
            return vec![self.own_part()];
        }
        let stages = self
            .end
            .iter()
            .filter(|stage| !matches!(stage, Stage::Ring(_)));
        let alone = stages.count() == 1;
        let mut parts = Vec::new();
        for (i, stage) in self.end.iter().enumerate() {
            let ring = match self.end.get(i + 1) {
                Some(Stage::Ring(ring)) => Some(ring),
                _ => None,
            };
            let last = i + 1 + usize::from(ring.is_some()) == self.end.len();
            let under = match (alone, stage) {
                (true, _) => self.name.clone(),
                (false, stage) => format!("{}/{}", self.name, stage.name()),
            };
            let mut part = match stage {
                Stage::Ring(_) => continue,
                Stage::Queue(queue) => {
                    let pace = ring.map(|ring| ring.rate_bps);
                    self.queue_part(queue, ring, pace.or_else(|| queue.pace_bps(media)))
                }
                _ => self.classes_part(stage, &under, ring),
            };
            part.at = format!("end[{i}]");
            for leaf in &mut part.leaves {
                leaf.at = format!("end[{i}]{}", leaf.at);
            }
            if matches!(stage, Stage::Queue(_)) {
                part.leaves[0].name.clone_from(&under);
            }
            part.ring_name = ring.map(|ring| format!("{}/{}", self.name, ring.name));
            let link = part.link.to_mut();
            link.name.clone_from(&under);
            part.name = under;
            if !last {
                (link.delay_ns, link.loss) = (0, 0.0);
                (link.jitter, link.delays) = (None, Vec::new());
            }
            parts.push(part);
        }
        parts
    }

    fn own_part(&self) -> Part<'_> {
        Part {
            link: Cow::Borrowed(self),
            name: self.name.clone(),
            root: None,
            medium: None,
            ring: None,
            ring_name: None,
            leaves: vec![Leaf {
                at: String::new(),
                name: self.name.clone(),
                queue: &self.queue,
                responder: self.responder.as_deref(),
                rate_bps: self.rate_bps,
                most_bps: self.rate_bps,
                way: Vec::new(),
            }],
            classes: Vec::new(),
            at: String::new(),
        }
    }

    /// The link with this rate and no stages.
    fn bare(&self, rate_bps: Option<u64>) -> Self {
        Self {
            rate_bps,
            end: Vec::new(),
            ..self.clone()
        }
    }

    fn queue_part<'a>(
        &self,
        stage: &'a QueueStage,
        ring: Option<&'a RingSpec>,
        rate_bps: Option<u64>,
    ) -> Part<'a> {
        let mut link = self.bare(rate_bps);
        link.schedule.clone_from(&stage.schedule);
        (link.shaper, link.burst_bytes) = (stage.shaper, stage.burst_bytes);
        link.queue = stage.queue.clone();
        link.sim.ring_pkts = ring.map_or(0, |ring| ring.packets);
        let leaf = Leaf {
            at: String::new(),
            name: String::new(),
            queue: &stage.queue,
            responder: stage.responder.as_deref(),
            rate_bps,
            most_bps: rate_bps,
            way: vec![0],
        };
        Part {
            link: Cow::Owned(link),
            name: String::new(),
            root: None,
            medium: stage.medium.as_deref(),
            ring,
            ring_name: None,
            leaves: vec![leaf],
            classes: Vec::new(),
            at: String::new(),
        }
    }

    fn classes_part<'a>(
        &self,
        stage: &'a Stage,
        under: &str,
        ring: Option<&'a RingSpec>,
    ) -> Part<'a> {
        let mut link = self.bare(ring.map(|ring| ring.rate_bps));
        link.sim.ring_pkts = ring.map_or(0, |ring| ring.packets);
        let mut found = Found {
            under,
            leaves: Vec::new(),
            classes: Vec::new(),
        };
        let pace = [ring.map(|ring| ring.rate_bps); 2];
        found.walk(stage, "", &[], pace);
        Part {
            link: Cow::Owned(link),
            name: String::new(),
            root: Some(stage),
            medium: None,
            ring,
            ring_name: None,
            leaves: found.leaves,
            classes: found.classes,
            at: String::new(),
        }
    }

    /// The rate at which its slowest stage lets single packets through, if it has one.
    pub fn pace_bps(&self, media: &[MediumSpec]) -> Option<u64> {
        if self.end.is_empty() {
            return self.rate_bps;
        }
        let paces = self.end.iter().filter_map(|stage| match stage {
            Stage::Queue(stage) => stage.pace_bps(media),
            Stage::Ring(ring) => Some(ring.rate_bps),
            Stage::Htb(of) => {
                let roots = of.classes.iter().filter(|class| class.parent.is_none());
                roots.filter_map(ClassSpec::most_bps).max()
            }
            Stage::Prio(_) | Stage::Drr(_) => None,
        });
        paces.min()
    }
}

impl QueueStage {
    /// Its rate, or its medium's.
    fn pace_bps(&self, media: &[MediumSpec]) -> Option<u64> {
        let medium = media
            .iter()
            .find(|medium| Some(&medium.name) == self.medium.as_ref());
        self.rate_bps.or(medium.map(|medium| medium.rate_bps))
    }
}

impl ClassSpec {
    /// Its later rates and ceilings.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let mut ceil_bps = self.ceil_bps;
        self.schedule.iter().map(move |step| {
            ceil_bps = step.ceil_bps.or(ceil_bps);
            let rate_bps = step.rate_bps;
            (step.at_ns, rate_bps, ceil_bps.unwrap_or(rate_bps))
        })
    }

    /// Its ceiling, of which its rate is the least.
    pub fn most_bps(&self) -> Option<u64> {
        self.ceil_bps.or(self.rate_bps)
    }
}

/// What a walk through classes has found.
struct Found<'a, 'b> {
    under: &'b str,
    leaves: Vec<Leaf<'a>>,
    classes: Vec<ClassAt<'a>>,
}

impl<'a> Found<'a, '_> {
    /// `pace`: what a class of this discipline can always send, and what when others are idle.
    fn walk(&mut self, stage: &'a Stage, at: &str, way: &[u16], pace: [Option<u64>; 2]) {
        let Some(of) = stage.classes() else { return };
        for (i, class) in of.classes.iter().enumerate() {
            let name = format!("{}/{}", self.under, class.name);
            self.classes.push(ClassAt {
                name: name.clone(),
                kind: stage.kind(),
                spec: class,
                leaf: class.queue.as_ref().map(|_| self.leaves.len()),
            });
            let at = format!("{at}.{}[{i}]", stage.list());
            let mut way = way.to_vec();
            way.push(i as u16);
            let pace = match stage.is_htb() {
                true => [class.rate_bps, class.most_bps()],
                false => pace,
            };
            if let Some(queue) = &class.queue {
                self.leaves.push(Leaf {
                    at,
                    name,
                    queue,
                    responder: class.responder.as_deref(),
                    rate_bps: pace[0],
                    most_bps: pace[1],
                    way,
                });
            } else if let Some(inner) = &class.inner {
                self.walk(inner, &format!("{at}.inner"), &way, pace);
            }
        }
    }
}

impl Part<'_> {
    /// Whether it has classes or a ring.
    pub fn is_tree(&self) -> bool {
        self.root.is_some() || self.ring.is_some()
    }

    /// The queue that takes packets of a way, by their DSCP.
    ///
    /// # Errors
    /// Where no class of a discipline takes them. `at` is the key of the link.
    pub fn leaf(&self, at: &str, subject: &Subject<'_>, dscp: u8) -> Result<usize, Fault> {
        let mut way = Vec::new();
        let mut stage = self.root;
        while let Some(of) = stage.and_then(Stage::classes) {
            let takes = |class: &ClassSpec| class.matches.iter().any(|m| m.fits(subject, dscp));
            let is_default = |class: &ClassSpec| Some(&class.name) == of.default.as_ref();
            let first = of.classes.iter().position(takes);
            let Some(place) = first.or_else(|| of.classes.iter().position(is_default)) else {
                let reason = format!(
                    "no class takes the packets of {subject}: give one a `match`, or a `default`"
                );
                return Err(Fault::new(inside(at, &self.at), reason));
            };
            way.push(place as u16);
            stage = of.classes[place].inner.as_deref();
        }
        // A single queue has no way, or that of a ring's only class.
        let found = self.leaves.iter().position(|leaf| leaf.way == way);
        Ok(found.unwrap_or(0))
    }

    /// Checks that packets of this group, or probes of any DSCP, find a queue.
    ///
    /// # Errors
    /// See `leaf`.
    pub fn check_leaf(&self, at: &str, subject: &Subject<'_>) -> Result<(), Fault> {
        let dscps = subject
            .group
            .map_or(0..=63, |group| group.dscp..=group.dscp);
        for dscp in dscps {
            self.leaf(at, subject, dscp)?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.group {
            Some(group) => write!(f, "'{}'", group.name)?,
            None => f.write_str("probes")?,
        }
        let ends = [self.nodes.first(), self.nodes.last()];
        let [from, to] = ends.map(|node| node.copied().unwrap_or_default());
        write!(f, " from '{from}' to '{to}'")
    }
}

/// The key of something inside another.
pub fn inside(at: &str, key: &str) -> String {
    if key.is_empty() {
        at.to_owned()
    } else {
        format!("{at}.{key}")
    }
}
