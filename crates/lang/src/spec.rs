//! The `.spec` format of the mist tool: Petri nets, transfers, resets and broadcasts, with guards and several targets.
//!
//! ```text
//! vars idle wait work lock
//! rules
//!   idle >= 1 -> idle' = idle - 1, wait' = wait + 1;
//!   wait >= 1, lock >= 1 -> wait' = wait - 1, work' = work + 1, lock' = lock - 1;
//!   work >= 1 -> work' = work - 1, lock' = lock + 1, idle' = idle + wait + 1, wait' = 0;
//! init idle >= 1, wait = 0, work = 0, lock = 1
//! target work >= 2
//!        work >= 1, lock >= 1
//! ```
//!
//! A rule fires where all its guards hold; all its effects happen at once, each from the values before. A variable without an
//! effect keeps its value. So a variable whose value appears in another's effect moves there, and one that appears in none
//! vanishes. Constraints with a comma between them hold together; the next one without a comma starts another target. A
//! variable that `init` does not mention has any value, as in mist. `#` starts a comment.
//!
//! Where this differs from mist, and why:
//!
//! * `x = k` and `x in [a, b]` in a guard are no guards of a well-structured system. mist takes them and warns that it may
//!   then answer wrongly. They are read as exact tests ([`Rule::exactly`](allways_model::counters::Rule::exactly)): what is
//!   proved then is proved for relaxed rules, and what goes wrong does so by exact ones.
//! * `x' = 1` is read as it stands; mist refuses it.
//! * A variable that would be in two places afterwards, as in `a' = a + c, b' = b + c`, is refused: tokens do not double.
//! * In a target only `>=` makes sense, since whatever covers a bad configuration is bad: `x = k` and `x in [k, l]` are read as
//!   `x >= k`, and a warning says so.
//! * A rule may have no guard; then it can always fire.
//! * `invariants` are read and not used; a warning says so.
//! * A text without `target` has no targets.

mod effects;
mod reader;
mod scanner;
#[cfg(test)]
mod tests;
mod write;

pub use write::write;

use crate::diagnostic::{Diagnostic, Diagnostics};
use allways_model::counters::Counters;

/// What [`parse`] made of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The system; `None` if and only if there was an error.
    pub system: Option<Counters>,
    /// What there is to say about the text.
    pub diagnostics: Diagnostics,
}

/// Reads a `.spec` file of mist.
pub fn parse(text: &[u8]) -> Parsed {
    reader::read(text)
}

/// Reads targets such as `x >= 1, y >= 2`, several one after another, in the place of those that a system has; gives the
/// warnings about them.
pub fn read_targets(system: &mut Counters, text: &[u8]) -> Result<Diagnostics, Diagnostic> {
    reader::read_targets(system, text)
}
