//! `reach`: which visible states can be reached?

use crate::check::{CheckError, Request};
use crate::load::{LoadError, forms};
use crate::stats::Stats;
use crate::words;
use allways_engines::confirm::confirm;
use allways_engines::engine::Takes;
use allways_engines::table::NoEngine;
use allways_engines::{
    Budget, Engines, EvidenceRejected, Forms, FreeSearch, Info, Outcome, Question, Strategy,
};
use allways_evidence::{Certificate, Invariant, StopReason, Verdict};
use allways_model::notation::show_visible;
use allways_model::pushdown::Visible;
use allways_model::task::{Instance, Task};
use serde::{Serialize, Serializer};
use std::io::{self, Write};
use std::time::Instant;

/// How a set compares with the one that was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// It is that set.
    Exactly,
    /// It is contained in it.
    AtLeast,
    /// It contains it.
    AtMost,
}

impl Bound {
    /// To stand before a number.
    pub fn words(self) -> &'static str {
        match self {
            Bound::Exactly => "exactly",
            Bound::AtLeast => "at least",
            Bound::AtMost => "at most",
        }
    }
}

/// The answer to what can be seen.
pub struct Reached<'a> {
    /// What the engine says. The verdict is safe, with the invariant, exactly if `converged`.
    pub outcome: Outcome,
    /// Whether the visible states are all there are: each was reached, and the checker has accepted an invariant that allows no
    /// more of them. What is reached is allowed, so it is enough to count.
    pub converged: bool,
    /// What the visible states are to those that can be reached.
    pub visible: Bound,
    /// Whether exactly the set asked for by bounds was explored.
    pub bounded: bool,
    /// How many states there are, if that is known.
    pub concrete_states: Option<u128>,
    /// Figures about the search.
    pub stats: Stats,
    forms: Option<Forms<'a>>,
}

/// More states than this are not listed: expanding orbits of threads that are alike may give any number.
pub const MOST_LISTED: u128 = 10_000_000;

impl Reached<'_> {
    /// What is known if not even the file was read.
    pub fn not_read(reason: StopReason) -> Reached<'static> {
        Reached {
            outcome: Outcome::unknown(reason),
            converged: false,
            visible: Bound::AtLeast,
            bounded: false,
            concrete_states: None,
            stats: Stats::default(),
            forms: None,
        }
    }

    /// The same, by this engine unless another is named.
    #[must_use]
    pub fn by(self, engine: &'static Info) -> Self {
        Reached { outcome: self.outcome.by(engine), ..self }
    }

    /// The visible states, sorted and written, if they can be listed.
    pub fn states(&self) -> Option<States<'_>> {
        let form = self.forms.as_ref()?;
        (self.outcome.visible.count() <= MOST_LISTED).then(|| States(form, self.outcome.visible.sorted()))
    }

    /// Writes the invariant, if there is one; whether there is.
    pub fn write_evidence(&self, out: &mut dyn Write) -> io::Result<bool> {
        match &self.forms {
            Some(forms) => crate::check::write(forms, &self.outcome.verdict, out),
            None => Ok(false),
        }
    }

    /// How many threads there are.
    pub fn threads(&self) -> Option<usize> {
        Some(self.forms.as_ref()?.pushdown().ok()?.system.threads())
    }
}

/// Visible states, written one by one: there may be millions.
pub struct States<'a>(&'a Forms<'a>, Vec<Visible>);

impl States<'_> {
    /// Calls this with each of them.
    pub fn try_for_each(&self, mut each: impl FnMut(String) -> io::Result<()>) -> io::Result<()> {
        let Ok(form) = self.0.pushdown() else { return Ok(()) };
        self.1.iter().try_for_each(|state| each(show_visible(&*form.system, state)))
    }
}

impl Serialize for States<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = self.0.pushdown().map_err(serde::ser::Error::custom)?;
        serializer.collect_seq(self.1.iter().map(|state| show_visible(&*form.system, state)))
    }
}

/// Which visible states of a task can be reached, whatever must be avoided. A program that leaves the number of threads open
/// has one of them.
pub fn reach<'a>(task: &'a Task, request: &Request, budget: &Budget) -> Result<Reached<'a>, CheckError> {
    let question = &request.question;
    let started = Instant::now();
    let forms = forms(task, question, true)?.at(Instance::Few(1));
    let engine = request.engine.unwrap_or_else(|| Engines::default().auto());
    forms.pushdown().map_err(|_| {
        let what = format!("reach is not for a {}: it has no list of states", task.model.kind());
        LoadError::Unfit(what, "use `allways check` to ask about a target".to_string())
    })?;
    let strategy = match engine.info().takes {
        Takes::Pushdown => Strategy::Run(engine),
        Takes::All => Strategy::Portfolio(FreeSearch::InTurns),
        _ => {
            let what = format!("engine `{}` lists no states", engine.info().name);
            let help = "leave out --engine, or use allways check".to_string();
            return Err(CheckError::Unsupported(NoEngine { what, help }));
        }
    };
    let nothing = || Outcome::unknown(StopReason::GaveUp("nothing applies".to_string()));
    let mut outcome = strategy.run(&forms, budget).unwrap_or_else(nothing).by(engine.info());
    confirm(&forms, &mut outcome, budget);
    if let Some(rejected) = outcome.rejected {
        return Err(rejected.into());
    }
    let (converged, visible) = converged(&mut outcome)?;
    let bounded = within_bounds(question, &outcome);
    let searching = started.elapsed().saturating_sub(outcome.checking);
    let mut stats = Stats::new(&outcome.figures, searching, None, outcome.checking);
    stats.journal = forms.journal().runs();
    let concrete_states = concrete_states(&outcome, converged, bounded);
    Ok(Reached { outcome, converged, visible, bounded, concrete_states, stats, forms: Some(forms) })
}

/// Whether an accepted invariant allows no more visible states than were reached; if not, nothing is known.
fn converged(outcome: &mut Outcome) -> Result<(bool, Bound), EvidenceRejected> {
    let invariant = match &outcome.verdict {
        Verdict::Safe(Certificate::Invariant(invariant)) => invariant,
        Verdict::Safe(_) => {
            let why = "products of thread states bound what is reachable, and are not counted".to_string();
            outcome.verdict = Verdict::Unknown(StopReason::GaveUp(why));
            return Ok((false, Bound::AtLeast));
        }
        Verdict::Unsafe(_) | Verdict::Unknown(_) => return Ok((false, Bound::AtLeast)),
    };
    let (allowed, reached) = (invariant.visible_count(), outcome.visible.count());
    let doubt = if !outcome.exact {
        "the visible states are a bound: not each of them is known to be reachable".to_string()
    } else if reached < allowed {
        let more = allowed - reached;
        format!("{more} of the visible states that the invariant allows were not reached")
    } else if reached > allowed {
        let why = format!("it allows {allowed} visible states, and {reached} were reached");
        let engine = outcome.engine.map_or("", |info| info.name);
        return Err(EvidenceRejected { engine, claim: "safe", why });
    } else {
        // Counting stops at the largest number.
        return Ok((true, if reached == u128::MAX { Bound::AtLeast } else { Bound::Exactly }));
    };
    outcome.verdict = Verdict::Unknown(StopReason::GaveUp(doubt));
    Ok((false, if outcome.exact { Bound::AtLeast } else { Bound::AtMost }))
}

/// Whether exactly the set asked for by bounds was explored. A number of states is a limit, not a set.
fn within_bounds(question: &Question, outcome: &Outcome) -> bool {
    let figures = &outcome.figures;
    let grid =
        question.rounds.is_some() && (figures.rounds, figures.delays) == (question.rounds, question.delays);
    let contexts = question.contexts.is_some() && figures.contexts == question.contexts;
    let few =
        question.max_states.is_none_or(|max| figures.concrete_states.is_some_and(|states| states <= max));
    let depth = question.max_depth.is_some() && few;
    matches!(outcome.verdict, Verdict::Unknown(StopReason::Bound(_))) && (grid || contexts || depth)
}

/// How many states there are, if that is known. Most engines converge without having seen every state. Some
/// [list](allways_engines::Info::lists_states) them all in their invariants, with whole stacks, up to the renaming of alike
/// threads; and where no stack is deeper than its top symbol, what is visible is all there is.
fn concrete_states(outcome: &Outcome, converged: bool, bounded: bool) -> Option<u128> {
    let lists = outcome.engine.is_some_and(|info| info.lists_states);
    match &outcome.verdict {
        Verdict::Safe(Certificate::Invariant(invariant)) if lists && whole(invariant) => {
            let orbits = invariant.states().map(|(_, windows)| invariant.kinds.orbit(windows));
            Some(orbits.fold(0, u128::saturating_add))
        }
        Verdict::Safe(Certificate::Invariant(invariant))
            if converged
                && invariant.window == 1
                && invariant.windows.iter().flatten().all(|window| !window.more) =>
        {
            Some(outcome.visible.count())
        }
        Verdict::Unknown(_) if bounded => outcome.figures.concrete_states.map(|states| states as u128),
        _ => None,
    }
}

/// Whether an invariant keeps whole stacks: none fills the window.
fn whole(invariant: &Invariant) -> bool {
    invariant.windows.iter().flatten().all(|window| window.symbols.len() < invariant.window)
}

/// Why nothing more is known, to stand after "because".
pub(crate) fn because(outcome: &Outcome) -> Option<String> {
    match &outcome.verdict {
        Verdict::Unknown(reason) => Some(words::because(reason)),
        Verdict::Safe(_) | Verdict::Unsafe(_) => None,
    }
}
