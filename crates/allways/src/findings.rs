//! What a check found, for tools that show findings where people work: code scanning, test reports, pull requests.
//!
//! A [`Finding`] is one answer, or one file without an answer, reduced to what such tools ask for. Read in this order: [`sarif`], which has
//! the whole interleaving; [`junit`]; [`annotations`].

pub mod annotations;
pub mod junit;
pub mod sarif;

use crate::columns::WIDTH;
use crate::report::Report;
use crate::story::{RunStory, Story};

/// An answer about a file, or why there is none.
#[derive(Clone, Debug, Default)]
pub struct Finding {
    /// The file as it was named.
    pub file: String,
    /// `safe`, `unsafe`, `unknown` or `error`.
    pub verdict: &'static str,
    /// What is violated: the key `violation` of the JSON, or `state` of what is no program.
    pub rule: &'static str,
    /// The verdict as a sentence.
    pub sentence: String,
    /// Of a task definition, the property that was checked.
    pub property: Option<String>,
    /// The line and column of what went wrong.
    pub place: Option<(u32, u32)>,
    /// The run that goes wrong.
    pub run: Option<RunStory>,
    /// The same as a table, for people.
    pub lines: Vec<String>,
    /// How long it took.
    pub seconds: f64,
    /// Of a file without an answer, what is wrong with it.
    pub complaints: Vec<Complaint>,
}

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Complaint {
    /// What it is, and what to do.
    pub message: String,
    /// Where it is, if it is at a place of a text.
    pub place: Option<(u32, u32)>,
}

impl Finding {
    /// What was found by a check.
    pub fn new(report: &Report, story: Story) -> Finding {
        let run = story.run;
        let last = run.as_ref().and_then(|run| run.steps.last()).map(|step| (step.line, step.column.max(1)));
        let end = run.as_ref().and_then(|run| run.line).map(|line| match last {
            Some((last, column)) if last == line => (line, column),
            _ => (line, 1),
        });
        let place = end.or(last).filter(|(line, _)| *line > 0);
        let violation = report.counterexample.as_ref().and_then(|rows| rows.violation());
        Finding {
            file: report.file.clone(),
            verdict: report.verdict,
            rule: violation.unwrap_or("state"),
            sentence: report.sentence.clone(),
            property: report.property.clone(),
            place: place.filter(|_| report.verdict == "unsafe"),
            run,
            lines: report.table.iter().flat_map(|table| table.lines(WIDTH)).collect(),
            seconds: report.seconds,
            complaints: Vec::new(),
        }
    }
}
