//! Bytes to tokens.

use crate::cursor::{self, Cursor, is_space, is_word, length, number};
use allways_model::counters::MOST;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Name,
    /// At most [`MOST`].
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

pub(super) type Token = cursor::Token<Kind>;

/// The next token; again and again [`Kind::End`] at the end.
pub(super) fn token(cursor: &mut Cursor) -> Token {
    loop {
        match cursor.rest() {
            [b'#' | b'\n', ..] => _ = cursor.next_line(),
            [byte, ..] if byte.is_ascii_whitespace() => _ = cursor.skip(is_space),
            _ => break,
        }
    }
    let rest = cursor.rest();
    let (kind, length) = match rest {
        [] => (Kind::End, 0),
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
        [b'0'..=b'9', ..] => {
            let digits = &rest[..length(rest, |byte| byte.is_ascii_digit())];
            let small = number(digits).filter(|&number| number <= MOST);
            (small.map_or(Kind::TooLarge, Kind::Number), digits.len())
        }
        [byte, ..] if is_word(*byte) => {
            let word = &rest[..name_length(rest)];
            let keyword = KEYWORDS.iter().find(|(keyword, _)| keyword.as_bytes() == word);
            (keyword.map_or(Kind::Name, |&(_, kind)| kind), word.len())
        }
        _ => {
            let junk = |byte: u8| !byte.is_ascii_graphic() && !byte.is_ascii_whitespace();
            (Kind::Junk, length(rest, junk).max(1))
        }
    };
    cursor.token(kind, length)
}

/// How long a name is. Tools that make nets of libraries print the names of types, such as `java.util.Map$Entry[]`, and those
/// that read nets take them; brackets belong to a name only with nothing between, and so they are no interval.
fn name_length(text: &[u8]) -> usize {
    let mut end = length(text, |byte| is_word(byte) || byte == b'.' || byte == b'$');
    while text[end..].starts_with(b"[]") {
        end += 2;
    }
    end
}

/// Words that cannot be names.
pub(super) const KEYWORDS: [(&str, Kind); 7] = [
    ("vars", Kind::Vars),
    ("rules", Kind::Rules),
    ("init", Kind::Init),
    ("target", Kind::Target),
    ("invariants", Kind::Invariants),
    ("true", Kind::True),
    ("in", Kind::In),
];
