// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Compiles `aqm/` and the one C file of this host into a static library, and `traffic/` into another.

use std::path::{Path, PathBuf};

fn main() {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let aqm = manifest.join("../../aqm");
    let mut sources = Vec::new();
    collect(&aqm, &mut sources);
    sources.sort();
    sources.push(manifest.join("src/host.c"));
    sources.push(manifest.join("src/load.c"));

    build_of(&sources)
        .include(&aqm)
        .flag("-ffreestanding")
        .flag_if_supported("-mgeneral-regs-only")
        .compile("sojourn_aqm");

    let traffic = manifest.join("../../traffic");
    let mut sources = Vec::new();
    collect(&traffic, &mut sources);
    sources.sort();
    let mut build = build_of(&sources);
    // Each operation is rounded by itself, and to 64 bits: the same rates on every target.
    build.flag("-ffp-contract=off");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86") {
        build.flag("-msse2").flag("-mfpmath=sse");
    }
    build.compile("sojourn_traffic");

    // All files below it, headers included.
    for path in [&aqm, &traffic, &manifest.join("src")] {
        println!("cargo:rerun-if-changed={}", path.display());
    }
}

/// A library of these sources, for which each warning is an error.
fn build_of(sources: &[PathBuf]) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .files(sources)
        .std("c11")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        // Where there is debug information, cc keeps a frame pointer in each function.
        .force_frame_pointer(false);
    build
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
