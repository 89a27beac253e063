//! A place in a text, and what the readers of all notations find there.
//!
//! Bytes, never characters: a text may be binary, or hundreds of megabytes of numbers. A cursor is never past the end of
//! its text.

use allways_model::program::Span;
use std::ops::Range;

/// What some editors put at the beginning of a text.
pub(crate) const MARK: &[u8] = "\u{feff}".as_bytes();

/// A token of some kind, and its place in a text of less than 4 GiB.
#[derive(Clone, Copy)]
pub(crate) struct Token<Kind> {
    pub kind: Kind,
    pub span: Span,
}

/// A place in a text, from which tokens are taken.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
    column: u32,
}

impl<'a> Cursor<'a> {
    /// The beginning of a text, after its mark.
    pub fn new(text: &'a [u8]) -> Cursor<'a> {
        Cursor { text, at: if text.starts_with(MARK) { MARK.len() } else { 0 }, line: 1, column: 1 }
    }

    /// The beginning of a part of a text, which ends where the part does.
    pub fn within(text: &'a [u8], part: Range<usize>) -> Cursor<'a> {
        Cursor { text: &text[..part.end], at: part.start, line: 1, column: 1 }
    }

    /// The number of bytes before this place.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The number of the current line, counted from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// What comes after this place.
    pub fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// Passes the bytes that belong, up to the first that does not.
    pub fn skip(&mut self, belongs: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let passed = &rest[..length(rest, belongs)];
        self.at += passed.len();
        passed
    }

    /// Passes so many bytes of a line. They are a token, whose column nobody asks for.
    pub fn token<Kind>(&mut self, kind: Kind, length: usize) -> Token<Kind> {
        let start = self.at as u32;
        self.at += length;
        Token { kind, span: Span { start, end: self.at as u32, line: self.line, column: 0 } }
    }

    /// Passes so many bytes, over lines and columns, which are as many as the last function finds in a part of a line.
    pub fn pass(&mut self, length: usize, columns: impl Fn(&[u8]) -> usize) -> Span {
        let passed = &self.rest()[..length];
        let span = Span { column: self.column, ..self.token((), length).span };
        let last_line = match passed.iter().rposition(|&byte| byte == b'\n') {
            Some(newline) => {
                self.line += passed.iter().filter(|&&byte| byte == b'\n').count() as u32;
                self.column = 1;
                &passed[newline + 1..]
            }
            None => passed,
        };
        self.column += columns(last_line) as u32;
        span
    }

    /// Goes to the start of the next line, if there is one.
    pub fn next_line(&mut self) -> bool {
        let newline = self.rest().iter().position(|&byte| byte == b'\n');
        self.at = newline.map_or(self.text.len(), |newline| self.at + newline + 1);
        self.line += u32::from(newline.is_some());
        newline.is_some()
    }

    /// Goes to the end of the text.
    pub fn stop(&mut self) {
        self.at = self.text.len();
    }
}

/// How many bytes there are before the first that does not belong.
pub(crate) fn length(text: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|&byte| !belongs(byte)).unwrap_or(text.len())
}

/// How many bytes there are before the end of the line.
pub(crate) fn line_length(text: &[u8]) -> usize {
    let line = &text[..length(text, |byte| byte != b'\n')];
    line.strip_suffix(b"\r").unwrap_or(line).len()
}

/// The length of the comment with which a text starts, `// …` or `/* … */`, and whether it ends.
pub(crate) fn comment(text: &[u8]) -> Option<(usize, bool)> {
    match text {
        [b'/', b'/', ..] => Some((line_length(text), true)),
        [b'/', b'*', inner @ ..] => match inner.windows(2).position(|end| end == b"*/") {
            Some(length) => Some((length + 4, true)),
            None => Some((text.len(), false)),
        },
        _ => None,
    }
}

/// White space within a line.
pub(crate) fn is_space(byte: u8) -> bool {
    byte != b'\n' && byte.is_ascii_whitespace()
}

/// What names are made of.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The number that a word is, if it has digits only; numbers that are too large are all the same.
pub(crate) fn number(word: &[u8]) -> Option<u64> {
    let add = |number: u64, &byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        Some(number.saturating_mul(10).saturating_add(digit))
    };
    word.iter().try_fold(0, add).filter(|_| !word.is_empty())
}

/// The lines of a text, without comments that start with `#`, and their numbers counted from 1.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = (u32, Range<usize>)> {
    let mut cursor = Some(Cursor::new(text));
    std::iter::from_fn(move || {
        let mut line = cursor.take()?;
        let (number, start) = (line.line, line.at);
        line.skip(|byte| byte != b'\n' && byte != b'#');
        let span = start..line.at;
        cursor = line.next_line().then_some(line);
        Some((number, span))
    })
}

/// A part of a text without the white space around; empty at its start if there is nothing else.
pub(crate) fn trim(text: &[u8], span: Range<usize>) -> Range<usize> {
    let bytes = &text[span.clone()];
    let blank = length(bytes, |byte| byte.is_ascii_whitespace());
    match bytes[blank..].trim_ascii_end() {
        [] => span.start..span.start,
        inner => span.start + blank..span.start + blank + inner.len(),
    }
}

/// A span as a range.
pub(crate) fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// From the start of one place to the end of another.
pub(crate) fn join(first: Span, last: Span) -> Span {
    Span { end: last.end.max(first.end), ..first }
}
