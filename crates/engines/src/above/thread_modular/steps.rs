//! post#: where one step leads from a product, as a product (TM, Proposition 4), and the searches made of it.
//!
//! A *sequence* takes one step at a time from sets of facts that are not closed. It keeps whole stacks, so it is for threads
//! whose stacks stay within bounds. Each element of the sequence is a certificate's product, and the step from one to the
//! next is what its *next* says.

use super::facts::{Cell, Facts};
use super::judge::{Judge, Suspect};
use super::locals::{Below, Locals, Move};
use super::saturation::{initial, locals};
use super::views::{Population, Views};
use super::{Method, report};
use crate::budget::Progress;
use crate::engine::{Figures, Outcome};
use allways_evidence::products::Product;
use allways_evidence::{StopReason, Verdict};
use allways_model::pushdown::Shared;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// So many different stacks under the tops of one kind of threads are taken for stacks that grow without bound. A stack that
/// grows by one symbol with each step costs the square of this.
const MOST_STACKS: usize = 1 << 12;

/// What a sequence is made with.
pub struct Steps<'a> {
    method: Method<'a>,
    views: Views,
    locals: Vec<Locals<'a>>,
    /// Facts derived, new or not.
    derived: u64,
}

/// So many facts are derived, new or not, between two looks at the budget.
const DERIVED_BETWEEN_POLLS: u64 = 1 << 12;

impl<'a> Steps<'a> {
    /// Ready to take the first step, and where it starts: T^0.
    pub fn new(method: Method<'a>, views: Views) -> (Steps<'a>, Facts) {
        let mut locals = locals(method.system, &views, Below::WholeStacks);
        let facts = initial(method.system, &views, &mut locals);
        (Steps { method, views, locals, derived: 0 }, facts)
    }

    /// The facts after one step from these.
    pub fn post(&mut self, facts: &Facts) -> Result<Facts, StopReason> {
        let mut after = Facts::default();
        // For each view and shared state, where it leads, and the only set that leads there.
        type Changes = HashMap<(usize, Shared), Option<Cell>, FxBuildHasher>;
        let mut changes: HashMap<(usize, Shared), Changes, FxBuildHasher> = HashMap::default();
        for (cell, shared, local) in facts.each() {
            self.poll()?;
            let (view, kind) = (self.views.view(cell), self.views.kind(cell));
            for &step in self.locals[kind].moves(shared, local).iter() {
                self.poll()?;
                let Move::To(after_shared, local) = step else { continue };
                let changes = changes.entry((view, shared)).or_default();
                let sole = changes.entry((self.views.after(kind), after_shared)).or_insert(Some(cell));
                *sole = sole.filter(|sole| *sole == cell);
                if after.insert(self.views.moved(kind), after_shared, local) {
                    self.bounded(kind, &after)?;
                }
            }
        }
        for (cell, shared, locals) in facts.iter() {
            let (view, kind) = (self.views.view(cell), self.views.kind(cell));
            let Some(changes) = changes.get(&(view, shared)) else { continue };
            for (&(view, shared), &sole) in changes {
                let to = self.views.rest(view, kind);
                if self.views.room(to) > 0 && sole.is_none_or(|sole| self.views.beside(cell, sole)) {
                    for &local in locals {
                        self.poll()?;
                        after.insert(to, shared, local);
                    }
                }
            }
        }
        Ok(after)
    }

    /// Whether there are not too many stacks, nor facts.
    fn bounded(&self, kind: usize, facts: &Facts) -> Result<(), StopReason> {
        if self.locals[kind].contexts().len() > MOST_STACKS {
            let why = format!(
                "there are more than {MOST_STACKS} stacks under tops, and this method keeps them whole"
            );
            return Err(StopReason::GaveUp(why));
        }
        if facts.len() > self.method.most() { Err(self.method.too_many()) } else { Ok(()) }
    }

    fn poll(&mut self) -> Result<(), StopReason> {
        self.derived += 1;
        if self.derived.is_multiple_of(DERIVED_BETWEEN_POLLS) {
            self.method.budget.tick(&Progress { images: self.derived, ..Progress::default() })?;
        }
        Ok(())
    }

    fn judge(&self) -> Judge<'a, '_> {
        Judge { system: self.method.system, views: &self.views, locals: &self.locals }
    }
}

/// The elements of a sequence so far, as products.
#[derive(Default)]
pub struct Sequence {
    products: Vec<Product>,
    facts: usize,
}

impl Sequence {
    /// Adds an element, unless it contains a bad state. By default, the element after it is next.
    pub fn push(&mut self, steps: &Steps, facts: &Facts) -> Result<(), Halt> {
        if let Some(suspect) = steps.judge().suspect(&steps.method.question.property, facts) {
            return Err(Halt::Suspect(suspect));
        }
        self.facts += facts.len();
        if self.facts > steps.method.most() {
            return Err(Halt::Stop(steps.method.too_many()));
        }
        let views = steps.views.views();
        let first = self.products.len() + views;
        let next: Vec<usize> = (0..steps.views.kinds()).map(|kind| first + steps.views.after(kind)).collect();
        self.products.extend(steps.judge().products(facts, &next));
        Ok(())
    }

    /// Says that the element with this number, counted from 0, is next to the last one.
    pub fn turn(&mut self, steps: &Steps, element: usize) {
        let views = steps.views.views();
        let first = self.products.len() - views;
        for product in &mut self.products[first..] {
            for (kind, next) in product.next.iter_mut().enumerate() {
                *next = element * views + steps.views.after(kind);
            }
        }
    }
}

/// Why a sequence ends without a proof.
pub enum Halt {
    /// An element contains a bad state.
    Suspect(Suspect),
    /// A limit was reached, or the method is not made for this.
    Stop(StopReason),
}

impl From<StopReason> for Halt {
    fn from(reason: StopReason) -> Halt {
        Halt::Stop(reason)
    }
}

/// Runs a search that makes one sequence.
pub fn run(
    method: Method,
    views: impl Fn(Population) -> Views,
    search: impl Fn(&mut Steps, Facts, &mut Sequence) -> Result<(), Halt>,
) -> Outcome {
    let population = Population::of(method.system, method.question.no_symmetry);
    let (mut steps, first) = Steps::new(method, views(population));
    let mut sequence = Sequence::default();
    let outcome = search(&mut steps, first, &mut sequence);
    conclude(&steps, sequence, outcome)
}

/// The report on a sequence that has come to its end.
pub fn conclude(steps: &Steps, sequence: Sequence, outcome: Result<(), Halt>) -> Outcome {
    let judge = steps.judge();
    let figures = Figures {
        images: steps.derived,
        store_bytes: sequence.facts * size_of::<allways_evidence::products::Fact>(),
        remarks: vec![format!(
            "{} products of {} thread states in all",
            sequence.products.len(),
            sequence.facts
        )],
        ..Figures::default()
    };
    let verdict = match outcome {
        Ok(()) => judge.evidence(sequence.products).into(),
        Err(Halt::Suspect(suspect)) => super::invented(&judge, &suspect),
        Err(Halt::Stop(reason)) => Verdict::Unknown(reason),
    };
    report(&steps.method, verdict, figures)
}
