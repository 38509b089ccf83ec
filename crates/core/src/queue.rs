// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! One queue: its C memory, and calls that cannot reach outside it.

use std::ffi::c_void;

use crate::ffi;
use crate::rows::{Algorithm, ConfError, Field, Values, bad_name, reason_name, refusal};

/// What a queue must know of a packet. The engine keeps a `Vec<Slot>` parallel to
/// its packet bodies; `enq_ns`, `own`, `next` and `why` are the queue's.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// Time of the last arrival at a queue.
    pub enq_ns: u64,
    /// Hash of the flow, all 32 bits in use.
    pub flow: u32,
    /// What the algorithm keeps with the packet.
    pub own: u32,
    /// Length as a Linux qdisc sees it.
    pub len_bytes: u32,
    /// The queue's link.
    pub next: u32,
    /// Memory it occupies in a kernel; 0 in a simulator, where it occupies none.
    pub mem_bytes: u32,
    /// ECN field as on the wire: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// Differentiated services code point.
    pub dscp: u8,
    /// The reason of a drop.
    pub why: u8,
    /// 1: a probe of the queue that holds it; see [`Queue::join_probe`].
    pub probe: u8,
}

/// What to make a queue of.
#[derive(Clone, Debug)]
pub struct QueueSpec {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Rows of the queue and of the algorithm, in the rows' own units.
    pub rows: Vec<(String, u64)>,
    /// Length of a full packet, in the measure of [`Slot::len_bytes`].
    pub mtu_bytes: u32,
    /// Seed of all randomness in the queue.
    pub seed: u64,
    /// The time it begins at.
    pub start_ns: u64,
}

/// A packet that a queue hands back for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freed {
    /// Its slot.
    pub packet: u32,
    /// The reason; see [`reason_name`].
    pub why: u8,
}

/// What has passed through a queue.
#[repr(C)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Arrivals, before any decision.
    pub in_pkts: u64,
    /// Their bytes.
    pub in_bytes: u64,
    /// Departures.
    pub out_pkts: u64,
    /// Their bytes.
    pub out_bytes: u64,
    /// Bytes of all drops.
    pub drop_bytes: u64,
    /// Marks that could not be carried out.
    pub unmarkable: u64,
    /// Drops by reason.
    pub drops: [u64; ffi::WHY_COUNT],
    /// Marks by reason.
    pub marks: [u64; ffi::WHY_COUNT],
    /// Verdicts that broke a rule, by rule.
    pub bad: [u64; ffi::BAD_COUNT],
}

/// What became of the probes that a queue asked for. No other count includes them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probes {
    /// Joined the queue.
    pub joined: u64,
    /// Refused, since the limit was reached.
    pub refused: u64,
    /// Left the queue towards the responder.
    pub left: u64,
    /// Removed from the queue before they could leave.
    pub freed: u64,
    /// Answers that came back.
    pub answered: u64,
}

/// Of the flows of a queue together; `aqm/queue.h` says what each is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flows {
    /// How often one became new.
    pub new_flow_count: u64,
    /// In the list of new flows.
    pub new_flows_len: u64,
    /// In the list of old flows.
    pub old_flows_len: u64,
    /// Packets that joined behind one of another hash.
    pub collisions: u64,
    /// Moving mean of the delay of all packets.
    pub delay_mean_ns: u64,
    /// The same for packets of new flows.
    pub delay_sparse_ns: u64,
    /// The longest delay.
    pub delay_peak_ns: u64,
    /// Of the packets that are held.
    pub memory_used_bytes: u64,
}

impl Probes {
    /// Inside the queue.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.joined - self.left - self.freed
    }
}

impl Counters {
    /// All drops.
    #[must_use]
    pub fn drop_pkts(&self) -> u64 {
        self.drops.iter().sum()
    }

    /// All marks.
    #[must_use]
    pub fn mark_pkts(&self) -> u64 {
        self.marks.iter().sum()
    }

    /// All verdicts that broke a rule.
    #[must_use]
    pub fn bad_verdicts(&self) -> u64 {
        self.bad.iter().sum()
    }

    /// Drops with the names of their reasons, those that happened.
    pub fn drops_by_name(&self) -> impl Iterator<Item = (&'static str, u64)> {
        named(&self.drops, reason_name)
    }

    /// Marks with the names of their reasons, those that happened.
    pub fn marks_by_name(&self) -> impl Iterator<Item = (&'static str, u64)> {
        named(&self.marks, reason_name)
    }

    /// Broken rules with their names, those that happened.
    pub fn bad_by_name(&self) -> impl Iterator<Item = (&'static str, u64)> {
        named(&self.bad, bad_name)
    }
}

fn named(
    counts: &[u64],
    name: fn(u8) -> &'static str,
) -> impl Iterator<Item = (&'static str, u64)> {
    let some = counts.iter().enumerate().filter(|(_, count)| **count != 0);
    some.map(move |(i, count)| (name(i as u8), *count))
}

/// A queue with its algorithm.
pub struct Queue {
    algorithm: Algorithm,
    /// Never moved after it was made: the C side points into it.
    memory: Box<[u64]>,
    freed: Vec<Freed>,
    /// One more than the largest slot ever given to this queue.
    reach: u32,
}

// All state is in `memory`; the pointers in it lead into it, to constants, or to
// slots, and those to slots are set anew by each call.
unsafe impl Send for Queue {}

impl Queue {
    /// Makes an empty queue.
    ///
    /// # Errors
    /// When a row is unknown, out of range, or impossible together with the others.
    pub fn new(spec: &QueueSpec) -> Result<Queue, ConfError> {
        let algorithm = spec.algorithm;
        let mut values = Values::defaults(algorithm);
        values.set(algorithm, &spec.rows)?;
        let raw = algorithm.0.raw;
        // SAFETY: `values` is laid out for this algorithm; NULL: there is no older one.
        let (answer, bytes) = unsafe {
            let none = std::ptr::null();
            let answer =
                ffi::aqm_setup_check(raw, &values.setup, values.conf(), none, std::ptr::null(), 0);
            (answer, ffi::core_mem(raw, &values.setup))
        };
        refusal(algorithm, answer)?;
        if bytes == 0 {
            let rows = crate::queue_rows();
            let flows = rows.iter().find(|r| r.name == "flows");
            return Err(ConfError::of(
                flows,
                "these rows need more memory than a queue may have",
            ));
        }
        let mut memory = vec![0u64; bytes.div_ceil(8)].into_boxed_slice();
        // SAFETY: the memory is as large and as aligned as asked for.
        unsafe {
            ffi::core_init(
                memory.as_mut_ptr().cast(),
                raw,
                &values.setup,
                values.conf(),
                spec.mtu_bytes,
                spec.start_ns,
                spec.seed,
            );
        }
        Ok(Queue {
            algorithm,
            memory,
            freed: Vec::new(),
            reach: 0,
        })
    }

    /// The algorithm it was made with.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    fn raw(&mut self) -> *mut c_void {
        self.memory.as_mut_ptr().cast()
    }

    fn front(&self) -> &ffi::Front {
        // SAFETY: `struct core_queue` begins with these members.
        unsafe { &*self.memory.as_ptr().cast() }
    }

    /// From now on C may also touch the slot of this packet.
    #[inline]
    fn reach_to(&mut self, packet: u32) {
        if packet >= self.reach {
            assert!(packet != ffi::NIL, "no slot has this number");
            self.reach = packet + 1;
        }
    }

    /// How many slots C may touch: every one of them is inside the slice.
    #[inline]
    fn covered(&self, slots: &[Slot]) -> u32 {
        assert!(
            self.reach as usize <= slots.len(),
            "the slots of queued packets are missing"
        );
        self.reach
    }

    #[inline]
    fn collect(&mut self, slots: &[Slot]) {
        if self.has_freed() {
            self.collect_freed(slots);
        }
    }

    #[cold]
    fn collect_freed(&mut self, slots: &[Slot]) {
        self.freed.clear();
        let (count, mut packet) = (self.front().freed_count, self.front().freed_first);
        for _ in 0..count {
            let slot = &slots[packet as usize];
            self.freed.push(Freed {
                packet,
                why: slot.why,
            });
            packet = slot.next;
        }
    }

    /// A packet arrives. `false`: it was refused, and is in [`Queue::freed`] too.
    ///
    /// # Panics
    /// When `slots` lacks this packet or one that is queued.
    #[inline]
    pub fn enqueue(&mut self, slots: &mut [Slot], now_ns: u64, packet: u32) -> bool {
        self.reach_to(packet);
        let count = self.covered(slots);
        // SAFETY: C touches slots below `reach` only, and those exist.
        let joined =
            unsafe { ffi::core_enqueue(self.raw(), slots.as_mut_ptr(), count, now_ns, packet) };
        self.collect(slots);
        joined
    }

    /// The instance that wants a probe behind the packet that has just arrived.
    #[inline]
    #[must_use]
    pub fn probe_asked(&self) -> Option<u32> {
        let inst = self.front().probe_asked;
        (inst != ffi::NIL).then_some(inst)
    }

    /// A probe that this instance has asked for joins, behind the packet that asked or later; one
    /// that is not there counts as the first. `false`: it was refused, and is in [`Queue::freed`]
    /// too.
    ///
    /// # Panics
    /// When `slots` lacks this packet or one that is queued.
    pub fn join_probe(&mut self, slots: &mut [Slot], now_ns: u64, inst: u32, packet: u32) -> bool {
        self.reach_to(packet);
        let count = self.covered(slots);
        let slots_at = slots.as_mut_ptr();
        // SAFETY: as for `enqueue`.
        let joined =
            unsafe { ffi::core_join_probe(self.raw(), slots_at, count, now_ns, inst, packet) };
        self.collect(slots);
        joined
    }

    /// A probe of this instance was answered `rtt_ns` after it joined; the answer came now.
    pub fn echo(&mut self, now_ns: u64, inst: u32, rtt_ns: u64) {
        // SAFETY: touches no slot; an instance that is not there is ignored.
        unsafe { ffi::core_echo(self.raw(), now_ns, inst, rtt_ns) };
    }

    /// What became of this queue's probes.
    #[must_use]
    pub fn probes(&self) -> Probes {
        // SAFETY: a plain struct inside our memory.
        unsafe { *ffi::core_probes(self.memory.as_ptr().cast()) }
    }

    /// Statistics of the flows together; none: the queue has no flows.
    #[must_use]
    pub fn flows(&self) -> Option<Flows> {
        // SAFETY: both read numbers inside our memory.
        unsafe {
            let queue = self.memory.as_ptr().cast();
            ((*ffi::core_setup(queue)).flows > 0).then(|| ffi::core_flows(queue))
        }
    }

    /// The next packet to send, if there is one.
    ///
    /// # Panics
    /// When `slots` lacks a queued packet.
    #[inline]
    pub fn dequeue(&mut self, slots: &mut [Slot], now_ns: u64) -> Option<u32> {
        let count = self.covered(slots);
        // SAFETY: as for `enqueue`.
        let packet = unsafe { ffi::core_dequeue(self.raw(), slots.as_mut_ptr(), count, now_ns) };
        self.collect(slots);
        (packet != ffi::NIL).then_some(packet)
    }

    /// Whether the last call handed packets back.
    #[inline]
    #[must_use]
    pub fn has_freed(&self) -> bool {
        self.front().freed_count > 0
    }

    /// The packets that the last call handed back, a refused arrival included.
    #[inline]
    #[must_use]
    pub fn freed(&self) -> &[Freed] {
        // What an earlier call freed is not cleared away: mostly nothing is freed.
        if self.has_freed() { &self.freed } else { &[] }
    }

    /// New values for some rows, under way.
    ///
    /// # Errors
    /// As [`Queue::new`], and when a row is fixed. Nothing has changed then.
    ///
    /// # Panics
    /// When `slots` lacks a queued packet.
    pub fn change(
        &mut self,
        slots: &mut [Slot],
        now_ns: u64,
        rows: &[(String, u64)],
    ) -> Result<(), ConfError> {
        let mut values = self.values();
        values.set(self.algorithm, rows)?;
        let count = self.covered(slots);
        // SAFETY: as for `enqueue`; `values` is laid out for this algorithm.
        let answer = unsafe {
            let (setup, conf) = (&raw const values.setup, values.conf());
            ffi::core_change(self.raw(), slots.as_mut_ptr(), count, now_ns, setup, conf)
        };
        self.collect(slots);
        refusal(self.algorithm, answer)
    }

    /// Throws all packets away and starts again.
    ///
    /// # Panics
    /// When `slots` lacks a queued packet.
    pub fn reset(&mut self, slots: &mut [Slot], now_ns: u64) {
        let count = self.covered(slots);
        // SAFETY: as for `enqueue`.
        unsafe { ffi::core_reset(self.raw(), slots.as_mut_ptr(), count, now_ns) };
        self.collect(slots);
    }

    /// Packets held.
    #[inline]
    #[must_use]
    pub fn backlog_pkts(&self) -> u32 {
        self.front().pkts
    }

    /// Bytes held.
    #[inline]
    #[must_use]
    pub fn backlog_bytes(&self) -> u32 {
        self.front().bytes
    }

    /// What has passed so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        // SAFETY: a plain struct inside our memory.
        unsafe { (*ffi::core_counters(self.memory.as_ptr().cast())).clone() }
    }

    /// The algorithm's statistics, as of the last event. With flows only counters have
    /// one value.
    #[must_use]
    pub fn stats(&mut self) -> Vec<(&'static str, u64)> {
        let named = |(row, value): (&'static Field, u64)| (row.name, value);
        self.statistics().into_iter().map(named).collect()
    }

    /// The same with their rows.
    #[must_use]
    pub fn statistics(&mut self) -> Vec<(&'static Field, u64)> {
        let queue = self.raw();
        let rows = self.algorithm.stats().iter();
        rows.filter_map(|row| {
            let mut value = 0;
            // SAFETY: the row is one of this algorithm, and `value` is ours.
            let has_one = unsafe { ffi::core_stat(queue, row.raw, &raw mut value) };
            has_one.then_some((row, value))
        })
        .collect()
    }

    /// The rows as they are: the queue's own, then the algorithm's.
    #[must_use]
    pub fn rows(&mut self) -> Vec<(&'static str, u64)> {
        let values = self.values();
        let own = crate::queue_rows().iter().map(|row| {
            // SAFETY: the row belongs to the table that describes this memory.
            let base = (&raw const values.setup).cast();
            (row.name, unsafe { ffi::aqm_field_get(row.raw, base) })
        });
        let params = self.algorithm.params().iter().map(|row| {
            // SAFETY: as above.
            (row.name, unsafe {
                ffi::aqm_field_get(row.raw, values.conf())
            })
        });
        own.chain(params).collect()
    }

    fn values(&mut self) -> Values {
        // SAFETY: both point into our memory.
        unsafe {
            let setup = *ffi::core_setup(self.memory.as_ptr().cast());
            let conf = ffi::core_conf(self.raw());
            Values::copied(self.algorithm, setup, conf)
        }
    }
}
