//! The tokens of a Boolean program, one after another.

use crate::cursor::{self, Cursor, comment, length};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A keyword or a symbol.
    Is(&'static str),
    /// A name.
    Word,
    /// Digits.
    Number,
    /// A comment that never ends.
    OpenComment,
    /// Bytes that mean nothing.
    Junk,
    /// The end of the text.
    End,
}

pub(super) type Token = cursor::Token<Kind>;

/// Words that are no names.
const KEYWORDS: [&str; 38] = [
    "F",
    "T",
    "abortif",
    "assert",
    "assume",
    "atomic_begin",
    "atomic_end",
    "begin",
    "bool",
    "broadcast",
    "call",
    "constrain",
    "create_thread",
    "dead",
    "decl",
    "dfs",
    "do",
    "else",
    "elsif",
    "end",
    "end_thread",
    "enforce",
    "false",
    "fi",
    "goto",
    "if",
    "od",
    "return",
    "schoose",
    "skip",
    "start_thread",
    "then",
    "thread_create",
    "thread_local",
    "true",
    "void",
    "wait",
    "while",
];

/// Longer ones first, so that the first that fits is the longest.
const SYMBOLS: [&str; 26] = [
    ":=", "&&", "||", "=>", "==", "!=", "(", ")", "{", "}", "[", "]", "<", ">", ",", ";", ":", "?", "!", "~",
    "&", "|", "^", "=", "*", "'",
];

/// Whether a word cannot be a name.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// The next token; again and again [`Kind::End`] at the end.
pub(super) fn token(cursor: &mut Cursor) -> Token {
    loop {
        let rest = cursor.rest();
        let skipped = match comment(rest) {
            Some((_, false)) => {
                let open = take(cursor, Kind::OpenComment, 2);
                cursor.stop();
                return open;
            }
            Some((length, true)) => length,
            None => length(rest, |byte| byte.is_ascii_whitespace()),
        };
        if skipped == 0 {
            break;
        }
        take(cursor, Kind::Junk, skipped);
    }
    let rest = cursor.rest();
    let Some(&first) = rest.first() else { return take(cursor, Kind::End, 0) };
    if first.is_ascii_digit() {
        return take(cursor, Kind::Number, length(rest, |byte| byte.is_ascii_digit()));
    }
    if starts_word(first) {
        let length = length(rest, |byte| starts_word(byte) || byte.is_ascii_digit() || b"#-".contains(&byte));
        let keyword = KEYWORDS.iter().find(|keyword| keyword.as_bytes() == &rest[..length]);
        return take(cursor, keyword.map_or(Kind::Word, |keyword| Kind::Is(keyword)), length);
    }
    if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(symbol.as_bytes())) {
        return take(cursor, Kind::Is(symbol), symbol.len());
    }
    let junk = |byte: u8| {
        !byte.is_ascii_alphanumeric() && !byte.is_ascii_whitespace() && !b"()[]{}_$,;:/".contains(&byte)
    };
    take(cursor, Kind::Junk, length(rest, junk).max(1))
}

fn take(cursor: &mut Cursor, kind: Kind, length: usize) -> Token {
    // A character has one byte that does not continue it.
    let columns = |part: &[u8]| part.iter().filter(|&byte| byte & 0xc0 != 0x80).count();
    Token { kind, span: cursor.pass(length, columns) }
}

fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}
