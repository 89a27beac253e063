//! What every engine must satisfy, whatever its method.
//!
//! [`ask`] is how tests put a question to an engine: the verdict goes through the checker first, as it does in the product.

use allways_engines::engine::Budget;
use allways_engines::{Engine, Question, Report};
use allways_evidence::{
    BadEvidence, Certificate, Counterexample, Evidence, EvidenceRef, Judge, Rejection, Subject, Verdict,
    certify, read_evidence, write_evidence,
};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{EMPTY, Pushdown, Visible};
use std::collections::BTreeSet;

/// Runs an engine and has its evidence checked. Panics if the checker rejects it.
pub fn ask(engine: &dyn Engine, system: &dyn Pushdown, question: &Question) -> Report {
    let report = engine.run(system, question, &Budget::unlimited());
    let name = engine.name();
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
    certify(&Subject::Pushdown { system, property }, evidence, &mut Judge::new(&|| None))
}

static NOTHING: Property = Property { bad: Vec::new(), deadlock: false };

/// Evidence about a system as text.
pub fn written<'e>(system: &dyn Pushdown, evidence: impl Into<EvidenceRef<'e>>) -> Vec<u8> {
    let mut text = Vec::new();
    let subject = Subject::Pushdown { system, property: &NOTHING };
    write_evidence(&subject, evidence, &mut text).expect("evidence about the system");
    text
}

/// Evidence about a system from text.
pub fn read(system: &dyn Pushdown, text: &[u8]) -> Result<Evidence, BadEvidence> {
    read_evidence(&Subject::Pushdown { system, property: &NOTHING }, text)
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
    let name = engine.name();
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
    let strange = Visible { shared: u32::MAX, tops: vec![u32::MAX; system.threads()] };
    for visible in known.iter().take(5).chain([&strange]) {
        let question = Question { property: avoid(visible), ..bounds.clone() };
        let verdict = ask(engine, system, &question).verdict;
        match verdict {
            Verdict::Safe(_) => assert!(!known.contains(visible), "{name}: {visible:?} is reachable"),
            Verdict::Unsafe(_) => {
                assert!(!complete || known.contains(visible), "{name}: {visible:?} is not reachable")
            }
            Verdict::Unknown(_) => {
                assert!(!converged, "{name}: decides more without a property than with one")
            }
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
    let name = engine.name();
    let stuck = |visible: &Visible| {
        let Visible { shared, tops } = visible;
        let mut rules = Vec::new();
        tops.iter().enumerate().for_each(|(thread, &top)| system.rules(thread, *shared, top, &mut rules));
        rules.is_empty() && tops.iter().any(|&top| top != EMPTY)
    };
    let deadlock = known.iter().find(|visible| stuck(visible));
    let property = Property { deadlock: true, ..Property::default() };
    match ask(engine, system, &Question { property, ..bounds.clone() }).verdict {
        Verdict::Safe(_) => assert!(deadlock.is_none(), "{name}: {deadlock:?} is reachable"),
        Verdict::Unsafe(Counterexample::Run(_)) => panic!("{name}: a run of a counter system"),
        Verdict::Unsafe(Counterexample::Trace(trace)) => {
            assert!(stuck(&trace.last().visible()), "{name}: the trace ends in no deadlock");
            assert!(!complete || deadlock.is_some(), "{name}: no deadlock is reachable");
        }
        Verdict::Unknown(_) => assert!(!converged, "{name}: decides more without deadlocks than with them"),
    }
}

/// The property that this visible state is never seen.
pub fn avoid(visible: &Visible) -> Property {
    let tops = visible.tops.iter().map(|&top| Some(top)).collect();
    Property { bad: vec![Pattern { shared: Some(visible.shared), tops }], ..Property::default() }
}
