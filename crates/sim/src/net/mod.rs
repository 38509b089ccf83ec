// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The room of the net: links and endpoints, and the path of a packet between them. `play` plays
//! the scripts of flows, `conversation` and `flow` have their state, and `endpoint` is one end of a
//! conversation. It uses all rooms but `run`.

pub mod conversation;
pub mod endpoint;
mod ends;
pub mod flow;
pub mod path;
mod play;
mod transfers;

use std::fmt::Write;

use sojourn_core::prefetch;

use crate::base::ecn::Ecn;
use crate::base::event::Source;
use crate::base::rng::{Rng, flow_hash};
use crate::base::time::Time;
use crate::link::Link;
use crate::link::medium::Medium;
use crate::link::packet::{Body, Packet, PacketId, Path, Probe};
use crate::link::shared::Shared;
use crate::measure::record::{Transfer, TransferTimes};
use crate::tcp::{Connection, Event, PathMetrics, Segment};
use crate::traffic::End;
use conversation::{NONE, OpenConversation, OpenVisit};
use endpoint::{Endpoint, Kind, Left, Outlet, SendJitter};
use flow::Flow;
use path::{END, Paths};

/// Who an event is for.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// The shaper of a link.
    Service(u32),
    /// The far end of a link.
    Arrival(u32),
    /// A medium begins a cycle.
    Medium(u32),
    /// A packet that a sender held comes to a link.
    Entry(u32),
    /// The timer of an endpoint.
    Timer(u32),
    /// A flow starts, or its next visit is due.
    Flow(u32),
    /// An end of a conversation has waited long enough.
    Conversation(u32, End),
    /// A flow stops.
    Stop(u32),
    /// A rate changes, a window ends, a step of the series.
    Control,
}

/// As many endpoints as stay in the nearest caches by themselves.
const NEAR_ENDPOINTS: usize = 64;

/// All that moves.
pub struct Net {
    /// Events, packets, and what has just arrived.
    pub shared: Shared,
    /// Links, or their parts, in the order of the scenario.
    pub links: Vec<Link>,
    /// Media that links share.
    pub media: Vec<Medium>,
    /// Ends of conversations.
    pub endpoints: Vec<Endpoint>,
    /// Flows.
    pub flows: Vec<Flow>,
    /// Conversations.
    pub conversations: Vec<OpenConversation>,
    /// Visits.
    pub visits: Vec<OpenVisit>,
    /// How long transfers took, of flows that do not keep them.
    pub times: TransferTimes,
    /// Transfers that have ended and were not handed over yet, where they are recorded.
    pub ended: Option<Vec<Transfer>>,
    /// Paths.
    pub paths: Paths,
    /// Owners of event sources.
    pub owners: Vec<Owner>,
    /// What hosts know of their paths to each other.
    pub metrics: Vec<PathMetrics>,
    /// Numbers of endpoints that are free.
    pub free: Vec<u32>,
    /// Connections that are over, whose places the next ones take.
    pub spare: Vec<Box<Connection>>,
    /// Of conversations.
    pub free_conversations: Vec<u32>,
    /// Of visits.
    pub free_visits: Vec<u32>,
    /// The run's seed.
    pub seed: u64,
    /// The name of the last connection, whose memory the next name takes.
    pub name: String,
    /// Packets that reached an endpoint.
    pub delivered_pkts: u64,
    /// Packets for a connection that is over.
    pub stale_pkts: u64,
}

impl Net {
    /// A source of events.
    pub fn source(&mut self, owner: Owner) -> Source {
        self.owners.push(owner);
        self.shared.events.add_source(false)
    }

    /// Handles the event of `source`, and all that follows at once.
    #[inline]
    pub fn handle(&mut self, now: Time, source: Source) {
        match self.owners[source as usize] {
            Owner::Service(link) => self.links[link as usize].on_service(now, &mut self.shared),
            Owner::Arrival(number) => {
                let link = &mut self.links[number as usize];
                let arrived = link.arrive(now, &mut self.shared);
                if self.endpoints.len() > NEAR_ENDPOINTS && link.flying(1).is_some() {
                    self.look_ahead(number);
                }
                if let Some(id) = arrived {
                    self.forward(now, id);
                }
            }
            Owner::Medium(number) => {
                let medium = &mut self.media[number as usize];
                medium.on_cycle(now, &mut self.links, &mut self.shared);
            }
            Owner::Entry(link) => self.links[link as usize].on_entry(now, &mut self.shared),
            Owner::Timer(end) => self.on_timer(now, end),
            Owner::Flow(flow) => self.on_flow(now, flow),
            Owner::Conversation(conversation, end) => self.on_conversation(now, conversation, end),
            Owner::Stop(flow) => self.on_stop(now, flow),
            Owner::Control => {}
        }
        self.drain_arrivals(now);
    }

    /// Fetches what the next packets will need, each step one packet ahead of the step
    /// that it needs: the packet, its endpoint, the connection, what that points to.
    fn look_ahead(&self, link: u32) {
        let link = &self.links[link as usize];
        let packets = &self.shared.packets.all;
        if let Some(id) = link.flying(3) {
            prefetch(&packets[id as usize].path);
        }
        if let Some(id) = link.flying(2) {
            prefetch(&self.endpoints[packets[id as usize].path.to as usize]);
        }
        if let Some((connection, segment)) = link.flying(1).and_then(|id| self.of_packet(id)) {
            connection.prefetch_for(segment.len > 0);
        }
        if let Some((connection, segment)) = link.flying(0).and_then(|id| self.of_packet(id))
            && segment.len == 0
        {
            connection.prefetch_board();
        }
    }

    /// A segment and the connection that it is for.
    #[inline]
    fn of_packet(&self, id: PacketId) -> Option<(&Connection, &Segment)> {
        let packet = &self.shared.packets.all[id as usize];
        match (&self.endpoints[packet.path.to as usize].kind, &packet.body) {
            (Kind::Tcp(connection), Body::Tcp(segment)) => Some((connection, segment)),
            _ => None,
        }
    }

    /// Moves what has arrived on, until nothing moves at this instant.
    #[inline]
    pub fn drain_arrivals(&mut self, now: Time) {
        while let Some(id) = self.shared.arrived.pop_front() {
            self.forward(now, id);
        }
    }

    #[inline]
    fn forward(&mut self, now: Time, id: PacketId) {
        let path = &mut self.shared.packets.all[id as usize].path;
        let link = self.paths.link(path.hop);
        if link == END {
            return self.deliver(now, id);
        }
        path.hop += 1;
        self.links[link as usize].offer(now, id, &mut self.shared);
    }

    fn deliver(&mut self, now: Time, id: PacketId) {
        let packets = &mut self.shared.packets;
        let packet = &packets.all[id as usize];
        let Body::Tcp(segment) = &packet.body else {
            return self.deliver_other(now, id);
        };
        let number = packet.path.to;
        let end = &mut self.endpoints[number as usize];
        if end.age != packet.path.age {
            return self.remove_stale(id);
        }
        end.arrived_pkts += 1;
        self.delivered_pkts += 1;
        let Kind::Tcp(connection) = &mut end.kind else {
            unreachable!("a packet finds the transport that its peer speaks");
        };
        let ecn = Ecn::from_bits(packets.slots[id as usize].ecn);
        connection.handle_segment(now, segment, ecn);
        packets.remove(id);
        let (links, shared) = (&mut self.links, &mut self.shared);
        let left = end.drain(now, links, shared);
        self.go_on(now, number, left);
    }

    /// The same for what is no segment.
    #[inline(never)]
    fn deliver_other(&mut self, now: Time, id: PacketId) {
        let Packet { path, body } = self.shared.packets.all[id as usize];
        let datagram = match body {
            Body::Udp(datagram) => datagram,
            Body::Probe(probe) => return self.deliver_probe(now, id, probe),
            Body::Tcp(_) => unreachable!("segments are delivered at once"),
        };
        let end = &mut self.endpoints[path.to as usize];
        if end.age != path.age {
            return self.remove_stale(id);
        }
        end.arrived_pkts += 1;
        self.delivered_pkts += 1;
        let who = end.who;
        self.shared.delivered_bytes[path.flow as usize][who as usize] += u64::from(datagram.len);
        let flow = &mut self.flows[end.flow as usize];
        let echo = flow.on_datagram(now, who, &datagram);
        if who == End::To {
            self.times
                .add_datagram(flow.group, now, datagram.delay_ns(now));
        }
        let begins = flow.tell_application(now, who, &datagram);
        self.shared.packets.remove(id);
        if echo {
            self.send(now, path.to, datagram);
        }
        if begins {
            let conversation = self.endpoints[path.to as usize].conversation;
            self.speak(now, conversation, who);
        }
    }

    /// Where the packet was going is over.
    #[cold]
    fn remove_stale(&mut self, id: PacketId) {
        let path = &self.shared.packets.all[id as usize].path;
        self.shared.packet_counts[path.flow as usize].arrived += 1;
        self.shared.packets.remove(id);
        self.stale_pkts += 1;
    }

    /// A probe at the responder is sent back; an answer is told to the queue that asked.
    #[cold]
    fn deliver_probe(&mut self, now: Time, id: PacketId, probe: Probe) {
        let link = &mut self.links[probe.link as usize];
        let packet = &mut self.shared.packets.all[id as usize];
        if let (false, Some(path)) = (probe.answered, link.gates()[probe.gate as usize].probes) {
            self.shared.packets.slots[id as usize].flow = path.hash ^ 1;
            packet.path.hop = path.back_hop;
            packet.body = Body::Probe(Probe {
                answered: true,
                ..probe
            });
            return self.shared.arrived.push_back(id);
        }
        self.shared.packet_counts[packet.path.flow as usize].arrived += 1;
        self.delivered_pkts += 1;
        self.shared.packets.remove(id);
        link.echo(now, &probe, &mut self.shared);
    }

    /// After any input: sends what the connection wants sent, tells the application
    /// what it has to tell, and sees to the timer.
    fn drain(&mut self, now: Time, number: u32) {
        let (links, shared) = (&mut self.links, &mut self.shared);
        let end = &mut self.endpoints[number as usize];
        let left = end.drain(now, links, shared);
        self.go_on(now, number, left);
    }

    #[inline]
    fn go_on(&mut self, now: Time, number: u32, left: Left) {
        match left {
            Left::Nothing => {}
            Left::Reader => {
                self.on_heard(now, number);
                self.drain(now, number);
            }
            Left::News => self.tell(now, number),
        }
    }

    /// Tells the application what happens once or twice in the life of a connection.
    #[cold]
    fn tell(&mut self, now: Time, number: u32) {
        while let Kind::Tcp(connection) = &mut self.endpoints[number as usize].kind
            && let Some(event) = connection.poll_event()
        {
            self.on_event(now, number, event);
        }
        self.endpoints[number as usize].watch(now, &mut self.shared.events);
    }

    fn on_timer(&mut self, now: Time, end: u32) {
        let endpoint = &mut self.endpoints[end as usize];
        endpoint.timer_due = endpoint.deadline;
        if endpoint.deadline > now {
            if endpoint.deadline < Time::MAX {
                let (timer, deadline) = (endpoint.timer, endpoint.deadline);
                self.shared.events.schedule(timer, deadline);
            }
            return;
        }
        endpoint.timer_due = Time::MAX;
        if let Kind::Tcp(connection) = &mut endpoint.kind {
            connection.handle_timeout(now);
            self.drain(now, end);
        }
    }

    fn on_event(&mut self, now: Time, end: u32, event: Event) {
        match event {
            Event::Delivered(_) => {}
            Event::Connected => {
                if let Some((connection, known)) = self.path_of(end) {
                    connection.load_path(*known);
                }
                self.on_connected(now, end);
            }
            Event::PeerClosed => self.on_peer_closed(now, end),
            Event::Closed => {
                if let Some((connection, known)) = self.path_of(end) {
                    connection.save_path(known);
                }
                // What an application hears of by a socket is the peer's FIN, not that its own
                // was acknowledged; the SYN of its next transfer then follows our last ACK.
                let endpoint = &self.endpoints[end as usize];
                let (conversation, who) = (endpoint.conversation, endpoint.who);
                if who == End::From {
                    self.flows[endpoint.flow as usize].last = endpoint.outlet.jitter.last();
                }
                if who == self.conversations[conversation as usize].opener {
                    self.end(now, conversation);
                }
                self.on_closed(end);
            }
        }
    }

    /// A connection, and what its host knows of its path, where hosts keep that.
    fn path_of(&mut self, end: u32) -> Option<(&mut Connection, &mut PathMetrics)> {
        let endpoint = &mut self.endpoints[end as usize];
        let places = self.flows[endpoint.flow as usize].metrics?;
        let Kind::Tcp(connection) = &mut endpoint.kind else {
            return None;
        };
        let place = places[endpoint.who as usize];
        Some((connection, &mut self.metrics[place as usize]))
    }

    /// Makes both ends of a connection; gives them by [`End`].
    fn connect(
        &mut self,
        now: Time,
        index: u32,
        conversation: u32,
        opener: End,
        rtt_ns: Option<u64>,
    ) -> [u32; 2] {
        let (flow, spare) = (&mut self.flows[index as usize], &mut self.spare);
        flow.opened += 1;
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        write!(name, "flow/{}/{}/{}", flow.name, flow.index, flow.opened).expect("a string grows");
        // Other connections have other ports, so another hash.
        let hash = flow_hash(self.seed, &name);
        let mut make = |who: End| {
            let Some(tcp) = &flow.tcp else {
                return Kind::Udp;
            };
            let ahead_ns = flow.clocks_ahead_ns[who as usize];
            Kind::Tcp(match who == opener {
                true => Connection::client(tcp, now, ahead_ns, spare.pop()),
                false => Connection::server(tcp, now, ahead_ns, spare.pop()),
            })
        };
        let kinds = [make(opener), make(opener.peer())];
        let paths = flow.paths;
        let (holds, jitter_ns) = (flow.holds, flow.jitter_ns);
        let own_ns = rtt_ns.map_or(0, |rtt_ns| rtt_ns.saturating_sub(flow.delays_ns));
        let (lead_ns, both_write) = (flow.lead_ns + own_ns, flow.both_write);
        let last = flow.last;
        let mut ends = [0; 2];
        for (who, kind) in [opener, opener.peer()].into_iter().zip(kinds) {
            let hash = hash ^ u32::from(who == End::To);
            let number = self.occupy(index, kind, paths[who as usize], hash);
            ends[who as usize] = number;
            let end = &mut self.endpoints[number as usize];
            (end.conversation, end.who, end.counts) =
                (conversation, who, who == End::From || both_write);
            (end.heard_bytes, end.wake_bytes) = (0, u64::MAX);
        }
        if holds {
            name.push_str("/sender");
            let rng = Rng::stream(self.seed, &name);
            let outlet = &mut self.endpoints[ends[0] as usize].outlet;
            let link = self.paths.link(outlet.path.hop);
            outlet.path.hop += 1;
            outlet.jitter = SendJitter::new(jitter_ns, lead_ns, link, rng, last);
        }
        self.name = name;
        for who in [End::From, End::To] {
            let peer = ends[who.peer() as usize];
            let age = self.endpoints[peer as usize].age;
            let path = &mut self.endpoints[ends[who as usize] as usize].outlet.path;
            (path.to, path.age) = (peer, age);
        }
        ends
    }

    fn occupy(&mut self, flow: u32, kind: Kind, first_hop: u32, hash: u32) -> u32 {
        let number = self.free.pop().unwrap_or(self.endpoints.len() as u32);
        let dscp = self.flows[flow as usize].dscp;
        let path = Path {
            hop: first_hop,
            flow,
            ..Path::default()
        };
        let delay_link = Some(self.paths.link(first_hop))
            .filter(|&link| link != END && self.links[link as usize].constant_delay_ns() > Some(0));
        if number as usize == self.endpoints.len() {
            let timer = self.source(Owner::Timer(number));
            self.endpoints.push(Endpoint {
                kind,
                age: 0,
                flow,
                conversation: NONE,
                who: End::From,
                counts: false,
                closed: false,
                heard_bytes: 0,
                wake_bytes: u64::MAX,
                timer,
                timer_due: Time::MAX,
                deadline: Time::MAX,
                arrived_pkts: 0,
                outlet: Outlet {
                    hash,
                    dscp,
                    path,
                    jitter: SendJitter::idle(),
                    delay_link,
                    born_pkts: 0,
                },
            });
            return number;
        }
        let end = &mut self.endpoints[number as usize];
        end.kind = kind;
        (end.flow, end.closed) = (flow, false);
        (end.timer_due, end.deadline) = (Time::MAX, Time::MAX);
        (end.outlet.hash, end.outlet.dscp) = (hash, dscp);
        (end.outlet.path, end.outlet.delay_link) = (path, delay_link);
        number
    }

    /// One end is closed. It stays until the other is too: its last acknowledgement
    /// may be lost, and the other end's FIN come again (TIME-WAIT).
    fn on_closed(&mut self, number: u32) {
        let end = &mut self.endpoints[number as usize];
        end.closed = true;
        let (peer, conversation) = (end.outlet.path.to, end.conversation);
        if self.endpoints[peer as usize].closed {
            self.release(number);
            self.release(peer);
            self.free_conversation(conversation);
        }
    }

    /// A conversation's end is over; its counts go to the flow.
    fn release(&mut self, number: u32) {
        let end = &mut self.endpoints[number as usize];
        let kind = std::mem::replace(&mut end.kind, Kind::Free);
        if matches!(kind, Kind::Free) {
            return;
        }
        self.shared.events.cancel(end.timer);
        end.timer_due = Time::MAX;
        end.age += 1;
        end.outlet.jitter.stop();
        end.enter_in(&mut self.shared.packet_counts);
        (end.arrived_pkts, end.outlet.born_pkts) = (0, 0);
        if let Kind::Tcp(connection) = kind {
            if end.counts {
                let counts = &mut self.flows[end.flow as usize].counts;
                counts.add(&connection.stats().counts);
            }
            self.spare.push(connection);
        }
        self.free.push(number);
    }
}
