//! What is asked of a solver.
//!
//! A solver keeps a stack of assertions. What it says is believed only for `unsat`, and only by those who ask one whom they
//! trust; `sat` comes with values that can be looked at. A solver that fails has no answer, and says why.

use crate::function::{Function, LOGIC};
use crate::known::Known;
use crate::term::Term;
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::time::Duration;

/// The answer to whether what is asserted can be true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Yes.
    Sat,
    /// No.
    Unsat,
    /// The solver does not know.
    Unknown,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The solver cannot be started: its command, and why.
    Missing(String, String),
    /// The solver took longer than this for one query.
    Time(Duration),
    /// The caller cancelled the query.
    Stopped,
    /// The solver has ended, or says what nobody expects.
    Broken(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Missing(command, why) => write!(
                f,
                "the solver `{command}` cannot be started ({why}); install it, such as by `apt-get install z3`, or name another \
                 by --solver or ALLWAYS_SOLVER"
            ),
            Failure::Time(limit) => {
                write!(f, "the solver took longer than {} s for a query", limit.as_secs())
            }
            Failure::Stopped => write!(f, "the solver was stopped"),
            Failure::Broken(what) => write!(f, "the solver failed: {what}"),
        }
    }
}

impl std::error::Error for Failure {}

/// A solver for formulas.
pub trait Solver {
    /// Makes an integer variable known.
    fn declare(&mut self, name: &str) -> Result<(), Failure>;

    /// Starts a group of assertions.
    fn push(&mut self) -> Result<(), Failure>;

    /// Forgets the last group of assertions.
    fn pop(&mut self) -> Result<(), Failure>;

    /// Asserts a formula, whose variables have been declared.
    fn assert(&mut self, formula: &Term) -> Result<(), Failure>;

    /// Whether all that is asserted can be true.
    fn check(&mut self) -> Result<Answer, Failure>;

    /// After [`Answer::Sat`], which of these formulas are true in the example.
    fn truths(&mut self, formulas: &[Term]) -> Result<Vec<bool>, Failure>;

    /// After [`Answer::Sat`], the values of numbers in the example; one that is beyond all numbers of 128 bits is the greatest
    /// of these, or its opposite.
    fn numbers(&mut self, terms: &[Term]) -> Result<Vec<i128>, Failure>;
}

/// A question that stands alone: can all of these be true?
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    /// What it is about, in a line.
    pub title: String,
    /// The formulas.
    pub formulas: Vec<Term>,
}

impl Query {
    /// As a file of SMT-LIB 2 that expects `unsat`.
    pub fn script(&self) -> String {
        let mut variables = BTreeSet::new();
        self.formulas.iter().for_each(|formula| formula.variables(&mut variables));
        let title: String = self.title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let mut text = format!("; {title}\n(set-logic {LOGIC})\n(set-info :status unsat)\n");
        Function::ALL.iter().for_each(|function| text += &format!("{}\n", function.declaration()));
        for name in variables {
            let _ = writeln!(text, "(declare-const {} Int)", crate::term::symbol(&name));
        }
        let mut known = Known::default();
        let facts: Vec<Term> = self.formulas.iter().flat_map(|formula| known.facts(formula)).collect();
        for formula in facts.iter().chain(&self.formulas) {
            let _ = writeln!(text, "(assert {formula})");
        }
        text.push_str("(check-sat)\n");
        text
    }
}
