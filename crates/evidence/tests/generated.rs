//! Systems whose rules are made on the fly: threads may end otherwise than with an empty stack, and the rules may not be all
//! there are.

mod common;

use allways_evidence::{Invariant, Rejection, StopReason, Window, replay};
use allways_model::property::Property;
use allways_model::pushdown::{Explicit, Pushdown, Rule, Shared, State, Symbol};
use allways_model::symmetry::Kinds;
use common::{add_state, check, close, nothing, system, trace};

/// A system given by its rules, but for what is said here.
struct Generated {
    rules: Explicit,
    /// With these on top, each of these threads has ended.
    ended: Vec<(usize, Symbol)>,
    /// Why its rules are not all there are.
    incomplete: Option<&'static str>,
}

impl Pushdown for Generated {
    fn threads(&self) -> usize {
        self.rules.threads()
    }

    fn initial(&self) -> Vec<State> {
        self.rules.initial()
    }

    fn rules(&self, thread: usize, shared: Shared, top: Symbol, out: &mut Vec<Rule>) {
        self.rules.rules(thread, shared, top, out);
    }

    fn ended(&self, thread: usize, top: Symbol) -> bool {
        self.ended.contains(&(thread, top))
    }

    fn incomplete(&self) -> Option<String> {
        self.incomplete.map(str::to_string)
    }

    fn shared_name(&self, shared: Shared) -> String {
        self.rules.shared_name(shared)
    }

    fn shared_named(&self, name: &str) -> Option<Shared> {
        self.rules.shared_named(name)
    }

    fn symbol_name(&self, thread: usize, symbol: Symbol) -> String {
        self.rules.symbol_name(thread, symbol)
    }

    fn symbol_named(&self, thread: usize, name: &str) -> Option<Symbol> {
        self.rules.symbol_named(thread, name)
    }
}

/// Two threads alike, that go from 1 to 2 and are stuck there.
fn stuck(ended: &[(usize, u32)]) -> Generated {
    let rules = system(1, "0|1,1", &[&[(0, 1, 0, &[2])], &[(0, 1, 0, &[2])]]);
    Generated {
        rules,
        ended: ended.iter().map(|&(thread, top)| (thread, Symbol(top))).collect(),
        incomplete: None,
    }
}

fn no_deadlock() -> Property {
    Property { deadlock: true, ..Property::default() }
}

#[test]
fn threads_end_where_the_system_says() {
    let run = |system: &Generated| {
        let trace = trace(&system.rules, "0|1,1", &[(0, 1, "0|2,1"), (1, 2, "0|2,2")]);
        replay(system, &no_deadlock(), &trace).map_err(|rejection| rejection.to_string())
    };
    let invariant = |system: &Generated| {
        let invariant = close(system, nothing(system, 1), 100).expect("few states");
        check(system, &no_deadlock(), &invariant).map_err(|rejection| rejection.to_string())
    };
    let waiting = stuck(&[(0, 3)]);
    assert_eq!(run(&waiting), Ok(()));
    assert_eq!(invariant(&waiting), Err("state 4: 0|2,2 violates the property".to_string()));
    let ending = stuck(&[(0, 3), (1, 3)]);
    let expected = "step 2: the run ends in 0|2,2, which does not violate the property";
    assert_eq!(run(&ending), Err(expected.to_string()));
    assert_eq!(invariant(&ending), Ok(()));
}

/// Threads with the same rules that do not end alike: a renaming may be a deadlock where the listed state is none.
#[test]
fn that_threads_end_alike_is_not_taken_on_trust() {
    let mut system = stuck(&[(0, 3), (1, 4)]);
    system.rules = common::system(1, "0|2,3", &[&[], &[]]);
    let window = |symbol| Window { symbols: vec![Symbol(symbol)], more: false };
    let mut invariant = Invariant::new(Kinds::new([0, 0]), 1);
    add_state(&mut invariant, 0, &[window(3), window(4)]);
    let invariant = close(&system, invariant, 100).expect("one state");
    let rejection = check(&system, &no_deadlock(), &invariant).expect_err("a renaming is a deadlock");
    let expected = "state 1: 0|3,2, which is 0|2,3 with threads renamed, violates the property";
    assert_eq!(rejection.to_string(), expected);
    let distinct = Invariant { kinds: Kinds::distinct(2), ..invariant };
    let (windows, below) = (vec![vec![window(3)], vec![window(4)]], vec![distinct.below[0].clone(); 2]);
    let distinct = Invariant { windows, below, rows: vec![0, 0, 0], ..distinct };
    assert_eq!(check(&system, &no_deadlock(), &distinct), Ok(()));
}

/// Where rules may be missing, no invariant is accepted, and no deadlock; a run to a bad state is one all the same.
#[test]
fn nothing_rests_on_rules_that_may_be_missing() {
    let stopped = Err(Rejection::Stopped(StopReason::GaveUp("a number is too large".to_string())));
    let complete = stuck(&[]);
    let invariant = close(&complete, nothing(&complete, 1), 100).expect("few states");
    assert_eq!(check(&complete, &Property::default(), &invariant), Ok(()));
    let system = Generated { incomplete: Some("a number is too large"), ..complete };
    assert_eq!(check(&system, &Property::default(), &invariant), stopped);

    let trace = trace(&system.rules, "0|1,1", &[(0, 1, "0|2,1"), (1, 2, "0|2,2")]);
    assert_eq!(replay(&system, &no_deadlock(), &trace), stopped);
    let target = common::never(&system.rules, &["*|2,2"]);
    assert_eq!(replay(&system, &target, &trace), Ok(()));
    assert_eq!(replay(&system, &Property { deadlock: true, ..target }, &trace), Ok(()));
}
