//! The examples of TM. Labels A, B, … are the symbols 1, 2, …; each thread counts its own.

use allways_model::pushdown::{Explicit, Rule, Shared, Stack, State, Symbol, ThreadRules, Word};

/// A move from (g, l) to (g', l').
type Move = ((u32, u32), (u32, u32));

/// How a thread moves.
type Moves = Vec<Move>;

fn system(shared_states: u32, first: u32, threads: Vec<Moves>) -> Explicit {
    let rule = |(line, (from, to)): (usize, Move)| {
        (
            Shared(from.0),
            Symbol(from.1),
            Rule { shared: Shared(to.0), word: Word::one(Symbol(to.1)), line: line as u32 + 1 },
        )
    };
    let rules = |moves: Moves| ThreadRules::new(moves.into_iter().enumerate().map(rule));
    let stacks = vec![Stack::from_top([Symbol(1)]); threads.len()];
    let threads = threads.into_iter().map(rules).collect();
    Explicit { shared_states, threads, initial: State { shared: Shared(first), stacks } }
}

/// Section 3: `A: g := 0; B:` beside `C: g := 1; D:`.
pub fn section_3() -> Explicit {
    let set = |value: u32| vec![((0, 1), (value, 2)), ((1, 1), (value, 2))];
    system(2, 0, vec![set(0), set(1)])
}

/// Example 13: a binary counter of n threads, with one run of exponential length. The symbols 1 and 2 are the labels 0 and 1.
pub fn example_13(n: u32) -> Explicit {
    assert!(n >= 2, "a first and a last thread");
    let first = vec![((1, 1), (1, 2))].into_iter().chain((0..=n).map(|t| ((t, 2), (2, 1)))).collect();
    let mut threads: Vec<Moves> = vec![first];
    for i in 2..=n {
        let carry = if i == n { 0 } else { i + 1 };
        threads.push(vec![((i, 1), (1, 2)), ((i, 2), (carry, 1))]);
    }
    system(n + 1, 1, threads)
}

/// Example 15: the first thread never reaches D, the symbol 4.
pub fn example_15() -> Explicit {
    let waits = vec![((1, 1), (1, 2)), ((0, 2), (0, 3)), ((1, 3), (1, 4))];
    let sets = [0, 1].into_iter().flat_map(|g| [((g, 1), (1, 2)), ((g, 2), (0, 3))]).collect();
    system(2, 0, vec![waits, sets])
}

/// Example 16: who takes the lock keeps it. Both threads are never at B, the symbol 2.
pub fn example_16() -> Explicit {
    system(2, 0, vec![vec![((0, 1), (1, 2))]; 2])
}

/// Example 23: n threads take a lock and give it back. No two are ever at B, the symbol 2.
pub fn example_23(n: usize) -> Explicit {
    system(2, 0, vec![vec![((0, 1), (1, 2)), ((0, 2), (0, 3)), ((1, 2), (0, 3))]; n])
}
