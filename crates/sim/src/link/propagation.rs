// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What happens to packets on the wire of a link: delay, jitter, loss. They wait there in the order in which
//! they come out, behind one event.

use super::packet::PacketId;
use super::shared::Shared;
use super::timed_queue::TimedQueue;
use crate::base::event::Source;
use crate::base::rng::Rng;
use crate::base::time::Time;
use crate::scenario::{Distribution, JitterSpec, LinkSpec};

/// How much it does to its packets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It hands them on at once.
    Nothing,
    /// It delays all of them by one time, which is the common case.
    Delay,
    /// It loses some, or delays them by different times.
    More,
}

impl Effect {
    fn new(spec: &LinkSpec) -> Self {
        if spec.jitter.is_some() || spec.loss > 0.0 || !spec.delays.is_empty() {
            Self::More
        } else if spec.delay_ns > 0 {
            Self::Delay
        } else {
            Self::Nothing
        }
    }
}

/// What happens to a packet between the last bit sent and the far end.
pub struct Propagation {
    /// Constant part of the delay.
    pub delay_ns: u64,
    /// Random part of the delay.
    pub jitter: Option<JitterSpec>,
    /// Share of packets that are lost.
    pub loss: f64,
    /// The constant part changes in the course of the run.
    changes: bool,
    effect: Effect,
    rng: Rng,
    last_release: Time,
    /// Packets on the wire and when they come out, the next one first.
    pub flying: TimedQueue,
    /// Packets lost so far.
    pub lost_pkts: u64,
    /// Packets that came out so far.
    pub left_pkts: u64,
}

impl Propagation {
    /// An empty propagation.
    pub fn new(spec: &LinkSpec, seed: u64) -> Self {
        Self {
            delay_ns: spec.delay_ns,
            jitter: spec.jitter,
            loss: spec.loss,
            changes: !spec.delays.is_empty(),
            effect: Effect::new(spec),
            rng: Rng::stream(seed, &format!("link/{}/wire", spec.name)),
            last_release: Time(0),
            flying: TimedQueue::default(),
            lost_pkts: 0,
            left_pkts: 0,
        }
    }

    /// Puts a packet on the propagation.
    #[inline(always)]
    pub fn launch(&mut self, now: Time, id: PacketId, arrival: Source, shared: &mut Shared) {
        if self.effect != Effect::Delay {
            return self.send_slow(now, id, arrival, shared);
        }
        self.fly(now + self.delay_ns, id, arrival, shared);
    }

    #[inline(always)]
    fn fly(&mut self, release: Time, id: PacketId, arrival: Source, shared: &mut Shared) {
        if self.flying.is_empty() {
            shared.events.schedule_idle(arrival, release);
        }
        self.flying.push_back(release, id);
    }

    /// The delay, if it is the same for all packets and none is lost.
    pub fn constant_delay_ns(&self) -> Option<u64> {
        (self.effect != Effect::More).then_some(self.delay_ns)
    }

    #[cold]
    fn send_slow(&mut self, now: Time, id: PacketId, arrival: Source, shared: &mut Shared) {
        if self.loss > 0.0 && self.rng.unit() <= self.loss {
            let path = &shared.packets.all[id as usize].path;
            shared.packet_counts[path.flow as usize].lost += 1;
            shared.packets.remove(id);
            shared.lost_pkts += 1;
            self.lost_pkts += 1;
            return;
        }
        let mut release = now + self.delay_ns;
        if let Some(jitter) = self.jitter {
            release = self.draw(now, jitter);
            if jitter.reorder {
                return self.insert_in_order(release, id, arrival, shared);
            }
            release = release.max(self.last_release);
            self.last_release = release;
        } else if self.changes {
            // Those that are under way keep their delay, as netem's do, and may be overtaken.
            return self.insert_in_order(release, id, arrival, shared);
        } else if self.delay_ns == 0 {
            self.left_pkts += 1;
            return shared.arrived.push_back(id);
        }
        self.fly(release, id, arrival, shared);
    }

    /// Puts a packet among those that are released later; behind its equals.
    fn insert_in_order(
        &mut self,
        release: Time,
        id: PacketId,
        arrival: Source,
        shared: &mut Shared,
    ) {
        let first = self.flying.insert(release, id);
        if first {
            shared.events.schedule(arrival, release);
        }
    }

    fn draw(&mut self, now: Time, jitter: JitterSpec) -> Time {
        let deviate = match jitter.distribution {
            Distribution::Normal => self.rng.normal(),
            Distribution::Uniform => 2.0 * self.rng.unit() - 1.0,
        };
        let delay_ns = self.delay_ns as f64 + deviate * jitter.sd_ns as f64;
        now + delay_ns.max(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::event::Events;
    use crate::link::packet::{PacketCounts, Packets};

    fn propagation(jitter: Option<JitterSpec>, loss: f64) -> Propagation {
        Propagation {
            delay_ns: 50_000_000,
            jitter,
            loss,
            changes: false,
            effect: Effect::More,
            rng: Rng::stream(1, "wire"),
            last_release: Time(0),
            flying: TimedQueue::default(),
            lost_pkts: 0,
            left_pkts: 0,
        }
    }

    /// Releases, in order of sending, of 5,000 packets that come every 100 us.
    fn releases(mut propagation: Propagation) -> (Vec<(PacketId, u64)>, u64) {
        let mut shared = Shared {
            events: Events::default(),
            packets: Packets::default(),
            arrived: crate::base::ring::Ring::default(),
            packet_counts: vec![PacketCounts::default()],
            delivered_bytes: Vec::new(),
            dropped_pkts: 0,
            lost_pkts: 0,
        };
        let arrival = shared.events.add_source(true);
        for i in 0..5_000 {
            let id = shared.packets.claim();
            propagation.launch(Time(i * 100_000), id, arrival, &mut shared);
        }
        let out = std::iter::from_fn(|| {
            let at = propagation.flying.next_at();
            propagation.flying.pop_front().map(|id| (id, at.0))
        });
        (out.collect(), propagation.lost_pkts)
    }

    fn normal(reorder: bool) -> Option<JitterSpec> {
        Some(JitterSpec {
            distribution: Distribution::Normal,
            sd_ns: 10_000_000,
            reorder,
        })
    }

    #[test]
    fn jitter_keeps_the_order_of_packets() {
        let (released, _) = releases(propagation(normal(false), 0.0));
        assert_eq!(released.len(), 5_000);
        assert!(released.is_sorted());
        let gap_ns = released.windows(2).map(|pair| pair[1].1 - pair[0].1).max();
        assert!(gap_ns > Some(1_000_000), "no jitter: {gap_ns:?}");
    }

    #[test]
    fn jitter_that_reorders_releases_each_packet_at_its_own_time() {
        let (released, _) = releases(propagation(normal(true), 0.0));
        assert!(released.is_sorted_by_key(|&(_, at)| at));
        assert!(!released.is_sorted());
        let delays = released
            .iter()
            .map(|&(id, at)| at as f64 - f64::from(id) * 1e5);
        let mean_ns = delays.sum::<f64>() / 5_000.0;
        // Five standard errors of 10 ms over 5,000 draws.
        assert!((mean_ns - 50e6).abs() < 0.7e6, "{mean_ns}");
    }

    #[test]
    fn uniform_jitter_stays_within_its_bounds() {
        let jitter = JitterSpec {
            distribution: Distribution::Uniform,
            sd_ns: 3_000_000,
            reorder: true,
        };
        let (released, _) = releases(propagation(Some(jitter), 0.0));
        for (id, at) in released {
            let delay_ns = at - u64::from(id) * 100_000;
            assert!((47_000_000..=53_000_000).contains(&delay_ns));
        }
    }

    #[test]
    fn loss_is_as_frequent_as_told() {
        for (loss, least, most) in [(0.0, 0, 0), (0.1, 400, 600), (1.0, 5_000, 5_000)] {
            let (released, lost) = releases(propagation(None, loss));
            assert!((least..=most).contains(&lost), "{loss}: {lost}");
            assert_eq!(released.len() as u64 + lost, 5_000);
        }
    }
}
