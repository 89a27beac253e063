//! Figures for the methods on counter systems: `cargo bench --bench counters [FILTER]`.
//!
//! The systems are the corpus and, where `../shared/bench` is there, the benchmarks of mist and the thread transition systems
//! of the UCOB and IJIT papers. Each row is one run of at most ten seconds; evidence goes through the checker, which is timed
//! apart.

use allways_engines::engine::Watch;
use allways_engines::meet::coverability::{Method, decide};
use allways_evidence::counters::{Verdict, check_proof, check_run};
use allways_model::counters::Counters;
use allways_testkit::counters::{files, folder, load};
use std::path::Path;
use std::time::{Duration, Instant};

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let columns = ["stored", "images", "seconds", "checking"];
    let [stored, images, seconds, checking] = columns;
    println!(
        "{:30} {:13} {:8} {stored:>9} {images:>10} {seconds:>9} {checking:>9}",
        "system", "method", "verdict"
    );
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench");
    for folder in [folder(), shared.join("spec"), shared.join("bp")] {
        let files = files(&folder);
        if files.is_empty() {
            println!("(no {}: left out)", folder.display());
        }
        for path in files {
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            // Forward proves nothing, and would use up its time wherever there is nothing to be found.
            for method in Method::ALL.into_iter().filter(|method| *method != Method::Forward) {
                if format!("{name} {}", method.name()).contains(&filter) {
                    row(&name, &load(&path), method);
                }
            }
        }
    }
}

fn row(name: &str, system: &Counters, method: Method) {
    let started = Instant::now();
    let deadline = Some(started + Duration::from_secs(10));
    let report = decide(system, method, &Watch { deadline, ..Watch::none() });
    let seconds = started.elapsed().as_secs_f64();
    let verdict = match &report.verdict {
        Verdict::Safe(proof) => {
            check_proof(system, proof, &|| None).expect("a proof that holds");
            "safe"
        }
        Verdict::Unsafe(run) => {
            check_run(system, run).expect("a run that holds");
            "unsafe"
        }
        Verdict::Unknown(_) => "unknown",
    };
    let checking = started.elapsed().as_secs_f64() - seconds;
    let (stored, images) = (report.stored, report.images);
    let method = method.name();
    println!("{name:30} {method:13} {verdict:8} {stored:>9} {images:>10} {seconds:>9.4} {checking:>9.4}");
}
