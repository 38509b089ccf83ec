// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Every kind of traffic: the one place that lists them.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::key::Kind;
use super::{
    Source, bulk, cbr, drawn, files, onoff, paced, ping, poisson, respawn, tmix, voip, web,
};
use crate::base::rng::Rng;

/// What a flow sends.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
#[allow(missing_docs)]
pub enum AppSpec {
    Bulk(bulk::Spec),
    Drawn(drawn::Spec),
    Respawn(respawn::Spec),
    Paced(paced::Spec),
    Cbr(cbr::Spec),
    Voip(voip::Spec),
    OnOff(onoff::Spec),
    Poisson(poisson::Spec),
    Files(files::Spec),
    Web(Box<web::Spec>),
    Tmix(tmix::Spec),
    Ping(ping::Spec),
}

/// Their tables, in the order in which they are told.
pub const KINDS: [&Kind; 12] = [
    &bulk::KIND,
    &drawn::KIND,
    &respawn::KIND,
    &paced::KIND,
    &cbr::KIND,
    &voip::KIND,
    &onoff::KIND,
    &poisson::KIND,
    &files::KIND,
    &web::KIND,
    &tmix::KIND,
    &ping::KIND,
];

impl TryFrom<Map<String, Value>> for AppSpec {
    type Error = String;

    fn try_from(mut values: Map<String, Value>) -> Result<Self, String> {
        let name = values.remove("kind");
        let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
        let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
            let known = KINDS.map(|kind| kind.name).join(", ");
            return Err(format!("no traffic is named '{name}'; kinds: {known}"));
        };
        kind.complete(&mut values);
        let values = Value::Object(values);
        Ok(match name {
            "bulk" => Self::Bulk(read(values)?),
            "drawn" => Self::Drawn(read(values)?),
            "respawn" => Self::Respawn(read(values)?),
            "paced" => Self::Paced(read(values)?),
            "cbr" => Self::Cbr(read(values)?),
            "voip" => Self::Voip(read(values)?),
            "onoff" => Self::OnOff(read(values)?),
            "poisson" => Self::Poisson(read(values)?),
            "files" => Self::Files(read(values)?),
            "web" => Self::Web(read(values)?),
            "tmix" => Self::Tmix(read(values)?),
            _ => Self::Ping(read(values)?),
        })
    }
}

fn read<T: DeserializeOwned>(values: Value) -> Result<T, String> {
    serde_json::from_value(values).map_err(|error| error.to_string())
}

impl AppSpec {
    /// Its table.
    pub fn kind(&self) -> &'static Kind {
        match self {
            Self::Bulk(_) => &bulk::KIND,
            Self::Drawn(_) => &drawn::KIND,
            Self::Respawn(_) => &respawn::KIND,
            Self::Paced(_) => &paced::KIND,
            Self::Cbr(_) => &cbr::KIND,
            Self::Voip(_) => &voip::KIND,
            Self::OnOff(_) => &onoff::KIND,
            Self::Poisson(_) => &poisson::KIND,
            Self::Files(_) => &files::KIND,
            Self::Web(_) => &web::KIND,
            Self::Tmix(_) => &tmix::KIND,
            Self::Ping(_) => &ping::KIND,
        }
    }

    /// Checks ranges, and what they do not tell.
    ///
    /// # Errors
    /// The first field at fault, and the reason.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let values = match self {
            Self::Bulk(spec) => serde_json::to_value(spec),
            Self::Drawn(spec) => serde_json::to_value(spec),
            Self::Respawn(spec) => serde_json::to_value(spec),
            Self::Paced(spec) => serde_json::to_value(spec),
            Self::Cbr(spec) => serde_json::to_value(spec),
            Self::Voip(spec) => serde_json::to_value(spec),
            Self::OnOff(spec) => serde_json::to_value(spec),
            Self::Poisson(spec) => serde_json::to_value(spec),
            Self::Files(spec) => serde_json::to_value(spec),
            Self::Web(spec) => serde_json::to_value(spec),
            Self::Tmix(spec) => serde_json::to_value(spec),
            Self::Ping(spec) => serde_json::to_value(spec),
        };
        self.kind().check(&values.unwrap_or_default())?;
        match self {
            Self::Paced(spec) => spec.check(),
            Self::Cbr(spec) => spec.check(),
            Self::Voip(spec) => spec.check(),
            Self::OnOff(spec) => spec.check(),
            Self::Poisson(spec) => spec.check(),
            Self::Web(spec) => spec.check(),
            Self::Tmix(spec) => spec.check(),
            _ => Ok(()),
        }
    }

    /// The script of flow `index` of `count`; `rng` is its own.
    pub fn source(&self, index: u32, count: u32, rng: Rng) -> Source {
        match self {
            Self::Bulk(spec) => spec.source(),
            Self::Drawn(spec) => spec.source(rng),
            Self::Respawn(spec) => spec.source(),
            Self::Paced(spec) => spec.source(),
            Self::Cbr(spec) => spec.source(),
            Self::Voip(spec) => spec.source(rng),
            Self::OnOff(spec) => spec.source(rng),
            Self::Poisson(spec) => spec.source(rng),
            Self::Files(spec) => spec.source(rng),
            Self::Web(spec) => spec.source(rng),
            Self::Tmix(spec) => spec.source(index, count, rng),
            Self::Ping(spec) => spec.source(),
        }
    }

    /// Whether hosts know it by its script alone.
    pub fn is_script(&self) -> bool {
        !matches!(self, Self::Bulk(_) | Self::Respawn(_) | Self::Cbr(_))
    }

    /// Whether each connection may have a round trip of its own.
    pub fn has_round_trips(&self) -> bool {
        matches!(self, Self::Tmix(_))
    }

    /// Whether both ends write: then both ends' packets are the flow's.
    pub fn both_write(&self) -> bool {
        matches!(self, Self::Web(_) | Self::Tmix(_) | Self::Ping(_))
    }

    /// Whether its transfers are few enough to be kept one by one.
    pub fn keeps_transfers(&self) -> bool {
        matches!(self, Self::Bulk(_) | Self::Respawn(_))
    }
}
