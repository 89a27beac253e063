//! Can a bad configuration be covered, with any number of threads? Methods for counter systems (UCOB).
//!
//! * [`backward`]: the least configurations from which a bad one can be covered (UCOB, Algorithm 1), within the bound of a
//!   forward [`oracle`] (section V), of place [`invariants`], and of weights by [`linear`] programming;
//! * [`karp_miller`]: forward, where any number stands for what can be pumped; for systems that only take and give;
//! * [`forward`]: breadth first, with one thread, two, three, …; finds bugs;
//! * [`unfold`]: Karp and Miller's tree of a program, whose rules are asked for on the way;
//! * [`directed`]: what seems nearest to a target first, by a [`distance`]; finds bugs;
//! * [`duel`]: forward and backward against each other on two cores, what is used where no method is named.
//!
//! Before any of them, [`reduce`] leaves out what cannot happen and what does not matter.
//!
//! Programs come here as [counter systems](crate::forms::CountedForm); [`lift`](mod@lift) makes a run of one a trace of the program. What the methods share: [`net`] and [`firing`], the rules in a form that is fast to use, backward and forward; [`basis`] and [`antichain`], sets of configurations; [`loops`], what can be repeated; [`board`], what the sides of a duel tell; and
//! [`shorten`](mod@shorten).
//!
//! All of them take the relaxed reading of rules that test for an exact number, except [`forward`]. A run that the exact
//! rules do not allow is never given as an answer: then the method gives up.

pub mod antichain;
pub mod backward;
pub mod basis;
pub mod board;
pub mod directed;
pub mod distance;
pub mod duel;
pub mod firing;
pub mod forward;
pub mod invariants;
pub mod karp_miller;
pub mod lift;
pub mod linear;
pub mod loops;
pub mod net;
pub mod oracle;
pub mod reduce;
pub mod shorten;
pub mod simplex;
pub mod unfold;

use crate::budget::Budget;
use crate::engine::{Engine, Figures, Info, Outcome, Takes, Threads};
use crate::forms::{CountedForm, CountedRun, Forms};
use crate::strategy::{FreeSearch, Strategy};
use allways_evidence::counters::{Run, walk};
use allways_evidence::{Certificate, Counted, Counterexample, StopReason, Verdict};
use allways_model::counters::Counters;
use allways_model::pushdown::Pushdown;
use allways_model::task::Instance;
use reduce::Reduced;
use std::time::Duration;

/// An engine on counter systems.
pub struct CounterEngine {
    info: &'static Info,
    decide: fn(&Counters, &Budget) -> Outcome,
    programs: Programs,
}

/// What an engine says of programs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Programs {
    Nothing,
    /// That they are safe. A run that goes wrong is remembered.
    Safe,
    /// Also that they go wrong, by the run that was counted, and no other.
    SafeOrLifted,
    /// Also that they go wrong, by that run or another with as many threads as it takes.
    SafeOrUnsafe,
}

const fn info(name: &'static str, summary: &'static str, takes: Takes) -> Info {
    Info { takes, threads: Threads::AsStated, ..Info::new(name, summary) }
}

const COVERABILITY_INFO: Info =
    info("coverability", "any number of threads: forward and backward against each other", Takes::Countable);

/// [`duel`]
pub static COVERABILITY: CounterEngine =
    CounterEngine { info: &COVERABILITY_INFO, decide: duel::decide, programs: Programs::SafeOrUnsafe };

/// The same, which gives up on a program where a target can be covered.
pub static COVERABILITY_PROOF: CounterEngine =
    CounterEngine { info: &COVERABILITY_INFO, decide: duel::decide, programs: Programs::Safe };

/// The same, which then makes a trace of the run, also of one that the one before has found.
pub static COVERABILITY_TRACE: CounterEngine =
    CounterEngine { info: &COVERABILITY_INFO, decide: duel::decide, programs: Programs::SafeOrLifted };

/// [`backward`]
pub static BACKWARD: CounterEngine = CounterEngine {
    info: &info(
        "backward",
        "any number of threads: from what is bad back to where it starts",
        Takes::Counters,
    ),
    decide: backward::decide,
    programs: Programs::Nothing,
};

/// [`karp_miller`]
pub static KARP_MILLER: CounterEngine = CounterEngine {
    info: &info(
        "karp-miller",
        "any number of threads: forward, what can be pumped is any number; no broadcasts",
        Takes::Counters,
    ),
    decide: karp_miller::decide,
    programs: Programs::Nothing,
};

/// [`forward`]
pub static FORWARD: CounterEngine = CounterEngine {
    info: &info(
        "forward",
        "one thread, two, three, …: breadth first; finds bugs and proves nothing",
        Takes::Counters,
    ),
    decide: forward::decide,
    programs: Programs::Nothing,
};

/// [`directed`]
pub static DIRECTED: CounterEngine = CounterEngine {
    info: &info(
        "directed",
        "any number of threads: what is nearest to a target first; finds bugs and proves nothing",
        Takes::Counters,
    ),
    decide: directed::decide,
    programs: Programs::Nothing,
};

impl CounterEngine {
    /// Decides whether the system can cover one of its targets, or says why not. The system must be
    /// [valid](Counters::validate).
    pub fn decide(&self, system: &Counters, budget: &Budget) -> Outcome {
        let reduced = match Reduced::new(system, budget) {
            Ok(reduced) => reduced,
            Err(reason) => return self.outcome(Verdict::Unknown(reason), 0, 0),
        };
        let Some(remark) = reduced.remark() else { return (self.decide)(system, budget).by(self.info) };
        let mut outcome = (self.decide)(&reduced.system, budget).by(self.info);
        outcome.verdict = reduced.lift(outcome.verdict, budget);
        outcome.figures.remarks.push(remark);
        outcome
    }

    /// An outcome, by this engine: configurations, or sets of them, that were stored, and successors and predecessors that
    /// were computed.
    fn outcome(&self, verdict: Verdict, stored: usize, images: u64) -> Outcome {
        let figures = Figures { concrete_states: Some(stored), images, ..Figures::default() };
        Outcome::new(verdict, figures).by(self.info)
    }

    fn decide_program(&self, forms: &Forms, budget: &Budget) -> Result<Outcome, StopReason> {
        let not_lifted = || StopReason::GaveUp("no run of threads is what counters do".to_string());
        if let Some(counted) = forms.counted_run().filter(|_| self.programs == Programs::SafeOrLifted) {
            return lifted(&counted, forms, budget)?.ok_or_else(not_lifted);
        }
        let form = forms.counted(budget)?;
        let system = forms.at(Instance::Any).pushdown()?.system;
        match cover(&*system, &form, |counters, budget| self.decide(counters, budget), budget) {
            Covered::Safe(counted) => {
                let verdict = Verdict::Safe(Certificate::Counted(counted));
                Ok(Outcome { instance: Some(Instance::Any), ..Outcome::new(verdict, Figures::default()) })
            }
            Covered::Unknown(reason) => Err(reason),
            Covered::Unsafe(counted) if self.programs == Programs::Safe => {
                forms.remember_counted_run(*counted);
                Err(StopReason::GaveUp(unfold::COVERABLE.to_string()))
            }
            Covered::Unsafe(counted) if self.programs == Programs::SafeOrLifted => {
                lifted(&counted, forms, budget)?.ok_or_else(not_lifted)
            }
            Covered::Unsafe(counted) => find_run(&counted, forms, budget),
        }
    }
}

/// What counting threads says about a property.
#[derive(Clone, Debug)]
pub enum Covered {
    /// It holds, whatever the number of threads.
    Safe(Box<Counted>),
    /// It does not, if each thread of the system that is [many](Pushdown::many) stands for so many, 1 for the others.
    Unsafe(Box<CountedRun>),
    /// Not known, and why.
    Unknown(StopReason),
}

/// Whether a system, with any number of threads where its threads are many, can violate its property, by a method for the counter
/// system that it is.
///
/// Thread-modular sets say which thread states can occur at all; this is the forward oracle of UCOB, section V. What is left is
/// a finite counter system, which costs what is reached and not what could be written down.
pub fn cover(
    system: &dyn Pushdown,
    form: &CountedForm,
    decide: impl Fn(&Counters, &Budget) -> Outcome,
    budget: &Budget,
) -> Covered {
    match decide(&form.counting.counters, budget).verdict {
        Verdict::Safe(Certificate::Basis(basis)) => {
            Covered::Safe(Box::new(Counted { products: form.products.clone(), basis: *basis }))
        }
        Verdict::Unsafe(Counterexample::Run(run)) => {
            let mut counts = vec![1; system.threads()];
            let kinds = &form.products.kinds;
            for (thread, count) in counts.iter_mut().enumerate().filter(|(thread, _)| system.many(*thread)) {
                let places = &form.counting.places;
                let tokens = run.initial.tokens.iter();
                let own = tokens.filter(|(place, _)| places[*place as usize].0 == kinds.kind(thread));
                *count = own.map(|(_, count)| count).sum();
            }
            Covered::Unsafe(Box::new(CountedRun { counts, run }))
        }
        Verdict::Unknown(reason) => Covered::Unknown(reason),
        Verdict::Safe(_) | Verdict::Unsafe(_) => {
            Covered::Unknown(StopReason::GaveUp("evidence of another kind".to_string()))
        }
    }
}

/// For how long a number of threads is tried that is only a guess.
const GUESS_BUDGET: Duration = Duration::from_secs(30);

/// A run that goes wrong with so many threads: the one that was counted, or else one that is searched for. Counters of `at` are not tied to the threads that are counted; where they
/// matter, it may take a few more.
fn find_run(counted: &CountedRun, forms: &Forms, budget: &Budget) -> Result<Outcome, StopReason> {
    if let Some(outcome) = lifted(counted, forms, budget)? {
        return Ok(outcome);
    }
    for more in [0, 1, 2, 4, 8] {
        let counts: Vec<u64> = counted.counts.iter().map(|count| count.saturating_add(more)).collect();
        // What goes wrong without any thread has no encoding.
        let Some(exact) = forms.exactly(&counts).filter(|exact| exact.pushdown().is_ok()) else { continue };
        let child = if more > 0 { budget.within(GUESS_BUDGET) } else { budget.child() };
        let outcome = Strategy::Portfolio(FreeSearch::InTurns).run(&exact, &child);
        if let Some(outcome) = outcome.filter(|outcome| matches!(outcome.verdict, Verdict::Unsafe(_))) {
            return Ok(Outcome { instance: Some(exact.instance().clone()), ..outcome });
        }
    }
    Err(StopReason::GaveUp("a target can be covered by counters, but no run was found".to_string()))
}

/// The run that was counted, as one of threads.
fn lifted(counted: &CountedRun, forms: &Forms, budget: &Budget) -> Result<Option<Outcome>, StopReason> {
    let form = forms.counted(budget)?;
    let Some(exact) = forms.exactly(&counted.counts) else { return Ok(None) };
    let (Some(Ok(crowd)), Some(Ok(encoded))) = (forms.at(Instance::Any).encoding(), exact.encoding()) else {
        return Ok(None);
    };
    let trace = lift::lift(&counted.run, &form, (&crowd, &encoded), budget)?;
    Ok(trace.map(|trace| {
        let outcome = Outcome::new(Verdict::from(trace), Figures::default());
        Outcome { instance: Some(exact.instance().clone()), ..outcome }
    }))
}

impl Engine for CounterEngine {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn supports(&self, forms: &Forms) -> Result<(), String> {
        let name = self.info.name;
        match (forms.counters(), self.programs) {
            (Some(_), _) => Ok(()),
            (None, Programs::Nothing) => {
                Err(format!("engine `{name}` supports counter systems (.spec, .tts) only"))
            }
            (None, _) if forms.question().property.deadlock => {
                Err(format!("engine `{name}` does not support deadlocks"))
            }
            (None, _) if !forms.is_open() => Err(format!(
                "engine `{name}` supports counter systems, and programs that leave the number of threads open"
            )),
            (None, _) => Ok(()),
        }
    }

    fn run(&self, forms: &Forms, budget: &Budget) -> Outcome {
        match forms.counters() {
            Some(counters) => self.decide(counters, budget),
            None => self.decide_program(forms, budget).unwrap_or_else(Outcome::unknown),
        }
    }
}

/// A run that was found by relaxed rules, if the exact ones allow it.
fn confirm_exactly(system: &Counters, run: Run) -> Verdict {
    match walk(system, &run) {
        Err(_) if !system.is_monotone() => {
            let why = "by relaxed rules, in which tests for an exact number let the rest vanish, a target can be covered";
            Verdict::Unknown(StopReason::GaveUp(why.to_string()))
        }
        _ => Verdict::from(run),
    }
}
