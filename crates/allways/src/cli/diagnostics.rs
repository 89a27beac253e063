//! Says on standard error what is wrong, where, and what to do.
//!
//! A text may be one line of 200 MB, and binary. So the places of all remarks are found in one sweep over it, and what is
//! shown of a line is a small part of it around the place, with everything that could drive a terminal replaced.

use super::exit::Exit;
use super::{Failure, output};
use crate::findings::{self, Finding};
use crate::load::{LoadError, SourceDiagnostics, is_standard_input};
use crate::words;
use allways_lang::diagnostic::{Diagnostic, Severity};
use allways_model::task::Source;
use codespan_reporting::diagnostic::{Diagnostic as Rendered, Label};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::termcolor::Buffer;
use codespan_reporting::term::{self, Config, Styles, StylesWriter};
use serde::Serialize;
use std::io;
use std::ops::Range;
use std::path::Path;

/// How much of a line is shown before a place, and from it on, in bytes.
const SHOWN: usize = 60;

/// One error, as `--json` gives it.
#[derive(Serialize)]
struct Complaint {
    message: String,
    /// What to do.
    help: Option<String>,
    /// Where it is, if it is at a place of a text.
    line: Option<usize>,
    column: Option<usize>,
}

/// The object of a file without an answer.
#[derive(Serialize)]
pub struct Unanswered {
    file: String,
    verdict: &'static str,
    errors: Vec<Complaint>,
}

impl Unanswered {
    /// Why there is no answer for a file.
    pub fn new(file: &Path, failure: &Failure) -> Unanswered {
        let errors = match failure {
            Failure::Input(LoadError::Faulty(found)) => {
                let mut finder = Finder::new(&found.source);
                let errors = found.diagnostics.iter().filter(|remark| remark.severity == Severity::Error);
                let complaint = |error: &Diagnostic| {
                    let (Place { line, column, .. }, _) = finder.place(error);
                    let (message, help) = (error.message.clone(), error.help.clone());
                    Complaint { message, help, line: Some(line), column: Some(column) }
                };
                errors.map(complaint).collect()
            }
            failure => {
                let (message, help) = failure.words();
                vec![Complaint { message, help, line: None, column: None }]
            }
        };
        Unanswered { file: words::path(file), verdict: "error", errors }
    }

    /// The same as a finding.
    pub fn finding(self) -> Finding {
        let complaints = self.errors.into_iter().map(|error| {
            let place = error.line.zip(error.column).map(|(line, column)| (line as u32, column as u32));
            let help = error.help.map(|help| format!("; help: {help}")).unwrap_or_default();
            findings::Complaint { message: error.message + &help, place }
        });
        Finding {
            file: self.file,
            verdict: self.verdict,
            complaints: complaints.collect(),
            ..Finding::default()
        }
    }
}

impl Failure {
    /// What is wrong, and what to do, if it is not at a place of a text.
    fn words(&self) -> (String, Option<String>) {
        match self {
            Failure::Usage(what, help) | Failure::Input(LoadError::Unfit(what, help)) => {
                (what.clone(), Some(help.clone()))
            }
            Failure::Input(LoadError::Unreadable { path, error }) => {
                (format!("cannot read {}: {}", words::path(path), explain(error)), None)
            }
            Failure::Input(LoadError::NoInitialState { path }) => {
                let init = words::path(&path.with_extension("init"));
                let (what, or) = match is_standard_input(path) {
                    true => ("standard input".to_string(), String::new()),
                    false => (words::path(path), format!(", or write it to {init}")),
                };
                let help = format!("give --init STATE, such as --init '0|1,2'{or}");
                (format!("{what} has no initial state"), Some(help))
            }
            Failure::Input(error) => (error.to_string(), None),
            Failure::NoEvidence(path, bad) => {
                let help = "expected a file that --evidence wrote".to_string();
                (format!("{}:{bad}", words::path(path)), Some(help))
            }
            Failure::Unwritable(path, error) => {
                (format!("cannot write {}: {}", words::path(path), explain(error)), None)
            }
            Failure::Rejected(rejected) => {
                let help = "this is a bug in allways and no verdict; please report it with the command and the input";
                (rejected.to_string(), Some(help.to_string()))
            }
        }
    }
}

/// Standard error.
pub struct DiagnosticPrinter {
    /// Whether to use colours.
    pub colored: bool,
    /// Whether to leave out warnings.
    pub quiet: bool,
}

impl DiagnosticPrinter {
    /// Says why there is no answer, and what that means for the exit code.
    pub fn report(&self, failure: &Failure) -> Exit {
        if let Failure::Input(LoadError::Faulty(found)) = failure {
            self.diagnostics(found);
        } else {
            let (what, help) = failure.words();
            self.error(&what, help.as_deref());
        }
        match failure {
            Failure::Input(LoadError::Stopped(reason)) => Exit::stopped(reason),
            Failure::Rejected(_) => Exit::Bug,
            _ => Exit::BadInput,
        }
    }

    /// Says something that is not an error.
    pub fn warn(&self, what: &str) {
        if !self.quiet {
            output::complain(&format!("warning: {what}\n"));
        }
    }

    /// Something else worth knowing.
    pub fn note(&self, what: &str) {
        if !self.quiet {
            output::complain(&format!("note: {what}\n"));
        }
    }

    /// An error without a place.
    fn error(&self, what: &str, help: Option<&str>) {
        let notes = help.map(|help| format!("help: {help}"));
        let nowhere = Place { name: String::new(), line: 1, column: 1, shown: String::new() };
        self.render(&nowhere, &Rendered::error().with_message(what).with_notes_iter(notes));
    }

    /// All there is to say about a text.
    pub fn diagnostics(&self, found: &SourceDiagnostics) {
        let mut finder = Finder::new(&found.source);
        for remark in found.diagnostics.iter().filter(|remark| self.wants(remark.severity)) {
            let (place, span) = finder.place(remark);
            let rendered = match remark.severity {
                Severity::Error => Rendered::error(),
                Severity::Warning => Rendered::warning(),
            };
            let notes = remark.help.iter().map(|help| format!("help: {help}"));
            let label = Label::primary((), span);
            self.render(
                &place,
                &rendered.with_message(&remark.message).with_label(label).with_notes_iter(notes),
            );
        }
        for (severity, kind) in [(Severity::Error, "error"), (Severity::Warning, "warning")] {
            let more = found.diagnostics.left_out(severity);
            if more > 0 && self.wants(severity) {
                output::complain(&format!("{} more not shown\n", words::count(more as u128, kind)));
            }
        }
    }

    fn wants(&self, severity: Severity) -> bool {
        severity == Severity::Error || !self.quiet
    }

    fn render(&self, place: &Place, rendered: &Rendered<()>) {
        let mut buffer = if self.colored { Buffer::ansi() } else { Buffer::no_color() };
        let styles = Styles::default();
        let mut writer = StylesWriter::new(&mut buffer, &styles);
        // A buffer cannot fail, and the only place asked about is this one.
        let _ = term::emit_to_write_style(&mut writer, &Config::default(), place, rendered);
        output::complain(&String::from_utf8_lossy(buffer.as_slice()));
    }
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::IsADirectory => "it is a directory".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        io::ErrorKind::AlreadyExists => "it is there already".to_string(),
        _ => error.to_string(),
    }
}

/// Finds the places of remarks, which come in the order of the text, in one sweep over it.
struct Finder<'a> {
    source: &'a Source,
    at: usize,
    line: usize,
    column: usize,
}

impl<'a> Finder<'a> {
    fn new(source: &'a Source) -> Finder<'a> {
        Finder { source, at: 0, line: 1, column: 1 }
    }

    /// The place, and the span within what is shown of it.
    fn place(&mut self, remark: &Diagnostic) -> (Place, Range<usize>) {
        let bytes = &self.source.text;
        let start = remark.span.start.clamp(self.at, bytes.len());
        let passed = &bytes[self.at..start];
        let last = passed.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        if last.len() < passed.len() {
            self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
            self.column = 1;
        }
        self.column += last
            .utf8_chunks()
            .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
            .sum::<usize>();
        self.at = start;
        let before = &bytes[start.saturating_sub(SHOWN)..start];
        let before = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let after = &bytes[start..bytes.len().min(start + SHOWN)];
        let after = after.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let line_ends = matches!(bytes.get(start + after.len()), None | Some(b'\n'));
        // Some files end their lines with two characters.
        let after = if line_ends { after.strip_suffix(b"\r").unwrap_or(after) } else { after };
        let more_before = start > before.len() && bytes[start - before.len() - 1] != b'\n';
        let marked = remark.span.len().min(after.len());
        let mut shown = if more_before { "…".to_string() } else { String::new() };
        shown += &harmless(before);
        let from = shown.len();
        shown += &harmless(&after[..marked]);
        let to = shown.len();
        shown += &harmless(&after[marked..]);
        shown += if line_ends { "" } else { "…" };
        let name = words::path(Path::new(&self.source.name));
        (Place { name, line: self.line, column: self.column, shown }, from..to)
    }
}

/// A text without control characters, which stand for nothing here but could drive a terminal.
fn harmless(bytes: &[u8]) -> String {
    let safe = |character: char| match character {
        '\t' => ' ',
        _ if character.is_control() || ('\u{202a}'..='\u{202e}').contains(&character) => '\u{fffd}',
        _ => character,
    };
    String::from_utf8_lossy(bytes).chars().map(safe).collect()
}

/// A part of a line, and where it is.
struct Place {
    name: String,
    line: usize,
    column: usize,
    shown: String,
}

impl<'a> Files<'a> for Place {
    type FileId = ();
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(&self.name)
    }

    fn source(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(&self.shown)
    }

    fn line_index(&'a self, (): (), _: usize) -> Result<usize, Error> {
        Ok(0)
    }

    fn line_number(&'a self, (): (), _: usize) -> Result<usize, Error> {
        Ok(self.line)
    }

    fn column_number(&'a self, (): (), _: usize, _: usize) -> Result<usize, Error> {
        Ok(self.column)
    }

    fn line_range(&'a self, (): (), _: usize) -> Result<Range<usize>, Error> {
        Ok(0..self.shown.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &[u8], span: Range<usize>) -> (usize, usize, String, String) {
        let source = Source { name: "x".to_string(), text: std::sync::Arc::new(text.to_vec()) };
        let remark = Diagnostic { severity: Severity::Error, span, message: String::new(), help: None };
        let (place, span) = Finder::new(&source).place(&remark);
        (place.line, place.column, place.shown[span].to_string(), place.shown)
    }

    #[test]
    fn a_place_is_shown_with_its_line() {
        let expected =
            |line, column, marked: &str, shown: &str| (line, column, marked.to_string(), shown.to_string());
        assert_eq!(place(b"3\nPDA 0 x\n", 8..9), expected(2, 7, "x", "PDA 0 x"));
        assert_eq!(place(b"3\n", 2..2), expected(2, 1, "", ""));
        assert_eq!(place("é→x".as_bytes(), 5..6), expected(1, 3, "x", "é→x"));
        assert_eq!(
            place(b"\x1b[31m\xff\0", 0..7),
            expected(1, 1, "\u{fffd}[31m\u{fffd}\u{fffd}", "\u{fffd}[31m\u{fffd}\u{fffd}")
        );
        assert_eq!(place(b"0 x\r\n", 2..3), expected(1, 3, "x", "0 x"));
        assert_eq!(place(b"", 5..9), expected(1, 1, "", ""), "beyond the end");
    }

    #[test]
    fn a_long_line_is_cut_on_both_sides() {
        let text = "ab".repeat(5000);
        let (line, column, marked, shown) = place(text.as_bytes(), 5000..9000);
        assert_eq!((line, column), (1, 5001));
        assert_eq!(marked.len(), SHOWN);
        assert_eq!(shown, format!("…{}…", "ab".repeat(SHOWN)));
    }
}
