//! What UCOB's Algorithm 2 leaves out (DESIGN, "subtle" point 7), each with the smallest program that needs it; and the paper's
//! own example.
//!
//! The literal search is run beside ours: it overlooks the violation, or sees one that is not there.

use allways_engines::Budget;
use allways_engines::Question;
use allways_engines::above::thread_modular::bound;
use allways_engines::meet::coverability::Covered;
use allways_evidence::counted::counters_of;
use allways_evidence::{Judge, Subject, Verdict, certify};
use allways_lang::{aw, bp};
use allways_model::counters::step::pre;
use allways_model::counters::{Bag, Configuration, Counters, Initial, Rule, Shared, Target};
use allways_model::encoding::{Encoded, Threads};
use allways_model::program::Program;
use allways_testkit::counters::cover;
use allways_testkit::counters::{Method, decide};
use std::collections::VecDeque;

fn boolean(text: &str) -> Program {
    bp::parse(text.as_bytes()).program.expect("a program")
}

fn system(program: &Program) -> Encoded {
    Encoded::new(program, &Threads::many(program), true).expect("an encoding")
}

fn covered(system: &Encoded) -> Covered {
    let question = Question { property: system.property(false), ..Question::default() };
    cover(system, &question, &Budget::unlimited())
}

fn counters(system: &Encoded) -> Counters {
    let question = Question { property: system.property(false), ..Question::default() };
    let products = bound(system, &question, &Budget::unlimited()).expect("few thread states");
    counters_of(system, &question.property, &products, &|| None).expect("it can be counted").counters
}

/// Whether backward search, by rules and predecessors that are not left out, comes to an initial configuration.
fn backward(system: &Counters, kept: impl Fn(&Rule, &Configuration) -> bool) -> bool {
    let mut todo: VecDeque<Configuration> = system.bad().collect();
    let mut basis: Vec<Configuration> = todo.iter().cloned().collect();
    while let Some(after) = todo.pop_front() {
        if system.initial.iter().any(|initial| initial.covering(&after).is_some()) {
            return true;
        }
        for rule in system.rules.iter().filter(|rule| kept(rule, &after)) {
            for before in pre(system, rule, &after).expect("few") {
                if !basis.iter().any(|known| before.covers(known)) {
                    todo.retain(|known| !known.covers(&before));
                    basis.retain(|known| !known.covers(&before));
                    basis.push(before.clone());
                    todo.push_back(before);
                }
            }
        }
    }
    false
}

/// Whether the thread that moves is in the configuration that it leads to, so that no thread is added.
fn not_expanded(rule: &Rule, after: &Configuration) -> bool {
    after.tokens.covers(&rule.gives)
}

fn is_safe(system: &Encoded) -> bool {
    match covered(system) {
        Covered::Safe(_) => true,
        Covered::Unsafe(_) => false,
        Covered::Unknown(reason) => panic!("{reason}"),
    }
}

#[test]
fn figures_2_and_3_take_two_threads() {
    let program = boolean(
        "decl t := 1;
        void main() begin decl m := 0;
        l1: goto l2, l3;
        l2: start_thread goto l3;
        l3: t := 0;
        l4: goto l5, l8;
        l5: assume(t);
        l6: m := 1;
        l7: goto l9;
        l8: assume(!t);
        l9: t := !t;
        l10: assert(!m);
        end",
    );
    let many = system(&program);
    let Covered::Unsafe(counted) = covered(&many) else { panic!("it goes wrong") };
    // The first thread, and those that are started.
    assert_eq!(counted.counts, [1, 1]);
    // The paper's search, without expansion, stays with one thread and finds nothing.
    let counters = counters(&many);
    assert!(backward(&counters, |_, _| true));
    assert!(!backward(&counters, not_expanded));
}

#[test]
fn the_added_thread_may_have_started_the_one_that_is_there() {
    let program = boolean(
        "void main() begin
        l1: start_thread goto l3;
        l2: goto l2;
        l3: assert(0);
        end",
    );
    let system = system(&program);
    assert!(!is_safe(&system));
    let counters = counters(&system);
    let starts = |rule: &Rule| counters.shared[rule.to.index()].contains("!starting");
    let kept = |rule: &Rule, after: &Configuration| !starts(rule) || not_expanded(rule, after);
    assert!(backward(&counters, |_, _| true) && !backward(&counters, kept));
}

#[test]
fn the_added_thread_may_have_woken_those_that_are_there() {
    let program = boolean(
        "void main() begin
        l1: start_thread goto l4;
        l2: broadcast;
        l3: goto l3;
        l4: wait;
        l5: assert(0);
        end",
    );
    let system = system(&program);
    assert!(!is_safe(&system));
    let counters = counters(&system);
    let kept = |rule: &Rule, after: &Configuration| rule.moves.is_empty() || not_expanded(rule, after);
    assert!(backward(&counters, |_, _| true) && !backward(&counters, kept));
}

#[test]
fn nobody_waits_right_after_a_broadcast() {
    // Who has registered waits; the boss wakes all of them, and nobody registers any more.
    let text = |after: &str| {
        format!(
            "shared bool closed; shared bool done; event go;
            thread boss {{ closed = true; broadcast go; {after} done = true; }}
            thread p[*] {{ atomic {{ await !closed; }} w: wait go; }}
            never done && at(w) >= 1;"
        )
    };
    let parsed = |text: String| aw::parse(text.as_bytes()).program.expect("a program");
    let safe = system(&parsed(text("")));
    assert!(is_safe(&safe));
    assert!(!is_safe(&system(&parsed(text("closed = false;")))));
}

#[test]
fn a_thread_that_waits_was_not_there_when_all_were_woken() {
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    let one = |local| Bag::from_iter([(local, 1)]);
    let broadcast =
        Rule { moves: vec![(2, Some(3))], ..Rule::plain(Shared(0), Shared(1), one(0), one(1), 1) };
    let mut system = Counters {
        shared: names(&["before", "after"]),
        locals: names(&["boss", "done", "wait", "woken"]),
        rules: vec![broadcast],
        initial: vec![Initial { shared: Shared(0), tokens: one(0), any: vec![2] }],
        targets: vec![Target { shared: Some(Shared(1)), tokens: one(2) }],
    };
    let safe = |system: &Counters| {
        let verdict = decide(system, Method::Backward, &Budget::unlimited()).verdict;
        let judged = |verdict: &Verdict| {
            let evidence = verdict.evidence().expect("a verdict");
            certify(&Subject::Counters(system), evidence, &mut Judge::new(&|| None)).is_ok()
        };
        matches!(verdict, Verdict::Safe(_)) && judged(&verdict)
    };
    assert!(safe(&system) && !backward(&system, |_, _| true));
    system.rules[0].moves.clear();
    assert!(!safe(&system) && backward(&system, |_, _| true));
}

#[test]
fn a_broadcast_wakes_everybody_once() {
    let text = |again: &str| {
        format!(
            "void main() begin
            l1: start_thread goto l5;
            l2: broadcast;
            l3: goto {again};
            l4: goto l4;
            l5: wait;
            l6: wait;
            l7: assert(0);
            end"
        )
    };
    assert!(is_safe(&system(&boolean(&text("l4")))));
    assert!(!is_safe(&system(&boolean(&text("l2")))));
}

#[test]
fn nobody_moves_inside_an_atomic_section() {
    let text = |open: &str, close: &str| {
        format!(
            "decl taken := 0; decl inside := 0;
            void main() begin
            l1: start_thread goto l1;
            l2: {open} assume(!taken); taken := 1; {close}
            l3: assert(!inside);
            l4: inside := 1;
            l5: inside := 0;
            l6: taken := 0;
            l7: goto l2;
            end"
        )
    };
    assert!(is_safe(&system(&boolean(&text("atomic_begin;", "atomic_end;")))));
    assert!(!is_safe(&system(&boolean(&text("", "")))));
}
