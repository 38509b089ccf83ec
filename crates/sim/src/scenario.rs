// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A scenario as the engine reads it: a directed graph in base units, the unit in
//! each key. People write another form, with units of their own; see docs/scenarios.md.

use serde::Deserialize;

use crate::transport::tcp::TcpConfig;

/// The only format there is.
pub const FORMAT: u32 = 1;

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
    pub duration_ns: u64,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Directed links.
    pub links: Vec<LinkSpec>,
    /// Traffic.
    pub flows: Vec<FlowSpec>,
    /// What to measure.
    #[serde(default)]
    pub record: RecordSpec,
}

/// How a link takes packets from its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shaper {
    /// The next packet is asked for when the last bit of the one before has left.
    #[default]
    Wire,
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
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// Later rates.
    #[serde(default)]
    pub schedule: Vec<RateStep>,
    /// Manner of service.
    #[serde(default)]
    pub shaper: Shaper,
    /// Depth of the token bucket.
    #[serde(default = "default_burst_bytes")]
    pub burst_bytes: u32,
    /// Packets in the driver ring below the queue.
    #[serde(default)]
    pub ring_pkts: u32,
    /// Propagation delay.
    #[serde(default)]
    pub delay_ns: u64,
    /// Random part of the delay; packets keep their order.
    #[serde(default)]
    pub jitter: Option<JitterSpec>,
    /// Share of packets lost on the wire.
    #[serde(default)]
    pub loss: f64,
    /// The queue at the sending end.
    #[serde(default)]
    pub queue: QueueSpec,
}

/// Two full frames, as the shapers of a small router are set.
fn default_burst_bytes() -> u32 {
    3028
}

/// From `at_ns` on, the link has this rate.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// When.
    pub at_ns: u64,
    /// The new rate.
    pub rate_bps: u64,
}

/// Random extra delay around `delay_ns`, never below zero in all.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// Form.
    pub distribution: Distribution,
    /// Standard deviation (normal) or half the width (uniform), as netem counts.
    pub sd_ns: u64,
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
#[serde(deny_unknown_fields)]
pub struct QueueSpec {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Rows of queue and algorithm.
    #[serde(default)]
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
    /// How many.
    #[serde(default = "one")]
    pub count: u32,
    /// Node that sends the data.
    pub from: String,
    /// Node that receives it.
    pub to: String,
    /// Links from sender to receiver; none: the way with the fewest links.
    #[serde(default)]
    pub path: Option<Vec<String>>,
    /// Links back.
    #[serde(default)]
    pub reverse_path: Option<Vec<String>>,
    /// Transport.
    pub transport: TransportSpec,
    /// What is sent.
    pub app: AppSpec,
    /// Earliest start.
    #[serde(default)]
    pub start_ns: u64,
    /// Each flow starts at a random time within this after `start_ns`.
    #[serde(default)]
    pub start_spread_ns: u64,
    /// When the sender stops.
    #[serde(default)]
    pub stop_ns: Option<u64>,
    /// Sender jitter; none: one packet time of the slowest link of the path.
    #[serde(default)]
    pub send_jitter_ns: Option<u64>,
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
        cc: crate::transport::tcp::CongestionControl,
        /// Negotiate ECN.
        #[serde(default)]
        ecn: bool,
        /// Further switches.
        #[serde(default)]
        options: serde_json::Map<String, serde_json::Value>,
    },
    /// UDP.
    Udp,
}

/// What a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum AppSpec {
    /// So many bytes, or without end.
    Bulk {
        /// Size.
        #[serde(default)]
        bytes: Option<u64>,
    },
    /// Transfers of one size, one after the other, a connection each.
    Respawn {
        /// Size.
        bytes: u64,
    },
    /// Datagrams at a constant rate.
    Cbr {
        /// Rate of the payload.
        rate_bps: u64,
        /// Payload of a datagram.
        payload_bytes: u32,
    },
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
    #[serde(default)]
    pub series_ns: u64,
    /// Keep each packet's passage.
    #[serde(default)]
    pub events: bool,
}

/// A window of time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowSpec {
    /// Name.
    pub name: String,
    /// Begin, inclusive.
    pub from_ns: u64,
    /// End, exclusive.
    pub to_ns: u64,
}

/// What is wrong with a scenario, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Path of the key, as "links[0].rate_bps".
    pub key: String,
    /// What is wrong and what is allowed.
    pub reason: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.key, self.reason)
    }
}

fn fault<T>(key: impl Into<String>, reason: impl Into<String>) -> Result<T, Fault> {
    Err(Fault {
        key: key.into(),
        reason: reason.into(),
    })
}

/// 10 Tbit/s; beyond it a packet would take less than the clock's grain.
const MAX_RATE_BPS: u64 = 10_000_000_000_000;
/// A year: times in ns stay far below 2^63.
const MAX_TIME_NS: u64 = 366 * 86_400 * crate::time::NS_PER_S;

impl Scenario {
    /// Reads JSON and checks what can be checked without building the net.
    ///
    /// # Errors
    /// The first fault found.
    pub fn from_json(text: &str) -> Result<Self, Fault> {
        let scenario: Self = serde_json::from_str(text).map_err(|error| Fault {
            key: format!("line {}, column {}", error.line(), error.column()),
            reason: error.to_string(),
        })?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Checks ranges, names and order.
    ///
    /// # Errors
    /// The first fault found.
    pub fn check(&self) -> Result<(), Fault> {
        if self.format != FORMAT {
            return fault(
                "format",
                format!("{} is unknown; this version reads {FORMAT}", self.format),
            );
        }
        time("duration_ns", self.duration_ns)?;
        if self.duration_ns == 0 {
            return fault("duration_ns", "must be more than 0");
        }
        unique("nodes", self.nodes.iter())?;
        unique("links", self.links.iter().map(|link| &link.name))?;
        for (i, link) in self.links.iter().enumerate() {
            self.check_link(&format!("links[{i}]"), link)?;
        }
        for (i, flow) in self.flows.iter().enumerate() {
            self.check_flow(&format!("flows[{i}]"), flow)?;
        }
        self.check_record()
    }

    fn check_node(&self, key: String, name: &str) -> Result<(), Fault> {
        if self.nodes.iter().any(|node| node == name) {
            return Ok(());
        }
        fault(
            key,
            format!(
                "no node is named '{name}'; nodes: {}",
                self.nodes.join(", ")
            ),
        )
    }

    fn check_link(&self, at: &str, link: &LinkSpec) -> Result<(), Fault> {
        self.check_node(format!("{at}.from"), &link.from)?;
        self.check_node(format!("{at}.to"), &link.to)?;
        if let Some(rate_bps) = link.rate_bps {
            rate(&format!("{at}.rate_bps"), rate_bps)?;
        } else if !link.schedule.is_empty() || link.ring_pkts > 0 || link.shaper != Shaper::Wire {
            return fault(
                format!("{at}.rate_bps"),
                "a schedule, a ring or a shaper needs a rate",
            );
        }
        let mut last_ns = 0;
        for (i, step) in link.schedule.iter().enumerate() {
            let key = format!("{at}.schedule[{i}]");
            rate(&format!("{key}.rate_bps"), step.rate_bps)?;
            if step.at_ns < last_ns {
                let reason = format!(
                    "{} ns comes before the step ahead of it, {last_ns} ns",
                    step.at_ns
                );
                return fault(format!("{key}.at_ns"), reason);
            }
            last_ns = step.at_ns;
        }
        time(&format!("{at}.delay_ns"), link.delay_ns)?;
        if !(0.0..=1.0).contains(&link.loss) {
            return fault(
                format!("{at}.loss"),
                format!("{} is outside 0 to 1", link.loss),
            );
        }
        if link.shaper != Shaper::Wire && link.burst_bytes < 1514 {
            let reason = format!(
                "{} is less than a full packet of 1514 bytes",
                link.burst_bytes
            );
            return fault(format!("{at}.burst_bytes"), reason);
        }
        Ok(())
    }

    fn check_flow(&self, at: &str, flow: &FlowSpec) -> Result<(), Fault> {
        self.check_node(format!("{at}.from"), &flow.from)?;
        self.check_node(format!("{at}.to"), &flow.to)?;
        if flow.from == flow.to {
            return fault(format!("{at}.to"), "sender and receiver are the same node");
        }
        time(&format!("{at}.start_ns"), flow.start_ns)?;
        time(&format!("{at}.start_spread_ns"), flow.start_spread_ns)?;
        let udp = matches!(flow.transport, TransportSpec::Udp);
        match flow.app {
            AppSpec::Cbr {
                rate_bps,
                payload_bytes,
            } => {
                rate(&format!("{at}.app.rate_bps"), rate_bps)?;
                if !(1..=65_507).contains(&payload_bytes) {
                    let reason = format!("{payload_bytes} is outside 1 to 65507");
                    return fault(format!("{at}.app.payload_bytes"), reason);
                }
                if !udp {
                    return fault(format!("{at}.app"), "constant-rate traffic goes over udp");
                }
            }
            _ if udp => {
                return fault(
                    format!("{at}.app"),
                    "only constant-rate traffic goes over udp",
                );
            }
            AppSpec::Bulk { bytes: Some(0) } | AppSpec::Respawn { bytes: 0 } => {
                return fault(format!("{at}.app.bytes"), "must be at least 1");
            }
            AppSpec::Bulk { .. } | AppSpec::Respawn { .. } => {}
        }
        flow.tcp(at).map(|_| ())
    }

    fn check_record(&self) -> Result<(), Fault> {
        for (i, name) in self.record.queues.iter().enumerate() {
            if !self.links.iter().any(|link| &link.name == name) {
                return fault(
                    format!("record.queues[{i}]"),
                    format!("no link is named '{name}'"),
                );
            }
        }
        for (i, window) in self.record.windows.iter().enumerate() {
            if window.from_ns >= window.to_ns || window.to_ns > self.duration_ns {
                let reason = format!(
                    "{} to {} ns is no span within the run of {} ns",
                    window.from_ns, window.to_ns, self.duration_ns
                );
                return fault(format!("record.windows[{i}]"), reason);
            }
        }
        Ok(())
    }
}

impl FlowSpec {
    /// The TCP of the flow; none for UDP.
    ///
    /// # Errors
    /// When a switch is unknown or has a value of the wrong kind.
    pub fn tcp(&self, at: &str) -> Result<Option<TcpConfig>, Fault> {
        let TransportSpec::Tcp { cc, ecn, options } = &self.transport else {
            return Ok(None);
        };
        let config: Result<TcpConfig, _> =
            serde_json::from_value(serde_json::Value::Object(options.clone()));
        match config {
            Ok(config) => Ok(Some(TcpConfig {
                cc: *cc,
                ecn: *ecn,
                ..config
            })),
            Err(error) => fault(format!("{at}.transport.options"), error.to_string()),
        }
    }
}

fn unique<'a>(key: &str, names: impl Iterator<Item = &'a String>) -> Result<(), Fault> {
    let mut seen = std::collections::BTreeSet::new();
    for (i, name) in names.enumerate() {
        if !seen.insert(name) {
            return fault(format!("{key}[{i}]"), format!("the name '{name}' is taken"));
        }
    }
    Ok(())
}

fn rate(key: &str, rate_bps: u64) -> Result<(), Fault> {
    if (1..=MAX_RATE_BPS).contains(&rate_bps) {
        return Ok(());
    }
    fault(
        key,
        format!("{rate_bps} is outside 1 to {MAX_RATE_BPS} bit/s"),
    )
}

fn time(key: &str, ns: u64) -> Result<(), Fault> {
    if ns <= MAX_TIME_NS {
        return Ok(());
    }
    fault(
        key,
        format!("{ns} ns is more than {MAX_TIME_NS} ns, a year"),
    )
}
