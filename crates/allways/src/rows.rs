//! A trace for people: one row per step, with the rule from the source.

use crate::words::cut;
use allways_evidence::{Step, Trace};
use allways_model::notation::show_state;
use allways_model::pushdown::Pushdown;
use std::collections::{BTreeMap, BTreeSet};

/// The longest rule that is shown in full.
const LONG: usize = 60;

/// The rows of a trace: step, thread, line, rule and state, from the initial state on. `source` is the text that the lines of the trace are
/// lines of.
pub fn rows(system: &dyn Pushdown, trace: &Trace, source: &[u8]) -> Vec<Vec<String>> {
    let rules = lines(source, trace.steps.iter().map(|step| step.line).collect());
    let none = String::new;
    let initial = cut(&show_state(system, &trace.initial));
    let initial = vec!["0".to_string(), none(), none(), none(), initial];
    let step = |(index, step): (usize, &Step)| {
        let rule = rules.get(&step.line).cloned().unwrap_or_default();
        let [number, thread, line] =
            [index + 1, step.thread, step.line as usize].map(|number| number.to_string());
        vec![number, thread, line, rule, cut(&show_state(system, &step.state))]
    };
    std::iter::once(initial).chain(trace.steps.iter().enumerate().map(step)).collect()
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
