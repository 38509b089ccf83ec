// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! `run SCENARIO.json SEED`: one run, its report as JSON. The engine alone, for
//! profilers and for targets on which the Python package is not built.

use std::process::ExitCode;

use sojourn_sim::{Scenario, Unwatched, run};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [path, seed] = arguments.as_slice() else {
        eprintln!("usage: run SCENARIO.json SEED");
        return ExitCode::from(2);
    };
    match report(path, seed) {
        Ok(json) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{path}: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn report(path: &str, seed: &str) -> Result<String, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(path)?;
    let scenario = Scenario::from_json(&text).map_err(|fault| fault.to_string())?;
    let report = run(&scenario, seed.parse()?, &mut Unwatched)?;
    Ok(serde_json::to_string_pretty(&report)?)
}
