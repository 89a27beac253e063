//! Files of counter systems: the corpus, and the published benchmarks where `../shared/bench` is there.

use allways_engines::Budget;
use allways_evidence::{Evidence, Judge, Subject, Verdict, certify, read_evidence, write_evidence};
use allways_lang::{spec, tts};
use allways_model::counters::Counters;
use allways_testkit::counters::{Method, decide};
use allways_testkit::counters::{files, folder, goes_wrong, load, load_published};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The word for a verdict whose evidence holds.
fn ask(system: &Counters, method: Method, what: &str) -> &'static str {
    let deadline = Some(Instant::now() + Duration::from_secs(60));
    let verdict = decide(system, method, &Budget::unlimited().until(deadline)).verdict;
    if let Some(evidence) = verdict.evidence() {
        let judged = certify(&Subject::Counters(system), evidence, &mut Judge::new(&|| None));
        judged.unwrap_or_else(|why| panic!("{what}: {why}"));
    }
    match &verdict {
        Verdict::Safe(_) => "safe",
        Verdict::Unsafe(_) => "unsafe",
        Verdict::Unknown(_) => "unknown",
    }
}

fn name(path: &Path) -> String {
    path.file_name().expect("a file").to_string_lossy().into_owned()
}

/// What the first line of a file says.
fn stated(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a text");
    let line = text.lines().next().and_then(|line| line.strip_prefix("#! "));
    line.unwrap_or_else(|| panic!("{}: no verdict in its first line", path.display())).to_string()
}

#[test]
fn the_corpus_has_its_verdicts() {
    let files = files(&folder());
    assert!(files.len() >= 14, "only {} files", files.len());
    for path in files {
        let (system, stated) = (load(&path), stated(&path));
        for method in [Method::Coverability, Method::Backward] {
            assert_eq!(ask(&system, method, &name(&path)), stated, "{} of {}", name(&path), method.name());
        }
        if system.is_plain() {
            assert_eq!(ask(&system, Method::KarpMiller, &name(&path)), stated, "{}", name(&path));
        }
        if stated == "unsafe" {
            assert_eq!(ask(&system, Method::Forward, &name(&path)), stated, "{}", name(&path));
        } else {
            assert!(!goes_wrong(&system, 20_000), "{}", name(&path));
        }
    }
}

/// DESIGN, point 7: what the published expansions leave out. Without the rules that start threads, or those that broadcast,
/// the same systems would be safe.
#[test]
fn who_starts_or_wakes_need_not_be_in_what_is_bad() {
    for file in ["started-thread-fails.tts", "woken.tts"] {
        let system = load(&folder().join(file));
        assert_eq!(ask(&system, Method::Backward, file), "unsafe");
        for rule in 0..system.rules.len() {
            let mut less = system.clone();
            let gone = less.rules.remove(rule);
            let needed = ask(&less, Method::Backward, file) == "safe";
            assert!(needed, "{file}: {gone:?} is not needed");
        }
    }
}

/// What is read, written and read again has the same verdict; a thread transition system as a net as well.
#[test]
fn conversions_keep_verdicts() {
    for path in files(&folder()) {
        let (system, stated, name) = (load(&path), stated(&path), name(&path));
        if let Ok(text) = spec::write(&system) {
            let again = spec::parse(text.as_bytes()).system.unwrap_or_else(|| panic!("{name}: {text}"));
            assert_eq!(ask(&again, Method::Coverability, &name), stated, "{name} as .spec");
        }
        if let Ok(written) = tts::write(&system) {
            let mut again = tts::parse(written.tts.as_bytes()).system.expect("it reads back");
            again.read_init(written.init.as_bytes()).expect("it reads back");
            again.read_targets(written.prop.as_bytes()).expect("it reads back");
            assert_eq!(ask(&again.system, Method::Coverability, &name), stated, "{name} as .tts");
        }
    }
}

/// Cut anywhere, and with bytes replaced: a message or a value, no panic; and nothing wrong is accepted.
#[test]
fn evidence_from_outside_is_hostile() {
    for file in ["msi.spec", "msi-wrong.spec", "test-and-set.tts", "test-then-set.tts"] {
        let system = load(&folder().join(file));
        let wrong = stated(&folder().join(file)) == "unsafe";
        let verdict = decide(&system, Method::Backward, &Budget::unlimited()).verdict;
        let subject = Subject::Counters(&system);
        let mut text = Vec::new();
        write_evidence(&subject, verdict.evidence().expect("a verdict"), &mut text)
            .expect("it can be written");
        for at in 0..text.len() {
            assert!(
                read_evidence(&subject, &text[..at]).is_err() || at + 1 == text.len(),
                "{file} cut at {at}"
            );
            for byte in *b"\0 \n^*|,-9\xff" {
                let mut changed = text.clone();
                changed[at] = byte;
                match read_evidence(&subject, &changed) {
                    Ok(evidence) => {
                        let accepted = certify(&subject, &evidence, &mut Judge::new(&|| None)).is_ok();
                        let right = matches!(evidence, Evidence::Counterexample(_)) == wrong;
                        assert!(!accepted || right, "{file}: {}", String::from_utf8_lossy(&changed));
                    }
                    Err(bad) => assert!(bad.line > 0 && bad.column > 0),
                }
            }
        }
    }
}

fn published(part: &str) -> Vec<PathBuf> {
    let files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench").join(part));
    if files.is_empty() {
        // Past the test harness, which would keep it from being seen.
        let _ = writeln!(std::io::stderr(), "skipped: no ../shared/bench/{part}");
    }
    files
}

/// The verdicts that the table in `shared/bench/README.md` states; three files it gives none for are safe by our proofs.
#[test]
fn published_verdicts() {
    for path in published("spec") {
        let wrong = ["kanban.spec", "leabasicapproach.spec"].contains(&name(&path).as_str());
        let stated = if wrong { "unsafe" } else { "safe" };
        assert_eq!(ask(&load(&path), Method::Coverability, &name(&path)), stated, "{}", name(&path));
        if name(&path) != "kanban.spec" {
            assert_eq!(ask(&load(&path), Method::Backward, &name(&path)), stated, "{}", name(&path));
        }
    }
    for path in published("bp") {
        let system = load_published(&path);
        let safe = ["03", "04", "09", "10"].iter().any(|number| name(&path).starts_with(number));
        let stated = if safe { "safe" } else { "unsafe" };
        for method in [Method::Coverability, Method::Backward] {
            assert_eq!(ask(&system, method, &name(&path)), stated, "{}", name(&path));
        }
    }
}
