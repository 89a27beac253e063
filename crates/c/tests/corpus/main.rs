//! Reads every `.i` and `.c` file below the folders that `ALLWAYS_C_CORPUS` names (with `:` between them), and says which
//! ones are refused and why, and whether the others keep the promises of `typed`. Without the variable there is nothing to
//! do. `ALLWAYS_C_MODEL` may say `ilp32` or `lp64`; without it, a file that is read in one of them is read.
//!
//! `ALLWAYS_C_CORPUS=… cargo test -p allways-c --test corpus -- --nocapture`

mod check;

use allways_c::sema::analyse;
use allways_c::source::load;
use allways_c::typed::DataModel;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What became of a file: nothing to say, or why it was refused.
fn read(path: &Path) -> Result<(), String> {
    let source = load(path, None, DataModel::Lp64).map_err(|error| {
        let line = error.lines().find(|line| line.contains("error")).unwrap_or(&error);
        format!("preprocessor: {}", line.rsplit("error: ").next().unwrap_or(line))
    })?;
    let first = |model| analyse(&source.text, &source.map, model).map_err(|errors| errors.into_iter().next());
    let only = std::env::var("ALLWAYS_C_MODEL").ok();
    let done = match only.as_deref() {
        Some("ilp32") => first(DataModel::Ilp32),
        Some(_) => first(DataModel::Lp64),
        None => first(DataModel::Lp64).or_else(|_| first(DataModel::Ilp32)),
    };
    match done {
        Ok(unit) => check::check(&unit).map_err(|error| format!("ill typed: {error}")),
        Err(None) => Err("no reason".to_string()),
        Err(Some(error)) => Err(format!("{} at {}:{}", error.message, error.span.line, error.span.column)),
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        match path.extension().and_then(|end| end.to_str()) {
            _ if path.is_dir() => files(&path, found),
            Some("i" | "c") => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn files_of_a_corpus_are_read() {
    let Ok(folders) = std::env::var("ALLWAYS_C_CORPUS") else {
        println!("ALLWAYS_C_CORPUS is not set: no corpus is read");
        return;
    };
    let mut all = Vec::new();
    for folder in folders.split(':') {
        files(Path::new(folder), &mut all);
    }
    all.sort();
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut slowest = (Duration::ZERO, String::new());
    for path in &all {
        let start = Instant::now();
        if let Err(reason) = read(path) {
            reasons.entry(reason).or_default().push(path.display().to_string());
        }
        slowest = slowest.max((start.elapsed(), path.display().to_string()));
    }
    let refused: usize = reasons.values().map(Vec::len).sum();
    for (reason, paths) in &reasons {
        println!("{} {reason}\n    {}", paths.len(), paths.join("\n    "));
    }
    println!("{} files, {} read, {refused} refused", all.len(), all.len() - refused);
    println!("slowest: {:?} {}", slowest.0, slowest.1);
    assert!(
        !reasons.keys().any(|reason| reason.starts_with("ill typed")),
        "trees break the promises of `typed`"
    );
}
