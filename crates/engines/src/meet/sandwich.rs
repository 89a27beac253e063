//! The sandwich: Z from above, witnesses from below, until every visible state of Z has one.
//!
//! If DrUBA, AI or CUBA converges, the visible states reached are exactly those of Z, the least set closed under the
//! abstract actions; and once they are, there is nothing left to wait for (`docs/why-they-agree.md`). So Z is computed first
//! ([`tops`](crate::above::tops)), and a search from below ([`capped`](crate::below::capped)) looks for a state behind each
//! of its visible members. No plateau, no bound on contexts or delays.
//!
//! For a property, Z alone is a proof if it has no bad member; otherwise the search looks for a bad state. Where the two do
//! not meet, in turn: what thread-modular sets do not contain is left out of Z, since they keep whole stacks; the search keeps
//! more states per visible state; Z keeps more of each stack; and sets of stacks, with
//! which a single context may pass through infinitely many states, are searched for the witnesses that are missing.

use crate::above::exact;
use crate::above::thread_modular;
use crate::above::tops::Tops;
use crate::below::capped::Capped;
use crate::below::symbolic::Symbolic;
use crate::budget::Budget;
use crate::engine::{Figures, Info, Outcome, PushdownEngine, Question, Setting};
use crate::store::{Halt, StateId, States};
use allways_evidence::{Invariant, StopReason, Verdict};
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Shared, Symbol};
use allways_model::symmetry::Kinds;

/// The engine; see the module.
pub struct Sandwich;

impl PushdownEngine for Sandwich {
    const INFO: Info = Info::new(
        "sandwich",
        "bounds the visible states from above and searches a witness for each from below, until they meet",
    )
    .knowing(&[Setting::NoSymmetry, Setting::Window]);

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        let kinds = question.kinds(system);
        let mut search = Capped::new(system, kinds.clone(), question, budget);
        let mut figures = Figures::default();
        let outcome = meet(system, question, budget, &kinds, &mut search, &mut figures);
        let (verdict, exact) = match outcome {
            Ok((invariant, exact)) => (invariant.into(), exact),
            Err(Halt::Bad(state)) => (Verdict::from(search.space().trace(state)), false),
            Err(Halt::Stop(reason)) => (Verdict::Unknown(reason), false),
        };
        figures.images += search.space().images();
        figures.concrete_states = Some(search.space().len());
        figures.store_bytes += search.bytes();
        Outcome::seen(verdict, search.report(), exact, figures)
    }
}

/// An invariant, and whether the visible states seen are exactly the reachable ones.
fn meet(
    system: &dyn Pushdown,
    question: &Question,
    budget: &Budget,
    kinds: &Kinds,
    search: &mut Capped,
    figures: &mut Figures,
) -> Result<(Invariant, bool), Halt> {
    search.space().alarm()?;
    let mut window = question.window.unwrap_or(1);
    let mut symbolic = Symbolic::new(system, kinds.clone(), question, budget);
    let mut within = None;
    for attempt in 0.. {
        let products = within.as_ref();
        let tops = Tops::compute_within(products, system, kinds.clone(), window, question, budget)?;
        figures.images += tops.images();
        figures.store_bytes = tops.bytes();
        let bound = tops.visible(budget)?;
        if !question.property.is_empty() && harmless(system, &question.property, kinds, &bound) {
            return Ok((tops.invariant(budget)?, false));
        }
        let before = search.visible().len();
        search.run(bound.len())?;
        if search.visible().len() == bound.len() {
            return Ok((tops.invariant(budget)?, true));
        }
        if search.exhausted() {
            return Ok((exact::invariant(search.space())?, true));
        }
        if attempt == 0 && tops.hides_something() {
            within = thread_modular::bound(system, question, budget);
            if within.is_some() {
                continue;
            }
        }
        search.raise();
        // Keeping more helped, or did not: then a closer look from above may, or whole contexts from below.
        if search.visible().len() == before {
            window += 1;
        }
        if attempt > 0 && symbolic.grown() {
            symbolic.add_context()?;
            if symbolic.bad() {
                // A bad state is reachable. Each state is expanded once the cap is large enough, so the search will find it;
                // without a cap at once, it would go through far more states on the way.
                while !search.exhausted() {
                    search.run(usize::MAX)?;
                    search.raise();
                }
            }
            let seen = symbolic.visible();
            (0..seen.len() as StateId).for_each(|id| search.learn(&seen.row(id).collect::<Vec<u32>>()));
        }
    }
    Err(StopReason::Bound("every number of attempts".to_string()).into())
}

/// Whether no member of a set of visible states is bad.
fn harmless(system: &dyn Pushdown, property: &Property, kinds: &Kinds, visible: &States) -> bool {
    (0..visible.len() as StateId).all(|id| {
        let mut row = visible.row(id);
        let shared = Shared(row.next().unwrap_or_default());
        !property.violated_in_orbit(system, kinds, shared, &row.map(Symbol).collect::<Vec<_>>())
    })
}
