//! Eight algorithms of the corpus are written with structures, references, quantifiers, `for`, `cas`, `signal` and channels. In
//! `plain/` are the same algorithms without what these stand for: they have the same verdict, and take half as many lines again.

mod common;

use common::allways;
use std::fs;
use std::path::{Path, PathBuf};

const PAIRS: [&str; 8] = [
    "condition-signal",
    "filter-n",
    "futex-signal",
    "michael-scott-queue",
    "szymanski-n",
    "two-phase-commit-crash",
    "vyukov-queue",
    "work-stealing-shutdown",
];

/// Words that only the shorter programs have.
const WORDS: [&str; 16] = [
    "enum",
    "struct",
    "for",
    "forall",
    "exists",
    "count",
    "cas",
    "exchange",
    "fetch_add",
    "chan",
    "send",
    "recv",
    "try_send",
    "try_recv",
    "signal",
    "ref",
];

fn plain(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/plain/{name}.aw"))
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../corpus/aw/{name}.aw"))
}

/// The lines of a program with code on them, without what stands behind `//`.
fn code(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a program");
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim().to_string());
    lines.filter(|line| !line.is_empty()).collect()
}

#[test]
fn the_constructs_save_a_third_of_the_lines() {
    let readme = fs::read_to_string(corpus("x").with_file_name("README.md")).expect("the readme");
    for name in PAIRS {
        let (short, long) = (code(&corpus(name)), code(&plain(name)));
        assert!(3 * short.len() <= 2 * long.len(), "{name}: {} and {} lines", short.len(), long.len());
        let row = format!("| {name} | {} | {} |", short.len(), long.len());
        assert!(readme.contains(&row), "corpus/aw/README.md has {row}");
        for line in &long {
            let words: Vec<&str> =
                line.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
            assert!(!words.iter().any(|word| WORDS.contains(word)), "{name}: {line}");
            assert!(!line.contains("= {") && !line.contains("]["), "{name}: {line}");
            // One statement on a line, but for a block with a single one.
            assert!(line.matches(';').count() <= 1 && line.len() <= 120, "{name}: {line}");
        }
    }
}

#[test]
fn both_have_the_same_verdict() {
    for name in PAIRS {
        let stated = |path: &Path| {
            let text = fs::read_to_string(path).expect("a program");
            text.lines().filter(|line| line.starts_with("//!")).map(str::to_string).collect::<Vec<_>>()
        };
        assert_eq!(stated(&plain(name)), stated(&corpus(name)), "{name}");
        for path in [plain(name), corpus(name)] {
            let tested = allways(&format!("test {}", path.display()));
            assert_eq!(tested.code, 0, "{name}: {tested:?}");
        }
    }
}
