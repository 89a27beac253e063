//! The reader of `.bp`, and what it gives to the writers: no input makes them panic.

#![no_main]

use allways_lang::{aw, bp, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Some(program) = bp::parse(text).program else { return };
    if let Ok(text) = write::bp(&program) {
        assert!(bp::parse(text.as_bytes()).program.is_some(), "what is written can be read:\n{text}");
    }
    if let Ok(text) = write::aw(&program) {
        assert!(aw::parse(text.as_bytes()).program.is_some(), "what is written can be read:\n{text}");
    }
});
