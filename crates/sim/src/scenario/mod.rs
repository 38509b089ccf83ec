// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The room of scenarios as the engine reads them: a directed graph with the keys of a scenario
//! file, so that the path of a fault is the file's. Numbers are in base units, which the fields
//! here name: ns, bit/s, bytes, packets. `check` refuses what cannot be run, `graph` finds paths,
//! `queue` makes queues, and `script` writes the traffic for other hosts. The room uses `base`,
//! `tcp` and `traffic`.

mod changes;
mod check;
mod check_end;
mod check_link;
pub mod end;
mod fault;
pub mod frame;
pub mod graph;
mod medium;
mod names;
mod passing;
mod queue;
mod range;
pub mod script;
mod starts;
mod times;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::base::rng::Rng;
use crate::base::time::{NS_PER_MS, Time};
use crate::tcp::CongestionControl;
use crate::traffic::AppSpec;
use frame::LinkLayer;

pub use changes::{Change, Phase};
pub use end::ByteLimitSpec;
pub use fault::Fault;
pub use medium::MediumSpec;
pub use queue::{MTU_BYTES, RATE_ROW};
pub use times::TimesSpec;

/// The format that this version reads.
pub const FORMAT: u32 = 2;

/// A network, its traffic, and what to record.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of this format.
    pub format: u32,
    /// For people.
    #[serde(default)]
    pub name: String,
    /// Length of the run.
    #[serde(rename = "duration")]
    pub duration_ns: u64,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// All nodes are one machine: one kernel counts their jiffies.
    #[serde(default)]
    pub one_host: bool,
    /// Keys that only Linux has.
    #[serde(default)]
    pub linux: IgnoredAny,
    /// Directed links.
    pub links: Vec<LinkSpec>,
    /// Media that ends of links share.
    #[serde(default)]
    pub media: Vec<MediumSpec>,
    /// Traffic.
    pub flows: Vec<FlowSpec>,
    /// What to measure.
    #[serde(default)]
    pub record: RecordSpec,
}

/// Bound of the differences between the clocks of two nodes: more than an hour, so that no level
/// of their timer wheels that matters is in step.
const CLOCKS_APART_NS: u64 = 1 << 42;

impl Scenario {
    /// How far a node's clock is before the run's. Hosts were not switched on in the same
    /// instant, so their jiffies and timer wheels are not in step.
    pub fn clock_ahead_ns(&self, node: &str, seed: u64) -> u64 {
        if self.one_host {
            return 0;
        }
        Rng::stream(seed, &format!("node/{node}/clock")).below(CLOCKS_APART_NS)
    }

    /// The windows of time that are measured: the whole run where none is named.
    pub fn windows(&self) -> Vec<WindowSpec> {
        let whole = || WindowSpec {
            name: "whole run".into(),
            from_ns: 0,
            to_ns: self.duration_ns,
        };
        match self.record.windows.as_slice() {
            [] => vec![whole()],
            named => named.to_vec(),
        }
    }
}

/// How a link takes packets from its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShaperKind {
    /// The next packet is asked for when the last bit of the one before has left.
    #[default]
    #[serde(rename = "wire")]
    Line,
    /// Token bucket as sch_tbf: asks for its packet, then waits for the tokens.
    Tbf,
    /// Token bucket as sch_htb: waits until it is not in debt, then asks.
    Htb,
}

/// One direction of a link: queue, shaper, wire.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Its name, unique.
    pub name: String,
    /// Node at the sending end.
    pub from: String,
    /// Node at the receiving end.
    pub to: String,
    /// Rate at the start; none: packets take no time.
    #[serde(default, rename = "rate")]
    pub rate_bps: Option<u64>,
    /// Later rates.
    #[serde(default)]
    pub schedule: Vec<RateStep>,
    /// When packets may leave, in place of the rates; these then say only what the link could
    /// have sent.
    #[serde(default, rename = "trace")]
    pub trace_ms: Option<Vec<u32>>,
    /// What may leave then.
    #[serde(default)]
    pub opportunity: Opportunity,
    /// The rates are a trace's: they are no changes of the scenario.
    #[serde(default)]
    pub traced: bool,
    /// Manner of service.
    #[serde(default)]
    pub shaper: ShaperKind,
    /// Depth of the token bucket.
    #[serde(default = "default_burst_bytes", rename = "burst")]
    pub burst_bytes: u32,
    /// Keys that only the simulator has.
    #[serde(default)]
    pub sim: SimLink,
    /// Bytes that the link counts beside each IP packet.
    #[serde(default = "default_header_bytes", rename = "header")]
    pub header_bytes: u32,
    /// The least that it counts of a packet with that.
    #[serde(default, rename = "mpu")]
    pub mpu_bytes: u32,
    /// How it cuts its frames.
    #[serde(default)]
    pub linklayer: LinkLayer,
    /// Propagation delay.
    #[serde(default, rename = "delay")]
    pub delay_ns: u64,
    /// Later propagation delays, of the packets that are sent then.
    #[serde(default)]
    pub delays: Vec<DelayStep>,
    /// Random part of the delay.
    #[serde(default)]
    pub jitter: Option<JitterSpec>,
    /// Share of packets lost on the wire.
    #[serde(default)]
    pub loss: f64,
    /// The stages of its sending end, in place of the keys of a single queue and its shaper.
    #[serde(default)]
    pub end: Vec<end::Stage>,
    /// The queue at the sending end.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Node that answers the probes of the queue's algorithm; none: the receiving end.
    #[serde(default)]
    pub responder: Option<String>,
    /// Of which kind the probes are; here both are one packet.
    #[serde(default)]
    pub probe: ProbeKind,
}

/// Keys of a link that only the simulator has.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimLink {
    /// Packets in the driver ring below the queue.
    #[serde(default, rename = "ring")]
    pub ring_pkts: u32,
}

/// What a probe is on a wire: an echo request, or a packet of an experimental protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum ProbeKind {
    #[default]
    Echo,
    Experimental,
}

/// Of Ethernet, without what a queueing discipline does not see: preamble, checksum, gap.
pub const HEADER_BYTES: u32 = 14;

fn default_header_bytes() -> u32 {
    HEADER_BYTES
}

/// Two full frames, as the shapers of a small router are set.
fn default_burst_bytes() -> u32 {
    3028
}

/// From `at` on, the link has this rate.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// When.
    #[serde(rename = "at")]
    pub at_ns: u64,
    /// The new rate.
    #[serde(rename = "rate")]
    pub rate_bps: u64,
}

/// From `at` on, the link has this propagation delay.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayStep {
    /// When.
    #[serde(rename = "at")]
    pub at_ns: u64,
    /// The new delay.
    #[serde(rename = "delay")]
    pub delay_ns: u64,
}

/// What may leave at each moment of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Opportunity {
    /// As many bytes as in mahimahi, which packets share.
    #[default]
    Bytes,
    /// One packet, whatever its size.
    Packet,
}

/// Bytes of an opportunity in mahimahi.
const OPPORTUNITY_BYTES: u32 = 1504;

/// A recorded trace: at each of these times so many bytes may leave, or one packet. The last time
/// is the length of a cycle, after which the first comes again.
#[derive(Clone, Debug)]
pub struct OpportunitySpec {
    /// When, in order; a time that is there twice is two opportunities. The last is after 0 ms.
    pub at_ms: Vec<u32>,
    /// Bytes of each, which packets share; none: each is one packet's, whatever its size.
    pub bytes: Option<u32>,
}

impl LinkSpec {
    /// Returns the opportunities of its trace.
    pub fn opportunities(&self) -> Option<OpportunitySpec> {
        self.trace_ms.clone().map(|at_ms| OpportunitySpec {
            at_ms,
            bytes: (self.opportunity == Opportunity::Bytes).then_some(OPPORTUNITY_BYTES),
        })
    }
}

impl OpportunitySpec {
    /// Returns the capacity of each: where it is one packet's, that of a full frame.
    pub fn each_bytes(&self) -> u32 {
        self.bytes.unwrap_or(HEADER_BYTES + 1500)
    }

    /// Returns the length of a cycle.
    pub fn cycle_ns(&self) -> u64 {
        self.at_ms.last().map_or(0, |&ms| u64::from(ms)) * NS_PER_MS
    }

    /// Counts them from the begin of the run to just before this moment.
    pub fn count_before(&self, now: Time) -> u64 {
        let cycle_ns = self.cycle_ns();
        let in_cycle = |up_to_ns: u64| {
            let at_ns = |ms: u32| u64::from(ms) * NS_PER_MS;
            self.at_ms.partition_point(|&ms| at_ns(ms) < up_to_ns) as u64
        };
        let (cycles, within_ns) = (now.0 / cycle_ns, now.0 % cycle_ns);
        // Those at the very end of a cycle come when the next one has begun.
        let of_last = cycles.checked_sub(1).map_or(0, |whole| {
            whole * self.at_ms.len() as u64 + in_cycle(cycle_ns + within_ns)
        });
        of_last + in_cycle(within_ns)
    }
}

/// Random extra delay around `delay`, never below zero in all.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// Form.
    pub distribution: Distribution,
    /// Standard deviation (normal) or half the width (uniform), as netem counts.
    #[serde(rename = "sd")]
    pub sd_ns: u64,
    /// Whether a packet may overtake another. netem lets them, unless it has a rate.
    #[serde(default)]
    pub reorder: bool,
}

/// Form of a jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// Normal.
    Normal,
    /// Uniform.
    Uniform,
}

/// An algorithm and its rows, in their canonical units.
#[derive(Clone, Debug, Deserialize)]
pub struct QueueSpec {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Rows of queue and algorithm, which stand beside it.
    #[serde(flatten)]
    pub rows: std::collections::BTreeMap<String, u64>,
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self {
            algorithm: "fifo".into(),
            rows: [("limit".to_owned(), 1_000_000)].into(),
        }
    }
}

/// `count` flows of one kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Name.
    pub name: String,
    /// The group of which it is a part: times of transfers and pages are kept of the whole; none:
    /// of this group alone.
    #[serde(default)]
    pub part_of: Option<String>,
    /// How many.
    #[serde(default = "one")]
    pub count: u32,
    /// Node that sends the data.
    pub from: String,
    /// Node that receives it.
    pub to: String,
    /// Links from sender to receiver; none: the path with the fewest links.
    #[serde(default)]
    pub path: Option<Vec<String>>,
    /// Links back.
    #[serde(default)]
    pub reverse_path: Option<Vec<String>>,
    /// The DSCP of its packets, both ways.
    #[serde(default)]
    pub dscp: u8,
    /// Transport.
    pub transport: TransportSpec,
    /// What is sent.
    pub app: AppSpec,
    /// When each flow starts: one time for all, a list, or a distribution.
    #[serde(default)]
    pub start: TimesSpec,
    /// Each flow starts at a random time within this after a `start` for all.
    #[serde(default, rename = "start_spread")]
    pub start_spread_ns: u64,
    /// How long each flow's round trip without queues is; none: the delays of its links. What is
    /// more than these is added at its sender.
    #[serde(default)]
    pub rtt: Option<TimesSpec>,
    /// When the sender stops.
    #[serde(default, rename = "stop")]
    pub stop_ns: Option<u64>,
    /// Keys that only the simulator has.
    #[serde(default)]
    pub sim: SimFlows,
    /// Keys that only Linux has.
    #[serde(default)]
    pub linux: LinuxFlows,
}

impl FlowSpec {
    /// The name under which times of its transfers and pages are kept.
    pub fn whole(&self) -> &str {
        self.part_of.as_deref().unwrap_or(&self.name)
    }
}

/// Switches of TCP by their names.
pub type Options = serde_json::Map<String, serde_json::Value>;

/// Keys of flows that only the simulator has.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimFlows {
    /// Sender jitter; none: one packet time of the slowest link of the path.
    #[serde(default, rename = "send_jitter")]
    pub send_jitter_ns: Option<u64>,
    /// Switches over those of the transport.
    #[serde(default)]
    pub options: Options,
}

/// Keys of flows that only Linux has; of these the engine checks one.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct LinuxFlows {
    /// Congestion control in place of the transport's.
    #[serde(default)]
    pub cc: Option<CongestionControl>,
}

fn one() -> u32 {
    1
}

/// Transport of a flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum TransportSpec {
    /// TCP.
    Tcp {
        /// Congestion control.
        #[serde(default)]
        cc: CongestionControl,
        /// ECN, and the code point.
        #[serde(default)]
        ecn: EcnSpec,
        /// Further switches.
        #[serde(default)]
        options: Options,
        /// Of these, the switches that only the preset of an age asks for: a host that cannot set
        /// one runs without it.
        #[serde(default)]
        assumed: Vec<String>,
    },
    /// UDP.
    Udp,
}

/// Whether a flow negotiates ECN, and what its packets carry: `false`, `true`, `"ect1"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub enum EcnSpec {
    /// It does not.
    #[default]
    Off,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
}

impl TryFrom<serde_json::Value> for EcnSpec {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Self, String> {
        match (value.as_bool(), value.as_str()) {
            (Some(false), _) => Ok(Self::Off),
            (Some(true), _) => Ok(Self::Ect0),
            (_, Some("ect1")) => Ok(Self::Ect1),
            _ => Err(format!("ecn is true, false or \"ect1\", not {value}")),
        }
    }
}

/// What to measure.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordSpec {
    /// Links whose queues are measured.
    #[serde(default)]
    pub queues: Vec<String>,
    /// Windows of time; none: the whole run.
    #[serde(default)]
    pub windows: Vec<WindowSpec>,
    /// Grid of the series; 0: none.
    #[serde(default, rename = "series")]
    pub series_ns: u64,
    /// Keep each packet's passage.
    #[serde(default)]
    pub events: bool,
    /// Hand over each transfer as it ends.
    #[serde(default)]
    pub transfers: bool,
}

/// A window of time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowSpec {
    /// Name.
    pub name: String,
    /// Begin, inclusive.
    #[serde(rename = "from")]
    pub from_ns: u64,
    /// End, exclusive.
    #[serde(rename = "to")]
    pub to_ns: u64,
}
