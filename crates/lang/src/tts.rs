//! Thread transition systems (`.tts`): any number of threads that are alike, with a shared state.
//!
//! ```text
//! 2 4               # the numbers of shared and of local states
//! 0 0 -> 1 1        # in shared state 0 a thread goes from local state 0 to 1, and the shared state to 1
//! 1 1 +> 0 2        # a thread in local state 1 stays there and starts another in local state 2; the shared state becomes 0
//! 0 1 -> 0 0 3 ~> 2 # … and all other threads that are in 3 go to 2: a broadcast
//! ```
//!
//! One transition per line; `#` starts a comment. `FILE.prop` beside it holds what must never be covered, one configuration
//! per line, such as `1|2,2`: shared state 1 and two threads in local state 2 (or `1|2^2`; `*|2` is any shared state).
//! `FILE.init` holds where it starts, one set per line: `0|1,0^*` is a thread in 1 and any number in 0. Without such a file
//! any number of threads start in shared state 0 and local state 0, as bfc, QCover and FastForward take it.
//!
//! Only the states that are mentioned get a number, so that reading takes memory for the text and not for what it declares.

mod reader;
mod states;
#[cfg(test)]
mod tests;
mod write;

pub use write::write;

use crate::diagnostic::{Diagnostic, Diagnostics};
use allways_model::counters::{Bag, Counters, Initial, Local, Shared, Target};
use std::collections::HashMap;

/// What [`parse`] made of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The system; `None` if and only if there was an error.
    pub system: Option<Tts>,
    /// What there is to say about the text.
    pub diagnostics: Diagnostics,
}

/// A thread transition system. Where it starts and what it must avoid is elsewhere: any number of threads start in `0|0`, and
/// there is no target, until [`read_init`](Tts::read_init) and [`read_targets`](Tts::read_targets).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tts {
    /// The system.
    pub system: Counters,
    /// The numbers of shared and of local states that the text declares.
    declared: [u32; 2],
    /// The states mentioned, by their numbers in the text.
    shared: HashMap<u32, Shared>,
    locals: HashMap<u32, Local>,
}

/// Reads a `.tts` file.
pub fn parse(text: &[u8]) -> Parsed {
    reader::read(text)
}

impl Tts {
    /// Reads a `.prop` file, or what stands in its place.
    pub fn read_targets(&mut self, text: &[u8]) -> Result<(), Diagnostic> {
        let mut targets = Vec::new();
        for states in states::read(self, text)? {
            if let Some((_, span)) = states.any.first() {
                let message = "expected a number of threads, found `*`".to_string();
                return Err(Diagnostic::error(span.clone(), message));
            }
            targets.push(Target { shared: states.shared, tokens: states.tokens });
        }
        self.system.targets = targets;
        Ok(())
    }

    /// Reads a `.init` file, or what stands in its place.
    pub fn read_init(&mut self, text: &[u8]) -> Result<(), Diagnostic> {
        let mut initial = Vec::new();
        for states in states::read(self, text)? {
            let Some(shared) = states.shared else {
                return Err(Diagnostic::error(states.span, "expected a shared state, found `*`".to_string()));
            };
            let mut any: Vec<Local> = states.any.iter().map(|&(local, _)| local).collect();
            any.sort_unstable();
            any.dedup();
            initial.push(Initial { shared, tokens: states.tokens, any });
        }
        self.system.initial = initial;
        Ok(())
    }

    /// The number of a shared state of the text.
    fn shared(&mut self, number: u32) -> Shared {
        let names = &mut self.system.shared;
        *self.shared.entry(number).or_insert_with(|| Shared(name(names, number)))
    }

    /// The number of a local state of the text.
    fn local(&mut self, number: u32) -> Local {
        let names = &mut self.system.locals;
        *self.locals.entry(number).or_insert_with(|| name(names, number))
    }

    fn new(declared: [u32; 2]) -> Tts {
        let (shared, locals) = (HashMap::new(), HashMap::new());
        let mut tts = Tts { system: Counters::default(), declared, shared, locals };
        let (shared, local) = (tts.shared(0), tts.local(0));
        tts.system.initial.push(Initial { shared, tokens: Bag::default(), any: vec![local] });
        tts
    }
}

fn name(names: &mut Vec<String>, number: u32) -> u32 {
    names.push(number.to_string());
    names.len() as u32 - 1
}
