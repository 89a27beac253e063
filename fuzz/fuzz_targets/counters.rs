//! The readers of `.spec`, `.tts` and of evidence about counter systems: no input makes them panic, and what they write they
//! read back.

#![no_main]

use allways_evidence::counters::{Evidence, check_run, read_evidence};
use allways_lang::{spec, tts};
use libfuzzer_sys::fuzz_target;

const SMALL: &[u8] = b"vars a b rules a >= 1 -> a' = a - 1, b' = b + 1; init a >= 1, b = 0 target b >= 2";

fuzz_target!(|text: &[u8]| {
    if let Some(system) = spec::parse(text).system {
        system.validate().expect("what is read is valid");
        if let Ok(written) = spec::write(&system) {
            let again = spec::parse(written.as_bytes()).system.expect("what is written can be read");
            assert_eq!(again.targets, system.targets);
        }
    }
    if let Some(mut tts) = tts::parse(text).system {
        tts.system.validate().expect("what is read is valid");
        let written = tts::write(&tts.system).expect("a transition is a transition");
        tts::parse(written.tts.as_bytes()).system.expect("what is written can be read");
        let _ = (tts.read_init(text), tts.read_targets(text));
    }
    let small = spec::parse(SMALL).system.expect("a system");
    if let Ok(Evidence::Run(run)) = read_evidence(&small, text) {
        let _ = check_run(&small, &run);
    }
});
