//! Context-unbounded analysis (CUBA): three methods and the procedure that combines them.
//!
//! * [`Scheme1`]: explore R_k until R_k = R_(k+1); then it is everything (section 4, Lemma 7). State by state, or by sets of
//!   stacks where a context may reach infinitely many states.
//! * [`Cuba`]: explore R_k and watch the visible states T(R_k). When they have just stopped growing, and every generator in
//!   Z is among them, they are all there are (Algorithm 3, Theorem 11).
//! * [`CubaSymbolic`]: the same on S_k, sets of stacks as automata, for systems in which one context may pass through
//!   infinitely many states.
//! * [`CubaRace`]: if every thread has finite context reachability, the first two on two threads, and whichever ends first
//!   stops the other; otherwise the third (section 6).
//!
//! Any set that contains all reachable visible states may serve as Z (section 4.1.3). The one of the paper, with the coarse
//! set E, never lets Algorithm 3 end on many of its own benchmarks, so Z is that of [`tops`](crate::above::tops) unless the
//! published one is asked for. It is also the invariant of the proof: if Algorithm 3 ends, its visible states are those
//! reached (`docs/why-they-agree.md`); if they were not, the answer would be unknown.
//!
//! The bound reported is the point of collapse: the smallest `k` at which nothing more was to come.

mod race;

pub use race::CubaRace;

use crate::above::emerging::Emerging;
use crate::above::exact;
use crate::above::finite_contexts::require_finite_contexts;
use crate::above::tops::Tops;
use crate::below::contexts::Contexts;
use crate::below::free;
use crate::below::symbolic::Symbolic;
use crate::budget::Budget;
use crate::engine::{Figures, Info, Outcome, PushdownEngine, Question, Setting};
use crate::store::{Halt, StateId, States};
use allways_evidence::{Invariant, StopReason, Verdict};
use allways_model::pushdown::{Pushdown, Shared, Symbol};
use allways_model::symmetry::Kinds;

/// Scheme 1 on R_k; see the module.
pub struct Scheme1;

/// Algorithm 3 on T(R_k); see the module.
pub struct Cuba;

/// Algorithm 3 on T(S_k); see the module.
pub struct CubaSymbolic;

impl PushdownEngine for Scheme1 {
    const INFO: Info = Info {
        lists_states: true,
        ..Info::new("scheme1", "explores growing contexts until the states stop growing (CUBA, Scheme 1)")
    };

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        if let Err(StopReason::GaveUp(_)) = require_finite_contexts(system, question, budget) {
            return scheme1_on_sets(system, question, budget);
        }
        let mut explorer = Contexts::new(system, question, budget);
        let outcome = explorer.space().alarm().and_then(|()| {
            while explorer.grown() {
                explorer.add_context()?;
            }
            Ok(exact::invariant(explorer.space())?.into())
        });
        let collapsed = outcome.is_ok();
        let mut report = explorer.report(outcome);
        if collapsed {
            report.figures.contexts = report.figures.contexts.map(|contexts| contexts - 1);
        }
        report
    }
}

/// Scheme 1 where a context may reach infinitely many states: R_k as sets of stacks.
fn scheme1_on_sets(system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
    let mut explorer = Symbolic::new(system, Kinds::distinct(system.threads()), question, budget);
    let outcome = (|| {
        while !explorer.bad() {
            let before = explorer.contexts();
            explorer.add_context()?;
            if explorer.subsumed()? {
                let above = Above::compute(system, question, budget)?;
                return Ok((Some(before), Some(above.certificate(explorer.visible(), budget)?)));
            }
        }
        Ok((None, None))
    })();
    symbolic_report(&explorer, system, question, budget, outcome)
}

impl PushdownEngine for Cuba {
    const INFO: Info = Info::new(
        "cuba",
        "explores growing contexts; at a plateau of visible states tests the generators (CUBA, Algorithm 3)",
    )
    .knowing(&[Setting::PublishedBound, Setting::Window]);

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        let mut explorer = Contexts::new(system, question, budget);
        let outcome = explorer.space().alarm().and_then(|()| {
            let above = Above::compute(system, question, budget)?;
            let bound = collapse(&above.generators, &mut explorer)?;
            Ok((bound, above.certificate(explorer.space().observed().visible_states(), budget)?))
        });
        let (verdict, bound) = match outcome {
            Ok((bound, invariant)) => (Ok(invariant.into()), bound),
            Err(halt) => (Err(halt), None),
        };
        let mut report = explorer.report(verdict);
        report.figures.contexts = bound.or(report.figures.contexts);
        report
    }
}

/// What is observed under a growing bound on contexts.
trait Observation {
    /// One more context.
    fn add_context(&mut self) -> Result<(), Halt>;

    /// Whether the last context showed any new state at all. If not, no bound will show more (Lemma 7).
    fn grown(&self) -> bool;

    /// The visible states within the bound.
    fn visible(&self) -> &States;

    /// Whether one of them is bad and nobody said so yet.
    fn bad(&self) -> bool {
        false
    }
}

impl Observation for Contexts<'_> {
    fn add_context(&mut self) -> Result<(), Halt> {
        Contexts::add_context(self)
    }

    fn grown(&self) -> bool {
        Contexts::grown(self)
    }

    fn visible(&self) -> &States {
        self.space().observed().visible_states()
    }
}

impl Observation for Symbolic<'_> {
    fn add_context(&mut self) -> Result<(), Halt> {
        Ok(Symbolic::add_context(self)?)
    }

    fn grown(&self) -> bool {
        Symbolic::grown(self)
    }

    fn visible(&self) -> &States {
        Symbolic::visible(self)
    }

    fn bad(&self) -> bool {
        Symbolic::bad(self)
    }
}

/// Algorithm 3. The point of collapse, or nothing if a bad state turned up.
fn collapse(generators: &[Vec<u32>], sequence: &mut impl Observation) -> Result<Option<u32>, Halt> {
    let mut rising = true;
    let mut bound = 0;
    loop {
        if sequence.bad() {
            return Ok(None);
        }
        let before = sequence.visible().len();
        sequence.add_context()?;
        let plateau = sequence.visible().len() == before;
        if plateau && rising && generators.iter().all(|row| sequence.visible().find(row).is_some()) {
            return Ok(Some(bound));
        }
        if !sequence.grown() {
            let why = "all states are reached, but not all generators in the bound from above; scheme1 decides this";
            return Err(StopReason::GaveUp(why.to_string()).into());
        }
        rising = !plateau;
        bound += 1;
    }
}

/// What Algorithm 3 needs from above.
struct Above<'a> {
    /// The generators in Z, as rows.
    generators: Vec<Vec<u32>>,
    /// How many visible states Z has.
    visible: usize,
    tops: Tops<'a>,
}

impl<'a> Above<'a> {
    fn compute(
        system: &'a dyn Pushdown,
        question: &Question,
        budget: &Budget,
    ) -> Result<Above<'a>, StopReason> {
        let tops = Tops::compute(
            system,
            Kinds::distinct(system.threads()),
            question.window.unwrap_or(1),
            question,
            budget,
        )?;
        let published = Emerging::compute(system, budget)?;
        let sharper = tops.visible(budget)?;
        let bound = if question.published_bound { &published.states } else { &sharper };
        let rows = (0..bound.len() as StateId).map(|id| bound.row(id).collect::<Vec<u32>>());
        let generators = rows
            .filter(|row| published.generates(Shared(row[0]), row[1..].iter().map(|&top| Symbol(top))))
            .collect();
        Ok(Above { generators, visible: sharper.len(), tops })
    }

    /// Z as an invariant, provided that its visible states are those reached.
    fn certificate(&self, reached: &States, budget: &Budget) -> Result<Invariant, Halt> {
        if self.visible == reached.len() {
            return Ok(self.tops.invariant(budget)?);
        }
        let why = "all generators are reached, but the bound from above has further visible states";
        Err(StopReason::GaveUp(why.to_string()).into())
    }
}

impl PushdownEngine for CubaSymbolic {
    const INFO: Info = Info::new(
        "cuba-symbolic",
        "the same with sets of stacks as automata, for contexts that reach infinitely many states",
    )
    .knowing(&[Setting::PublishedBound, Setting::Window]);

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        let mut explorer = Symbolic::new(system, Kinds::distinct(system.threads()), question, budget);
        let outcome = Above::compute(system, question, budget).map_err(Halt::from).and_then(|above| {
            let bound = collapse(&above.generators, &mut explorer)?;
            let invariant = bound.map(|_| above.certificate(explorer.visible(), budget)).transpose()?;
            Ok((bound, invariant))
        });
        symbolic_report(&explorer, system, question, budget, outcome)
    }
}

/// The report on an exploration by sets of stacks that ended so: a point of collapse and an invariant; neither, if a bad state
/// is among those reached; or a reason.
fn symbolic_report(
    explorer: &Symbolic,
    system: &dyn Pushdown,
    question: &Question,
    budget: &Budget,
    outcome: Result<(Option<u32>, Option<Invariant>), Halt>,
) -> Outcome {
    let (bound, verdict) = match outcome {
        Ok((bound, Some(invariant))) => (bound, invariant.into()),
        Err(Halt::Stop(reason)) => (None, Verdict::Unknown(reason)),
        // A bad state is reachable; the explicit search, which is complete, says how.
        Ok((_, None)) | Err(Halt::Bad(_)) => {
            let plain = Question { property: question.property.clone(), ..Question::default() };
            (None, free::Free.search(system, &plain, budget).verdict)
        }
    };
    let figures = Figures {
        contexts: bound.or(Some(explorer.contexts())),
        images: explorer.images(),
        store_bytes: explorer.bytes(),
        ..Figures::default()
    };
    let exact = matches!(verdict, Verdict::Safe(_));
    Outcome::seen(verdict, explorer.report(), exact, figures)
}
