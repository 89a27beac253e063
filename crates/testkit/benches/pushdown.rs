//! Figures for the engines on pushdown systems: `cargo bench --bench pushdown [FILTER]`.
//!
//! The systems are the corpus, the families at the sizes of the papers and, where `../shared/bench/pds` is there, the
//! benchmarks of the CUBA tool. Each row is one run; the verdict goes through the checker, outside the time shown.

use allways_engines::Budget;
use allways_engines::{Engine, Question};
use allways_evidence::Verdict;
use allways_model::pushdown::Explicit;
use allways_testkit::conformance::accepted;
use allways_testkit::conformance::{engines, run};
use allways_testkit::{corpus, families};
use std::path::Path;
use std::time::{Duration, Instant};

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    println!(
        "{:34} {:13} {:>9} {:>10} {:>7} {:>12} {:>9} {:>7} {:>7} {:>8}",
        "system", "engine", "visible", "states", "bound", "images", "seconds", "M/s", "B/node", "MiB"
    );
    for (name, system) in systems() {
        for engine in
            engines().iter().filter(|engine| !["rounds-delays", "contexts"].contains(&engine.info().name))
        {
            if format!("{name} {}", engine.info().name).contains(&filter) {
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
        for entry in corpus::entries(&shared).into_iter() {
            systems.push((format!("cuba {}", entry.name), entry.system));
        }
    } else {
        println!("(no {}: the benchmarks of the CUBA tool are left out)", shared.display());
    }
    systems
}

/// A row that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(5);

fn row(name: &str, system: &Explicit, engine: &dyn Engine) {
    let question = Question::default();
    let start = Instant::now();
    let budget = Budget::of_time(PATIENCE);
    let report = run(engine, system, &question, &budget);
    let seconds = start.elapsed().as_secs_f64();
    // A figure for a wrong answer is worth nothing.
    if let Verdict::Safe(certificate) = &report.verdict {
        accepted(system, &question.property, certificate).expect("the checker accepts");
    }
    let figures = &report.figures;
    let bound = match (figures.rounds, figures.delays, figures.contexts) {
        (Some(rounds), Some(delays), _) => format!("{rounds},{delays}"),
        (_, _, Some(contexts)) => format!("k={contexts}"),
        _ => "-".to_string(),
    };
    let stored = figures.found_pairs.or(figures.concrete_states);
    let bytes =
        stored.map_or("-".to_string(), |stored| format!("{:.1}", figures.store_bytes as f64 / stored as f64));
    let end = match &report.verdict {
        Verdict::Safe(_) if report.exact => "",
        Verdict::Safe(_) => "  (a bound)",
        _ => "  (not decided)",
    };
    println!(
        "{name:34} {:13} {:>9} {:>10} {bound:>7} {:>12} {seconds:>9.4} {:>7.1} {bytes:>7} {:>8.1}{end}",
        engine.info().name,
        report.visible.count(),
        figures.concrete_states.map_or("-".to_string(), |states| states.to_string()),
        figures.images,
        figures.images as f64 / seconds / 1e6,
        figures.store_bytes as f64 / 1048576.0,
    );
}
