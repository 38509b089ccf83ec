// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The transfers of conversations, noted as they end or the run does.

use super::Net;
use super::conversation::Pending;
use crate::base::time::Time;
use crate::measure::record::Transfer;
use crate::traffic::End;

impl Net {
    /// The one place where a transfer is complete.
    pub(super) fn on_transfer(&mut self, now: Time, number: u32, transfer: Pending) {
        let flow = &mut self.flows[self.conversations[number as usize].flow as usize];
        let took_ns = now - transfer.begun;
        flow.on_transfer(now, took_ns);
        if !flow.keeps_transfers {
            self.times.add_transfer(flow.group, now, took_ns);
        }
        if self.ended.is_some() {
            self.note(number, transfer, Some(now));
        }
    }

    /// Notes a transfer that has ended, or whose last byte will not come.
    #[cold]
    fn note(&mut self, number: u32, transfer: Pending, last_byte: Option<Time>) {
        let Some(ended) = &mut self.ended else {
            return;
        };
        let conversation = &self.conversations[number as usize];
        let flow = &self.flows[conversation.flow as usize];
        ended.push(Transfer {
            group: flow.group,
            index: flow.index,
            visit: conversation.visit_number,
            connection: conversation.place as u32 + 1,
            transfer: transfer.number,
            opened: conversation.opened,
            begun: transfer.begun,
            first_byte: transfer.first.or(last_byte),
            last_byte,
            bytes: transfer.to_bytes - transfer.from_bytes,
        });
    }

    /// Notes the transfers of a conversation whose last bytes will not come.
    pub(super) fn note_unfinished(&mut self, number: u32) {
        for who in [End::From, End::To] {
            let side = &mut self.conversations[number as usize].sides[who as usize];
            for transfer in std::mem::take(&mut side.transfers) {
                self.note(number, transfer, None);
            }
        }
    }

    /// The run is over, and transfers that are not stay so.
    pub fn note_all_unfinished(&mut self) {
        for number in 0..self.conversations.len() as u32 {
            self.note_unfinished(number);
        }
    }
}
