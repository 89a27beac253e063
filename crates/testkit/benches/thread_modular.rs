//! How thread-modular methods scale: `cargo bench --bench thread_modular`.
//!
//! The families are those of TM: Example 13, on which frontier search is exponential, and Example 23, a lock for n threads.
//! Every row is one run, and its evidence has been accepted by the checker, outside the time shown. The growth is the slope of
//! a line fitted to the logarithms of the larger half: time is about n to that power.

use allways_engines::Budget;
use allways_engines::{Engine, Question};
use allways_evidence::{Certificate, Verdict};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{Explicit, Symbol};
use allways_testkit::conformance::accepted;
use allways_testkit::conformance::{engines, run};
use allways_testkit::families::modular::{example_13, example_23};
use std::time::Instant;

fn main() {
    println!(
        "{:24} {:18} {:>7} {:>12} {:>12} {:>10}",
        "system", "engine", "n", "facts", "derived", "seconds"
    );
    let polynomial = [10, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200];
    let bit =
        |n: u32| Question { property: never(n as usize, &[(n as usize - 1, 3)]), ..Question::default() };
    for method in ["modular", "modular-quadratic"] {
        let sizes = polynomial.iter().filter(|&&n| method == "modular" || n <= 60);
        series("example 13", method, sizes.map(|&n| (n as usize, example_13(n), bit(n))));
    }
    series("example 13", "modular-relaxed", (4..=12).step_by(2).map(|n| (n as usize, example_13(n), bit(n))));
    series("example 13", "modular-frontier", (2..=16).map(|n| (n as usize, example_13(n), bit(n))));
    let exclusive = |n: usize, no_symmetry: bool| {
        let property = never(n, &[(0, 2), (n - 1, 2)]);
        (n, example_23(n), Question { property, no_symmetry, ..Question::default() })
    };
    let templates = [10, 100, 1000, 10_000].map(|n| exclusive(n, false));
    series("example 23, templates", "modular-quadratic", templates.into_iter());
    let distinct = [25, 50, 75, 100, 125, 150, 175, 200].map(|n| exclusive(n, true));
    series("example 23, distinct", "modular-quadratic", distinct.into_iter());
}

/// The property that these threads are never at these labels together.
fn never(threads: usize, at: &[(usize, u32)]) -> Property {
    let mut tops = vec![None; threads];
    at.iter().for_each(|&(thread, label)| tops[thread] = Some(Symbol(label)));
    Property { bad: vec![Pattern { shared: None, tops }], deadlock: false }
}

fn series(name: &str, engine: &str, runs: impl Iterator<Item = (usize, Explicit, Question)>) {
    let engine: &dyn Engine = *engines().iter().find(|other| other.info().name == engine).expect("an engine");
    let mut points = Vec::new();
    for (n, system, question) in runs {
        let start = Instant::now();
        let report = run(engine, &system, &question, &Budget::unlimited());
        let seconds = start.elapsed().as_secs_f64();
        let Verdict::Safe(Certificate::Products(products)) = &report.verdict else {
            panic!("{name}, n = {n}: no proof")
        };
        // A figure for a wrong answer is worth nothing.
        products_accepted(&system, &question, &report.verdict);
        let (facts, derived) = (products.facts(), report.figures.images);
        println!("{name:24} {:18} {n:>7} {facts:>12} {derived:>12} {seconds:>10.4}", engine.info().name);
        points.push(((n as f64).ln(), seconds.ln(), (derived as f64).ln()));
    }
    let half = &points[points.len() / 2..];
    if half.len() > 1 {
        let (time, work) = (slope(half.iter().map(|p| (p.0, p.1))), slope(half.iter().map(|p| (p.0, p.2))));
        println!("{name:24} {:18} growth: time n^{time:.2}, derivations n^{work:.2}", engine.info().name);
    }
}

fn products_accepted(system: &Explicit, question: &Question, verdict: &Verdict) {
    if let Verdict::Safe(certificate) = verdict {
        accepted(system, &question.property, certificate).expect("the checker accepts");
    }
}

/// The slope of the line through points with the least squares.
fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let count = points.clone().count() as f64;
    let (x, y) = points.clone().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
    let (x, y) = (x / count, y / count);
    let (over, under) = points.fold((0.0, 0.0), |sum, point| {
        (sum.0 + (point.0 - x) * (point.1 - y), sum.1 + (point.0 - x).powi(2))
    });
    over / under
}
