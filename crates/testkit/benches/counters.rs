//! Figures for the methods on counter systems: `cargo bench --bench counters [FILTER]`.
//!
//! The systems are the corpus and, where `../shared/bench` is there, the benchmarks of mist and the thread transition systems
//! of the UCOB and IJIT papers. Each row is one run of at most ten seconds; evidence goes through the checker, which is timed
//! apart. Where the variable `MIST` names the executable of mist, its backward algorithm has a row for each `.spec` file, too:
//! its whole process, at most ten seconds of processor time. A second table shows programs with more and more variables, the
//! best of 25 runs each.

use allways_engines::Budget;
use allways_engines::Question;
use allways_engines::meet::coverability::Covered;
use allways_evidence::{Certificate, Judge, Subject, Verdict, certify};
use allways_lang::aw;
use allways_model::counters::Counters;
use allways_model::encoding::{Encoded, Threads};
use allways_testkit::conformance::accepted;
use allways_testkit::counters::cover;
use allways_testkit::counters::{Method, decide};
use allways_testkit::counters::{files, folder, load, load_published};
use allways_testkit::families::variables;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let columns = ["stored", "images", "seconds", "checking"];
    let [stored, images, seconds, checking] = columns;
    println!(
        "{:30} {:13} {:8} {stored:>9} {images:>10} {seconds:>9} {checking:>9}",
        "system", "method", "verdict"
    );
    let mist = std::env::var_os("MIST");
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench");
    let places: [(_, fn(&Path) -> _); 3] =
        [(folder(), load), (shared.join("spec"), load), (shared.join("bp"), load_published)];
    for (folder, load) in places {
        let files = files(&folder);
        if files.is_empty() {
            println!("(no {}: left out)", folder.display());
        }
        for path in files {
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            // Forward proves nothing, and would use up its time wherever there is nothing to be found.
            for method in [Method::Coverability, Method::Backward, Method::KarpMiller] {
                if format!("{name} {}", method.name()).contains(&filter) {
                    row(&name, &load(&path), method);
                }
            }
            if let Some(mist) = &mist
                && name.ends_with(".spec")
                && format!("{name} mist").contains(&filter)
            {
                of_mist(&name, mist, &path);
            }
        }
    }
    if "variables".contains(&filter) {
        println!("\n{:>12} {:>13} {seconds:>9} {checking:>9}", "variables", "thread states");
        for count in [5, 10, 15, 20, 30, 40, 80, 160] {
            let runs = (0..25).map(|_| of_variables(count));
            let (states, seconds, checking) =
                runs.min_by(|one, other| one.1.total_cmp(&other.1)).expect("runs");
            println!("{:>12} {states:>13} {seconds:>9.4} {checking:>9.4}", format!("{count} + {count}"));
        }
    }
}

/// From the text of a program to the proof for any number of threads: its thread states, the seconds, and those of the checker.
fn of_variables(count: usize) -> (usize, f64, f64) {
    let text = variables(count, false);
    let started = Instant::now();
    let program = aw::parse(text.as_bytes()).program.expect("a program");
    let system = Encoded::new(&program, &Threads::many(&program), true).expect("threads that can be counted");
    let question = Question { property: system.property(false), ..Question::default() };
    let Covered::Safe(counted) = cover(&system, &question, &Budget::unlimited()) else { panic!("no proof") };
    let seconds = started.elapsed().as_secs_f64();
    let states = counted.products.facts();
    let certificate = Certificate::Counted(counted);
    accepted(&system, &question.property, &certificate).expect("a certificate that holds");
    (states, seconds, started.elapsed().as_secs_f64() - seconds)
}

/// What mist's backward algorithm says of a file.
fn of_mist(name: &str, mist: &OsStr, path: &Path) {
    let started = Instant::now();
    let mut command = Command::new(mist);
    command.arg("--backward").arg(path).args(["--timeout", "10"]);
    let output = command.output().expect("MIST is an executable");
    let seconds = started.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout);
    let verdict = match text.split("concludes ").nth(1) {
        Some(word) if word.starts_with("safe") => "safe",
        Some(word) if word.starts_with("unsafe") => "unsafe",
        _ => "unknown",
    };
    println!("{name:30} {:13} {verdict:8} {:>9} {:>10} {seconds:>9.4} {:>9}", "mist", "-", "-", "-");
}

fn row(name: &str, system: &Counters, method: Method) {
    let started = Instant::now();
    let deadline = Some(started + Duration::from_secs(10));
    let report = decide(system, method, &Budget::unlimited().until(deadline));
    let seconds = started.elapsed().as_secs_f64();
    let verdict = match &report.verdict {
        Verdict::Safe(_) => "safe",
        Verdict::Unsafe(_) => "unsafe",
        Verdict::Unknown(_) => "unknown",
    };
    if let Some(evidence) = report.verdict.evidence() {
        certify(&Subject::Counters(system), evidence, &mut Judge::new(&|| None))
            .expect("evidence that holds");
    }
    let checking = started.elapsed().as_secs_f64() - seconds;
    let (stored, images) = (report.figures.concrete_states.unwrap_or_default(), report.figures.images);
    let method = method.name();
    println!("{name:30} {method:13} {verdict:8} {stored:>9} {images:>10} {seconds:>9.4} {checking:>9.4}");
}
