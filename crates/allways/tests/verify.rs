//! An engine that lies is found out.

use allways::{
    Budget, CheckError, Engine, Loaded, Options, Question, Request, StopReason, Verdict, check, load, reach,
};
use allways_engines::confirm::confirm;
use allways_engines::engine::{Figures, Info, VisibleStates};
use allways_engines::{Engines, Forms, Outcome, PushdownEngine};
use allways_evidence::{Invariant, Trace};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{Explicit, Pushdown, Rule, Shared, State, Symbol};
use allways_model::symmetry::Kinds;
use allways_model::task::Model;

/// Says what it is told to say.
struct Liar {
    verdict: Verdict,
    visible: VisibleStates,
}

impl PushdownEngine for Liar {
    const INFO: Info = Info::new("liar", "says what it is told to say");

    fn search(&self, _: &dyn Pushdown, _: &Question, _: &Budget) -> Outcome {
        Outcome::seen(self.verdict.clone(), self.visible.clone(), true, Figures::default())
    }
}

fn asking(liar: Liar) -> Request {
    Request { engine: Some(Box::leak(Box::new(liar))), ..Request::default() }
}

fn corpus(name: &str) -> Loaded {
    let path = format!("{}/../../corpus/pds/{name}.pds", env!("CARGO_MANIFEST_DIR"));
    load(path, &Options::default(), &Budget::unlimited()).expect("a system")
}

fn rules(loaded: &Loaded) -> Explicit {
    match &loaded.task.model {
        Model::Rules(rules) => (**rules).clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn false_evidence_is_no_verdict() {
    let loaded = corpus("lock-racy");
    let initial = rules(&loaded).initial()[0].clone();
    let lies = [
        Verdict::from(Invariant::new(Kinds::distinct(2), 1)),
        Invariant::new(Kinds::distinct(7), 1).into(),
        Trace { initial, steps: vec![] }.into(),
    ];
    for verdict in lies {
        let request = asking(Liar { verdict, visible: VisibleStates::new(Kinds::distinct(2)) });
        let Err(CheckError::Rejected(rejected)) = check(&loaded.task, &request, &Budget::unlimited()) else {
            panic!("a lie");
        };
        assert!(rejected.engine == "liar" && !rejected.why.is_empty(), "{rejected}");
        assert!(reach(&loaded.task, &request, &Budget::unlimited()).is_err());
    }
}

#[test]
fn convergence_needs_both_sides() {
    let loaded = corpus("lock-recursive");
    let ask = |request: &Request| reach(&loaded.task, request, &Budget::unlimited());
    let honest = ask(&Request::default()).expect("an answer");
    assert!(honest.converged);
    let Outcome { verdict, visible, .. } = honest.outcome;

    let mut fewer = VisibleStates::new(Kinds::distinct(2));
    visible
        .iter()
        .skip(1)
        .for_each(|state| fewer.push([state.shared.0].into_iter().chain(state.tops.iter().map(|top| top.0))));
    let reached = ask(&asking(Liar { verdict: verdict.clone(), visible: fewer }));
    let reached = reached.expect("true, but not all of it");
    assert!(!reached.converged);
    assert!(matches!(reached.outcome.verdict, Verdict::Unknown(StopReason::GaveUp(_))));

    let mut more = VisibleStates::new(Kinds::distinct(2));
    visible
        .iter()
        .for_each(|state| more.push([state.shared.0].into_iter().chain(state.tops.iter().map(|top| top.0))));
    more.push([1, 3, 3].into_iter());
    assert!(ask(&asking(Liar { verdict, visible: more })).is_err(), "reached, and excluded");
}

#[test]
fn errors_are_readable() {
    let read = |path| load(path, &Options::default(), &Budget::unlimited());
    let faulty = read("Cargo.toml").expect_err("no system");
    assert!(faulty.to_string().starts_with("Cargo.toml:1:1: expected "), "{faulty}");
    let missing = read("nowhere").expect_err("no file");
    assert!(missing.to_string().starts_with("cannot read nowhere: "), "{missing}");
}

/// A system that could not make all its rules.
struct Incomplete(Explicit);

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

/// What an engine says of a system, as far as the checkers agree.
fn answer(engine: &dyn Engine, system: &dyn Pushdown, question: &Question) -> Outcome {
    let forms = Forms::of_system(system, question);
    let mut outcome = engine.run(&forms, &Budget::unlimited()).by(engine.info());
    confirm(&forms, &mut outcome, &Budget::unlimited());
    assert_eq!(outcome.rejected, None);
    outcome
}

#[test]
fn a_system_without_all_its_rules_is_never_safe() {
    let bounds = || Question { rounds: Some(3), delays: Some(2), contexts: Some(3), ..Question::default() };
    let why = Verdict::Unknown(StopReason::GaveUp("a number is too large".to_string()));
    let bad = vec![Pattern { shared: None, tops: vec![Some(Symbol(2)), Some(Symbol(2))] }];
    let property = Property { bad, ..Property::default() };
    let system = Incomplete(rules(&corpus("locks-in-order")));
    for engine in Engines::default().iter() {
        if engine.supports(&Forms::of_system(&system, &bounds())).is_err() {
            continue;
        }
        let name = engine.info().name;
        let outcome = answer(engine, &system, &Question { property: property.clone(), ..bounds() });
        // A thread-modular method may give up for its own reasons before it notices.
        let gave_up = matches!(outcome.verdict, Verdict::Unknown(StopReason::GaveUp(_)));
        let right = outcome.verdict == why || gave_up && name.starts_with("modular");
        assert!(right && !outcome.certified, "{name}: {:?}", outcome.verdict);
        let reached = answer(engine, &system, &bounds()).verdict;
        assert!(reached == why, "{name}: {reached:?}");
    }
    let loaded = corpus("lock-racy");
    let question = Question { property: loaded.task.property.clone(), ..Question::default() };
    let outcome = answer(Engines::default().auto(), &Incomplete(rules(&loaded)), &question);
    assert!(matches!(outcome.verdict, Verdict::Unsafe(_)) && outcome.certified, "a run is a run");
}
