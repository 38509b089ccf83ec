// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A queue that logs its packets: `linux/qdisc/passage.h`. Nothing is inferred, but a
//! shaper that holds a packet it has taken must be looked at from behind.

use super::{Fate, Mark, Passage, Seen, long, word};
use crate::base::time::Time;

const MAGIC: &[u8; 8] = b"passage1";
const HEAD_BYTES: usize = 32;
const BYTES: usize = 32;

/// `enum sojourn_fate` and `enum sojourn_marked`.
const QUEUE: u8 = 0;
const SENT: u8 = 1;
const DROPPED: u8 = 2;
const PROBE: u8 = 3;
const MARKED_LEAVING: u8 = 2;

/// The log of all queues.
pub struct Log<'a> {
    records: &'a [[u8; BYTES]],
}

impl<'a> Log<'a> {
    /// # Errors
    /// When it is no such log, or not all of one.
    pub fn new(bytes: &'a [u8]) -> Result<Self, String> {
        let (head, rest) = bytes
            .split_first_chunk::<HEAD_BYTES>()
            .ok_or("the packets' log has no head")?;
        let (records, torn) = rest.as_chunks();
        let whole = torn.is_empty() && records.len() as u64 == long(head, 16);
        if !head.starts_with(MAGIC) || word(head, 8) as usize != BYTES || !whole {
            return Err("the packets' log is not whole".to_owned());
        }
        match long(head, 24) {
            0 => Ok(Self { records }),
            lost => Err(format!("the packets' log had no room for {lost} packets")),
        }
    }

    /// What became of the packets that came to the queue of a device since `zero_ns`, the
    /// start of the run on the log's clock. `behind` is what left a shaper that holds
    /// packets back.
    ///
    /// # Errors
    /// When there is no such queue, or the shaper let go what it never got.
    pub fn passages(
        &self,
        device: &str,
        zero_ns: u64,
        behind: Option<&[Seen]>,
    ) -> Result<Vec<Passage>, String> {
        let queue = self.queue(device)?;
        let mut passages: Vec<_> = self
            .records
            .iter()
            .filter(|record| record[24..26] == queue && record[26] != QUEUE)
            .filter(|record| long(*record, 0) >= zero_ns)
            .map(|record| passage(record, zero_ns))
            .collect();
        if let Some(behind) = behind {
            hold(&mut passages, behind).map_err(|what| format!("device '{device}': {what}"))?;
        }
        Ok(passages)
    }

    /// The number of the device's last queue.
    fn queue(&self, device: &str) -> Result<[u8; 2], String> {
        let named = |record: &&[u8; BYTES]| {
            let name = record[..16].split(|&byte| byte == 0).next();
            record[26] == QUEUE && name == Some(device.as_bytes())
        };
        let record = self.records.iter().rfind(named);
        let record = record.ok_or_else(|| format!("no queue of device '{device}' was logged"))?;
        Ok([record[24], record[25]])
    }
}

fn passage(record: &[u8; BYTES], zero_ns: u64) -> Passage {
    let [fate, drop_why, marked, mark_why, came_ecn, went_ecn] =
        [26, 27, 28, 29, 30, 31].map(|at| record[at]);
    let at = Time(long(record, 8) - zero_ns);
    Passage {
        came: Time(long(record, 0) - zero_ns),
        flow: word(record, 16),
        len_bytes: word(record, 20),
        mark: (marked > 0).then_some(Mark {
            why: mark_why,
            leaving: marked == MARKED_LEAVING,
        }),
        fate: match fate {
            DROPPED => Fate::Dropped {
                at,
                why: drop_why,
                ecn: came_ecn,
            },
            SENT => Fate::Left {
                dequeue: at,
                out: at,
                ecn: went_ecn,
            },
            PROBE => Fate::Probe { out: at },
            _ => Fate::Waits,
        },
    }
}

/// A shaper lets packets go in the order in which it took them; the last may wait there.
fn hold(passages: &mut [Passage], behind: &[Seen]) -> Result<(), String> {
    let mut outs = behind.iter();
    for passage in passages {
        let (Fate::Left { out, .. } | Fate::Probe { out }) = &mut passage.fate else {
            continue;
        };
        *out = match outs.next() {
            Some(seen) if seen.len_bytes != passage.len_bytes || seen.at_ns < out.0 => {
                return Err(format!("what left at {} ns never came to it", seen.at_ns));
            }
            Some(seen) => Time(seen.at_ns),
            None => Time(u64::MAX),
        };
    }
    match outs.next() {
        Some(seen) => Err(format!("what left at {} ns never came to it", seen.at_ns)),
        None => Ok(()),
    }
}
