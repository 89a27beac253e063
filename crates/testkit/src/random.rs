//! Small random pushdown systems, the same for the same seed.

use allways_model::pushdown::{EMPTY, Explicit, Rule, Shared, Stack, State, Symbol, ThreadRules, Word};
use fastrand::Rng;
use std::ops::Range;

/// The numbers of the random inputs that a test takes: as many as usual, or those of `ALLWAYS_RANDOM`, which is how many
/// (`50000`) or which (`25000..50000`, so that a long run can be cut into parts).
pub fn seeds(usual: u64) -> Range<u64> {
    let Ok(given) = std::env::var("ALLWAYS_RANDOM") else { return 0..usual };
    let number = |text: &str| text.parse().expect("ALLWAYS_RANDOM is a number or a range");
    match given.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => 0..number(&given),
    }
}

/// How large a random system may be.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// At most so many threads.
    pub threads: usize,
    /// At most so many shared states.
    pub shared: u32,
    /// At most so many symbols per thread.
    pub symbols: u32,
    /// At most so many rules per thread.
    pub rules: usize,
}

/// Small enough for brute force.
pub const SMALL: Size = Size { threads: 4, shared: 3, symbols: 3, rules: 6 };

/// The random system of this number. About a third have no recursion.
pub fn system(seed: u64, size: Size) -> Explicit {
    let mut rng = Rng::with_seed(seed);
    let shared_states = rng.u32(1..=size.shared);
    let recursive = rng.u32(0..3) > 0;
    let identical = rng.u32(0..4) == 0;
    let count = rng.usize(1..=size.threads);
    let mut threads = Vec::new();
    let mut stacks = Vec::new();
    for _ in 0..count {
        if identical && !threads.is_empty() {
            threads.push(ThreadRules::clone(&threads[0]));
            stacks.push(Stack::clone(&stacks[0]));
            continue;
        }
        let symbols = rng.u32(1..=size.symbols);
        let rules = rng.usize(0..=size.rules);
        threads.push(ThreadRules::new(
            (1..=rules as u32).map(|line| rule(&mut rng, shared_states, symbols, recursive, line)),
        ));
        let depth = if recursive { rng.usize(0..3) } else { rng.usize(0..2) };
        stacks.push(Stack::from_top((0..depth).map(|_| symbol(&mut rng, symbols)).collect::<Vec<_>>()));
    }
    let initial = State { shared: Shared(rng.u32(0..shared_states)), stacks };
    Explicit { shared_states, threads, initial }
}

fn symbol(rng: &mut Rng, symbols: u32) -> Symbol {
    Symbol(rng.u32(1..=symbols))
}

fn rule(
    rng: &mut Rng,
    shared_states: u32,
    symbols: u32,
    recursive: bool,
    line: u32,
) -> (Shared, Symbol, Rule) {
    let top = if rng.u32(0..8) == 0 { EMPTY } else { symbol(rng, symbols) };
    let longest = if top == EMPTY || !recursive { 1 } else { 2 };
    let word = match rng.u32(0..=longest) {
        0 => Word::POP,
        1 => Word::one(symbol(rng, symbols)),
        _ => Word::two(symbol(rng, symbols), symbol(rng, symbols)),
    };
    (Shared(rng.u32(0..shared_states)), top, Rule { shared: Shared(rng.u32(0..shared_states)), word, line })
}
