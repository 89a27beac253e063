//! Lines to a system. A mistake spoils its line alone.

use super::states::{below, number};
use super::{Parsed, Tts};
use crate::cursor::{Cursor, lines};
use crate::diagnostic::{Diagnostic, Diagnostics};
use allways_model::counters::{Bag, Local, Rule};
use std::ops::Range;

pub(super) fn read(text: &[u8]) -> Parsed {
    let mut diagnostics = Diagnostics::about(text);
    let mut tts = None;
    let mut declared = false;
    if diagnostics.has_errors() {
        return Parsed { system: None, diagnostics };
    }
    for (line, span) in lines(text) {
        let mut words = Words { text, last: span.clone(), cursor: Cursor::within(text, span) };
        if words.at_end() {
            continue;
        }
        let read = if declared {
            match &mut tts {
                Some(tts) => transition(tts, &mut words, line),
                None => Ok(()),
            }
        } else {
            declared = true;
            header(&mut words).map(|header| tts = Some(header))
        };
        if let Err(fault) = read {
            diagnostics.push(fault);
        }
    }
    if !declared {
        let message = "expected the numbers of shared and local states, found the end of the file";
        diagnostics.push(Diagnostic::error(text.len()..text.len(), message.to_string()));
    }
    Parsed { system: tts.filter(|_| !diagnostics.has_errors()), diagnostics }
}

fn header(words: &mut Words) -> Result<Tts, Diagnostic> {
    let mut declared = [0; 2];
    for (count, what) in declared.iter_mut().zip(["shared", "local"]) {
        let expected = format!("the number of {what} states");
        *count = number(words.word(&expected)?).ok_or_else(|| words.fault(&expected))?;
        if *count == 0 {
            return Err(words.fault(&format!("at least one {what} state")));
        }
    }
    let end = "the end of the line after the numbers of states";
    if words.word(end).is_ok() { Err(words.fault(end)) } else { Ok(Tts::new(declared)) }
}

fn transition(tts: &mut Tts, words: &mut Words, line: u32) -> Result<(), Diagnostic> {
    let from = words.below(tts.declared[0], "a shared state")?;
    let before = words.below(tts.declared[1], "a local state")?;
    let starts = match words.word("`->` or `+>`")? {
        b"->" => false,
        b"+>" => true,
        _ => return Err(words.fault("`->` or `+>`")),
    };
    let to = words.below(tts.declared[0], "a shared state")?;
    let after = words.below(tts.declared[1], "a local state")?;
    let mut moves: Vec<(Local, Option<Local>)> = Vec::new();
    while !words.at_end() {
        let moved = words.below(tts.declared[1], "a local state, or the end of the line")?;
        if words.word("`~>`")? != b"~>" {
            return Err(words.fault("`~>`"));
        }
        let goal = words.below(tts.declared[1], "a local state")?;
        moves.push((tts.local(moved), Some(tts.local(goal))));
    }
    moves.sort_unstable();
    if moves.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(words.fault("a single `~>` for each local state before"));
    }
    moves.retain(|&(from, to)| to != Some(from));
    let (from, to) = (tts.shared(from), tts.shared(to));
    let (before, after) = (tts.local(before), tts.local(after));
    let stays = starts.then_some((before, 1));
    let gives = [(after, 1)].into_iter().chain(stays).collect();
    let rule =
        Rule { from, to, takes: Bag::from_iter([(before, 1)]), gives, moves, exactly: Vec::new(), line };
    tts.system.rules.push(rule);
    Ok(())
}

/// The words of a line.
struct Words<'a> {
    text: &'a [u8],
    cursor: Cursor<'a>,
    last: Range<usize>,
}

impl<'a> Words<'a> {
    fn at_end(&mut self) -> bool {
        self.cursor.skip(|byte| byte.is_ascii_whitespace());
        self.cursor.rest().is_empty()
    }

    fn word(&mut self, expected: &str) -> Result<&'a [u8], Diagnostic> {
        let end = self.at_end();
        let start = self.cursor.at();
        let word = self.cursor.skip(|byte| !byte.is_ascii_whitespace());
        self.last = start..self.cursor.at();
        if end {
            let message = format!("expected {expected}, found the end of the line");
            return Err(Diagnostic::error(self.last.clone(), message));
        }
        Ok(word)
    }

    fn below(&mut self, count: u32, expected: &str) -> Result<u32, Diagnostic> {
        self.word(expected)?;
        below(self.text, self.last.clone(), count, expected)
    }

    /// A complaint about the last word.
    fn fault(&self, expected: &str) -> Diagnostic {
        Diagnostic::expected(expected, self.text, self.last.clone())
    }
}
