// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A flow: what one user sends between two nodes, and what became of it. Plain data; the net
//! plays its script.

use std::rc::Rc;

use sojourn_core::Viewing;

use super::endpoint::Last;
use crate::base::datagram::Datagram;
use crate::base::event::Source;
use crate::base::rng::Rng;
use crate::base::time::Time;
use crate::link::packet::PacketCounts;
use crate::measure::counts::{Completion, Echo, FlowCounts, Transit};
use crate::scenario::FlowSpec;
use crate::tcp::TcpConfig;
use crate::traffic::{End, Member, Shared, Source as Script, Visit};

/// A flow.
pub struct Flow {
    /// Its specification's name.
    pub name: String,
    /// Which of the flows of that name.
    pub index: u32,
    /// The number of its specification.
    pub group: u32,
    /// What it sends.
    pub script: Script,
    /// What decides at its ends, if something does.
    pub application: Option<Shared>,
    /// The visit that is due next, if it is known.
    pub next_visit: Option<Visit>,
    /// The DSCP of its packets, both ways.
    pub dscp: u8,
    /// Its TCP; none: it sends datagrams.
    pub tcp: Option<Rc<TcpConfig>>,
    /// The places of its hosts' path metrics, by the end that keeps them; none: none are kept.
    pub metrics: Option<[u32; 2]>,
    /// Event: start, then the next visit.
    pub source: Source,
    /// Event: stop.
    pub stopper: Source,
    /// First places of its paths, by the end that sends.
    pub paths: [u32; 2],
    /// Constant delay of the links, there and back.
    pub delays_ns: u64,
    /// Whether its sender delays packets at all.
    pub holds: bool,
    /// Bound of its sender's random delays.
    pub jitter_ns: u64,
    /// The last packet of its sender's connection that closed last.
    pub last: Last,
    /// Constant delay of the first links, and of the flow's own round trip beyond that of its
    /// links: its sender sees to both.
    pub lead_ns: u64,
    /// How far the clocks of its two hosts are before the run's.
    pub clocks_ahead_ns: [u64; 2],
    /// Both its ends write, so that both ends' counts are its own.
    pub both_write: bool,
    /// Its transfers are kept one by one.
    pub keeps_transfers: bool,
    /// Connections opened so far.
    pub opened: u32,
    /// Visits begun so far.
    pub visits: u32,
    /// Its conversations.
    pub conversations: Vec<u32>,
    /// Datagrams sent in the whole run.
    pub datagrams_sent: u64,
    /// Datagrams that arrived in the whole run.
    pub transit: Transit,
    /// Of a flow whose datagrams are sent back.
    pub echoes: Option<Vec<Echo>>,
    /// How many transfers are done.
    pub transfers: u64,
    /// The transfers, if they are kept.
    pub completions: Vec<Completion>,
    /// Of connections that are over.
    pub counts: FlowCounts,
    /// Whether it sends no more.
    pub stopped: bool,
    /// Start time.
    pub start: Time,
}

impl Flow {
    /// A flow that has yet to start: `index` of the group `group`.
    pub fn new(spec: &FlowSpec, group: u32, index: u32, start: Time, seed: u64) -> Self {
        let rng = Rng::stream(seed, &format!("flow/{}/{index}/traffic", spec.name));
        let script = spec.app.source(Member {
            index,
            count: spec.count,
            rng,
        });
        Self {
            name: spec.name.clone(),
            index,
            group,
            application: script.application(),
            script,
            next_visit: None,
            dscp: spec.dscp,
            tcp: None,
            metrics: None,
            source: 0,
            stopper: 0,
            paths: [0, 0],
            delays_ns: 0,
            holds: false,
            jitter_ns: 0,
            last: Last::default(),
            lead_ns: 0,
            clocks_ahead_ns: [0, 0],
            both_write: spec.app.both_write(),
            keeps_transfers: spec.app.keeps_transfers(),
            opened: 0,
            visits: 0,
            conversations: Vec::new(),
            datagrams_sent: 0,
            transit: Transit::default(),
            echoes: spec.app.echo_interval_ns().map(|_| Vec::new()),
            transfers: 0,
            completions: Vec::new(),
            counts: FlowCounts::default(),
            stopped: false,
            start,
        }
    }

    /// What its connections that are over and its datagrams have counted.
    pub fn counts(
        &self,
        now: Time,
        packets: &PacketCounts,
        delivered_bytes: [u64; 2],
    ) -> FlowCounts {
        FlowCounts {
            lost_pkts: packets.lost.cast_signed(),
            delivered_bytes: delivered_bytes[End::To as usize],
            answered_bytes: delivered_bytes[End::From as usize],
            opened: self.opened.into(),
            data_pkts_sent: self.counts.data_pkts_sent + self.datagrams_sent,
            transit: self.transit,
            viewing: self.viewing(now),
            ..self.counts
        }
    }

    fn viewing(&self, now: Time) -> Viewing {
        let application = self.application.as_ref();
        // Those who watched a flow that was stopped have gone.
        let application = application.filter(|_| !self.stopped);
        application.map_or(self.counts.viewing, |of| of.borrow().viewing(now.0))
    }

    /// Stops the flow. What its viewers saw so far is kept.
    pub fn stop(&mut self, now: Time) {
        self.counts.viewing = self.viewing(now);
        self.stopped = true;
    }

    /// Tells the application of a datagram. Returns true where the end now begins to speak.
    pub fn tell_application(&self, now: Time, who: End, datagram: &Datagram) -> bool {
        self.application.as_ref().is_some_and(|application| {
            let delay_ns = datagram.delay_ns(now);
            let mut application = application.borrow_mut();
            application.hears(who as usize, now.0, datagram.sent_ns, delay_ns)
        })
    }

    /// It sends a datagram.
    pub fn on_sent(&mut self, datagram: &Datagram) {
        self.datagrams_sent += 1;
        if let Some(echoes) = &mut self.echoes {
            echoes.push(Echo {
                sent: Time(datagram.sent_ns),
                rtt_ns: None,
            });
        }
    }

    /// A datagram came to an end. True: it is sent back.
    pub fn on_datagram(&mut self, now: Time, who: End, datagram: &Datagram) -> bool {
        if who == End::To {
            self.transit.add(datagram.delay_ns(now));
            return self.echoes.is_some();
        }
        let echoes = self.echoes.as_mut().into_iter().flatten();
        let mut echoes = echoes.rev();
        if let Some(echo) = echoes.find(|echo| echo.sent.0 == datagram.sent_ns) {
            echo.rtt_ns = Some(datagram.delay_ns(now));
        }
        false
    }

    /// A transfer is complete.
    pub fn on_transfer(&mut self, now: Time, took_ns: u64) {
        self.transfers += 1;
        if self.keeps_transfers {
            self.completions.push(Completion { at: now, took_ns });
        }
    }
}
