//! Programs as text, from the model: what was written in one notation can be read in another.
//!
//! Reading the text back gives a program with the same verdicts: what can go wrong, and whether all threads can get
//! stuck. It need not be the same program. Steps that touch nothing may come in between, and threads that are there from
//! the start may be started one by one. Two things are timed exactly, since others can tell: a thread is at a `wait` the
//! moment it comes there, and what is one step stays one step.
//!
//! One statement per location, in the order of the source, with jumps where control does not simply go on. A program
//! that a notation cannot express is refused, with the reason and the place: [`Refusal`].
//!
//! * [`aw`](fn@aw): the language of this tool;
//! * [`bp`](fn@bp): Boolean programs;
//! * [`c`](fn@c) and [`boogie`](fn@boogie): programs with one thread, for verifiers of sequential programs. These are not read.

mod aw;
mod boogie;
mod bp;
mod c;
mod graph;
mod names;
mod single;
#[cfg(test)]
mod tests;
mod variables;

pub use aw::aw;
pub use boogie::boogie;
pub use bp::bp;
pub use c::c;

use allways_model::program::{Binary, Expr, Program, Span, Target, Unary, Variable};

/// Why a program cannot be written in a notation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// What the notation lacks, or what the program has too much of.
    pub reason: String,
    /// Where it is in the source of the program.
    pub span: Span,
}

type Written<T> = Result<T, Refusal>;

/// Why a step that is not followed cannot be written.
const BEYOND: &str = "a step is not followed";

/// That a program promises nothing about its runs: only one notation can say that.
fn without_progress(program: &Program) -> Written<()> {
    match program.progress.first() {
        None => Ok(()),
        Some(eventually) => {
            refuse(eventually.span, "`eventually` is written in the .aw language only".to_string())
        }
    }
}

/// That a program has neither machine integers nor accesses that reach over several variables: no notation has these.
fn without_memory(program: &Program) -> Written<()> {
    let is_array = |variables: &[Variable], slot: usize, length: usize| {
        variables.iter().any(|variable| variable.slot == slot && variable.length == Some(length))
    };
    for location in &program.locations {
        let locals = &program.procedures[location.procedure].locals;
        for edge in &location.edges {
            let mut reason = None;
            for place in edge.op.places() {
                let array = match place.target {
                    Target::SharedElement(slot, length, _) => is_array(&program.shared, slot, length),
                    Target::LocalElement(slot, length, _) => is_array(locals, slot, length),
                    Target::Shared(_) | Target::Local(_) | Target::Others(_) => true,
                };
                if !array {
                    reason = Some("memory is written through a pointer");
                }
            }
            edge.op.expressions().for_each(|expr| {
                expr.visit(&mut |part| match part {
                    Expr::Unary(Unary::Wrap(_), _) => reason = Some("integers are those of a machine"),
                    Expr::Binary(
                        Binary::BitAnd
                        | Binary::BitOr
                        | Binary::BitXor
                        | Binary::ShiftLeft
                        | Binary::ShiftRight,
                        ..,
                    ) => reason = Some("an operation on bits"),
                    Expr::SharedElement(slot, length, ..) if !is_array(&program.shared, *slot, *length) => {
                        reason = Some("memory is read through a pointer");
                    }
                    Expr::LocalElement(slot, length, ..) if !is_array(locals, *slot, *length) => {
                        reason = Some("memory is read through a pointer");
                    }
                    _ => {}
                });
            });
            if let Some(reason) = reason {
                return refuse(edge.span, reason);
            }
        }
    }
    Ok(())
}

fn refuse<T>(span: Span, reason: impl Into<String>) -> Written<T> {
    Err(Refusal { reason: reason.into(), span })
}
