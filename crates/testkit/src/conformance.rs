//! What every engine must satisfy, whatever its method.
//!
//! [`ask`] is how tests put a question to an engine: the verdict goes through the checker first, as it does in the product.

use crate::programs::{Limits, Mode, explore, text};
use allways_engines::confirm::confirm;
use allways_engines::engine::Takes;
use allways_engines::{Budget, Engine, Engines, Forms, Outcome, Question};
use allways_evidence::{
    BadEvidence, Certificate, Counterexample, Evidence, EvidenceRef, Judge, Rejection, Subject, Verdict,
    certify, read_evidence, write_evidence,
};
use allways_lang::aw;
use allways_model::encoding::Threads;
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{EMPTY, Pushdown, Shared, Symbol, Visible};
use allways_model::task::{Model, Task};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

static ON_SYSTEMS: LazyLock<Vec<&'static dyn Engine>> = LazyLock::new(|| {
    let takes = |engine: &&'static dyn Engine| matches!(engine.info().takes, Takes::All | Takes::Pushdown);
    Engines::default().iter().filter(takes).collect()
});

/// The engines that answer about pushdown systems.
pub fn engines() -> &'static [&'static dyn Engine] {
    &ON_SYSTEMS
}

/// The engine of this name.
pub fn named(name: &str) -> &'static dyn Engine {
    Engines::default().named(name).unwrap_or_else(|| panic!("there is no engine {name}"))
}

/// Runs an engine on a system.
pub fn run(engine: &dyn Engine, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
    engine.run(&Forms::of_system(system, question), budget)
}

/// Runs an engine and has its evidence checked. Panics if the checker rejects it.
pub fn ask(engine: &dyn Engine, system: &dyn Pushdown, question: &Question) -> Outcome {
    let report = run(engine, system, question, &Budget::unlimited());
    let name = engine.info().name;
    if let Some(evidence) = report.verdict.evidence() {
        accepted(system, &question.property, evidence)
            .unwrap_or_else(|rejection| panic!("{name}: the {} is rejected: {rejection}", evidence.kind()));
    }
    let visible = report.visible.sorted();
    assert!(visible.is_sorted_by(|one, next| one < next), "{name}: a visible state is reported twice");
    report
}

/// The checkers' word on evidence about a system; they are never stopped.
pub fn accepted<'e>(
    system: &dyn Pushdown,
    property: &Property,
    evidence: impl Into<EvidenceRef<'e>>,
) -> Result<(), Rejection> {
    certify(&Subject::Pushdown { system, property, inputs: None }, evidence, &mut Judge::new(&|| None))
}

static NOTHING: Property = Property { bad: Vec::new(), deadlock: false };

/// Evidence about a system as text.
pub fn written<'e>(system: &dyn Pushdown, evidence: impl Into<EvidenceRef<'e>>) -> Vec<u8> {
    let mut text = Vec::new();
    let subject = Subject::Pushdown { system, property: &NOTHING, inputs: None };
    write_evidence(&subject, evidence, &mut text).expect("evidence about the system");
    text
}

/// Evidence about a system from text.
pub fn read(system: &dyn Pushdown, text: &[u8]) -> Result<Evidence, BadEvidence> {
    read_evidence(&Subject::Pushdown { system, property: &NOTHING, inputs: None }, text)
}

/// Compares what an engine says of a system with what is known of it.
///
/// `known` are visible states that are certainly reachable; `complete` says that there are no others.
/// Returns whether the engine decided the question.
pub fn conforms(
    engine: &dyn Engine,
    system: &dyn Pushdown,
    known: &BTreeSet<Visible>,
    complete: bool,
) -> bool {
    conforms_within(engine, system, &Question::default(), known, complete)
}

/// The same, under the bounds of a question.
pub fn conforms_within(
    engine: &dyn Engine,
    system: &dyn Pushdown,
    bounds: &Question,
    known: &BTreeSet<Visible>,
    complete: bool,
) -> bool {
    let name = engine.info().name;
    let report = ask(engine, system, bounds);
    let found: BTreeSet<Visible> = report.visible.iter().collect();
    assert_eq!(report.visible.count(), found.len() as u128, "{name}: the count is wrong");
    let proved = matches!(report.verdict, Verdict::Safe(Certificate::Invariant(_)));
    if complete && (report.exact || !proved) {
        assert!(found.is_subset(known), "{name}: found states that are not reachable");
    }
    if proved {
        assert!(known.is_subset(&found), "{name}: converged, but reachable states are missing");
    }
    let converged = proved && report.exact;
    // The verdict on each visible state that is known, and on one that is not.
    let strange = Visible { shared: Shared(u32::MAX), tops: vec![Symbol(u32::MAX); system.threads()] };
    for visible in known.iter().take(5).chain([&strange]) {
        let question = Question { property: avoid(visible), ..bounds.clone() };
        let verdict = ask(engine, system, &question).verdict;
        match verdict {
            Verdict::Safe(_) => assert!(!known.contains(visible), "{name}: {visible:?} is reachable"),
            Verdict::Unsafe(_) => {
                assert!(!complete || known.contains(visible), "{name}: {visible:?} is not reachable")
            }
            Verdict::Unknown(_) => assert!(
                !converged || decided_with_more_states(engine, system, &question),
                "{name}: decides more without a property than with one"
            ),
        }
    }
    agrees_on_deadlocks(engine, system, bounds, known, complete, converged);
    converged
}

/// The verdict when deadlocks are to be avoided, by the definition: no thread moves, and some stack is not empty.
fn agrees_on_deadlocks(
    engine: &dyn Engine,
    system: &dyn Pushdown,
    bounds: &Question,
    known: &BTreeSet<Visible>,
    complete: bool,
    converged: bool,
) {
    let name = engine.info().name;
    let stuck = |visible: &Visible| {
        let Visible { shared, tops } = visible;
        let mut rules = Vec::new();
        tops.iter().enumerate().for_each(|(thread, &top)| system.rules(thread, *shared, top, &mut rules));
        rules.is_empty() && tops.iter().any(|&top| top != EMPTY)
    };
    let deadlock = known.iter().find(|visible| stuck(visible));
    let property = Property { deadlock: true, ..Property::default() };
    let question = Question { property, ..bounds.clone() };
    match ask(engine, system, &question).verdict {
        Verdict::Safe(_) => assert!(deadlock.is_none(), "{name}: {deadlock:?} is reachable"),
        Verdict::Unsafe(Counterexample::Run(_)) => panic!("{name}: a run of a counter system"),
        Verdict::Unsafe(Counterexample::Lasso(_)) => panic!("{name}: a run without progress"),
        Verdict::Unsafe(Counterexample::Trace(trace)) => {
            assert!(stuck(&trace.last().visible()), "{name}: the trace ends in no deadlock");
            assert!(!complete || deadlock.is_some(), "{name}: no deadlock is reachable");
        }
        Verdict::Unknown(_) => assert!(
            !converged || decided_with_more_states(engine, system, &question),
            "{name}: decides more without deadlocks than with them"
        ),
    }
}

/// Whether more states decide a question that a limit on states has left open. To see a visible state, a set of stacks is
/// enough; a trace to it consists of states, and a search for one may pass through more than the limit.
fn decided_with_more_states(engine: &dyn Engine, system: &dyn Pushdown, question: &Question) -> bool {
    question.max_states.is_some_and(|max| {
        let more = Question { max_states: Some(max * 16), ..question.clone() };
        !matches!(ask(engine, system, &more).verdict, Verdict::Unknown(_))
    })
}

/// The property that this visible state is never seen.
pub fn avoid(visible: &Visible) -> Property {
    let tops = visible.tops.iter().map(|&top| Some(top)).collect();
    Property { bad: vec![Pattern { shared: Some(visible.shared), tops }], ..Property::default() }
}

/// Compares what an engine says of random programs, as far as the checkers accept it, with brute force. Returns how many it
/// decided.
pub fn conforms_on_programs(engine: &'static dyn Engine, programs: u64) -> usize {
    const LIMITS: Limits = Limits { states: 3000, threads: 8, depth: 4 };
    let name = engine.info().name;
    let mut decided = 0;
    for seed in 0..programs {
        let text = text(seed, Mode::Threads);
        let program = aw::parse(text.as_bytes()).program.expect("generated programs are well formed");
        let counts = Threads::of(&program, 1).running;
        let Some(explored) = explore(&program, &counts, LIMITS) else { continue };
        let task = Task::new(Model::Program(Arc::new(program)));
        let forms = Forms::new(&task, &Question::default());
        if engine.supports(&forms).is_err() {
            continue;
        }
        let budget = Budget::of_time(Duration::from_millis(500));
        let mut outcome = engine.run(&forms, &budget).by(engine.info());
        confirm(&forms, &mut outcome, &budget);
        if let Some(rejected) = outcome.rejected {
            panic!("{text}\n{rejected}");
        }
        match outcome.verdict {
            Verdict::Safe(_) => assert!(!explored.violation, "{text}\n{name}: safe"),
            Verdict::Unsafe(_) => assert!(explored.violation || explored.cut, "{text}\n{name}: unsafe"),
            Verdict::Unknown(_) => continue,
        }
        decided += 1;
    }
    decided
}
