//! The reader of `.pds`: no input makes it panic, and what it writes it reads back.

#![no_main]

use allways_lang::pds;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Some(system) = pds::parse(text).system else { return };
    let again = pds::parse(pds::write(&system).as_bytes()).system.expect("what is written can be read");
    assert_eq!(pds::write(&system), pds::write(&again));
    let _ = pds::parse_init(&system, text);
    let _ = pds::parse_target(&system, text);
});
