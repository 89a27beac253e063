//! Figures for the engines on pushdown systems: `cargo bench --bench pushdown [FILTER]`.
//!
//! The systems are the corpus, the families at the sizes of the papers and, where `../shared/bench/pds` is there, the
//! benchmarks of the CUBA tool. Each row is one run; the verdict goes through the checker, outside the time shown.

use allways_engines::{Engine, Question, engines};
use allways_evidence::Verdict;
use allways_model::pushdown::Explicit;
use allways_testkit::conformance::ask;
use allways_testkit::{corpus, families};
use std::path::Path;
use std::time::Instant;

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    println!(
        "{:34} {:8} {:>9} {:>10} {:>7} {:>12} {:>10} {:>8} {:>7}",
        "system", "engine", "visible", "states", "r,d", "images", "seconds", "M/s", "B/node"
    );
    for (name, system) in systems() {
        for engine in
            engines().iter().filter(|engine| !["rounds-delays", "contexts"].contains(&engine.name()))
        {
            if format!("{name} {}", engine.name()).contains(&filter) {
                row(&name, &system, *engine);
            }
        }
    }
}

fn systems() -> Vec<(String, Explicit)> {
    let mut systems = Vec::new();
    for entry in corpus::entries(&corpus::folder()) {
        systems.push((entry.name, entry.system));
    }
    let family = |family: families::Family| corpus::system(family.pds.as_bytes(), family.init.as_bytes());
    for threads in 2..=5 {
        systems.push((format!("family stefan-{threads}"), family(families::stefan(threads))));
    }
    systems.push(("family wheel-4-12".to_string(), family(families::wheel(4, 12))));
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/pds");
    if shared.is_dir() {
        for entry in corpus::entries(&shared).into_iter().filter(|entry| entry.name != "stefan-8") {
            systems.push((format!("cuba {}", entry.name), entry.system));
        }
    } else {
        println!("(no {}: the benchmarks of the CUBA tool are left out)", shared.display());
    }
    systems
}

fn row(name: &str, system: &Explicit, engine: &dyn Engine) {
    let question = Question { max_states: Some(20_000_000), max_depth: Some(40), ..Question::default() };
    let start = Instant::now();
    let report = engine.run(system, &question, &allways_engines::engine::Watch::none());
    let seconds = start.elapsed().as_secs_f64();
    // Once more, checked: a figure for a wrong answer is worth nothing.
    let checked = if seconds < 1.0 { ask(engine, system, &question) } else { report.clone() };
    assert_eq!(checked.visible.count(), report.visible.count());
    let figures = &report.figures;
    let bounds = figures.rounds.zip(figures.delays).map_or("-".to_string(), |(r, d)| format!("{r},{d}"));
    let nodes = figures.found_pairs.or(figures.concrete_states).unwrap_or(1);
    let end = if matches!(report.verdict, Verdict::Safe(_)) { "" } else { "  (not decided)" };
    println!(
        "{name:34} {:8} {:>9} {:>10} {bounds:>7} {:>12} {seconds:>10.4} {:>8.1} {:>7.1}{end}",
        engine.name(),
        report.visible.count(),
        figures.concrete_states.unwrap_or(0),
        figures.images,
        figures.images as f64 / seconds / 1e6,
        figures.store_bytes as f64 / nodes as f64,
    );
}
