// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What another host needs of the engine: where flows go, when they start and what they send, and
//! the measuring of what was seen at its queues. A scenario is read once for all of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use sojourn_core::Algorithm;
use sojourn_sim::measure::from_guest::queue_log::Log;
use sojourn_sim::measure::from_guest::taps::{Reading, Taps};
use sojourn_sim::measure::from_guest::{self, Passage, Seen};
use sojourn_sim::measure::record::{QueueReport, Transfer};
use sojourn_sim::measure::report::{self, FlowsReport};
use sojourn_sim::scenario::LinkSpec;
use sojourn_sim::scenario::Scenario as Spec;
use sojourn_sim::scenario::end::inside;
use sojourn_sim::scenario::frame::Frames;
use sojourn_sim::scenario::graph::Graph;
use sojourn_sim::scenario::script;

use super::recorded::{self, TransferFile};
use super::run::{Packed, pack};

/// Of each group of flows of a scenario: numbers of its links there and back; of each flow its
/// start and what it adds to the delays of the links, in ns.
type Way = (Vec<usize>, Vec<usize>, Vec<u64>, Vec<u64>);

/// Link, ways forth and back, responder.
type ProbeWay = (usize, String, Vec<usize>, Vec<usize>, String);

/// A scenario, read and checked.
#[pyclass(frozen)]
pub struct Scenario(Spec);

#[pymethods]
impl Scenario {
    #[new]
    fn new(scenario: &str) -> PyResult<Self> {
        let spec = Spec::from_json(scenario);
        spec.map(Self)
            .map_err(|fault| PyValueError::new_err(fault.to_string()))
    }

    /// The ways, start times and added delays of all flows.
    fn ways(&self, seed: u64) -> PyResult<Vec<Way>> {
        let graph = Graph::of(&self.0);
        let way = |(i, flow)| {
            let (forth, back) = graph
                .paths(flow, &format!("flows[{i}]"))
                .map_err(|fault| PyValueError::new_err(fault.to_string()))?;
            let added_ns = flow.added_ns(self.0.delays_ns(&forth, &back), seed);
            let starts = flow.starts(seed).into_iter().map(|start| start.0);
            Ok((forth, back, starts.collect(), added_ns))
        };
        self.0.flows.iter().enumerate().map(way).collect()
    }

    /// For each group of flows the scripts of its flows, as linux/uml/play.c reads them.
    fn scripts(&self, seed: u64) -> PyResult<Vec<Vec<String>>> {
        script::scripts(&self.0, seed).map_err(PyValueError::new_err)
    }

    /// By queue with an algorithm that probes: the number of its link, its name in results, the
    /// links behind its own to the responder, those back, and the responder's node.
    fn probe_ways(&self) -> PyResult<Vec<ProbeWay>> {
        let graph = Graph::of(&self.0);
        let asks = |name: &str| Algorithm::find(name).is_some_and(Algorithm::probes);
        let mut all = Vec::new();
        for (i, link) in self.0.links.iter().enumerate() {
            for leaf in graph.parts[i].iter().flat_map(|part| &part.leaves) {
                if asks(&leaf.queue.algorithm) {
                    let at = inside(&format!("links[{i}]"), &leaf.at);
                    let ways = graph.probe_ways(link, leaf.responder, &at);
                    let [forth, back] =
                        ways.map_err(|fault| PyValueError::new_err(fault.to_string()))?;
                    let responder = leaf.responder.unwrap_or(&link.to).to_owned();
                    all.push((i, leaf.name.clone(), forth.links, back.links, responder));
                }
            }
        }
        Ok(all)
    }

    /// The flows of another host by what its program counted.
    fn flows(&self, played: &str) -> PyResult<Flows> {
        let counted = from_guest::flows::report(&self.0, played);
        let (report, transfers) = counted.map_err(PyRuntimeError::new_err)?;
        Ok(Flows {
            groups: self.0.flows.iter().map(|flow| flow.name.clone()).collect(),
            report,
            transfers,
        })
    }

    /// Measures queues of another host by the packets that were seen there, and the times of its
    /// groups of flows.
    fn observe(
        &self,
        py: Python<'_>,
        queues: Vec<Queue>,
        log: PyBackedBytes,
        zero_ns: u64,
        flows: Bound<'_, Flows>,
    ) -> PyResult<Packed> {
        let reports = py.detach(|| reports(&self.0, &log, zero_ns, &queues));
        let reports = reports.map_err(PyRuntimeError::new_err)?;
        let text =
            serde_json::to_string(&reports).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        let files =
            recorded::files(&reports, &flows.get().report.times, &[]).map_err(recorded::told)?;
        pack(py, text, files)
    }
}

/// A queue: its link; the name and the rate of the driver's ring below it; whether it has a report;
/// and where its packets were seen.
type Queue = (String, Option<(String, u64)>, bool, Looked);

/// Where the packets of a queue were seen.
#[derive(FromPyObject)]
pub enum Looked {
    /// Logs of arrivals, departures and counted drops, whether it acts at the head, and whether it
    /// serves flows apart.
    Taps(PyBackedBytes, PyBackedBytes, PyBackedBytes, bool, bool),
    /// Its name in the log of queues, log of departures where the shaper holds packets back.
    QueueLog(String, Option<PyBackedBytes>),
}

/// Packets in a log of taps, which see that they are on Ethernet, as the link counts them.
fn packets(log: &[u8], link: &LinkSpec) -> Vec<Seen> {
    let frames = Frames::new(link);
    let (whole, _) = log.as_chunks::<{ Seen::BYTES }>();
    let counted = whole.iter().map(Seen::read).map(|seen| Seen {
        len_bytes: frames.bytes(seen.len_bytes),
        ..seen
    });
    counted.collect()
}

fn passages(
    scenario: &Spec,
    log: &[u8],
    zero_ns: u64,
    link: &str,
    looked: &Looked,
) -> Result<Vec<Passage>, String> {
    let spec = from_guest::find(scenario, link)?;
    match looked {
        Looked::Taps(arrivals, departures, drops, at_head, flows_apart) => {
            let (readings, _) = drops.as_chunks::<{ Reading::BYTES }>();
            let taps = Taps {
                link: link.to_owned(),
                arrivals: packets(arrivals, spec),
                departures: packets(departures, spec),
                readings: readings.iter().map(Reading::read).collect(),
                at_head: *at_head,
                flows_apart: *flows_apart,
            };
            taps.passages(scenario)
        }
        Looked::QueueLog(name, behind) => {
            let behind = behind.as_deref().map(|log| packets(log, spec));
            Log::new(log)?.passages(name, zero_ns, behind.as_deref())
        }
    }
}

fn reports(
    scenario: &Spec,
    log: &[u8],
    zero_ns: u64,
    queues: &[Queue],
) -> Result<Vec<QueueReport>, String> {
    let all = queues.iter();
    let all = all.map(|(link, _, _, looked)| passages(scenario, log, zero_ns, link, looked));
    let mut all = all.collect::<Result<Vec<_>, _>>()?;
    let mut rings = BTreeMap::<_, Vec<_>>::new();
    for ((_, ring, ..), passages) in queues.iter().zip(&mut all) {
        if let Some(ring) = ring {
            rings.entry(ring).or_default().push(passages);
        }
    }
    for ((_, rate_bps), mut above) in rings {
        from_guest::on_line(&mut above, *rate_bps);
    }
    let told = queues.iter().zip(&all).filter(|((_, _, told, _), _)| *told);
    told.map(|((link, ..), passages)| from_guest::report(scenario, link, passages))
        .collect()
}

/// The flows of another host by what its program counted.
#[pyclass(frozen)]
pub struct Flows {
    groups: Vec<String>,
    report: FlowsReport,
    transfers: Vec<Transfer>,
}

#[pymethods]
impl Flows {
    /// Part of a report, as JSON.
    fn report(&self) -> PyResult<String> {
        serde_json::to_string(&self.report).map_err(|e| PyRuntimeError::new_err(e.to_string()))
    }

    /// Their table.
    fn write_transfers(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = || {
            let mut file = TransferFile::new(&path, self.groups.clone())?;
            file.add(&self.transfers)?;
            file.finish()
        };
        py.detach(write).map_err(recorded::told)
    }
}

/// Of what flows were given: Jain's index, and the least share over the mean.
#[pyfunction]
pub fn fairness(shares: Vec<f64>) -> (f64, Option<f64>) {
    report::fairness(&shares)
}
