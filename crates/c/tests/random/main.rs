//! Random C programs: what they compute natively, and what the reference semantics says that ours compute.
//!
//! `ALLWAYS_RANDOM` says how many programs are taken, or which; then each program of threads runs natively 1,000 times. Where
//! there is no `cc`, the tests say so and pass; where there is `clang`, too, values must be the same with both.

mod counted;
mod crews;
mod dangling;
mod dice;
mod explore;
mod expressions;
mod few_inputs;
mod indeterminate;
#[allow(dead_code, reason = "programs that are given as texts use more of it")]
mod native;
mod ours;
mod protected;
mod sequential;
mod shapes;
mod statements;
mod threads;
mod values;
mod wide;

use ours::End;
use std::collections::{BTreeMap, BTreeSet};

/// So many programs go to the compiler at once.
const BATCH: usize = 100;

#[test]
fn programs_of_one_thread_compute_what_they_do_natively() {
    if !native::compiler() {
        return;
    }
    let seeds: Vec<u64> = dice::seeds(200).collect();
    let clang = native::clang();
    let (mut compared, mut beyond) = (0, 0);
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for batch in seeds.chunks(BATCH) {
        let texts: Vec<String> = batch.iter().map(|&seed| sequential::program(seed)).collect();
        let expected = native::results(&texts, "cc");
        if clang {
            let other = native::results(&texts, "clang");
            for ((seed, one), other) in batch.iter().zip(&expected).zip(other) {
                assert_eq!(
                    *one,
                    other,
                    "seed {seed} depends on the compiler:\n{}",
                    sequential::program(*seed)
                );
            }
        }
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

/// More states of one program are not explored.
const MOST_STATES: usize = 40_000;

/// How often each program runs natively.
fn runs() -> usize {
    if std::env::var_os("ALLWAYS_RANDOM").is_some() { 1000 } else { 150 }
}

/// What programs of threads leave in `result` natively, over many runs of each.
fn outcomes(programs: &[threads::Threads]) -> Vec<BTreeSet<i64>> {
    let mut text = threads::NATIVE.to_string();
    let (runs, mut calls) = (runs(), String::new());
    for (number, program) in programs.iter().enumerate() {
        text.push_str(&program.native(number));
        calls.push_str(&format!(
            "  for (int i = 0; i < {runs}; i++) {{ reset_{number}(); main_{number}(); printf(\"{number} %u\\n\", result_{number}); }}\n"
        ));
    }
    text.push_str(&format!(
        "int main(void) {{\n  cpu_set_t one; sched_getaffinity(0, sizeof one, &one); int last = 0;\n  \
         for (int i = 0; i < CPU_SETSIZE; i++) if (CPU_ISSET(i, &one)) last = i;\n  \
         CPU_ZERO(&one); CPU_SET(last, &one); sched_setaffinity(0, sizeof one, &one);\n{calls}  return 0;\n}}\n"
    ));
    let mut found = vec![BTreeSet::new(); programs.len()];
    for line in native::output(&text, "cc", &["-pthread"], &[]) {
        let (number, value) = line.split_once(' ').expect("two numbers");
        let number: usize = number.parse().expect("a number");
        found[number].insert(value.parse().expect("a number"));
    }
    found
}

#[test]
fn outcomes_of_threads_are_found() {
    if !native::compiler() {
        return;
    }
    let seeds: Vec<u64> = dice::seeds(40).collect();
    let (mut compared, mut large, mut all, mut seen) = (0, 0, 0, 0);
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for batch in seeds.chunks(20) {
        let programs: Vec<threads::Threads> = batch.iter().map(|&seed| threads::program(seed)).collect();
        let native = outcomes(&programs);
        for ((&seed, program), native) in batch.iter().zip(&programs).zip(native) {
            let [plain, fused] = match ours::programs(&program.alone()) {
                Ok(both) => both,
                Err(message) => {
                    *refused.entry(message).or_default() += 1;
                    continue;
                }
            };
            let ends = explore::ends(&fused, MOST_STATES).zip(explore::ends(&plain, MOST_STATES));
            let Some((fused, plain)) = ends else {
                large += 1;
                continue;
            };
            compared += 1;
            let possible: BTreeSet<i64> = fused
                .iter()
                .filter_map(|(end, _)| if let End::Result(value) = end { Some(*value) } else { None })
                .collect();
            (all, seen) = (all + possible.len(), seen + native.len());
            if fused != plain {
                println!("seed {seed}: joined steps have {} ends, steps alone {}", fused.len(), plain.len());
                wrong.push(seed);
            }
            if !native.is_subset(&possible) {
                println!("seed {seed}: natively {native:?}, here {possible:?}");
                wrong.push(seed);
            }
            if fused.iter().any(|(end, _)| !matches!(end, End::Result(_))) {
                println!("seed {seed}: {fused:?}");
                wrong.push(seed);
            }
        }
    }
    println!(
        "{compared} programs agree, {all} outcomes, {seen} of them seen natively; {large} are too large, refused: {refused:#?}"
    );
    if let Some(&seed) = wrong.first() {
        panic!("{} differ, the first with seed {seed}:\n{}", wrong.len(), threads::program(seed).alone());
    }
    assert!(compared > large, "{compared} programs were compared, {large} were too large");
}

#[test]
fn joined_steps_lose_nothing() {
    let (mut compared, mut large, mut wrong) = (0, 0, Vec::new());
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    for seed in dice::seeds(150) {
        let text = threads::waiting(seed).alone();
        let both = match ours::programs(&text) {
            Ok(both) => both,
            Err(message) => {
                *refused.entry(message).or_default() += 1;
                continue;
            }
        };
        let [Some(plain), Some(fused)] = both.map(|program| explore::ends(&program, MOST_STATES)) else {
            large += 1;
            continue;
        };
        compared += 1;
        // Of threads that wait for ever, others do not see all that they did.
        let seen = |ends: explore::Ends| -> BTreeSet<_> {
            ends.into_iter()
                .map(|(end, values)| (matches!(end, End::Result(_)).then_some(values), end))
                .collect()
        };
        let (plain, fused) = (seen(plain), seen(fused));
        if plain != fused {
            println!("seed {seed}: joined steps have {} ends, steps alone {}", fused.len(), plain.len());
            wrong.push(text);
        }
    }
    println!("{compared} programs agree; {large} are too large, refused: {refused:#?}");
    assert!(wrong.is_empty(), "{} differ, the first:\n{}", wrong.len(), wrong[0]);
    assert!(compared > large, "{compared} programs were compared, {large} were too large");
}

#[test]
fn accesses_too_late_are_those_that_the_sanitizer_finds() {
    if !native::compiler() || !dangling::sanitizer() {
        return;
    }
    let seeds: Vec<u64> = dice::seeds(300).collect();
    let (mut right, mut wrong, mut beyond) = (0, 0, 0);
    let mut differ = Vec::new();
    for batch in seeds.chunks(BATCH) {
        let texts: Vec<String> = batch.iter().map(|&seed| dangling::program(seed)).collect();
        for ((seed, text), expected) in batch.iter().zip(&texts).zip(dangling::go_wrong(&texts)) {
            let alone = sequential::alone(text);
            let both = ours::programs(&alone).unwrap_or_else(|message| panic!("{message}:\n{alone}"));
            for program in &both {
                match (ours::run(program), expected) {
                    (End::Result(_), false) => right += 1,
                    (End::Wrong(_), true) => wrong += 1,
                    (End::Beyond, _) => beyond += 1,
                    (end, _) => {
                        println!("seed {seed}: {end:?}, natively wrong: {expected}");
                        differ.push(alone.clone());
                    }
                }
            }
        }
    }
    println!(
        "{right} runs are right and {wrong} are wrong in both ways, {beyond} are not followed to the end"
    );
    assert!(differ.is_empty(), "{} differ, the first:\n{}", differ.len(), differ[0]);
    assert!(right > 0 && wrong > 0 && right + wrong > beyond);
}
