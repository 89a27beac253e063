//! Boolean programs, `.bp`: what SATABS prints, the smaller dialect of UCOB/IJIT, and C-like sketches of the same.
//!
//! ```text
//! decl m, ready := 0;            // shared; without an initial value, any
//! void main() begin
//!   decl x;                      // each thread has its own
//!   1: start_thread goto 3;      // a thread with a copy of the local variables
//!   2: goto 1, 5;                // any of them
//!   3: x, m := *, !m constrain 'x | m;   // in parallel; 'x is the value afterwards
//!   4: assert(x | m);
//!   5: skip;
//! end
//! ```
//!
//! One parser reads all dialects: `begin … end` and `{ … }`, `if e then … fi` and `if (e) …`, `decl x` and `bool x`,
//! `f()` and `call f()`, `start_thread goto l` and `create_thread(&f)`. Every statement is a location, `goto` included,
//! so that program counters are those of the papers; but `if e then goto l; fi` is one step. Decisions:
//!
//! * `=` `!=` `^` `|` `&` without brackets bind as in IJIT if the first label is an integer, else as in SATABS. Where that
//!   makes a difference, there is a warning.
//! * `enforce e` restricts every step of its function, as in SLAM; `abortif e` is `assume(!e)`. `dead x` is `x := *`.
//! * A function that ends without its results returns any. A statement that has no `;` but ends its line gets a warning.
//! * `decl thread_local x` at the top is a local variable of `main`, which must then be the only function.
//! * `x$` can be assigned, and read in what is assigned to another such: each thread is given a value of its own, by what it has
//!   and what it chooses. Elsewhere it cannot be read: threads would differ in what they read.
//! * `wait`, `broadcast`, the start of a thread, and recursion cannot be part of an atomic section.
//! * An empty function that nobody calls, of which SATABS prints many, is left out.
//! * Without `main`, as in getafix: `init` runs first, and then `thread1`, `thread2`, … at the same time, once each.
//! * `_` on the left of an assignment is nobody's variable. `print(e)` does nothing.
//!
//! Nesting is limited to [`MAX_DEPTH`]. A long chain of operators such as `a & b & …` is no nesting.

mod atomic;
mod lower;
mod parser;
mod precedence;
mod scanner;
mod syntax;
#[cfg(test)]
mod tests;

use crate::diagnostic::Diagnostics;
use allways_model::program::Program;
pub(crate) use scanner::is_keyword;

/// How deep statements and expressions may be nested.
pub const MAX_DEPTH: usize = 200;

/// How many results a function may have.
pub const MAX_RESULTS: usize = 1 << 10;

/// What [`parse`] made of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The program; `None` if and only if there was an error.
    pub program: Option<Program>,
    /// What there is to say about the text.
    pub diagnostics: Diagnostics,
}

/// Reads a `.bp` file.
pub fn parse(text: &[u8]) -> Parsed {
    parse_watching(text, &[])
}

/// The same; whoever comes to a statement with one of these labels has gone wrong.
pub fn parse_watching<'a>(text: &'a [u8], labels: &'a [String]) -> Parsed {
    // Places are counted in 32 bits.
    let diagnostics = Diagnostics::about(text);
    if diagnostics.has_errors() {
        return Parsed { program: None, diagnostics };
    }
    let (file, diagnostics) = parser::parse(text);
    lower::lower(file, text.len(), labels, diagnostics)
}
