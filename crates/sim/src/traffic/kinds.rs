// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Every kind of traffic: the one place that lists them.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::key::Kind;
use super::voip::Codec;
use super::{
    Source, bulk, cbr, drawn, files, nada, onoff, paced, ping, poisson, respawn, tmix, video, voip,
    web,
};
use crate::base::rng::Rng;

/// Which flow of a group a script is for, and the random numbers that are its own.
pub struct Member {
    /// Its number, from 0.
    pub index: u32,
    /// How many flows the group has.
    pub count: u32,
    /// Its stream.
    pub rng: Rng,
}

/// What the specification of a kind can do. Its file also has the table of its keys, `KIND`.
pub trait Traffic {
    /// Checks what ranges do not tell.
    ///
    /// # Errors
    /// The key at fault, and the reason.
    fn check(&self) -> Result<(), (&'static str, String)> {
        Ok(())
    }

    /// Makes the script of one flow.
    fn source(&self, member: Member) -> Source;

    /// Tells whether reports tell its visits and connections.
    fn is_script(&self) -> bool {
        true
    }

    /// Tells whether each connection may have a round trip of its own.
    fn has_round_trips(&self) -> bool {
        false
    }

    /// Tells whether both ends write: then both ends' packets are the flow's.
    fn both_write(&self) -> bool {
        false
    }

    /// Tells whether its transfers are few enough to be kept one by one.
    fn keeps_transfers(&self) -> bool {
        false
    }

    /// Tells whether its visits are pages, whose times are measured.
    fn has_pages(&self) -> bool {
        false
    }

    /// Gives the time between two datagrams that the far end sends back, if it does that.
    fn echo_interval_ns(&self) -> Option<u64> {
        None
    }

    /// Gives the words of the application that decides at both ends, where no script tells what
    /// they do.
    fn application(&self) -> Option<String> {
        None
    }

    /// Tells whether somebody watches what comes.
    fn has_viewers(&self) -> bool {
        false
    }

    /// Gives the codec, if it is speech.
    fn codec(&self) -> Option<Codec> {
        None
    }
}

/// Makes of one list the enum, the tables, the parser, and the way to each kind.
macro_rules! kinds {
    ($($variant:ident: $module:ident),+ $(,)?) => {
        /// What a flow sends.
        #[derive(Clone, Debug, Deserialize)]
        #[serde(try_from = "Map<String, Value>")]
        #[allow(missing_docs)]
        pub enum AppSpec {
            $($variant(Box<$module::Spec>)),+
        }

        /// Their tables, in the order of all lists that people see.
        pub const KINDS: &[&Kind] = &[$(&$module::KIND),+];

        /// A parser for each, in the same order.
        const PARSERS: &[fn(Value) -> serde_json::Result<AppSpec>] =
            &[$(|values| serde_json::from_value(values).map(AppSpec::$variant)),+];

        impl AppSpec {
            /// Gives the table of its kind.
            pub fn kind(&self) -> &'static Kind {
                match self {
                    $(Self::$variant(_) => &$module::KIND),+
                }
            }

            fn values(&self) -> serde_json::Result<Value> {
                match self {
                    $(Self::$variant(spec) => serde_json::to_value(spec)),+
                }
            }
        }

        impl std::ops::Deref for AppSpec {
            type Target = dyn Traffic;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$variant(spec) => spec.as_ref()),+
                }
            }
        }
    };
}

kinds! {
    Bulk: bulk,
    Drawn: drawn,
    Respawn: respawn,
    Paced: paced,
    Cbr: cbr,
    Voip: voip,
    OnOff: onoff,
    Poisson: poisson,
    Files: files,
    Web: web,
    Tmix: tmix,
    Ping: ping,
    Video: video,
    Nada: nada,
}

impl TryFrom<Map<String, Value>> for AppSpec {
    type Error = String;

    fn try_from(mut values: Map<String, Value>) -> Result<Self, String> {
        let name = values.remove("kind");
        let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
        let mut parsers = KINDS.iter().zip(PARSERS);
        let Some((kind, parse)) = parsers.find(|(kind, _)| kind.name == name) else {
            let names: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
            let names = names.join(", ");
            return Err(format!("no traffic is named '{name}'; kinds: {names}"));
        };
        kind.complete(&mut values);
        parse(Value::Object(values)).map_err(|error| error.to_string())
    }
}

impl AppSpec {
    /// Checks ranges, and what they do not tell.
    ///
    /// # Errors
    /// The first key at fault, and the reason.
    pub fn check_all(&self) -> Result<(), (&'static str, String)> {
        self.kind().check(&self.values().unwrap_or_default())?;
        self.check()
    }
}
