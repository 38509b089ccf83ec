// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Algorithms from libraries that are loaded at run time, beside those compiled in.
//!
//! A library stays loaded until the process ends, since references to an algorithm are
//! `'static`. `aqm/check/library.c` is its other side.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::sync::RwLock;

use crate::ffi::{self, text};
use crate::rows::{Algorithm, algorithms};

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sizes {
    abi: u32,
    algo: u32,
    field: u32,
    view: u32,
    pkt: u32,
    verdict: u32,
}

#[repr(C)]
struct Fault {
    row: *const c_char,
    sentence: *const c_char,
}

/// `struct aqm_library`.
#[repr(C)]
struct Library {
    sizes: Sizes,
    algo: *const ffi::Algo,
    fault: unsafe extern "C" fn(*const ffi::Field) -> Fault,
}

unsafe extern "C" {
    static core_sizes: Sizes;
}

#[link(name = "dl")]
unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

/// Resolve every symbol now, and not in the middle of a run.
const RTLD_NOW: c_int = 2;

/// Those loaded so far, with the names under which to find them.
static LOADED: RwLock<Vec<(String, Algorithm)>> = RwLock::new(Vec::new());

impl Algorithm {
    /// The algorithm of this name: one compiled in, or one that was loaded.
    #[must_use]
    pub fn find(name: &str) -> Option<Algorithm> {
        let compiled = algorithms().iter().copied().find(|a| a.name() == name);
        compiled.or_else(|| find(name))
    }
}

fn find(name: &str) -> Option<Algorithm> {
    let loaded = LOADED.read().expect("no holder of the lock panics");
    loaded.iter().find(|(n, _)| n == name).map(|(_, a)| *a)
}

/// Loads the algorithm of a library; [`Algorithm::find`] then finds it under `name`.
///
/// # Errors
/// A sentence: it is no library of an algorithm, it was made for another interface, or its
/// tables are not sound.
///
/// # Safety
/// Code of the library runs in this process: it must be what [`Path`] promises.
pub unsafe fn load(path: &Path, name: &str) -> Result<Algorithm, String> {
    if let Some(known) = find(name) {
        return Ok(known);
    }
    let library = unsafe { open(path) }?;
    let raw = unsafe { sound(library) }?;
    let algorithm = Algorithm::of(raw);
    let mut loaded = LOADED.write().expect("no holder of the lock panics");
    // Another thread may have been first.
    match loaded.iter().find(|(n, _)| n == name) {
        Some((_, known)) => Ok(*known),
        None => {
            loaded.push((name.to_owned(), algorithm));
            Ok(algorithm)
        }
    }
}

unsafe fn open(path: &Path) -> Result<&'static Library, String> {
    let text = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|e| e.to_string())?;
    unsafe {
        let library = dlopen(text.as_ptr(), RTLD_NOW);
        if library.is_null() {
            let why = dlerror();
            return Err(if why.is_null() {
                "cannot be loaded".to_owned()
            } else {
                CStr::from_ptr(why).to_string_lossy().into_owned()
            });
        }
        let shown: *const Library = dlsym(library, c"aqm_library".as_ptr()).cast();
        shown.as_ref().ok_or("holds no algorithm".to_owned())
    }
}

/// The algorithm, if this core can run it.
unsafe fn sound(library: &'static Library) -> Result<&'static ffi::Algo, String> {
    let (own, core) = (library.sizes, unsafe { core_sizes });
    if own.abi != core.abi {
        return Err(format!(
            "is written for interface {} (AQM_ABI), and this version of Sojourn has {}",
            own.abi, core.abi
        ));
    }
    if own != core {
        return Err("was compiled with another aqm.h: a struct has another size here".to_owned());
    }
    // SAFETY: sizes agree, so the library has the structs that `ffi` declares.
    let raw = unsafe { &*library.algo };
    if raw.abi != core.abi {
        return Err(format!(
            "its abi is {}; write .abi = AQM_ABI, which is {}",
            raw.abi, core.abi
        ));
    }
    let fault = unsafe { (library.fault)((&raw const ffi::aqm_setup_rows).cast()) };
    if fault.sentence.is_null() {
        return Ok(raw);
    }
    // SAFETY: static texts of plain ASCII, as rows.h has tested.
    let sentence = unsafe { text(fault.sentence) };
    if fault.row.is_null() {
        return Err(sentence.to_owned());
    }
    Err(format!("row '{}': {sentence}", unsafe { text(fault.row) }))
}
