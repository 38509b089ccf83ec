// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Compiles `aqm/` and the one C file of this host into a static library.

use std::path::{Path, PathBuf};

fn main() {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let aqm = manifest.join("../../aqm");
    let algorithms = aqm.join("algorithms");
    let mut sources = files(&aqm, "c");
    sources.extend(files(&algorithms, "c"));
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

    // Every file, headers included: of a folder cargo sees only what comes and goes.
    let folders = ["law", "check"].map(|folder| aqm.join(folder));
    let mut headers = files(&aqm, "h");
    headers.extend(folders.iter().flat_map(|folder| files(folder, "h")));
    let watched = [&aqm, &algorithms];
    for path in sources
        .iter()
        .chain(&headers)
        .chain(watched)
        .chain(&folders)
    {
        println!("cargo:rerun-if-changed={}", path.display());
    }
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("aqm/ lies beside crates/")
        .map(|entry| entry.expect("readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}
