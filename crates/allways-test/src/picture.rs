//! The interleaving of a failing schedule, a column for each task.
//!
//! A row is a step: what a task did between two scheduling points, named by the source line of its first operation. A
//! line of dashes is a switch; `delay` rows show who was held back, and before what. Steps at one line are one row. If all
//! lines are of one file, its name stands above. With many tasks the columns are marks, and the text stands behind them.

use crate::files::Files;
use crate::location::Location;
use crate::recording::{Recording, Step};

/// Columns together are about as wide as this.
const WIDTH: usize = 104;
/// With more tasks than this the columns are narrow.
const WIDE: usize = 6;
/// Of a task's steps without a switch, so many rows are shown at the beginning and at the end.
const KEPT: usize = 4;
/// Of very many rows, the first and the last so many.
const ROWS: usize = 80;

struct Row {
    label: String,
    /// The column and its text; none for a line of dashes.
    cell: Option<(usize, String)>,
}

pub(crate) fn picture(recording: &Recording, steps: &[Step]) -> String {
    let names = recording.names();
    let places = steps.iter().flat_map(|step| {
        step.place.iter().chain(step.delayed.iter().filter_map(|(_, place)| place.as_ref()))
    });
    let files = Files::new(places.map(|place| place.file.as_str()));
    let mut rows = Vec::new();
    let mut start = 0;
    while start < steps.len() {
        let task = steps[start].task;
        let end = start
            + 1
            + steps[start + 1..]
                .iter()
                .take_while(|step| step.task == task && step.delayed.is_empty())
                .count();
        segment(&steps[start..end], start + 1, &files, &mut rows);
        start = end;
    }
    let columns = if names.len() <= WIDE { Columns::wide(names) } else { Columns::narrow(names) };
    // The marks show switches well enough.
    rows.retain(|row| !columns.narrow || row.cell.is_some());
    let left_out = rows.len().saturating_sub(2 * ROWS);
    let mut lines: Vec<String> = files.only().into_iter().map(|file| format!("        {file}")).collect();
    lines.push(format!("{:>6}  {}", "step", columns.head));
    for (number, row) in rows.iter().enumerate() {
        if left_out > 0 && number == ROWS {
            lines.push(format!("        … {left_out} rows …"));
        }
        if left_out == 0 || !(ROWS..ROWS + left_out).contains(&number) {
            lines.push(match &row.cell {
                None => format!("        {}", "-".repeat(columns.total)),
                Some((task, text)) => format!("{:>6}  {}", row.label, columns.line(names, *task, text)),
            });
        }
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n")
}

/// How a row is laid out.
struct Columns {
    head: String,
    width: usize,
    total: usize,
    narrow: bool,
}

impl Columns {
    fn wide(names: &[String]) -> Columns {
        let width = (WIDTH / names.len().max(1)).clamp(14, 44);
        let head: Vec<String> = names.iter().map(|name| format!("{:width$}", clip(name, width))).collect();
        Columns { head: head.join("  "), width, total: (width + 2) * names.len() - 2, narrow: false }
    }

    fn narrow(names: &[String]) -> Columns {
        let head: String = (0..names.len()).map(|task| format!("{:2}", task % 10)).collect();
        Columns { head, width: WIDTH.saturating_sub(2 * names.len()).max(40), total: WIDTH, narrow: true }
    }

    fn line(&self, names: &[String], task: usize, text: &str) -> String {
        if self.narrow {
            let marks: String =
                (0..names.len()).map(|other| if other == task { " *" } else { " ." }).collect();
            return format!("{marks}  {}: {}", names[task], clip(text, self.width));
        }
        format!("{:indent$}{}", "", clip(text, self.width), indent = task * (self.width + 2))
    }
}

/// The rows of steps of one task in a row; `number` is that of the first.
fn segment(steps: &[Step], number: usize, files: &Files, rows: &mut Vec<Row>) {
    let first = &steps[0];
    for (task, place) in &first.delayed {
        let before = place
            .as_ref()
            .map(|place| format!(" before {}", described(place, files, "")))
            .unwrap_or_default();
        rows.push(Row { label: "delay".to_string(), cell: Some((*task, format!("held back{before}"))) });
    }
    if !rows.is_empty() {
        rows.push(Row { label: String::new(), cell: None });
    }
    let mut own: Vec<(Row, usize)> = Vec::new();
    for (offset, step) in steps.iter().enumerate() {
        let what = match (&step.place, step.first, step.spurious) {
            (_, _, true) => "wakes up spuriously".to_string(),
            (_, true, _) => "starts".to_string(),
            (Some(place), ..) => described(place, files, &step.note),
            (None, ..) if !step.note.is_empty() => step.note.clone(),
            (None, ..) => "goes on".to_string(),
        };
        match own.last_mut() {
            Some((row, times)) if row.cell.as_ref().is_some_and(|cell| cell.1 == what) => *times += 1,
            _ => {
                let cell = Some((step.task, what));
                own.push((Row { label: (number + offset).to_string(), cell }, 1));
            }
        }
    }
    let left_out = own.len().saturating_sub(2 * KEPT);
    for (index, (mut row, times)) in own.into_iter().enumerate() {
        if let (Some((_, cell)), true) = (&mut row.cell, times > 1) {
            *cell = format!("{times}× {cell}");
        }
        if left_out < 2 || !(KEPT..KEPT + left_out).contains(&index) {
            rows.push(row);
        } else if index == KEPT {
            row.cell = Some((first.task, format!("… {left_out} more …")));
            rows.push(row);
        }
    }
}

/// The line, what the step saw, and what stands there; before it the file, unless there is only one.
fn described(place: &Location, files: &Files, note: &str) -> String {
    let note = if note.is_empty() { String::new() } else { format!("({note}) ") };
    format!("{}{} {note}{}", files.before_line(&place.file), place.line, place.text).trim_end().to_string()
}

fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}
