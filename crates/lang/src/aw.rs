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
//! Where the description of the language leaves room, this is what is done:
//!
//! * `/* … */` is a comment too; `else if` needs no braces in between; `{ … }` is a statement, and a scope; a statement
//!   may have several labels; one `const`, `lock` or `event` may declare several names, with commas.
//! * All names outside bodies are different, whatever they stand for. Local variables may hide them, and those of blocks
//!   further out; parameters and the outermost block of a body are one scope.
//! * The value that an array is declared with is that of each of its elements; `*` is a new choice for each.
//! * A declaration at the start of a body with a constant value takes no step: the variable starts with it. Other
//!   declarations are assignments, one step for each variable.
//! * `goto`, `break`, `continue`, `loop` and `choose` take no step. A thread at a `choose` takes the first step of one of
//!   the branches; but if that branch starts with a `wait`, or with a label that an `at` mentions, or is empty at the end
//!   of a thread, choosing it is a step.
//! * `x = *` is any value of the type of `x`, also as an argument, a result or an initial value; elsewhere `*` is either
//!   Boolean. Numbers and Booleans do not mix. Calls are statements, or the whole right side of an assignment.
//! * `return;` in a thread goes to its end. A procedure whose result nobody stores may be called all the same.
//! * A name that starts with `_` is not warned about.
//!
//! A text goes through `lexer`, `parser` (a tree, `ast`) and `lower`, which checks names and types and makes a
//! [`Program`]. A text with syntax errors is not looked at any further. `format` works on tokens alone, so it cannot
//! change what a text means. [`outline`] is for editors: where names are declared and used.

mod ast;
mod components;
mod foreign;
mod format;
mod lexer;
mod lower;
mod names;
pub mod outline;
mod parser;
mod suggest;
#[cfg(test)]
mod tests;

pub(crate) use lexer::KEYWORDS;

use crate::diagnostic::Diagnostics;
use allways_model::program::{Program, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

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

/// A value for a constant, given from outside of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Definition {
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Value),
}

impl FromStr for Definition {
    type Err = ();

    fn from_str(text: &str) -> Result<Definition, ()> {
        text.parse().map(Definition::Bool).or_else(|_| text.parse().map(Definition::Number)).map_err(|_| ())
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Definition::Bool(value) => write!(f, "{value}"),
            Definition::Number(value) => write!(f, "{value}"),
        }
    }
}

/// Values for constants, by name: they win over those of the text.
pub type Definitions = BTreeMap<String, Definition>;

/// Reads a program.
pub fn parse(text: &[u8]) -> Parsed {
    parse_with(text, &Definitions::new())
}

/// Reads a program in which some constants have other values.
pub fn parse_with(text: &[u8], definitions: &Definitions) -> Parsed {
    let mut diagnostics = Diagnostics::default();
    let lexed = lexer::lex(text);
    let module = parser::parse(text, &lexed, &mut diagnostics);
    let program = match diagnostics.has_errors() {
        true => None,
        false => lower::lower(&module, definitions, &mut diagnostics),
    };
    Parsed { program, diagnostics }
}

/// Lays a program out anew, comments kept. A text with syntax errors is refused; names and types are not looked at.
pub fn format(text: &[u8]) -> Result<String, Diagnostics> {
    format::format(text)
}
