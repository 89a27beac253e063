//! A search that is told to stop stops, in whichever phase it is: large nets, and budgets that are used up when they are asked
//! for the first time, the second, the fourth, and so on. How soon a phase asks is seen in the number of times that a whole
//! search does.

use allways_engines::{Budget, Engines, Forms, Question};
use allways_evidence::{StopReason, Verdict};
use allways_lang::bp;
use allways_model::counters::{Bag, Counters, Initial, Local, Rule, Shared, Target};
use allways_model::task::{Model, Task};
use allways_testkit::counters::{Method, decide};
use fastrand::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const METHODS: [Method; 5] =
    [Method::Backward, Method::KarpMiller, Method::Forward, Method::Directed, Method::Coverability];

/// How often the lanes and phases of a search may ask again after the first has been told to stop.
const AFTERWARDS: usize = 64;

/// The last time a budget is asked.
const LAST: usize = 1 << 7;

/// A net of so many places, with twice as many rules, each of which takes and gives one to three tokens.
fn net(seed: u64, places: u32) -> Counters {
    let mut rng = Rng::with_seed(seed);
    let tokens = |rng: &mut Rng, most: usize| -> Bag {
        (0..rng.usize(1..=most)).map(|_| (rng.u32(0..places), 1)).collect()
    };
    let rules = (1..=2 * places)
        .map(|line| Rule::plain(Shared(0), Shared(0), tokens(&mut rng, 3), tokens(&mut rng, 3), line));
    let rules = rules.collect();
    let any: Vec<Local> = (0..places / 20).collect();
    let initial = vec![Initial { shared: Shared(0), tokens: tokens(&mut rng, 3), any }];
    let wanted = (places / 2..places).map(|place| (place, 2)).collect();
    let targets = vec![Target { shared: Some(Shared(0)), tokens: wanted }];
    let locals = (0..places).map(|place| format!("p{place}")).collect();
    Counters { shared: vec!["s".to_string()], locals, rules, initial, targets }
}

#[test]
fn every_phase_heeds_a_stop() {
    for (seed, places) in [(1, 40), (2, 200)] {
        let net = net(seed, places);
        net.validate().expect("a net");
        for method in METHODS {
            let mut last = 1;
            while last <= LAST {
                let asked = AtomicUsize::new(0);
                let used = || if asked.fetch_add(1, Ordering::Relaxed) + 1 >= last { usize::MAX } else { 0 };
                let budget = Budget::unlimited().with_memory(Some(usize::MAX - 1), &used);
                let outcome = decide(&net, method, &budget);
                let asked = asked.load(Ordering::Relaxed);
                let name = format!("{} on net {seed}, stopped at {last}: asked {asked} times", method.name());
                println!("{name}");
                if asked < last {
                    break;
                }
                // What was done by then counts.
                let stopped = matches!(outcome.verdict, Verdict::Unknown(StopReason::Memory));
                assert!(stopped || !matches!(outcome.verdict, Verdict::Unknown(StopReason::Time)), "{name}");
                assert!(asked <= last + AFTERWARDS, "{name}");
                last *= 2;
            }
        }
    }
}

/// A step of 256 choices, from each of 256 states: few states, and much to be done between them.
#[test]
fn a_step_of_many_choices_is_no_reason_to_be_late() {
    let names: Vec<String> = (0..8).map(|bit| format!("b{bit}")).collect();
    let (list, any) = (names.join(", "), ["*"; 8].join(", "));
    let odd = names.join(" ^ ");
    let text = format!(
        "decl {list}; void main() begin start_thread goto L;
         L: assert({odd}); {list} := {any}; goto L; end"
    );
    let program = bp::parse(text.as_bytes()).program.expect("a program");
    let task = Task::new(Model::Program(Arc::new(program)));
    let forms = Forms::new(&task, &Question::default());
    let asked = AtomicUsize::new(0);
    let used = || asked.fetch_add(1, Ordering::Relaxed);
    let budget = Budget::unlimited().with_memory(Some(usize::MAX), &used);
    let outcome = Engines::default().named("modular").expect("an engine").run(&forms, &budget);
    assert!(matches!(outcome.verdict, Verdict::Unknown(_)), "{:?}", outcome.verdict);
    let asked = asked.load(Ordering::Relaxed);
    assert!(asked >= 10, "asked {asked} times");
}
