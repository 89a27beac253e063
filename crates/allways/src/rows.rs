//! A trace for people: one row per step, with the rule from the source.

use crate::words::cut;
use allways_evidence::{Step, Trace};
use allways_model::notation::show_state;
use allways_model::pushdown::Pushdown;
use std::collections::{BTreeMap, BTreeSet};

/// The longest rule that is shown in full.
const LONG: usize = 60;

/// The rows of a trace, aligned; a row for the initial state comes first.
pub struct Rows<'a> {
    system: &'a dyn Pushdown,
    trace: &'a Trace,
    rules: BTreeMap<u32, String>,
    widths: [usize; 4],
}

impl<'a> Rows<'a> {
    /// The rows; `source` is the text that the lines of the trace are lines of.
    pub fn new(system: &'a dyn Pushdown, trace: &'a Trace, source: &[u8]) -> Rows<'a> {
        let rules = lines(source, trace.steps.iter().map(|step| step.line).collect());
        let digits = |number: u64| number.to_string().len();
        let last_line = rules.keys().next_back().copied().unwrap_or_default();
        let widths = [
            digits(trace.steps.len() as u64).max("step".len()),
            "thread".len().max(digits(system.threads() as u64)),
            digits(u64::from(last_line)).max("line".len()),
            rules.values().map(|rule| rule.chars().count()).max().unwrap_or(0).max("rule".len()),
        ];
        Rows { system, trace, rules, widths }
    }

    /// The line above the rows.
    pub fn header(&self) -> String {
        self.row(["step", "thread", "line", "rule"], "state")
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = String> {
        let initial = self.row(["0", "", "", ""], &cut(&show_state(self.system, &self.trace.initial)));
        let steps = self.trace.steps.iter().enumerate().map(|(index, step)| self.step(index + 1, step));
        std::iter::once(initial).chain(steps)
    }

    fn step(&self, number: usize, step: &Step) -> String {
        let rule = self.rules.get(&step.line).map_or("", String::as_str);
        let texts = [number, step.thread, step.line as usize].map(|number| number.to_string());
        self.row([&texts[0], &texts[1], &texts[2], rule], &cut(&show_state(self.system, &step.state)))
    }

    fn row(&self, [step, thread, line, rule]: [&str; 4], state: &str) -> String {
        let [a, b, c, d] = self.widths;
        format!("  {step:>a$}  {thread:>b$}  {line:>c$}  {rule:d$}  {state}")
    }
}

/// These lines of a text, counted from 1, cut where they are long.
fn lines(text: &[u8], wanted: BTreeSet<u32>) -> BTreeMap<u32, String> {
    let mut wanted = wanted.into_iter().peekable();
    let mut found = BTreeMap::new();
    for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let Some(&next) = wanted.peek() else { break };
        if index + 1 == next as usize {
            found.insert(next, shown(line.trim_ascii()));
            wanted.next();
        } else if next == 0 {
            wanted.next();
        }
    }
    found
}

fn shown(line: &[u8]) -> String {
    // No character has more than four bytes.
    let start = String::from_utf8_lossy(&line[..line.len().min(4 * LONG + 4)]);
    let harmless = |character: char| if character.is_control() { ' ' } else { character };
    let mut text: String = start.chars().take(LONG).map(harmless).collect();
    if start.chars().nth(LONG).is_some() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_one_sweep() {
        let text = b"one\r\n two \nthree\n\x1b[31m\nlast";
        let found = lines(text, BTreeSet::from([0, 2, 4, 5, 9]));
        let expected = [(2, "two"), (4, " [31m"), (5, "last")].map(|(line, text)| (line, text.to_string()));
        assert_eq!(found, BTreeMap::from(expected));
        assert_eq!(shown(&[b'x'; 1000]).chars().count(), LONG + 1);
    }
}
