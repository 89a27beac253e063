//! Bytes to tokens.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Name,
    /// At most [`MOST`](allways_model::counters::MOST).
    Number(u64),
    TooLarge,
    Vars,
    Rules,
    Init,
    Target,
    Invariants,
    True,
    In,
    Arrow,
    AtLeast,
    Equal,
    Comma,
    Semicolon,
    Plus,
    Minus,
    Prime,
    Open,
    Close,
    Junk,
    End,
}

impl Kind {
    pub fn opens_section(self) -> bool {
        matches!(self, Kind::Vars | Kind::Rules | Kind::Init | Kind::Target | Kind::Invariants | Kind::End)
    }
}

/// A token and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    pub line: u32,
}

impl Token {
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a [u8]) -> Scanner<'a> {
        let mark = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Scanner { text, at: mark, line: 1 }
    }

    /// The next token; again and again [`Kind::End`] at the end.
    pub fn token(&mut self) -> Token {
        self.skip();
        let (start, line) = (self.at, self.line);
        let kind = match self.text.get(self.at) {
            None => Kind::End,
            Some(&byte) => self.kind(byte),
        };
        Token { kind, start, end: self.at, line }
    }

    fn skip(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'#' => {
                    let rest = &self.text[self.at..];
                    self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                }
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                }
                _ if byte.is_ascii_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    fn kind(&mut self, byte: u8) -> Kind {
        let rest = &self.text[self.at..];
        let length = |part: fn(&u8) -> bool| rest.iter().position(|byte| !part(byte)).unwrap_or(rest.len());
        if byte.is_ascii_digit() {
            let digits = &rest[..length(u8::is_ascii_digit)];
            self.at += digits.len();
            let number = digits.iter().fold(0_u64, |number, digit| {
                number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
            });
            return if number <= allways_model::counters::MOST {
                Kind::Number(number)
            } else {
                Kind::TooLarge
            };
        }
        if byte.is_ascii_alphabetic() || byte == b'_' {
            let word = &rest[..length(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')];
            self.at += word.len();
            return match word {
                b"vars" => Kind::Vars,
                b"rules" => Kind::Rules,
                b"init" => Kind::Init,
                b"target" => Kind::Target,
                b"invariants" => Kind::Invariants,
                b"true" => Kind::True,
                b"in" => Kind::In,
                _ => Kind::Name,
            };
        }
        let (kind, length) = match rest {
            [b'-', b'>', ..] => (Kind::Arrow, 2),
            [b'>', b'=', ..] => (Kind::AtLeast, 2),
            [b'=', ..] => (Kind::Equal, 1),
            [b',', ..] => (Kind::Comma, 1),
            [b';', ..] => (Kind::Semicolon, 1),
            [b'+', ..] => (Kind::Plus, 1),
            [b'-', ..] => (Kind::Minus, 1),
            [b'\'', ..] => (Kind::Prime, 1),
            [b'[', ..] => (Kind::Open, 1),
            [b']', ..] => (Kind::Close, 1),
            _ => {
                let junk = |byte: &u8| !byte.is_ascii_graphic() && !byte.is_ascii_whitespace();
                (Kind::Junk, length(junk).max(1))
            }
        };
        self.at += length;
        kind
    }
}

/// Words that cannot be names.
pub(super) const KEYWORDS: [&str; 7] = ["vars", "rules", "init", "target", "invariants", "true", "in"];
