//! States as bytes: the same in every process, different for different states, and read back by anybody.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs of each kind.

use allways_lang::{aw, bp};
use allways_model::encoding::{Encoded, Threads};
use allways_model::program::Program;
use allways_model::pushdown::{Pushdown, State};
use allways_testkit::programs::{Mode, boolean, starts, text};
use allways_testkit::random;
use fastrand::Rng;
use std::collections::{HashMap, HashSet};

/// States that can be reached, at most so many, found in a random order.
fn some_states(system: &dyn Pushdown, most: usize, rng: &mut Rng) -> HashSet<State> {
    let mut todo = system.initial();
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    while !todo.is_empty() && seen.len() < most {
        let state = todo.swap_remove(rng.usize(..todo.len()));
        let mut threads: Vec<usize> = (0..system.threads()).collect();
        rng.shuffle(&mut threads);
        for thread in threads {
            for rule in state.enabled(system, thread) {
                let next = state.step(thread, &rule);
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
    }
    seen
}

/// Compares what two who explore a system in different orders say of its states.
fn compare(name: &str, one: &dyn Pushdown, other: &dyn Pushdown, seed: u64) {
    let most = 500;
    let mut rng = Rng::with_seed(seed);
    let states = some_states(one, most, &mut rng);
    let seen = some_states(other, most, &mut rng);
    let mut bytes: HashMap<Vec<u8>, &State> = HashMap::new();
    for state in &states {
        let of_state = one.state_bytes(state);
        assert_eq!(one.state_from_bytes(&of_state).as_ref(), Some(state), "{name}");
        let there = other.state_from_bytes(&of_state).unwrap_or_else(|| panic!("{name}: not read"));
        assert_eq!(other.state_bytes(&there), of_state, "{name}");
        assert!(bytes.insert(of_state, state).is_none(), "{name}: two states have the same bytes");
    }
    let of_other: HashSet<Vec<u8>> = seen.iter().map(|state| other.state_bytes(state)).collect();
    if states.len() < most && seen.len() < most {
        assert_eq!(of_other, bytes.keys().cloned().collect(), "{name}: the states differ");
    }
    for of_state in bytes.keys().take(20) {
        hostile(name, other, of_state, &mut rng);
    }
}

/// Whatever is read has the bytes that it was read from.
fn hostile(name: &str, system: &dyn Pushdown, bytes: &[u8], rng: &mut Rng) {
    for length in 0..bytes.len() {
        assert_eq!(system.state_from_bytes(&bytes[..length]), None, "{name}: cut off");
    }
    for _ in 0..20 {
        let mut changed = bytes.to_vec();
        for _ in 0..rng.usize(1..=3) {
            let at = rng.usize(..changed.len());
            match rng.u8(..3) {
                0 => changed[at] = rng.u8(..),
                1 => changed[at] ^= 1 << rng.u8(..8),
                _ => changed.insert(at, rng.u8(..)),
            }
        }
        if let Some(state) = system.state_from_bytes(&changed) {
            assert_eq!(system.state_bytes(&state), changed, "{name}");
        }
    }
}

fn program(name: &str, program: Option<Program>, seed: u64) {
    let Some(program) = program else { return };
    let threads = Threads::of(&program, 2);
    for reduced in [false, true] {
        let most = if seed.is_multiple_of(2) { 1 } else { 1 << 16 };
        let encoded = || Encoded::with_initial(&program, &threads, reduced, most);
        let (Ok(one), Ok(other)) = (encoded(), encoded()) else { return };
        compare(name, &one, &other, seed);
    }
}

#[test]
fn states_of_programs_have_the_same_bytes_in_every_process() {
    for seed in random::seeds(60) {
        for mode in [Mode::Threads, Mode::Tasks] {
            let text = text(seed, mode);
            program(&format!("{mode:?} {seed}\n{text}"), aw::parse(text.as_bytes()).program, seed);
        }
        let text = boolean(seed);
        program(&format!("boolean {seed}\n{text}"), bp::parse(text.as_bytes()).program, seed);
        let text = starts(seed);
        program(&format!("starts {seed}\n{text}"), aw::parse(text.as_bytes()).program, seed);
    }
}

#[test]
fn states_of_explicit_systems_have_bytes_too() {
    for seed in random::seeds(100) {
        let system = random::system(seed, random::SMALL);
        compare(&format!("system {seed}"), &system, &system.clone(), seed);
    }
}
