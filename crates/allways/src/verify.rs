//! Asks an engine, and believes it only as far as the checkers of evidence do.
//!
//! A trace is replayed and an invariant is tested before either counts as an answer, under the same limits as the search
//! itself. Rejected evidence is a [`Refuted`], a bug of ours and never a verdict. A trace that was accepted is made as short
//! as there is time for, and accepted anew.

use allways_engines::engine::{Engine, Figures, Question, Report, VisibleStates, Watch};
use allways_engines::meet::coverability::threads::{self, Covered};
use allways_engines::{Shortest, shortest};
use allways_evidence::{
    Certificate, Counterexample, Judge, Rejection, StopReason, Subject, Verdict, certify as accept, replay,
};
use allways_model::property::Property;
use allways_model::pushdown::Pushdown;
use allways_model::symmetry::Kinds;
use std::fmt;
use std::time::{Duration, Instant};

/// The answer to whether the property can be violated.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What the engine reports. The verdict is the checkers': unknown if they did not get to the end.
    pub report: Report,
    /// Whether there is evidence and a checker has accepted it: always so if the verdict is safe or unsafe.
    pub certified: bool,
    /// Whether the trace, if the verdict is unsafe, has the fewest context switches of all, and among those the fewest steps.
    /// If not, this is not known; within a bound it is not asked.
    pub shortest: bool,
    /// How long the engine took.
    pub searching: Duration,
    /// How long the search for a shorter trace took.
    pub shortening: Duration,
    /// How long the checker took.
    pub checking: Duration,
}

impl Checked {
    /// That nothing is known.
    pub fn nothing(report: Report) -> Checked {
        Checked {
            report,
            certified: false,
            shortest: false,
            searching: Duration::ZERO,
            shortening: Duration::ZERO,
            checking: Duration::ZERO,
        }
    }
}

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
#[derive(Clone, Debug)]
pub struct Reached {
    /// What the engine reports. The verdict is safe, with the invariant, exactly if `converged`.
    pub report: Report,
    /// Whether the visible states of the report are all there are: each was reached, and the checker has accepted an
    /// invariant that allows no more of them. What is reached is allowed, so it is enough to count.
    pub converged: bool,
    /// What the visible states of the report are to those that can be reached.
    pub visible: Bound,
    /// How long the engine took.
    pub searching: Duration,
    /// How long the checker took.
    pub checking: Duration,
}

/// An engine's answer that a checker does not accept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refuted {
    /// The engine.
    pub engine: &'static str,
    /// What it claimed.
    pub claim: &'static str,
    /// The failing step.
    pub why: String,
}

impl fmt::Display for Refuted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the engine {} answers {}, but its evidence is rejected: {}",
            self.engine, self.claim, self.why
        )
    }
}

impl std::error::Error for Refuted {}

/// Whether the property of the question can be violated.
pub fn check(
    system: &dyn Pushdown,
    question: &Question,
    engine: &dyn Engine,
    watch: &Watch,
) -> Result<Checked, Refuted> {
    let started = Instant::now();
    let mut report = match watch.room_for(0) {
        Ok(()) => engine.run(system, question, watch),
        // An engine looks at its limits now and then only; one that is over from the start leaves nothing to find.
        Err(reason) => nothing(reason),
    };
    let searching = started.elapsed();
    if let (Verdict::Unknown(StopReason::Bound(_)), Some(why)) = (&report.verdict, system.incomplete()) {
        // Not even what lies within the bound was explored to the end.
        report.verdict = Verdict::Unknown(StopReason::GaveUp(why));
    }
    let certified = match certify(system, &question.property, &report.verdict, watch) {
        Ok(certified) => certified,
        Err(Rejection::Stopped(reason)) => {
            report.verdict = Verdict::Unknown(reason);
            if !report.exact {
                // They may be a bound from above, and nobody has confirmed it: nothing is known of them.
                report.visible = VisibleStates::new(Kinds::distinct(system.threads()));
            }
            false
        }
        Err(rejection) => {
            let claim = if let Verdict::Unsafe(_) = report.verdict { "unsafe" } else { "safe" };
            return Err(Refuted { engine: name(engine, &report), claim, why: rejection.to_string() });
        }
    };
    let mut checked = Checked {
        report,
        certified,
        shortest: false,
        searching,
        shortening: Duration::ZERO,
        checking: started.elapsed() - searching,
    };
    if !question.bounded() {
        shorten(system, &question.property, &mut checked, watch)?;
    }
    Ok(checked)
}

/// Whether the property of the question holds for any number of threads, by counting those that are alike. A proof has been
/// accepted by the checker; that it is violated is to be confirmed with the numbers of threads given.
pub fn cover(
    system: &dyn Pushdown,
    question: &Question,
    watch: &Watch,
) -> Result<Result<Checked, Covered>, Refuted> {
    let started = Instant::now();
    let counted = match threads::cover(system, question, watch) {
        Covered::Safe(counted) => counted,
        other => return Ok(Err(other)),
    };
    let searching = started.elapsed();
    let verdict = Verdict::Safe(Certificate::Counted(counted));
    match certify(system, &question.property, &verdict, watch) {
        Ok(_) => {
            let engine = Some("coverability");
            let report = Report { verdict, engine, ..nothing(StopReason::Interrupted) };
            Ok(Ok(Checked {
                report,
                certified: true,
                shortest: false,
                searching,
                shortening: Duration::ZERO,
                checking: started.elapsed() - searching,
            }))
        }
        Err(Rejection::Stopped(reason)) => Ok(Err(Covered::Unknown(reason))),
        Err(rejection) => Err(Refuted { engine: "coverability", claim: "safe", why: rejection.to_string() }),
    }
}

/// Replaces an accepted trace by the shortest one that is found, once that is accepted, too.
pub fn shorten(
    system: &dyn Pushdown,
    property: &Property,
    checked: &mut Checked,
    watch: &Watch,
) -> Result<(), Refuted> {
    let Verdict::Unsafe(Counterexample::Trace(known)) = &mut checked.report.verdict else { return Ok(()) };
    let started = Instant::now();
    let Shortest { trace, minimal } = shortest(system, property, known, watch);
    checked.shortening = started.elapsed();
    match replay(system, property, &trace) {
        Ok(()) => {
            *known = trace;
            checked.shortest = minimal;
        }
        // It rests on rules that may be missing, and the known one does not.
        Err(Rejection::Stopped(_)) => (),
        Err(rejection) => {
            return Err(Refuted { engine: "shortest", claim: "unsafe", why: rejection.to_string() });
        }
    }
    checked.checking += started.elapsed() - checked.shortening;
    Ok(())
}

/// Which visible states can be reached; the property of the question is ignored.
pub fn reach(
    system: &dyn Pushdown,
    question: &Question,
    engine: &dyn Engine,
    watch: &Watch,
) -> Result<Reached, Refuted> {
    let question = Question { property: Property::default(), ..question.clone() };
    let Checked { mut report, searching, mut checking, .. } = check(system, &question, engine, watch)?;
    let started = Instant::now();
    let mut converged = false;
    let mut visible = Bound::AtLeast;
    if matches!(&report.verdict, Verdict::Safe(certificate) if !matches!(certificate, Certificate::Invariant(_)))
    {
        let why = "products of thread states bound what is reachable, and are not counted".to_string();
        report.verdict = Verdict::Unknown(StopReason::GaveUp(why));
    }
    if let Verdict::Safe(Certificate::Invariant(invariant)) = &report.verdict {
        let (allowed, reached) = (invariant.visible_count(), report.visible.count());
        let doubt = if !report.exact {
            Some("the visible states are a bound: not each of them is known to be reachable".to_string())
        } else if reached < allowed {
            Some(format!(
                "{} of the visible states that the invariant allows were not reached",
                allowed - reached
            ))
        } else if reached > allowed {
            let why = format!("it allows {allowed} visible states, and {reached} were reached");
            return Err(Refuted { engine: name(engine, &report), claim: "safe", why });
        } else {
            None
        };
        converged = doubt.is_none();
        visible = match (converged, report.exact) {
            // Counting stops there.
            (true, _) if reached == u128::MAX => Bound::AtLeast,
            (true, _) => Bound::Exactly,
            (false, true) => Bound::AtLeast,
            (false, false) => Bound::AtMost,
        };
        if let Some(doubt) = doubt {
            report.verdict = Verdict::Unknown(StopReason::GaveUp(doubt));
        }
    }
    checking += started.elapsed();
    Ok(Reached { report, converged, visible, searching, checking })
}

/// A report on a search that stopped before it started.
pub fn nothing(reason: StopReason) -> Report {
    Report {
        verdict: Verdict::Unknown(reason),
        visible: VisibleStates::new(Kinds::distinct(0)),
        exact: false,
        figures: Figures::default(),
        engine: None,
    }
}

/// The engine that gave the answer.
pub fn name(asked: &dyn Engine, report: &Report) -> &'static str {
    report.engine.unwrap_or(asked.name())
}

/// Whether there is evidence, all of it accepted.
fn certify(
    system: &dyn Pushdown,
    property: &Property,
    verdict: &Verdict,
    watch: &Watch,
) -> Result<bool, Rejection> {
    let Some(evidence) = verdict.evidence() else { return Ok(false) };
    let stop = || watch.room_for(0).err();
    accept(&Subject::Pushdown { system, property }, evidence, &mut Judge::new(&stop))?;
    Ok(true)
}
