//! The tokens of a line, straight from the bytes; nothing is allocated.

use crate::cursor::{self, Cursor, is_space, number};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A number that leaves room for the one after it.
    Number(u32),
    /// A number that does not.
    TooLarge,
    /// `-`, or `-1` in older files
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

pub(super) type Token = cursor::Token<Kind>;

/// The next token of this line; again and again [`Kind::End`] at its end.
pub(super) fn token(cursor: &mut Cursor) -> Token {
    cursor.skip(is_space);
    let rest = cursor.rest();
    let at_arrow = |at: usize| rest[at] == b'-' && rest.get(at + 1) == Some(&b'>');
    let ends = |at: &usize| rest[*at] == b'#' || rest[*at].is_ascii_whitespace() || at_arrow(*at);
    // Nearly all words are numbers.
    let digits = cursor::length(rest, |byte| byte.is_ascii_digit());
    let length = (digits..rest.len()).find(ends).unwrap_or(rest.len());
    match &rest[..length] {
        [] if rest.starts_with(b"->") => cursor.token(Kind::Arrow, 2),
        [] => cursor.token(Kind::End, 0),
        word => {
            let kind = match (number(word), word) {
                (Some(number), _) => match u32::try_from(number) {
                    Ok(number) if number < u32::MAX => Kind::Number(number),
                    _ => Kind::TooLarge,
                },
                (None, b"-" | b"-1") => Kind::Dash,
                (None, b"PDA") => Kind::Pda,
                (None, _) => Kind::Junk,
            };
            cursor.token(kind, length)
        }
    }
}
