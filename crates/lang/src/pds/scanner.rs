//! The tokens of a line, straight from the bytes; nothing is allocated.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A number that leaves room for the one after it.
    Number(u32),
    /// A number that does not.
    TooLarge,
    /// `-`
    Dash,
    /// `->`
    Arrow,
    /// `PDA`
    Pda,
    /// Anything else.
    Junk,
    /// The end of the line, or a comment.
    End,
}

/// A token and its place in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

impl Token {
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// A place in a text, from which tokens are taken.
#[derive(Clone)]
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Scanner<'a> {
    /// The beginning of a text, after the mark that some editors put there.
    pub fn new(text: &'a [u8]) -> Scanner<'a> {
        let mark = "\u{feff}".as_bytes();
        Scanner { text, at: if text.starts_with(mark) { mark.len() } else { 0 }, line: 1 }
    }

    /// The number of the current line, counted from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The next token of this line; again and again [`Kind::End`] at its end.
    pub fn token(&mut self) -> Token {
        while self.text.get(self.at).is_some_and(|&byte| is_space(byte)) {
            self.at += 1;
        }
        let start = self.at;
        let kind = if self.ends_line() {
            Kind::End
        } else if self.at_arrow() {
            self.at += 2;
            Kind::Arrow
        } else {
            self.word()
        };
        Token { kind, start, end: self.at }
    }

    /// Goes to the start of the next line, if there is one.
    pub fn next_line(&mut self) -> bool {
        match self.text[self.at..].iter().position(|&byte| byte == b'\n') {
            Some(newline) => {
                self.at += newline + 1;
                self.line += 1;
                true
            }
            None => {
                self.stop();
                false
            }
        }
    }

    /// Goes to the end of the text.
    pub fn stop(&mut self) {
        self.at = self.text.len();
    }

    fn word(&mut self) -> Kind {
        let start = self.at;
        let mut number = Some(0_u64);
        while !self.ends_line() && !is_space(self.text[self.at]) && !self.at_arrow() {
            let byte = self.text[self.at];
            number = number
                .filter(|_| byte.is_ascii_digit())
                .map(|number| number.saturating_mul(10).saturating_add(u64::from(byte - b'0')));
            self.at += 1;
        }
        match (number, &self.text[start..self.at]) {
            (Some(number), _) => match u32::try_from(number) {
                Ok(number) if number < u32::MAX => Kind::Number(number),
                _ => Kind::TooLarge,
            },
            (None, b"-") => Kind::Dash,
            (None, b"PDA") => Kind::Pda,
            (None, _) => Kind::Junk,
        }
    }

    fn ends_line(&self) -> bool {
        matches!(self.text.get(self.at), None | Some(b'\n' | b'#'))
    }

    fn at_arrow(&self) -> bool {
        self.text[self.at] == b'-' && self.text.get(self.at + 1) == Some(&b'>')
    }
}

/// White space within a line.
fn is_space(byte: u8) -> bool {
    byte != b'\n' && byte.is_ascii_whitespace()
}

/// The lines that are not blank: where they are in the text, without white space around them and comments.
pub(super) fn contents(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut scanner = Some(Scanner::new(text));
    std::iter::from_fn(move || {
        while let Some(mut line) = scanner.take() {
            let first = line.token();
            let rest = &text[first.start..];
            let length = rest.iter().position(|byte| b"\n#".contains(byte)).unwrap_or(rest.len());
            scanner = line.next_line().then_some(line);
            if length > 0 {
                return Some(first.start..first.start + rest[..length].trim_ascii_end().len());
            }
        }
        None
    })
}
