//! The `.aw` language: programs with threads, procedures and shared variables.
//!
//! ```text
//! shared bool want[2];
//! shared 0..1 turn;
//!
//! thread p[2] {
//!   loop {
//!     want[self] = true;
//!     turn = 1 - self;
//!     await !want[1 - self] || turn == self;
//!     crit: skip;
//!     want[self] = false;
//!   }
//! }
//! never at(crit) >= 2;
//! ```
//!
//! A text goes through `lexer`, `parser` (a tree, `ast`) and `lower`, which checks names and types and makes a
//! [`Program`]. A text with syntax errors is not looked at any further. `format` works on tokens alone, so it cannot
//! change what a text means.

mod ast;
mod components;
mod foreign;
mod format;
mod lexer;
mod lower;
mod names;
mod parser;
mod suggest;
#[cfg(test)]
mod tests;

use crate::diagnostic::Diagnostics;
use allways_model::program::Program;

/// The longest text, in bytes: places are kept as 32-bit numbers.
pub const MAX_TEXT: usize = u32::MAX as usize - 1;

/// How deep statements and expressions may be nested. They are walked by recursion.
pub const MAX_NESTING: usize = 200;

/// How high the tree of an expression may be: how many operators may stand in a row. Trees are walked by recursion.
pub const MAX_HEIGHT: usize = 500;

/// The longest array.
pub const MAX_LENGTH: usize = 1 << 16;

/// The most threads of one kind, unless there are any number.
pub const MAX_THREADS: usize = 1 << 16;

/// The most variables in all, shared and local, each element of an array counted.
pub const MAX_SLOTS: usize = 1 << 20;

/// What [`parse`] made of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The program; `None` if and only if there was an error.
    pub program: Option<Program>,
    /// What there is to say about the text.
    pub diagnostics: Diagnostics,
}

/// Reads a program.
pub fn parse(text: &[u8]) -> Parsed {
    let mut diagnostics = Diagnostics::default();
    let lexed = lexer::lex(text);
    let module = parser::parse(text, &lexed, &mut diagnostics);
    let program = match diagnostics.has_errors() {
        true => None,
        false => lower::lower(&module, &mut diagnostics),
    };
    Parsed { program, diagnostics }
}

/// Lays a program out anew, comments kept. A text with syntax errors is refused; names and types are not looked at.
pub fn format(text: &[u8]) -> Result<String, Diagnostics> {
    format::format(text)
}
