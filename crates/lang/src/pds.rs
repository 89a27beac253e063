//! The `.pds` format of the CUBA tool: a concurrent pushdown system, thread by thread.
//!
//! ```text
//! 3                 # the number of shared states: they are 0, 1, 2
//! PDA 1 4           # a thread, and the lowest and the highest symbol of its stack
//! 0 1 -> 1 2        # from shared state 0 with 1 on top, to shared state 1 with 2 in its place
//! 1 2 -> 2 3 4      # … with 3 on top of 4 in its place
//! 2 3 -> 0 -        # … with nothing in its place
//! 0 - -> 0 1        # from shared state 0 with an empty stack
//! PDA 0 0           # another thread, which never moves
//! ```
//!
//! One thing per line. `#` starts a comment, which may hold any bytes; blank lines and carriage returns mean nothing;
//! `->` may touch its neighbours. Files in the wild use symbols outside the range that they declare, so those are
//! warned about and taken. `FILE.init` and `FILE.spec` beside `FILE.pds` hold one state each ([`parse_init`],
//! [`parse_target`]).
//!
//! Apart from the text itself, reading takes memory for the rules and for the symbols out of range, and nothing per byte.

mod fault;
mod reader;
mod scanner;
#[cfg(test)]
mod tests;

use crate::cursor::{lines, trim};
use crate::diagnostic::{Diagnostic, Diagnostics, excerpt};
use allways_model::notation::{self, NotAState};
use allways_model::property::Pattern;
use allways_model::pushdown::{EMPTY, Explicit, Pushdown, State, Symbol};
use std::fmt::Write;

/// The most threads that a file may have. A limit, because a thread costs far more memory than the line that opens it.
pub const MAX_THREADS: usize = 1 << 16;

/// What [`parse`] made of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The system; `None` if and only if there was an error. The format has no initial state: this one has shared state
    /// 0 and empty stacks until the caller sets another.
    pub system: Option<Explicit>,
    /// What there is to say about the text.
    pub diagnostics: Diagnostics,
}

/// Reads a `.pds` file. An error spoils its line alone, so that one run reports several.
pub fn parse(text: &[u8]) -> Parsed {
    reader::read(text)
}

/// Reads a `.init` file: the initial state, such as `0|1.4.4,2`.
pub fn parse_init(system: &Explicit, text: &[u8]) -> Result<State, Diagnostic> {
    parse_state(text, |state| notation::read_state(system, state))
}

/// Reads a `.spec` file: the visible state to be avoided, such as `0|1,2`, where `*` stands for anything.
pub fn parse_target(system: &dyn Pushdown, text: &[u8]) -> Result<Pattern, Diagnostic> {
    parse_state(text, |state| notation::read_pattern(system, state))
}

/// Reads the only line of a text that is not blank.
fn parse_state<T>(text: &[u8], read: impl FnOnce(&str) -> Result<T, NotAState>) -> Result<T, Diagnostic> {
    let mut states = lines(text).map(|(_, line)| trim(text, line)).filter(|span| !span.is_empty());
    let Some(span) = states.next() else {
        let message = "expected a state such as `0|1,2`, found the end of the file".to_string();
        return Err(Diagnostic::error(text.len()..text.len(), message));
    };
    if let Some(second) = states.next() {
        let message = format!("expected a single state, found another, `{}`", excerpt(&text[second.clone()]));
        return Err(Diagnostic::error(second, message));
    }
    let Ok(state) = str::from_utf8(&text[span.clone()]) else {
        return Err(Diagnostic::expected("a state such as `0|1,2`", text, span));
    };
    read(state).map_err(|NotAState { at, what }| Diagnostic::error(span.start + at..span.end, what))
}

/// Writes a system that [`parse`] reads back, rule by rule. Its initial state has no place in the format.
pub fn write(system: &Explicit) -> String {
    let mut text = format!("{}\n", system.shared_states);
    let symbol = |symbol: Symbol| if symbol == EMPTY { "-".to_string() } else { (symbol.0 - 1).to_string() };
    for thread in &system.threads {
        let symbols = || {
            let symbols = thread.iter().flat_map(|(_, top, rule)| rule.word.symbols().iter().chain([top]));
            symbols.filter(|&&symbol| symbol != EMPTY).map(|symbol| symbol.0 - 1)
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "PDA {} {}", symbols().min().unwrap_or(0), symbols().max().unwrap_or(0));
        for (shared, top, rule) in thread.iter() {
            let _ = write!(text, "{shared} {} -> {}", symbol(*top), rule.shared);
            let word = rule.word.symbols();
            for &pushed in if word.is_empty() { &[EMPTY] } else { word } {
                let _ = write!(text, " {}", symbol(pushed));
            }
            text.push('\n');
        }
    }
    text
}
