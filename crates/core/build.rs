// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Compiles `aqm/` and the one C file of this host into a static library.

use std::path::{Path, PathBuf};

fn main() {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let aqm = manifest.join("../../aqm");
    let mut sources = Vec::new();
    collect(&aqm, &mut sources);
    sources.sort();
    sources.push(manifest.join("src/host.c"));
    sources.push(manifest.join("src/load.c"));

    cc::Build::new()
        .files(&sources)
        .include(&aqm)
        .std("c11")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        // Where there is debug information, cc keeps a frame pointer in each function.
        .force_frame_pointer(false)
        .flag("-ffreestanding")
        .flag_if_supported("-mgeneral-regs-only")
        .compile("sojourn_aqm");

    // All files below it, headers included.
    for path in [&aqm, &manifest.join("src")] {
        println!("cargo:rerun-if-changed={}", path.display());
    }
}

/// The C files of a folder and those below it that are no checks or tests.
fn collect(folder: &Path, sources: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("aqm/ lies beside crates/") {
        let path = entry.expect("readable folder").path();
        if path.is_dir() {
            if !path.ends_with("check") && !path.ends_with("test") {
                collect(&path, sources);
            }
        } else if path.extension().is_some_and(|e| e == "c") {
            sources.push(path);
        }
    }
}
