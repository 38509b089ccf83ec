// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The tables of parameters in `docs/reference/algorithms/` are those of the C rows.
//! `RENEW=1 cargo test -p sojourn-core --test docs` writes them anew.

use std::fmt::Write as _;
use std::path::PathBuf;

use sojourn_core::{Field, Unit, algorithms, queue_rows};

const BEGIN: &str = "<!-- rows: made from the C tables -->\n";
const END: &str = "<!-- end of rows -->\n";

fn value(unit: Unit, value: u64) -> String {
    let trimmed = |number: f64, unit: &str| format!("{} {unit}", number);
    match unit.base {
        "time" if value == 0 => "0".to_owned(),
        "time" if value.is_multiple_of(1_000_000_000) => format!("{} s", value / 1_000_000_000),
        "time" if value >= 1_000_000 => trimmed(value as f64 / 1e6, "ms"),
        "time" if value >= 1_000 => trimmed(value as f64 / 1e3, "us"),
        "time" => format!("{value} ns"),
        "share" if value == u64::from(u32::MAX) => "1".to_owned(),
        "share" => {
            let p = value as f64 / 2f64.powi(32);
            let digits = (1..12).find(|d| {
                let text = format!("{p:.d$}");
                (text.parse::<f64>().expect("a number") * 2f64.powi(32)).round() == value as f64
            });
            match digits {
                Some(d) if d <= 6 => format!("{p:.d$}"),
                _ => format!("{p:.3e}"),
            }
        }
        "frequency" => trimmed(
            value as f64 * unit.divide as f64 / unit.multiply as f64,
            "Hz",
        ),
        "number" if unit.name == "log2" => format!("2^-{value}"),
        "number" => value.to_string(),
        "packets" => format!("{value} packets"),
        "size" => format!("{value} B"),
        "rate" if value == 0 => "0".to_owned(),
        "rate" => format!("{value} B/s"),
        "address" => std::net::Ipv4Addr::from(value as u32).to_string(),
        base => panic!("this test cannot write a value of base {base}"),
    }
}

fn table(rows: &[Field], with_range: bool) -> String {
    let mut text = String::new();
    if with_range {
        text += "| row | unit | default | range | meaning |\n|---|---|---|---|---|\n";
    } else {
        text += "| row | unit | meaning |\n|---|---|---|\n";
    }
    for row in rows {
        let fixed = if row.fixed { " (fixed)" } else { "" };
        let words = &row.choices;
        let unit = if words.is_empty() {
            row.unit.name
        } else {
            "word"
        };
        let _ = write!(text, "| `{}`{fixed} | {unit} |", row.name);
        if with_range && !words.is_empty() {
            let _ = write!(
                text,
                " {} | {} |",
                words[row.def as usize],
                words.join(", ")
            );
        } else if with_range {
            let [def, min, max] = [row.def, row.min, row.max].map(|v| value(row.unit, v));
            let _ = write!(text, " {def} | {min} to {max} |");
        }
        let _ = writeln!(text, " {} |", row.help);
    }
    text
}

fn renewed(page: &str, tables: &str) -> String {
    let (head, rest) = page
        .split_once(BEGIN)
        .expect("the page has a place for the rows");
    let (_, tail) = rest.split_once(END).expect("the place has an end");
    format!("{head}{BEGIN}{tables}{END}{tail}")
}

fn check(path: &str, tables: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(path);
    let page = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let wanted = renewed(&page, tables);
    if std::env::var_os("RENEW").is_some() {
        std::fs::write(&path, wanted).expect("a writable page");
    } else {
        assert!(
            page == wanted,
            "{} is stale: run this test with RENEW=1",
            path.display()
        );
    }
}

#[test]
fn every_algorithm_has_a_page_with_its_rows() {
    for algorithm in algorithms() {
        let mut tables = String::new();
        if !algorithm.params().is_empty() {
            tables += &format!("Parameters:\n\n{}", table(algorithm.params(), true));
        }
        if !algorithm.stats().is_empty() {
            tables += &format!("\nStatistics:\n\n{}", table(algorithm.stats(), false));
        }
        check(
            &format!("reference/algorithms/{}.md", algorithm.name()),
            tables.trim_start(),
        );
    }
}

#[test]
fn the_host_contract_lists_the_rows_of_the_queue() {
    check("inside/host-contract.md", &table(queue_rows(), true));
}
