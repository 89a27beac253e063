//! Texts and what is made of them.

mod hostile;
mod messages;
mod shapes;

use super::*;
use crate::diagnostic::{Severity, line_column};
use std::path::Path;

/// What is said about a text, as a reader of the command line would see it.
fn said(text: &[u8], diagnostics: &Diagnostics) -> String {
    let mut said = String::new();
    for diagnostic in diagnostics.iter() {
        assert!(diagnostic.span.start <= diagnostic.span.end && diagnostic.span.end <= text.len());
        let (line, column) = line_column(text, diagnostic.span.start);
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        said += &format!("{line}:{column}: {severity}: {}{help}\n", diagnostic.message);
    }
    said
}

/// The program of a text about which there is nothing to say.
#[track_caller]
fn good(text: &str) -> Program {
    let Parsed { program, diagnostics } = parse(text.as_bytes());
    assert_eq!(said(text.as_bytes(), &diagnostics), "", "in {text}");
    program.unwrap()
}

/// What is said about a text.
#[track_caller]
fn remarks(text: &str) -> String {
    let Parsed { program, diagnostics } = parse(text.as_bytes());
    assert_eq!(program.is_none(), diagnostics.has_errors());
    said(text.as_bytes(), &diagnostics)
}

/// The files of the published benchmarks, by name; none where they are not there.
fn benchmarks() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/bp");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no benchmarks at {}", folder.display());
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "bp"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn the_published_benchmarks_are_read() {
    for (name, text) in benchmarks() {
        let Parsed { program, diagnostics } = parse(&text);
        let said = said(&text, &diagnostics);
        match name.as_str() {
            // These call what is not there, jump to nowhere, or number their lines.
            "Bluetooth1.bp" | "diverge-11.bp" => assert!(program.is_none()),
            "proc-2.bp" => assert_eq!(said.lines().count(), 1, "{said}"),
            _ => assert_eq!(said, "", "{name}"),
        }
    }
}
