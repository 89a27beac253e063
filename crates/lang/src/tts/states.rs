//! Configurations as `.prop` and `.init` hold them: `1|2,3^2`, one per line.

use super::Tts;
use crate::cursor::{self, lines, trim};
use crate::diagnostic::Diagnostic;
use allways_model::counters::{Bag, Local, Shared};
use std::ops::Range;

/// One line.
pub(super) struct States {
    /// `None` for `*`.
    pub shared: Option<Shared>,
    pub tokens: Bag,
    /// The local states with any number, and where they are written.
    pub any: Vec<(Local, Range<usize>)>,
    pub span: Range<usize>,
}

/// Reads all lines; there must be one.
pub(super) fn read(tts: &mut Tts, text: &[u8]) -> Result<Vec<States>, Diagnostic> {
    let mut all = Vec::new();
    for (_, span) in lines(text) {
        let span = trim(text, span);
        if !span.is_empty() {
            all.push(line(tts, text, span)?);
        }
    }
    if all.is_empty() {
        let end = text.len()..text.len();
        let message = "expected a configuration such as `0|1,1`, found the end of the file";
        return Err(Diagnostic::error(end, message.to_string()));
    }
    Ok(all)
}

fn line(tts: &mut Tts, text: &[u8], span: Range<usize>) -> Result<States, Diagnostic> {
    let bar = text[span.clone()].iter().position(|&byte| byte == b'|').map(|bar| span.start + bar);
    let Some(bar) = bar else {
        return Err(expected("a configuration such as `0|1,1`", text, span));
    };
    let at = trim(text, span.start..bar);
    let shared = match &text[at.clone()] {
        b"*" => None,
        _ => {
            let shared = below(text, at, tts.declared[0], "a shared state")?;
            Some(tts.shared(shared))
        }
    };
    let mut states = States { shared, tokens: Bag::new(), any: Vec::new(), span: span.clone() };
    if trim(text, bar + 1..span.end) == (bar + 1..bar + 1) || &text[trim(text, bar + 1..span.end)] == b"-" {
        return Ok(states);
    }
    let mut tokens = Vec::new();
    let mut start = bar + 1;
    for part in text[bar + 1..span.end].split(|&byte| byte == b',') {
        let at = start..start + part.len();
        start = at.end + 1;
        let power = part.iter().position(|&byte| byte == b'^').map(|power| at.start + power);
        let name = trim(text, at.start..power.unwrap_or(at.end));
        let local = below(text, name, tts.declared[1], "a local state")?;
        let local = tts.local(local);
        let Some(power) = power else {
            tokens.push((local, 1));
            continue;
        };
        let count = trim(text, power + 1..at.end);
        match &text[count.clone()] {
            b"*" => states.any.push((local, count)),
            digits => match number(digits) {
                Some(number) => tokens.push((local, u64::from(number))),
                None => return Err(expected("a number of threads or `*`", text, count)),
            },
        }
    }
    states.tokens = tokens.into_iter().collect();
    Ok(states)
}

/// A plain decimal number.
pub(super) fn number(word: &[u8]) -> Option<u32> {
    cursor::number(word)?.try_into().ok()
}

pub(super) fn below(text: &[u8], span: Range<usize>, count: u32, what: &str) -> Result<u32, Diagnostic> {
    match number(&text[span.clone()]) {
        Some(number) if number < count => Ok(number),
        Some(_) => Err(expected(&format!("{what} below {count}"), text, span)),
        None => Err(expected(what, text, span)),
    }
}

fn expected(what: &str, text: &[u8], span: Range<usize>) -> Diagnostic {
    match span.is_empty() {
        true => Diagnostic::error(span, format!("expected {what}, found nothing")),
        false => Diagnostic::expected(what, text, span),
    }
}
