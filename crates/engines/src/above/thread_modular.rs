//! Thread-modular bounds: sets of thread states, whose products contain every reachable state (TM).
//!
//! Instead of states of the whole system, of which there are exponentially many in the number of threads, these methods
//! compute for each thread a set of its *thread states*, a shared state and a stack, and see the other threads only through
//! what they do to the shared state. They prove or give up; they never refute. One file for each method:
//!
//! * [`flanagan_qadeer`]: `modular`, the original;
//! * [`quadratic`]: `modular-quadratic`, which remembers who moved last;
//! * [`relaxed`]: `modular-relaxed`, which forgets the past where it can;
//! * [`both`]: `modular-both`, which does both;
//! * [`frontier`]: `modular-frontier`, which always forgets the past, at exponential cost;
//!
//! and [`explain`], which finds where they lose a proof.
//!
//! Beneath them: [`locals`], the threads seen alone; [`facts`], sets; [`views`], which sets there are; [`saturation`], closed
//! sets, for the first two; [`steps`], one step at a time, for the others; [`judge`], what sets say about a property.
//!
//! The first two know recursion: a set of stacks is a regular one, kept as an automaton. All of them know
//! [any number](allways_model::pushdown::Pushdown::many) of threads.

pub mod both;
pub mod explain;
pub mod facts;
pub mod flanagan_qadeer;
pub mod frontier;
pub mod judge;
pub mod locals;
pub mod quadratic;
pub mod relaxed;
pub mod saturation;
pub mod steps;
pub mod views;

use crate::budget::Budget;
use crate::engine::{Figures, Outcome, Question, VisibleStates};
use allways_evidence::{Products, StopReason, Verdict};
use allways_model::pushdown::Pushdown;
use allways_model::symmetry::Kinds;
use judge::{Judge, Suspect};
use saturation::Saturation;
use views::{Population, Views};

/// What a method is asked.
#[derive(Clone, Copy)]
pub struct Method<'a> {
    system: &'a dyn Pushdown,
    question: &'a Question,
    budget: &'a Budget<'a>,
}

impl Method<'_> {
    fn most(&self) -> usize {
        self.question.max_states.unwrap_or(usize::MAX)
    }

    fn too_many(&self) -> StopReason {
        StopReason::Bound(format!("the first {} thread states", self.most()))
    }
}

/// So many thread states are enough for a bound on the side.
const ENOUGH: usize = 1 << 19;

/// The sets of Flanagan and Qadeer as a bound for other methods, if there are not too many thread states.
pub fn bound(system: &dyn Pushdown, question: &Question, budget: &Budget) -> Option<Products> {
    let views = Views::one(Population::of(system, question.no_symmetry));
    let sets = Saturation::compute(system, views, ENOUGH, budget).ok()?;
    let judge = Judge { system, views: &sets.views, locals: &sets.locals };
    Some(judge.evidence(judge.products(&sets.facts, &vec![0; sets.views.kinds()])))
}

/// Computes closed sets and judges them.
fn saturate(method: Method, views: impl Fn(Population) -> Views) -> Outcome {
    let Method { system, question, budget } = method;
    let views = views(Population::of(system, question.no_symmetry));
    let sets = match Saturation::compute(system, views, method.most(), budget) {
        Ok(sets) => sets,
        Err(reason) => return report(&method, Verdict::Unknown(reason), Figures::default()),
    };
    let judge = Judge { system, views: &sets.views, locals: &sets.locals };
    let verdict = match judge.suspect(&question.property, &sets.facts) {
        Some(suspect) => invented(&judge, &suspect),
        None => {
            let next: Vec<usize> = (0..sets.views.kinds()).map(|kind| sets.views.after(kind)).collect();
            judge.evidence(judge.products(&sets.facts, &next)).into()
        }
    };
    let figures = Figures {
        images: sets.derived,
        store_bytes: sets.bytes(),
        remarks: vec![format!("{} thread states", sets.facts.len())],
        ..Figures::default()
    };
    report(&method, verdict, figures)
}

fn invented(judge: &Judge, suspect: &Suspect) -> Verdict {
    let state = judge.show(suspect);
    Verdict::Unknown(StopReason::GaveUp(format!(
        "the products of thread states contain {state}, which may be reachable or not"
    )))
}

fn report(method: &Method, verdict: Verdict, figures: Figures) -> Outcome {
    let visible = VisibleStates::new(Kinds::distinct(method.system.threads()));
    Outcome::seen(verdict, visible, false, figures)
}
