//! A search that is told to stop stops, in whichever phase it is: large nets, and budgets that are used up when they are asked
//! for the first time, the second, the fourth, and so on. How soon a phase asks is seen in the number of times that a whole
//! search does.

use allways_engines::Budget;
use allways_evidence::{StopReason, Verdict};
use allways_model::counters::{Bag, Counters, Initial, Local, Rule, Shared, Target};
use allways_testkit::counters::{Method, decide};
use fastrand::Rng;
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
