// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A digest of every source that decides a run's outcome, for the keys of the store:
//! a result made by other sources is never taken for one made by these.

use std::fs;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 4] = ["aqm", "traffic", "crates/core", "crates/sim"];

fn main() {
    // The folder of this package, where cargo runs this. A path compiled in or printed would be
    // that of the checkout that filled the target folder, which another one may share or copy.
    let root = Path::new("../..");
    let mut files = vec![root.join("Cargo.lock")];
    for folder in FOLDERS {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let mut digest = FNV_OFFSET;
    for file in files {
        let content = fs::read(&file).expect("a source file can be read");
        digest = fnv1a(fnv1a(digest, &content), &[0]);
    }
    println!("cargo:rustc-env=SOJOURN_SOURCES={digest:016x}");
}

/// The C and Rust files that are compiled in; checks, tests and documents are not.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder of sources can be read");
    for entry in entries {
        let entry = entry.expect("a folder of sources can be read");
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            if !["check", "test", "tests", "target", "examples", "benches"]
                .iter()
                .any(|skip| name == *skip)
            {
                collect(&path, files);
            }
        } else if path
            .extension()
            .is_some_and(|e| e == "c" || e == "h" || e == "rs")
        {
            files.push(path);
        }
    }
}

// FNV-1a, 64 bits: it tells versions apart, it does not protect against forgery.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

fn fnv1a(digest: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(digest, |d, byte| {
        (d ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
    })
}
