//! Raw speed from below and from above: `cargo bench --bench wheel [LARGEST]`.
//!
//! The family wheel(n, k) has `(k + 1)^n` states with `n` successors each, all different in what is visible, and no symmetry
//! is used. Successor computations a second and bytes a state, from 10^5 states up to `LARGEST` (10^7 if not given).

use allways_engines::Budget;
use allways_engines::Question;
use allways_engines::above::tops::Tops;
use allways_engines::below::free;
use allways_engines::store::Space;
use allways_model::symmetry::Kinds;
use allways_testkit::{corpus, families};
use std::time::Instant;

fn main() {
    let largest = std::env::args().skip(1).find_map(|argument| argument.parse::<f64>().ok()).unwrap_or(1e7);
    println!(
        "{:12} {:>12} {:>14} {:>9} {:>10} {:>8}",
        "system", "states", "from", "seconds", "M succ/s", "B/state"
    );
    for (threads, k) in [(5, 8), (5, 12), (6, 8), (6, 12), (6, 16), (6, 20)] {
        let states = f64::from(k + 1).powi(threads);
        if states > largest {
            continue;
        }
        let threads = threads as usize;
        let family = families::wheel(threads, k);
        let system = corpus::system(family.pds.as_bytes(), family.init.as_bytes());
        let kinds = Kinds::distinct(threads);
        let question = Question { no_symmetry: true, ..Question::default() };
        let row = |from: &str, found: usize, seconds: f64, bytes: usize| {
            assert_eq!(found as f64, states, "wheel({threads},{k}) {from}");
            let rate = states * threads as f64 / seconds / 1e6;
            let name = format!("wheel({threads},{k})");
            let size = bytes as f64 / states;
            println!("{name:12} {states:>12} {from:>14} {seconds:>9.3} {rate:>10.1} {size:>8.1}");
        };
        let budget = Budget::unlimited();
        let start = Instant::now();
        let mut space = Space::unobserved(&system, kinds.clone(), &question, &budget);
        free::explore(&mut space).expect("no limits");
        row("below", space.len(), start.elapsed().as_secs_f64(), space.bytes());
        drop(space);
        let start = Instant::now();
        let tops = Tops::compute(&system, kinds.clone(), 1, &question, &budget).expect("no limits");
        row("above", tops.len(), start.elapsed().as_secs_f64(), tops.bytes());
    }
}
