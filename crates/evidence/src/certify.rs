//! The one entry to the checkers: does this evidence show what it claims about its subject?
//!
//! Traces are replayed, runs of counter systems walked, invariants tested for induction, products for closure, a basis by its
//! five tests, shards state by state, views by a solver, and of progress, runs are walked and ranks tested. Evidence of one kind of subject says nothing about another, and is rejected.

use crate::counters::{check_basis, walk};
use crate::{
    Certificate, Counterexample, EvidenceRef, Rejection, StopReason, close, counted, induct, lasso, ranking,
    replay, shards, views,
};
use allways_model::counters::Counters;
use allways_model::program::Program;
use allways_model::program::inputs::Inputs;
use allways_model::property::Property;
use allways_model::pushdown::Pushdown;
use allways_smt::{Query, Settings};

/// What evidence is about.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// A pushdown system, and what must never be seen of it.
    Pushdown {
        /// The system.
        system: &'a dyn Pushdown,
        /// What must never be seen.
        property: &'a Property,
        /// Of a program, the inputs that were given to it; then a proof is none of the program itself.
        inputs: Option<&'a Inputs>,
    },
    /// A counter system, with its targets.
    Counters(&'a Counters),
    /// A program with its assertions and properties, for [`views`], and for [`lasso`] and [`ranking`].
    Program {
        /// The program.
        program: &'a Program,
        /// How many threads of each template there are; any number if none is given.
        counts: &'a [Option<usize>],
        /// Whether deadlocks are to be avoided; of this, views say nothing.
        deadlock: bool,
        /// Whether threads that are stuck are to be avoided; nor of this.
        stuck: bool,
    },
}

/// Asked now and then whether to stop, by several cores perhaps.
pub type Stop<'a> = &'a (dyn Fn() -> Option<StopReason> + Sync);

/// What a checker may use, and who watches it.
pub struct Judge<'a> {
    /// Asked now and then whether to stop.
    pub stop: Stop<'a>,
    /// The solver for views; a process of its own is started for each certificate.
    pub solver: Settings,
    /// Sees every query to the solver on which acceptance rests.
    pub witness: Option<&'a mut dyn FnMut(&Query)>,
}

impl<'a> Judge<'a> {
    /// One with the usual solver.
    pub fn new(stop: Stop<'a>) -> Judge<'a> {
        Judge { stop, solver: Settings::default(), witness: None }
    }
}

/// Accepts evidence, or says why not. [`Rejection::Stopped`] says nothing about the evidence.
pub fn certify<'e>(
    subject: &Subject<'_>,
    evidence: impl Into<EvidenceRef<'e>>,
    judge: &mut Judge<'_>,
) -> Result<(), Rejection> {
    use Certificate::{Basis, Counted, Invariant, Products, Ranking, Shards, Views};
    use Counterexample::{Lasso, Run, Trace};
    use EvidenceRef::{Certificate as Safe, Counterexample as Unsafe};
    match (subject, evidence.into()) {
        (Subject::Pushdown { system, property, .. }, Unsafe(Trace(trace))) => {
            replay(*system, property, trace)
        }
        (Subject::Pushdown { inputs: Some(_), .. }, Safe(_)) => {
            Err(Rejection::Malformed("a proof for some inputs is none for all".to_string()))
        }
        (Subject::Pushdown { system, property, .. }, Safe(Invariant(invariant))) => {
            induct(*system, property, invariant, judge.stop)
        }
        (Subject::Pushdown { system, property, .. }, Safe(Products(products))) => {
            close(*system, property, products, judge.stop)
        }
        (Subject::Pushdown { system, property, .. }, Safe(Counted(counted))) => {
            counted::check(*system, property, counted, judge.stop)
        }
        (Subject::Pushdown { system, property, .. }, Safe(Shards(listed))) => {
            shards::check(*system, property, listed, judge.stop)
        }
        (Subject::Counters(system), Unsafe(Run(run))) => walk(system, run).map(drop),
        (Subject::Counters(system), Safe(Basis(basis))) => check_basis(system, basis, judge.stop),
        (Subject::Program { deadlock: true, .. } | Subject::Program { stuck: true, .. }, Safe(Views(_))) => {
            Err(Rejection::Malformed("views say nothing about deadlocks and stuck threads".to_string()))
        }
        (Subject::Program { program, .. }, Safe(Views(_))) if !program.progress.is_empty() => {
            Err(Rejection::Malformed("views say nothing about progress".to_string()))
        }
        (Subject::Program { program, counts, .. }, Safe(Views(views))) => {
            views::check(program, counts, views, judge)
        }
        (&Subject::Program { program, stuck, .. }, Unsafe(Lasso(lasso))) => {
            let counts = subject.fixed_counts().map_err(Rejection::Malformed)?;
            if matches!(lasso.halt, lasso::Halt::Stuck { .. }) && !stuck {
                return Err(Rejection::Malformed("stuck threads were not asked for (--stuck)".to_string()));
            }
            lasso::check(program, &counts, lasso, judge.stop)
        }
        (&Subject::Program { program, deadlock, stuck, .. }, Safe(Ranking(ranking))) => {
            let counts = &subject.fixed_counts().map_err(Rejection::Malformed)?;
            ranking::check(&ranking::Asked { program, counts, deadlock, stuck }, ranking, judge.stop)
        }
        (subject, evidence) => Err(Rejection::Malformed(format!(
            "evidence of the kind `{}` says nothing about a {}",
            evidence.kind(),
            subject.noun()
        ))),
    }
}

impl<'a> Subject<'a> {
    /// A program, of which neither deadlocks nor stuck threads are asked.
    pub fn program(program: &'a Program, counts: &'a [Option<usize>]) -> Subject<'a> {
        Subject::Program { program, counts, deadlock: false, stuck: false }
    }

    /// How many threads of each template a program has, which must be known.
    pub(crate) fn fixed_counts(&self) -> Result<Vec<usize>, String> {
        let Subject::Program { program, counts, .. } = self else {
            return Err(format!("the subject is a {}", self.noun()));
        };
        if let Some(template) = program.templates.iter().find(|template| template.spawned) {
            return Err(format!("threads of {} are created dynamically", template.name));
        }
        let all = counts.iter().copied().collect::<Option<Vec<usize>>>();
        all.ok_or_else(|| "the program leaves open how many threads there are: give --threads".to_string())
    }

    /// What it is.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Subject::Pushdown { .. } => "pushdown system",
            Subject::Counters(_) => "counter system",
            Subject::Program { .. } => "program",
        }
    }
}
