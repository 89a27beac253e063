//! An engine that lies is found out.

use allways::{
    Budget, Engine, Figures, Question, Report, StopReason, Verdict, VisibleStates, auto, check, load, reach,
};
use allways_engines::engines;
use allways_evidence::{Invariant, Trace};
use allways_model::pushdown::{Pushdown, Rule, Shared, State, Symbol};
use allways_model::symmetry::Kinds;

/// Says what it is told to say.
struct Liar {
    verdict: Verdict,
    visible: VisibleStates,
}

impl Engine for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn summary(&self) -> &'static str {
        "says what it is told to say"
    }

    fn run(&self, _: &dyn Pushdown, _: &Question, _: &Budget) -> Report {
        Report {
            verdict: self.verdict.clone(),
            visible: self.visible.clone(),
            exact: true,
            figures: Figures::default(),
            engine: None,
        }
    }
}

fn corpus(name: &str) -> (allways::Loaded, Question) {
    let path = format!("{}/../../corpus/pds/{name}.pds", env!("CARGO_MANIFEST_DIR"));
    let loaded = load(path, &allways::Options::default(), &Budget::unlimited()).expect("a system");
    let property = loaded.property(&[], &Budget::unlimited()).expect("a property");
    (loaded, Question { property, ..Question::default() })
}

#[test]
fn false_evidence_is_no_verdict() {
    let (loaded, question) = corpus("lock-racy");
    let initial = loaded.system.initial()[0].clone();
    let lies = [
        Verdict::from(Invariant::new(Kinds::distinct(2), 1)),
        Invariant::new(Kinds::distinct(7), 1).into(),
        Trace { initial, steps: vec![] }.into(),
    ];
    for verdict in lies {
        let liar = Liar { verdict, visible: VisibleStates::new(Kinds::distinct(2)) };
        let refuted = check(&loaded.system, &question, &liar, &Budget::unlimited()).expect_err("a lie");
        assert!(refuted.engine == "liar" && !refuted.why.is_empty(), "{refuted}");
        assert!(reach(&loaded.system, &question, &liar, &Budget::unlimited()).is_err());
    }
}

#[test]
fn convergence_needs_both_sides() {
    let (loaded, question) = corpus("lock-recursive");
    let honest = reach(&loaded.system, &question, auto(), &Budget::unlimited()).expect("an answer");
    assert!(honest.converged);
    let Report { verdict, visible, .. } = honest.report;

    let mut fewer = VisibleStates::new(Kinds::distinct(2));
    visible.iter().skip(1).for_each(|state| fewer.push([state.shared].into_iter().chain(state.tops)));
    let liar = Liar { verdict: verdict.clone(), visible: fewer };
    let reached =
        reach(&loaded.system, &question, &liar, &Budget::unlimited()).expect("true, but not all of it");
    assert!(!reached.converged);
    assert!(matches!(reached.report.verdict, Verdict::Unknown(StopReason::GaveUp(_))));

    let mut more = VisibleStates::new(Kinds::distinct(2));
    visible.iter().for_each(|state| more.push([state.shared].into_iter().chain(state.tops)));
    more.push([1, 3, 3].into_iter());
    let liar = Liar { verdict, visible: more };
    assert!(reach(&loaded.system, &question, &liar, &Budget::unlimited()).is_err(), "reached, and excluded");
}

#[test]
fn errors_are_readable() {
    let faulty =
        load("Cargo.toml", &allways::Options::default(), &Budget::unlimited()).expect_err("no system");
    assert!(faulty.to_string().starts_with("Cargo.toml:1:1: expected "), "{faulty}");
    let missing = load("nowhere", &allways::Options::default(), &Budget::unlimited()).expect_err("no file");
    assert!(missing.to_string().starts_with("cannot read nowhere: "), "{missing}");
}

/// A system that could not make all its rules.
struct Incomplete(allways::System);

impl Pushdown for Incomplete {
    fn threads(&self) -> usize {
        self.0.threads()
    }

    fn initial(&self) -> Vec<State> {
        self.0.initial()
    }

    fn rules(&self, thread: usize, shared: Shared, top: Symbol, out: &mut Vec<Rule>) {
        self.0.rules(thread, shared, top, out);
    }

    fn kind(&self, thread: usize) -> usize {
        self.0.kind(thread)
    }

    fn incomplete(&self) -> Option<String> {
        Some("a number is too large".to_string())
    }

    fn shared_name(&self, shared: Shared) -> String {
        self.0.shared_name(shared)
    }

    fn shared_named(&self, name: &str) -> Option<Shared> {
        self.0.shared_named(name)
    }

    fn symbol_name(&self, thread: usize, symbol: Symbol) -> String {
        self.0.symbol_name(thread, symbol)
    }

    fn symbol_named(&self, thread: usize, name: &str) -> Option<Symbol> {
        self.0.symbol_named(thread, name)
    }
}

#[test]
fn a_system_without_all_its_rules_is_never_safe() {
    let bounds = || Question { rounds: Some(3), delays: Some(2), contexts: Some(3), ..Question::default() };
    let why = Verdict::Unknown(StopReason::GaveUp("a number is too large".to_string()));
    let (loaded, _) = corpus("locks-in-order");
    let property = loaded.property(&["*|2,2".to_string()], &Budget::unlimited()).expect("a property");
    let system = Incomplete(loaded.system);
    for engine in engines() {
        let question = Question { property: property.clone(), ..bounds() };
        let checked = check(&system, &question, *engine, &Budget::unlimited()).expect("no lie");
        // A thread-modular method may give up for its own reasons before it notices.
        let gave_up = matches!(checked.report.verdict, Verdict::Unknown(StopReason::GaveUp(_)));
        let right = checked.report.verdict == why || gave_up && engine.name().starts_with("modular");
        assert!(right && !checked.certified, "{}: {checked:?}", engine.name());
        let reached = reach(&system, &bounds(), *engine, &Budget::unlimited()).expect("no lie");
        assert!(reached.report.verdict == why && !reached.converged, "{}: {reached:?}", engine.name());
    }
    let (loaded, question) = corpus("lock-racy");
    let checked = check(&Incomplete(loaded.system), &question, auto(), &Budget::unlimited()).expect("no lie");
    assert!(matches!(checked.report.verdict, Verdict::Unsafe(_)) && checked.certified, "a run is a run");
}
