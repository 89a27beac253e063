//! Ghost variables of correctness witnesses: whether a mutex is taken.
//!
//! What a program keeps under a mutex holds while nobody has it, and nothing else in the program says whether somebody has. So a
//! ghost variable is 1 from the step that takes the mutex to the one that gives it back: a *ghost update* at a statement is made in the one step
//! in which a thread leaves the statement (format 2.1), which is the step that takes the mutex, or gives it back.
//!
//! Invariant: a mutex of which there is a ghost is accessed by statements `pthread_mutex_lock(&m);` and `pthread_mutex_unlock(&m);` alone, where it
//! is initialised aside, and [`Mutex::follows`] was true of every step that is possible: so the ghost is 1 wherever the mutex is taken in the
//! program as it was lowered, and 0 elsewhere.

use super::statements::{Statements, closing};
use allways_c::lower::Lowered;
use allways_c::slots::Kind;
use allways_model::program::Slot;
use allways_model::program::semantics::State;
use std::collections::BTreeMap;

/// A mutex whose state a ghost variable tells.
pub struct Mutex {
    /// The ghost variable.
    pub ghost: String,
    slot: Slot,
    /// The statements that take it (true) and give it back.
    pub updates: BTreeMap<usize, bool>,
}

impl Mutex {
    /// Whether somebody has it.
    pub fn is_taken(&self, state: &State) -> bool {
        state.shared[self.slot] != 0
    }

    /// Whether a step that belongs to a statement, and leaves it or not, does to the mutex what the update there does to the ghost.
    pub fn follows(&self, statement: Option<usize>, leaves: bool, before: &State, after: &State) -> bool {
        let after = self.is_taken(after);
        match statement.and_then(|statement| self.updates.get(&statement)) {
            Some(&update) if leaves => after == update,
            _ => after == self.is_taken(before),
        }
    }
}

/// The mutexes of which there can be ghosts.
pub fn mutexes(lowered: &Lowered, source: &[u8], statements: &Statements) -> Vec<Mutex> {
    let program = &lowered.program;
    let plain = program.shared.iter().filter(|variable| {
        let is_library = lowered.cells.get(variable.slot).is_some_and(|(kind, _)| *kind == Kind::Library);
        is_library && variable.slots() == 1 && variable.initial == [Some(0)]
    });
    let all = words(source);
    let found = plain.filter_map(|variable| {
        let updates = updates(&variable.name, source, statements, &all)?;
        let mut ghost = format!("{}_locked", variable.name);
        while all.iter().any(|(_, word)| *word == ghost.as_bytes()) {
            ghost.push('_');
        }
        Some(Mutex { ghost, slot: variable.slot, updates })
    });
    found.collect()
}

/// The statements that take a mutex or give it back, if it is used by nothing else.
fn updates(
    name: &str,
    source: &[u8],
    statements: &Statements,
    words: &[(usize, &[u8])],
) -> Option<BTreeMap<usize, bool>> {
    let mut updates = BTreeMap::new();
    for (at, _) in words.iter().filter(|(_, word)| *word == name.as_bytes()) {
        let Some(_) = statements.function(*at) else {
            // Where it is declared.
            continue;
        };
        let start = statements.start(*at);
        let end = closing(source, start)?;
        let text: Vec<u8> =
            source[start..=end].iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let text = String::from_utf8(text).ok()?;
        let ends = source[end + 1..].trim_ascii_start().starts_with(b";");
        let operation = text.strip_prefix("pthread_mutex_")?.strip_suffix(&format!("(&{name})"))?;
        if !ends || !matches!(operation, "lock" | "unlock" | "destroy") {
            return None;
        }
        if operation != "destroy" {
            updates.insert(start, operation == "lock");
        }
    }
    (!updates.is_empty()).then_some(updates)
}

/// The words of a text, and where they are.
fn words(source: &[u8]) -> Vec<(usize, &[u8])> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'$';
    let mut found = Vec::new();
    let mut at = 0;
    while at < source.len() {
        let length = source[at..].iter().take_while(|byte| is_word(byte)).count();
        if length > 0 {
            found.push((at, &source[at..at + length]));
        }
        at += length.max(1);
    }
    found
}
