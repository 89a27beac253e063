//! The reader of evidence, for a program: no input makes it panic, and what it accepts the checkers can judge.

#![no_main]

use allways_evidence::{Evidence, read_evidence, replay};
use allways_lang::aw;
use allways_model::encoding::{Encoded, Threads};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static SYSTEM: LazyLock<Encoded> = LazyLock::new(|| {
    let text = "shared bool x; proc f(bool b): bool { if (b) { return x; } return !b; }
                thread t[2] { bool y; y = f(x); x = !y; assert !x || y; }";
    let program = aw::parse(text.as_bytes()).program.expect("a program");
    Encoded::new(&program, &Threads::of(&program, 1), true).expect("an encoding")
});

fuzz_target!(|text: &[u8]| {
    let property = SYSTEM.property(false);
    match read_evidence(&*SYSTEM, text) {
        Ok(Evidence::Trace(trace)) => drop(replay(&*SYSTEM, &property, &trace)),
        Ok(Evidence::Proof(proof)) => drop(proof.check(&*SYSTEM, &property, &|| None)),
        Err(_) => {}
    }
});
