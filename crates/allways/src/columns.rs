//! Counterexamples in columns that fit the width of a terminal.
//!
//! Of a program there is a column for each thread that moves. Where the columns are too wide together, all of them get narrower until
//! they fit, and texts go on in the next line of their cell; where they would get narrower than a dozen characters, since many threads move, the
//! threads stand below each other instead, each under its name where it takes over. No text is left out.

use crate::source_trace::{SourceStep, SourceTrace};
use serde_json::json;

/// The width where there is no terminal.
pub const WIDTH: usize = 80;

/// The narrowest column of texts.
const LEAST: usize = 12;

/// A counterexample, for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TraceTable {
    body: Body,
    /// What stands below the steps.
    pub footer: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Body {
    /// The run of a program; whether all there is to say of it is said.
    Source(SourceTrace, bool),
    /// Rows with these titles, so many of which, from the left, are of numbers; each with its least width.
    Rows { titles: Vec<(&'static str, usize)>, numbers: usize, rows: Vec<Vec<String>> },
}

impl Default for Body {
    fn default() -> Body {
        Body::Rows { titles: Vec::new(), numbers: 0, rows: Vec::new() }
    }
}

impl TraceTable {
    /// The run of a program.
    pub fn of_source(source: &SourceTrace) -> TraceTable {
        let ending = [&source.end].into_iter().chain(&source.notes);
        TraceTable {
            body: Body::Source(source.clone(), false),
            footer: ending.map(|line| format!("  {line}")).collect(),
        }
    }

    /// The same with all variables at the start, and all steps inside of atomic sections.
    #[must_use]
    pub fn full(mut self) -> TraceTable {
        if let Body::Source(_, full) = &mut self.body {
            *full = true;
        }
        self
    }

    /// Rows with these titles and least widths; the first columns are of numbers.
    pub fn of_rows(titles: &[(&'static str, usize)], numbers: usize, rows: Vec<Vec<String>>) -> TraceTable {
        TraceTable { body: Body::Rows { titles: titles.to_vec(), numbers, rows }, footer: Vec::new() }
    }

    /// The steps for machines, after a first row about the start.
    pub fn steps(&self) -> Vec<serde_json::Value> {
        match &self.body {
            Body::Source(source, _) => {
                let start = json!({ "thread": null, "changed": source.start });
                std::iter::once(start)
                    .chain(source.steps.iter().map(|step| step_json(source, step)))
                    .collect()
            }
            Body::Rows { titles, rows, .. } => {
                let object = |row: &Vec<String>| {
                    let cells =
                        titles.iter().zip(row).map(|((title, _), cell)| (title.to_string(), json!(cell)));
                    cells.collect::<serde_json::Map<_, _>>().into()
                };
                rows.iter().map(object).collect()
            }
        }
    }

    /// Whether there is nothing to be shown.
    pub fn is_empty(&self) -> bool {
        matches!(&self.body, Body::Rows { rows, .. } if rows.is_empty())
    }

    /// Keeps so many steps from the start.
    pub fn truncate(&mut self, steps: usize) {
        match &mut self.body {
            Body::Source(source, _) => source.steps.truncate(steps),
            Body::Rows { rows, .. } => rows.truncate(steps),
        }
    }

    /// What stands above the steps, and the lines of each step, within a width.
    pub fn set(&self, width: usize) -> (Vec<String>, Vec<String>) {
        match &self.body {
            Body::Source(source, full) => Setting::new(source, *full, width).set(),
            Body::Rows { titles, numbers, rows } => set_rows(titles, *numbers, rows, width),
        }
    }

    /// All lines within a width.
    pub fn lines(&self, width: usize) -> Vec<String> {
        if self.is_empty() {
            return self.footer.clone();
        }
        let (header, steps) = self.set(width);
        let steps = steps.iter().flat_map(|step| step.split('\n').map(str::to_string));
        header.into_iter().chain(steps).chain(self.footer.iter().cloned()).collect()
    }
}

fn step_json(source: &SourceTrace, step: &SourceStep) -> serde_json::Value {
    let mut object = json!({
        "thread": step.thread,
        "name": source.threads[step.thread],
        "line": step.line,
        "column": step.column,
        "text": step.text,
        "changed": step.changed,
        "switch": step.switch,
    });
    if !step.inside.is_empty() {
        let inside = step.inside.iter().map(|inner| {
            json!({ "line": inner.line, "column": inner.column, "text": inner.text, "changed": inner.changed })
        });
        object["inside"] = inside.collect();
    }
    object
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// The texts of a cell, none longer than the width: broken between words where that is possible.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    if length(text) <= width {
        return vec![text.to_string()];
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word;
        loop {
            let line = lines.last_mut().expect("there is one");
            let used = length(line);
            let space = usize::from(used > 0);
            if used + space + length(word) <= width {
                if space > 0 {
                    line.push(' ');
                }
                line.push_str(word);
                break;
            }
            if used > 0 {
                lines.push(String::new());
                continue;
            }
            let (cut, _) = word.char_indices().nth(width).unwrap_or((word.len(), ' '));
            line.push_str(&word[..cut]);
            word = &word[cut..];
            lines.push(String::new());
        }
    }
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// One row: cells side by side, two spaces between them, as many lines as the longest needs.
fn row(cells: &[String], widths: &[usize], numbers: usize) -> Vec<String> {
    let cells: Vec<Vec<String>> =
        cells.iter().zip(widths).map(|(cell, &width)| wrapped(cell, width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |number: usize| {
        let mut line = String::new();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let text = cell.get(number).map_or("", String::as_str);
            line += &match column < numbers {
                true => format!("  {text:>width$}"),
                false => format!("  {text:width$}"),
            };
        }
        line.trim_end().to_string()
    };
    (0..height).map(line).collect()
}

/// The widths of columns of texts so that they take this room together, if that can be with [`LEAST`] for each.
fn fitting(naturals: &[usize], room: usize) -> Option<Vec<usize>> {
    let within = |cap: usize| naturals.iter().map(|&natural| natural.min(cap)).sum::<usize>() <= room;
    let most = naturals.iter().copied().max().unwrap_or(0);
    let cap = (LEAST.min(most)..=most).rev().find(|&cap| within(cap))?;
    Some(naturals.iter().map(|&natural| natural.min(cap)).collect())
}

fn set_rows(
    titles: &[(&'static str, usize)],
    numbers: usize,
    rows: &[Vec<String>],
    width: usize,
) -> (Vec<String>, Vec<String>) {
    let natural = |column: usize| {
        let texts = rows.iter().map(|row| length(&row[column]));
        texts.max().unwrap_or(0).max(titles[column].0.len()).max(titles[column].1)
    };
    let mut widths: Vec<usize> = (0..titles.len()).map(natural).collect();
    let fixed: usize = widths[..numbers].iter().sum::<usize>() + 2 * widths.len();
    let room = width.saturating_sub(fixed).max(LEAST * (widths.len() - numbers));
    if let Some(fitting) = fitting(&widths[numbers..], room) {
        widths.splice(numbers.., fitting);
    }
    let header: Vec<String> = titles.iter().map(|(title, _)| title.to_string()).collect();
    let steps = rows.iter().map(|cells| row(cells, &widths, numbers).join("\n"));
    (row(&header, &widths, numbers), steps.collect())
}

/// The values at the start that are shown.
fn start_of(trace: &SourceTrace, full: bool) -> String {
    if full { trace.start.join(", ") } else { trace.matters.join(", ") }
}

/// What is said of a step: lines, texts, and what changes. An atomic section with several effects has one for each of these.
fn lines_of(step: &SourceStep, full: bool) -> Vec<(u32, String, String)> {
    let inside = if full { step.inside.iter().collect() } else { step.effects() };
    let changes = if inside.is_empty() { step.changed.join(", ") } else { String::new() };
    let inner =
        inside.into_iter().map(|inner| (inner.line, format!("  {}", inner.text), inner.changed.join(", ")));
    std::iter::once((step.line, step.text.clone(), changes)).chain(inner).collect()
}

/// How the run of a program is set.
struct Setting<'a> {
    trace: &'a SourceTrace,
    full: bool,
    /// The threads that move.
    moving: Vec<usize>,
    /// Whether each has a column; else they stand below each other.
    beside: bool,
    /// The widths of the columns: lines, then texts, then what changes.
    widths: Vec<usize>,
}

impl<'a> Setting<'a> {
    fn new(trace: &'a SourceTrace, full: bool, width: usize) -> Setting<'a> {
        let mut moving: Vec<usize> = trace.steps.iter().map(|step| step.thread).collect();
        moving.sort_unstable();
        moving.dedup();
        let lines = |thread: Option<usize>| {
            let steps =
                trace.steps.iter().filter(move |step| thread.is_none_or(|thread| thread == step.thread));
            steps.flat_map(move |step| lines_of(step, full))
        };
        let last = lines(None).map(|(line, ..)| line).max().unwrap_or(0);
        let digits = last.to_string().len().max("line".len());
        let text = |thread: &usize| {
            let texts = lines(Some(*thread)).map(|(_, text, _)| length(&text));
            texts.max().unwrap_or(0).max(length(&trace.threads[*thread]))
        };
        let changes = lines(None).map(|(_, _, changes)| length(&changes)).max().unwrap_or(0);
        let changes = changes.max(length(&start_of(trace, full))).max("changes".len());
        let naturals: Vec<usize> = moving.iter().map(text).chain([changes]).collect();
        let room = |columns: usize| width.saturating_sub(digits + 2 * (columns + 1));
        let beside = fitting(&naturals, room(naturals.len()));
        let widths = beside.clone().unwrap_or_else(|| {
            let texts = naturals[..moving.len()].iter().copied().max().unwrap_or(0).max("step".len());
            fitting(&[texts, changes], room(2)).unwrap_or(vec![LEAST, LEAST])
        });
        let widths = std::iter::once(digits).chain(widths).collect();
        Setting { trace, full, moving, beside: beside.is_some(), widths }
    }

    fn set(&self) -> (Vec<String>, Vec<String>) {
        (self.header(), (0..self.trace.steps.len()).map(|step| self.step(step).join("\n")).collect())
    }

    /// A row of the table: a line, a text in the column of a thread, what changed.
    fn row(&self, line: &str, texts: impl Iterator<Item = String>, changes: &str) -> Vec<String> {
        let cells: Vec<String> =
            std::iter::once(line.to_string()).chain(texts).chain([changes.to_string()]).collect();
        row(&cells, &self.widths, 1)
    }

    fn header(&self) -> Vec<String> {
        let start = start_of(self.trace, self.full);
        if self.moving.is_empty() {
            let room = self.widths[0] + self.widths[1];
            return wrapped(&format!("at the start: {start}"), room.max(WIDTH))
                .iter()
                .map(|line| format!("  {line}"))
                .collect();
        }
        let names: Vec<String> = match self.beside {
            true => self.moving.iter().map(|&thread| self.trace.threads[thread].clone()).collect(),
            false => vec!["step".to_string()],
        };
        let blank = names.iter().map(|_| String::new()).collect::<Vec<String>>();
        let mut rows = self.row("line", names.into_iter(), "changes");
        if !start.is_empty() {
            rows.extend(self.row("", blank.into_iter(), &start));
        }
        rows
    }

    /// The lines of a step: where another thread takes over, a rule or its name; then the step.
    fn step(&self, index: usize) -> Vec<String> {
        let step = &self.trace.steps[index];
        let mut rows = Vec::new();
        let repeats = self.trace.cycle == Some(index);
        if repeats {
            rows.push("  then for ever:".to_string());
        }
        if self.beside {
            if step.switch && !repeats {
                let texts = &self.widths[1..self.widths.len() - 1];
                let width = texts.iter().map(|width| width + 2).sum::<usize>() - 2;
                rows.push(format!("  {:>1$}  {2}", "", self.widths[0], "-".repeat(width)));
            }
        } else if step.switch || repeats || index == 0 {
            rows.push(format!("  {}:", self.trace.threads[step.thread]));
        }
        for (line, text, changes) in lines_of(step, self.full) {
            let of = |thread: &usize| if *thread == step.thread { text.clone() } else { String::new() };
            let texts: Vec<String> = match self.beside {
                true => self.moving.iter().map(of).collect(),
                false => vec![text],
            };
            rows.extend(self.row(&line.to_string(), texts.into_iter(), &changes));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(threads: usize, steps: usize, text: &str) -> SourceTrace {
        let step = |index: usize| SourceStep {
            thread: index / 3 % threads,
            switch: index > 0 && index.is_multiple_of(3),
            line: 10 + (index % 3) as u32,
            column: 1,
            text: format!("{text} {}", index % 3),
            changed: if index.is_multiple_of(2) {
                vec![format!("slot[{}] = {index}", index % 6)]
            } else {
                Vec::new()
            },
            inside: Vec::new(),
        };
        SourceTrace {
            threads: (0..threads).map(|thread| format!("worker[{thread}]")).collect(),
            start: (0..6).map(|slot| format!("slot[{slot}] = 0")).collect(),
            matters: (0..6).map(|slot| format!("slot[{slot}] = 0")).collect(),
            steps: (0..steps).map(step).collect(),
            cycle: None,
            end: "line 12: violated".to_string(),
            line: Some(12),
            notes: Vec::new(),
            kind: "never",
        }
    }

    #[test]
    fn words_are_kept_whole_where_they_fit() {
        assert_eq!(wrapped("one two three", 20), ["one two three"]);
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrapped("abcdefgh", 4), ["abcd", "efgh"]);
        assert_eq!(wrapped("é→😀é→😀", 3), ["é→😀", "é→😀"]);
    }

    #[test]
    fn columns_get_narrower_together() {
        assert_eq!(fitting(&[10, 40, 30], 80), Some(vec![10, 40, 30]));
        assert_eq!(fitting(&[10, 40, 30], 60), Some(vec![10, 25, 25]));
        assert_eq!(fitting(&[40, 40, 40], 30), None);
        assert_eq!(fitting(&[3, 4], 7), Some(vec![3, 4]), "narrow ones need no more");
    }

    /// Every line fits, and what is read from top to bottom, cell by cell, is all there is.
    #[test]
    fn nothing_is_wider_than_the_terminal_and_nothing_is_lost() {
        for (threads, text) in [
            (1, "x"),
            (2, "await turn == self && !other.ready"),
            (4, "counter = counter + 1"),
            (9, "a long statement"),
        ] {
            let trace = trace(threads, 40, text);
            for width in [40, 60, 80, 132, 400] {
                let lines = TraceTable::of_source(&trace).lines(width);
                assert!(lines.iter().all(|line| length(line) <= width), "{width}: {lines:#?}");
                let shown: String = lines.concat().split_whitespace().collect();
                let words = trace
                    .steps
                    .iter()
                    .flat_map(|step| step.changed.iter())
                    .filter(|word| width >= 80 && !shown.contains(&word.replace(' ', "")));
                assert_eq!(words.collect::<Vec<_>>(), Vec::<&String>::new(), "{width}");
            }
        }
    }

    /// What a reader takes from the lines: for each step its thread, its line, its text and what changed.
    fn read(lines: &[String], trace: &SourceTrace) -> Vec<(usize, u32, String, String)> {
        let name = |thread: usize| trace.threads[thread].as_str();
        let header = &lines[0];
        // Where the names of threads stand, if they stand beside each other.
        let columns: Vec<Option<usize>> = (0..trace.threads.len())
            .map(|thread| header.find(&format!("  {}  ", name(thread))).map(|at| at + 2))
            .collect();
        let changes = header.find("changes").expect("a column for what changes");
        let mut current = None;
        let mut steps: Vec<(usize, u32, String, String)> = Vec::new();
        for line in &lines[1..lines.len() - trace.notes.len() - 1] {
            if let Some(thread) =
                (0..trace.threads.len()).find(|&thread| line.trim() == format!("{}:", name(thread)))
            {
                current = Some(thread);
                continue;
            }
            if line.trim().chars().all(|character| character == '-') {
                continue;
            }
            let number: String = line.chars().take(6).collect();
            let cell = |from: usize, to: usize| {
                line.chars().skip(from).take(to.saturating_sub(from)).collect::<String>().trim().to_string()
            };
            let (text, changed) = (cell(6, changes), cell(changes, usize::MAX));
            match number.trim().parse::<u32>() {
                Ok(number) => {
                    let starts = 6 + line.chars().skip(6).take_while(|&character| character == ' ').count();
                    let beside = columns.iter().position(|&column| column == Some(starts));
                    steps.push((current.or(beside).expect("a thread"), number, text, changed));
                }
                // A cell that goes on; before the first step, what holds at the start.
                Err(_) => {
                    let Some(last) = steps.last_mut() else { continue };
                    for (part, more) in [(&mut last.2, text), (&mut last.3, changed)] {
                        if !more.is_empty() {
                            *part += &format!(" {more}");
                        }
                    }
                }
            }
        }
        steps
    }

    #[test]
    fn two_hundred_steps_of_six_threads_are_readable_in_eighty_columns() {
        // Six threads stand below each other, three beside each other, with narrow columns.
        for (threads, text) in [(6, "next = (next + 1) % size, at step"), (3, "n = n + 1,"), (3, "x")] {
            let mut trace = trace(threads, 200, text);
            // Each step says which it is.
            for (index, step) in trace.steps.iter_mut().enumerate() {
                step.text += &format!(" #{index}");
            }
            let lines = TraceTable::of_source(&trace).lines(80);
            assert!(lines.iter().all(|line| length(line) <= 80), "{lines:#?}");
            let expected: Vec<(usize, u32, String, String)> = trace
                .steps
                .iter()
                .map(|step| (step.thread, step.line, step.text.clone(), step.changed.join(", ")))
                .collect();
            assert_eq!(read(&lines, &trace), expected, "every step once, in order, with its thread");
            let headings =
                lines.iter().filter(|line| line.starts_with("  worker[") && line.ends_with(':')).count();
            let rules = lines.iter().filter(|line| line.contains("---")).count();
            // 67 contexts of three steps at most have 66 switches between them.
            assert_eq!((headings, rules), if threads == 6 { (67, 0) } else { (0, 66) });
            let start: String =
                lines.iter().skip(1).take(4).flat_map(|line| line.split_whitespace()).collect();
            assert!(start.contains("slot[0]=0,slot[1]=0,slot[2]=0"), "{start}");
            assert_eq!(lines.last().map(String::as_str), Some("  line 12: violated"));
        }
    }
}
