//! A failing schedule as one HTML page that needs nothing else: no network, no script, no other file.
//!
//! A row is a step, a column a task; every step is there, with its source line and what it saw. Texts come from programs, which may be
//! hostile: whatever is put in is escaped, and the policy of the page allows nothing but its own styles.

use crate::files::Files;
use crate::location::Location;
use crate::recording::{Recording, Step};
use crate::report::Failure;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const HEAD: &str = r#"<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em; }
pre, code, td { font-family: ui-monospace, monospace; font-size: 13px; }
pre { white-space: pre-wrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: 2px 10px; min-width: 14em; }
th:first-child, td:first-child { min-width: 0; text-align: right; opacity: 0.6; }
thead th { position: sticky; top: 0; background: Canvas; }
tr.switch td { border-top: 1px solid GrayText; }
tr.delay td { color: #b45309; font-style: italic; }
tr.last td:not(:empty) { color: #b91c1c; font-weight: bold; }
small { opacity: 0.6; }
</style>
"#;

/// The page of a failure.
pub(crate) fn page(failure: &Failure, recording: &Recording, steps: &[Step]) -> String {
    let places = steps.iter().flat_map(|step| {
        step.place.iter().chain(step.delayed.iter().filter_map(|(_, place)| place.as_ref()))
    });
    let files = Files::new(places.map(|place| place.file.as_str()));
    let title = escaped(failure.message.lines().next().unwrap_or_default());
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<title>{title}</title>\n{HEAD}</head>\n<body>\n"
    );
    // What is written to a string is never refused.
    let _ = writeln!(page, "<h1>{title}</h1>\n<pre>{}</pre>", escaped(failure.summary().trim_end()));
    if let Some(file) = files.only() {
        let _ = writeln!(page, "<p><code>{}</code></p>", escaped(file));
    }
    page += "<div class=\"wide\">\n<table>\n<thead><tr><th>step</th>";
    for name in recording.names() {
        let _ = write!(page, "<th>{}</th>", escaped(name));
    }
    page += "</tr></thead>\n<tbody>\n";
    let tasks = recording.names().len();
    for (index, step) in steps.iter().enumerate() {
        for (task, place) in &step.delayed {
            let before =
                place.as_ref().map(|place| format!(" before {}", at(place, &files))).unwrap_or_default();
            row(&mut page, "switch delay", "delay", tasks, *task, &format!("held back{before}"));
        }
        let switch = index > 0 && steps[index - 1].task != step.task;
        let class = match (index + 1 == steps.len(), switch) {
            (true, _) => "switch last",
            (_, true) => "switch",
            _ => "",
        };
        row(&mut page, class, &(index + 1).to_string(), tasks, step.task, &text(step, &files));
    }
    page + "</tbody>\n</table>\n</div>\n</body>\n</html>\n"
}

fn row(page: &mut String, class: &str, label: &str, tasks: usize, task: usize, cell: &str) {
    let (before, after) = ("<td></td>".repeat(task), "<td></td>".repeat(tasks.saturating_sub(task + 1)));
    let _ = writeln!(page, "<tr class=\"{class}\"><td>{label}</td>{before}<td>{cell}</td>{after}</tr>");
}

/// What a step does, as HTML.
fn text(step: &Step, files: &Files) -> String {
    let what = match (&step.place, step.first, step.spurious) {
        (_, _, true) => "wakes up spuriously".to_string(),
        (_, true, _) => "starts".to_string(),
        (Some(place), ..) => at(place, files),
        (None, ..) => "goes on".to_string(),
    };
    let note = if step.note.is_empty() { String::new() } else { format!("<br>{}", escaped(&step.note)) };
    what + &note
}

fn at(place: &Location, files: &Files) -> String {
    let name = files.before_line(&place.file);
    format!(
        "<span title=\"{}\"><small>{}{}</small> {}</span>",
        escaped(&place.to_string()),
        escaped(&name),
        place.line,
        escaped(&place.text)
    )
}

/// A text between tags or in an attribute.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\n' | '\t' => safe.push(character),
            _ if character.is_control() => safe.push('\u{fffd}'),
            _ => safe.push(character),
        }
    }
    safe
}

/// Writes a page into a folder, under a name that no other page of this process has.
pub(crate) fn write(folder: &Path, page: &str) -> std::io::Result<PathBuf> {
    static PAGES: AtomicUsize = AtomicUsize::new(1);
    std::fs::create_dir_all(folder)?;
    // The tests of a program run on threads with their names.
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test").replace(|c: char| !c.is_alphanumeric() && c != '_', "-");
    let number = PAGES.fetch_add(1, Ordering::Relaxed);
    let file = folder.join(format!("{test}-{}-{number}.html", std::process::id()));
    std::fs::write(&file, page)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_texts() {
        assert_eq!(escaped("a<b> & \"c\"\u{1}"), "a&lt;b&gt; &amp; &quot;c&quot;\u{fffd}");
    }
}
