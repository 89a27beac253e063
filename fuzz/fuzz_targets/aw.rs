//! The reader and the formatter of `.aw`: no input makes them panic, formatting is idempotent and changes no program.

#![no_main]

use allways_lang::aw;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let read = aw::parse(text);
    if let Ok(once) = aw::format(text) {
        let twice = aw::format(once.as_bytes()).expect("what was formatted has no errors");
        assert_eq!(once, twice, "formatting is idempotent");
        assert_eq!(
            read.program.is_some(),
            aw::parse(once.as_bytes()).program.is_some(),
            "formatting changes no meaning"
        );
    }
});
