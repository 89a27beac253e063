//! Lines to a system. A mistake spoils its line alone.

use super::{Parsed, Tts};
use crate::diagnostic::{Diagnostics, Severity, excerpt};
use allways_model::counters::{Bag, Local, Rule};
use std::ops::Range;

pub(super) fn read(text: &[u8]) -> Parsed {
    let mut diagnostics = Diagnostics::default();
    let mut tts = None;
    let mut declared = false;
    if u32::try_from(text.len()).is_err() {
        let message = format!("expected a file below 4 GiB, found one of {} bytes", text.len());
        diagnostics.add(Severity::Error, 0..0, || (message, None));
        return Parsed { system: None, diagnostics };
    }
    for (line, span) in lines(text) {
        let mut words = Words::new(text, span);
        if words.peek().is_none() {
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
        if let Err((span, message)) = read {
            diagnostics.add(Severity::Error, span, || (message, None));
        }
    }
    if !declared {
        let message = "expected the numbers of shared and local states, found the end of the file";
        diagnostics.add(Severity::Error, text.len()..text.len(), || (message.to_string(), None));
    }
    Parsed { system: tts.filter(|_| !diagnostics.has_errors()), diagnostics }
}

type Fault = (Range<usize>, String);

fn header(words: &mut Words) -> Result<Tts, Fault> {
    let mut declared = [0; 2];
    for (number, what) in declared.iter_mut().zip(["shared", "local"]) {
        *number = words.number(&format!("the number of {what} states"))?;
        if *number == 0 {
            return Err(words.fault(&format!("at least one {what} state")));
        }
    }
    words.end("the end of the line after the numbers of states")?;
    Ok(Tts::new(declared))
}

fn transition(tts: &mut Tts, words: &mut Words, line: u32) -> Result<(), Fault> {
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
    while words.peek().is_some() {
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

/// The lines of a text, without comments, and their numbers counted from 1.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (u32, Range<usize>)> + '_ {
    let mut start = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut line = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|_| start <= text.len())?;
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let says = rest[..length].iter().position(|&byte| byte == b'#').unwrap_or(length);
        let span = start..start + says;
        start += length + 1;
        line += 1;
        Some((line, span))
    })
}

/// The words of a line.
struct Words<'a> {
    text: &'a [u8],
    rest: Range<usize>,
    last: Range<usize>,
}

impl<'a> Words<'a> {
    fn new(text: &'a [u8], span: Range<usize>) -> Words<'a> {
        Words { text, last: span.start..span.start, rest: span }
    }

    /// Where the next word is.
    fn peek(&self) -> Option<Range<usize>> {
        let rest = &self.text[self.rest.clone()];
        let start = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let length = rest[start..].iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len() - start);
        let start = self.rest.start + start;
        Some(start..start + length)
    }

    fn word(&mut self, expected: &str) -> Result<&'a [u8], Fault> {
        match self.peek() {
            Some(span) => {
                self.last = span.clone();
                self.rest.start = span.end;
                Ok(&self.text[span])
            }
            None => {
                self.last = self.rest.end..self.rest.end;
                Err(self.fault(expected))
            }
        }
    }

    fn number(&mut self, expected: &str) -> Result<u32, Fault> {
        let word = self.word(expected)?;
        number(word).ok_or_else(|| self.fault(expected))
    }

    fn below(&mut self, count: u32, expected: &str) -> Result<u32, Fault> {
        let number = self.number(expected)?;
        if number < count { Ok(number) } else { Err(self.fault(&format!("{expected} below {count}"))) }
    }

    fn end(&mut self, expected: &str) -> Result<(), Fault> {
        match self.peek() {
            None => Ok(()),
            Some(span) => {
                self.last = span;
                Err(self.fault(expected))
            }
        }
    }

    /// A complaint about the last word.
    fn fault(&self, expected: &str) -> Fault {
        let found = match &self.text[self.last.clone()] {
            [] => "the end of the line".to_string(),
            word => format!("`{}`", excerpt(word)),
        };
        (self.last.clone(), format!("expected {expected}, found {found}"))
    }
}

/// A plain decimal number.
pub(super) fn number(word: &[u8]) -> Option<u32> {
    let digits = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    digits.then(|| str::from_utf8(word).ok()?.parse().ok()).flatten()
}
