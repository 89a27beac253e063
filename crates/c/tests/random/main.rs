//! Random C programs: what they compute natively, and what the reference semantics says that ours compute.
//!
//! `ALLWAYS_RANDOM` says how many programs are taken, or which. Where there is no `cc`, the tests say so and pass.

mod dice;
mod expressions;
mod native;
mod ours;
mod sequential;
mod statements;

use ours::End;
use std::collections::BTreeMap;

/// So many programs go to the compiler at once.
const BATCH: usize = 100;

#[test]
fn programs_of_one_thread_compute_what_they_do_natively() {
    if !native::compiler() {
        return;
    }
    let seeds: Vec<u64> = dice::seeds(300).collect();
    let (mut compared, mut beyond) = (0, 0);
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for batch in seeds.chunks(BATCH) {
        let texts: Vec<String> = batch.iter().map(|&seed| sequential::program(seed)).collect();
        let expected = native::results(&texts);
        for ((seed, text), expected) in batch.iter().zip(&texts).zip(expected) {
            let both = match ours::programs(&sequential::alone(text)) {
                Ok(both) => both,
                Err(message) => {
                    *refused.entry(message).or_default() += 1;
                    continue;
                }
            };
            for (program, way) in both.iter().zip(["as lowered", "with joined steps"]) {
                match ours::run(program) {
                    End::Result(value) if value == expected => compared += 1,
                    End::Beyond => beyond += 1,
                    end => {
                        println!("seed {seed}, {way}: {end:?} instead of {expected}");
                        wrong.push(*seed);
                    }
                }
            }
        }
    }
    println!("{compared} runs agree, {beyond} are not followed to the end, refused: {refused:#?}");
    if let Some(&seed) = wrong.first() {
        panic!(
            "{} runs differ, the first with seed {seed}:\n{}",
            wrong.len(),
            sequential::alone(&sequential::program(seed))
        );
    }
    assert!(compared > beyond, "{compared} runs were compared, {beyond} were not followed");
}
