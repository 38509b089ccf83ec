// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Algorithms and their rows, as the C tables tell them.

use std::ffi::c_void;
use std::fmt;
use std::sync::OnceLock;

use crate::ffi::{self, text};

/// How the number of a row is stored, and what it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 0 or 1.
    Bool,
    /// A 32-bit number.
    U32,
    /// A 64-bit number.
    U64,
    /// The index of one of the words of [`Field::choices`].
    Choice,
}

/// What the number of a row means, from the C table: a quantity in the base's unit is
/// stored as quantity * multiply / divide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its short name, as `bytes/s`.
    pub name: &'static str,
    /// `number`, `time` (ns), `packets`, `size` (bytes), `rate` (bit/s), `share`, `frequency`
    /// (Hz).
    pub base: &'static str,
    /// See above.
    pub multiply: u64,
    /// See above.
    pub divide: u64,
    /// What the unit does not say of a number; or empty.
    pub note: &'static str,
}

/// One row: a parameter or a statistic.
#[derive(Debug)]
pub struct Field {
    /// The name users type.
    pub name: &'static str,
    /// One line of explanation.
    pub help: &'static str,
    /// The unit of the numbers below.
    pub unit: Unit,
    /// How the number is stored.
    pub kind: Kind,
    /// The default.
    pub def: u64,
    /// The smallest value allowed.
    pub min: u64,
    /// The largest value allowed.
    pub max: u64,
    /// The words of a [`Kind::Choice`], by value.
    pub choices: Vec<&'static str>,
    /// The row cannot be changed once the queue exists.
    pub fixed: bool,
    /// The fixed netlink number.
    pub attr: u16,
    pub(crate) raw: &'static ffi::Field,
}

/// An algorithm of the library.
#[derive(Clone, Copy)]
pub struct Algorithm(pub(crate) &'static Info);

pub(crate) struct Info {
    pub(crate) raw: &'static ffi::Algo,
    name: &'static str,
    brief: &'static str,
    source: &'static str,
    params: Vec<Field>,
    stats: Vec<Field>,
}

// The raw tables are constants.
unsafe impl Send for Info {}
unsafe impl Sync for Info {}
unsafe impl Send for ffi::Field {}

impl Algorithm {
    pub(crate) fn of(raw: &'static ffi::Algo) -> Self {
        // SAFETY: its tables are constants of this process.
        Algorithm(Box::leak(Box::new(unsafe { info(raw) })))
    }

    /// Its published name, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What it does, in one line.
    #[must_use]
    pub fn brief(self) -> &'static str {
        self.0.brief
    }

    /// Where it was published.
    #[must_use]
    pub fn source(self) -> &'static str {
        self.0.source
    }

    /// Its parameters.
    #[must_use]
    pub fn params(self) -> &'static [Field] {
        &self.0.params
    }

    /// Its statistics.
    #[must_use]
    pub fn stats(self) -> &'static [Field] {
        &self.0.stats
    }

    /// The flags of `enum aqm_algo_flags`.
    #[must_use]
    pub fn flags(self) -> u32 {
        self.0.raw.flags
    }

    /// What a row of the queue is where nobody sets it.
    #[must_use]
    pub fn queue_default(self, row: &Field) -> u64 {
        // SAFETY: both are constant tables of the library.
        unsafe { ffi::aqm_setup_default(self.0.raw, row.raw) }
    }

    /// It looks at packets inside the queue.
    #[must_use]
    pub fn samples(self) -> bool {
        self.flags() & ffi::SAMPLES != 0
    }

    /// It asks for probes and receives their answers.
    #[must_use]
    pub fn probes(self) -> bool {
        !self.0.raw.echo.is_null()
    }

    /// It is refused while the row `bandwidth` of its queue is 0.
    #[must_use]
    pub fn needs_rate(self) -> bool {
        self.flags() & ffi::NEEDS_RATE != 0
    }

    /// It marks where the row `ecn` allows it.
    #[must_use]
    pub fn marks(self) -> bool {
        self.flags() & ffi::MARKS != 0
    }

    /// Whom it signals to: any of `"enqueue"` and `"dequeue"`.
    #[must_use]
    pub fn acts(self) -> Vec<&'static str> {
        [("enqueue", ffi::AT_TAIL), ("dequeue", ffi::AT_HEAD)]
            .into_iter()
            .filter(|(_, flag)| self.flags() & flag != 0)
            .map(|(name, _)| name)
            .collect()
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Algorithm").field(&self.name()).finish()
    }
}

impl PartialEq for Algorithm {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0.raw, other.0.raw)
    }
}

/// Every algorithm, by name.
pub fn algorithms() -> &'static [Algorithm] {
    static ALL: OnceLock<Vec<Algorithm>> = OnceLock::new();
    ALL.get_or_init(|| {
        crate::layout::check();
        let mut all = Vec::new();
        // SAFETY: the table in all.c is constant and ends with NULL.
        unsafe {
            let mut at = (&raw const ffi::aqm_all).cast::<*const ffi::Algo>();
            while let Some(raw) = (*at).as_ref() {
                all.push(Algorithm::of(raw));
                at = at.add(1);
            }
        }
        all
    })
}

/// What rows are counted in.
pub fn units() -> &'static [Unit] {
    static UNITS: OnceLock<Vec<Unit>> = OnceLock::new();
    UNITS.get_or_init(|| {
        let all = (&raw const ffi::aqm_units).cast::<ffi::UnitInfo>();
        // SAFETY: the table has so many entries, and its text is static.
        let read = |i| unsafe {
            let raw = &*all.add(i);
            Unit {
                name: text(raw.name),
                base: text(raw.base),
                multiply: raw.multiply,
                divide: raw.divide,
                note: if raw.note.is_null() {
                    ""
                } else {
                    text(raw.note)
                },
            }
        };
        (0..crate::layout::units()).map(read).collect()
    })
}

/// The rows of the queue itself: `limit`, `ecn`, `flows` and others.
pub fn queue_rows() -> &'static [Field] {
    static ROWS: OnceLock<Vec<Field>> = OnceLock::new();
    // SAFETY: the table is constant and ends with a nameless row.
    ROWS.get_or_init(|| unsafe { fields((&raw const ffi::aqm_setup_rows).cast()) })
}

/// The name of a reason for a drop or a mark.
#[must_use]
pub fn reason_name(why: u8) -> &'static str {
    // SAFETY: answers a static string for every number.
    unsafe { text(ffi::aqm_why_name(u32::from(why))) }
}

/// The name of a rule that a verdict broke.
#[must_use]
pub fn bad_name(bad: u8) -> &'static str {
    // SAFETY: as above.
    unsafe { text(ffi::aqm_bad_name(u32::from(bad))) }
}

/// # Safety
/// `raw` is part of the C library's constant tables.
unsafe fn info(raw: &'static ffi::Algo) -> Info {
    unsafe {
        Info {
            raw,
            name: text(raw.name),
            brief: text(raw.brief),
            source: text(raw.source),
            params: fields(raw.params),
            stats: fields(raw.stats),
        }
    }
}

/// # Safety
/// `at` is NULL or a constant table that ends with a nameless row.
unsafe fn fields(mut at: *const ffi::Field) -> Vec<Field> {
    let mut rows = Vec::new();
    unsafe {
        while let Some(raw) = at.as_ref().filter(|raw| !raw.name.is_null()) {
            rows.push(field(raw));
            at = at.add(1);
        }
    }
    rows
}

/// # Safety
/// As [`info`].
unsafe fn field(raw: &'static ffi::Field) -> Field {
    let kind = [Kind::Bool, Kind::U32, Kind::U64, Kind::Choice][usize::from(raw.kind)];
    let unit = units()[usize::from(raw.unit)];
    let words = if raw.choices.is_null() {
        0
    } else {
        raw.max as usize + 1
    };
    unsafe {
        Field {
            name: text(raw.name),
            help: text(raw.help),
            unit,
            kind,
            def: raw.def,
            min: raw.min,
            max: raw.max,
            choices: (0..words).map(|i| text(*raw.choices.add(i))).collect(),
            fixed: raw.flags & ffi::FIXED != 0,
            attr: raw.attr,
            raw,
        }
    }
}

/// A row was refused, or there is no such row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfError {
    /// The row; empty when several rows together are at fault.
    pub row: String,
    /// What is wrong, in at most 79 characters.
    pub sentence: &'static str,
    /// The smallest value the row takes.
    pub min: u64,
    /// The largest value the row takes.
    pub max: u64,
}

impl ConfError {
    pub(crate) fn of(row: Option<&Field>, sentence: &'static str) -> Self {
        ConfError {
            row: row.map_or(String::new(), |r| r.name.to_owned()),
            sentence,
            min: row.map_or(0, |r| r.min),
            max: row.map_or(u64::MAX, |r| r.max),
        }
    }
}

impl fmt::Display for ConfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.row.is_empty() {
            write!(f, "{}", self.sentence)
        } else {
            write!(
                f,
                "{}: {} ({} to {})",
                self.row, self.sentence, self.min, self.max
            )
        }
    }
}

impl std::error::Error for ConfError {}

/// The values of all rows, in the memory layout that C reads.
pub(crate) struct Values {
    pub(crate) setup: ffi::Setup,
    conf: Vec<u64>,
}

impl Values {
    pub(crate) fn defaults(algorithm: Algorithm) -> Self {
        let raw = algorithm.0.raw;
        let mut values = Values {
            setup: ffi::Setup::default(),
            conf: vec![0; (raw.conf_bytes as usize).div_ceil(8).max(1)],
        };
        // SAFETY: both tables describe just these memories.
        unsafe {
            let setup = &raw mut values.setup;
            ffi::aqm_setup_defaults(raw, setup);
            ffi::aqm_field_defaults(raw.params, values.conf.as_mut_ptr().cast());
        }
        values
    }

    /// # Safety
    /// `conf` points to the algorithm's conf of a living queue.
    pub(crate) unsafe fn copied(
        algorithm: Algorithm,
        setup: ffi::Setup,
        conf: *const c_void,
    ) -> Self {
        let mut values = Values::defaults(algorithm);
        values.setup = setup;
        let bytes = algorithm.0.raw.conf_bytes as usize;
        unsafe {
            let to = values.conf.as_mut_ptr().cast::<u8>();
            std::ptr::copy_nonoverlapping(conf.cast::<u8>(), to, bytes);
        }
        values
    }

    pub(crate) fn conf(&self) -> *const c_void {
        self.conf.as_ptr().cast()
    }

    pub(crate) fn set(
        &mut self,
        algorithm: Algorithm,
        rows: &[(String, u64)],
    ) -> Result<(), ConfError> {
        for (name, value) in rows {
            let own = queue_rows().iter().find(|r| r.name == name);
            let row = own.or_else(|| algorithm.params().iter().find(|r| r.name == name));
            let Some(row) = row else {
                return Err(ConfError {
                    row: name.clone(),
                    sentence: "neither the queue nor the algorithm has this row",
                    min: 0,
                    max: u64::MAX,
                });
            };
            let base: *mut c_void = if own.is_some() {
                (&raw mut self.setup).cast()
            } else {
                self.conf.as_mut_ptr().cast()
            };
            // SAFETY: the row belongs to the table that describes this memory.
            let sentence = unsafe { ffi::aqm_field_set(row.raw, base, *value) };
            if !sentence.is_null() {
                return Err(ConfError::of(Some(row), unsafe { text(sentence) }));
            }
        }
        Ok(())
    }
}

/// The answer of a check in C.
pub(crate) fn refusal(algorithm: Algorithm, answer: ffi::Refusal) -> Result<(), ConfError> {
    if answer.sentence.is_null() {
        return Ok(());
    }
    let mut all = queue_rows().iter().chain(algorithm.params());
    let row = all.find(|r| std::ptr::eq(r.raw, answer.row));
    // SAFETY: sentences are static text.
    Err(ConfError::of(row, unsafe { text(answer.sentence) }))
}
