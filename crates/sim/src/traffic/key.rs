// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The keys of a source as a table: name, unit, range, default, sentence. Checks and refusals
//! here, and the package's model, reference and list read this and nothing else.

use serde_json::{Map, Value};

use crate::base::time::NS_PER_S;

/// What a number counts, and how people write it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// A time: whole nanoseconds.
    Time,
    /// A rate: whole bit/s.
    Rate,
    /// Several of them.
    Rates,
    /// A size: whole bytes.
    Size,
    /// A whole number.
    Count,
    /// A real number from 0 to 1.
    Share,
    /// A real number.
    Number,
    /// One of these words.
    Words(&'static [&'static str]),
    /// Text: the name of a file, or what would stand in it.
    Text,
}

/// What holds where a key is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Otherwise {
    /// It must not be left out.
    Needed,
    /// Another form, which the sentence tells.
    Nothing,
    /// This number of the base unit.
    Number(f64),
    /// This word.
    Word(&'static str),
    /// These numbers of the base unit.
    Numbers(&'static [f64]),
}

/// A key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As people write it.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// The least of the base unit, and the most.
    pub range: (f64, f64),
    /// What holds where it is left out.
    pub otherwise: Otherwise,
    /// One sentence.
    pub help: &'static str,
}

/// The longest time of a source, unless its table says otherwise.
const DAY_NS: f64 = 86_400.0 * NS_PER_S as f64;

impl Key {
    /// A key that is needed, with the widest range of its unit.
    pub const fn new(name: &'static str, unit: Unit, help: &'static str) -> Self {
        let range = match unit {
            Unit::Time => (0.0, DAY_NS),
            Unit::Rate | Unit::Rates => (8.0, 1e13),
            Unit::Size => (1.0, 1e15),
            Unit::Count => (0.0, 1e6),
            Unit::Share => (0.0, 1.0),
            Unit::Number | Unit::Words(_) | Unit::Text => (f64::MIN, f64::MAX),
        };
        Self {
            name,
            unit,
            range,
            otherwise: Otherwise::Needed,
            help,
        }
    }

    /// With another range.
    #[must_use]
    pub const fn within(self, least: f64, most: f64) -> Self {
        Self {
            range: (least, most),
            ..self
        }
    }

    /// With a default, in the base unit.
    #[must_use]
    pub const fn or(self, number: f64) -> Self {
        Self {
            otherwise: Otherwise::Number(number),
            ..self
        }
    }

    /// With a word as its default.
    #[must_use]
    pub const fn or_word(self, word: &'static str) -> Self {
        Self {
            otherwise: Otherwise::Word(word),
            ..self
        }
    }

    /// With several numbers as its default, in the base unit.
    #[must_use]
    pub const fn or_numbers(self, numbers: &'static [f64]) -> Self {
        Self {
            otherwise: Otherwise::Numbers(numbers),
            ..self
        }
    }

    /// That may be left out.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self {
            otherwise: Otherwise::Nothing,
            ..self
        }
    }

    fn is_whole(self) -> bool {
        matches!(
            self.unit,
            Unit::Time | Unit::Rate | Unit::Size | Unit::Count
        )
    }

    /// A number of its unit, for people.
    pub fn text(&self, number: f64) -> String {
        match self.unit {
            Unit::Time => format!("{number} ns"),
            Unit::Rate | Unit::Rates => format!("{number} bit/s"),
            Unit::Size => format!("{number} B"),
            _ => format!("{number}"),
        }
    }

    fn default_value(&self) -> Option<Value> {
        match self.otherwise {
            Otherwise::Needed | Otherwise::Nothing => None,
            Otherwise::Number(number) if self.is_whole() => Some(Value::from(number as u64)),
            Otherwise::Number(number) => Some(Value::from(number)),
            Otherwise::Word(word) => Some(Value::from(word)),
            Otherwise::Numbers(numbers) => {
                let whole = numbers.iter().map(|&number| number as u64);
                Some(whole.collect::<Vec<_>>().into())
            }
        }
    }

    /// Why a value is out of range.
    fn refusal(&self, value: &Value) -> Option<String> {
        if let Some(values) = value.as_array() {
            let empty = values.is_empty().then(|| "it has no value".to_owned());
            return empty.or_else(|| values.iter().find_map(|value| self.refusal(value)));
        }
        let number = value.as_f64()?;
        let (least, most) = self.range;
        if (least..=most).contains(&number) {
            return None;
        }
        let [least, most] = [least, most].map(|number| self.text(number));
        Some(format!(
            "{} is outside {least} to {most}",
            self.text(number)
        ))
    }
}

/// A kind of traffic.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// Transports that it goes over.
    pub transports: &'static [&'static str],
    /// Its keys.
    pub keys: &'static [Key],
}

impl Kind {
    /// Puts in what was left out.
    pub(super) fn complete(&self, values: &mut Map<String, Value>) {
        for key in self.keys {
            if let (false, Some(value)) = (values.contains_key(key.name), key.default_value()) {
                values.insert(key.name.to_owned(), value);
            }
        }
    }

    /// The first value that is out of range: its key and the reason.
    pub(super) fn check(&self, values: &Value) -> Result<(), (&'static str, String)> {
        for key in self.keys {
            if let Some(reason) = values.get(key.name).and_then(|value| key.refusal(value)) {
                return Err((key.name, reason));
            }
        }
        Ok(())
    }
}
