// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Each flow's links, laid out before the run in one table, so that forwarding a packet is one
//! look-up.

/// Behind the last link of a path.
pub const END: u32 = u32::MAX;

/// All paths, one behind the other, each closed by `END`.
#[derive(Default)]
pub struct Paths {
    hops: Vec<u32>,
}

impl Paths {
    /// The link at a place of the table.
    #[inline]
    pub fn link(&self, hop: u32) -> u32 {
        self.hops[hop as usize]
    }

    /// The links of a path that begins at `hop`.
    pub fn links(&self, hop: u32) -> impl Iterator<Item = usize> + '_ {
        let path = self.hops[hop as usize..].iter();
        path.take_while(|&&link| link != END)
            .map(|&link| link as usize)
    }

    /// Lays a path out and gives its first place.
    pub fn add(&mut self, links: &[usize]) -> u32 {
        let first = self.hops.len() as u32;
        self.hops.extend(links.iter().map(|&link| link as u32));
        self.hops.push(END);
        first
    }
}
