//! Bytes to tokens, each with its line and column; comments apart, for the formatter.
//!
//! Nothing is refused here: what cannot be a token becomes one of kind [`Kind::Bad`], which fits nowhere, so that the
//! parser complains about it where it stands. Every byte is looked at a fixed number of times.

use super::MAX_TEXT;
use crate::cursor::{self, Cursor, MARK, comment, is_word, length, line_length};
use crate::diagnostic::columns;
use allways_model::program::Span;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A name that somebody gave to something.
    Name,
    /// A word with a meaning of its own.
    Keyword,
    /// Digits.
    Number,
    /// An operator or a bracket.
    Symbol,
    /// Nothing that the language knows: a string, a letter with an accent, a line that starts with `#`.
    Bad,
    /// The end of the text.
    End,
}

pub(super) type Token = cursor::Token<Kind>;

/// A text in tokens, the last of which is the end.
pub(super) struct Lexed {
    pub tokens: Vec<Token>,
    /// The comments, in order.
    pub comments: Vec<Span>,
    /// A comment that is not closed.
    pub unclosed: Option<Span>,
}

/// The words that are no names, in alphabetical order.
pub(crate) const KEYWORDS: [&str; 40] = [
    "acquire",
    "assert",
    "assume",
    "at",
    "atomic",
    "await",
    "bool",
    "break",
    "broadcast",
    "choose",
    "const",
    "continue",
    "else",
    "error",
    "event",
    "false",
    "goto",
    "if",
    "int",
    "lock",
    "loop",
    "main",
    "never",
    "or",
    "other",
    "post",
    "predicate",
    "proc",
    "release",
    "return",
    "self",
    "shared",
    "skip",
    "spawn",
    "task",
    "thread",
    "true",
    "wait",
    "while",
    "yield",
];

const DOUBLE: [&[u8]; 7] = [b"==", b"!=", b"<=", b">=", b"&&", b"||", b".."];
const SINGLE: &[u8] = b"=!<>+-*/%?:;,.()[]{}&|";

/// Cuts a text (shorter than [`MAX_TEXT`]; what is longer is not looked at) into tokens.
pub(super) fn lex(text: &[u8]) -> Lexed {
    let text = &text[..text.len().min(MAX_TEXT)];
    let mut cursor = Cursor::within(text, 0..text.len());
    if text.starts_with(MARK) {
        // Unlike elsewhere, it has a column.
        cursor.pass(MARK.len(), columns);
    }
    let mut lexed = Lexed { tokens: Vec::new(), comments: Vec::new(), unclosed: None };
    loop {
        let rest = cursor.rest();
        if let Some((length, ends)) = comment(rest) {
            let span = cursor.pass(length, columns);
            lexed.comments.push(span);
            lexed.unclosed = lexed.unclosed.or((!ends).then_some(span));
            continue;
        }
        let blank = length(rest, |byte| byte.is_ascii_whitespace());
        if blank > 0 {
            cursor.pass(blank, columns);
            continue;
        }
        let (kind, length) = token(rest);
        lexed.tokens.push(Token { kind, span: cursor.pass(length, columns) });
        if kind == Kind::End {
            return lexed;
        }
    }
}

/// The kind and the length of the token with which a text starts.
fn token(rest: &[u8]) -> (Kind, usize) {
    let Some(&first) = rest.first() else { return (Kind::End, 0) };
    let word = &rest[..length(rest, is_word)];
    match first {
        b'0'..=b'9' if word.iter().all(u8::is_ascii_digit) => (Kind::Number, word.len()),
        b'0'..=b'9' => (Kind::Bad, word.len()),
        byte if is_word(byte) => {
            let keyword = KEYWORDS.binary_search_by(|keyword| keyword.as_bytes().cmp(word)).is_ok();
            (if keyword { Kind::Keyword } else { Kind::Name }, word.len())
        }
        byte if !byte.is_ascii() => (Kind::Bad, length(rest, |byte| !byte.is_ascii())),
        b'#' => (Kind::Bad, line_length(rest)),
        quote @ (b'"' | b'\'') => {
            let line = &rest[..line_length(rest)];
            let closing = line[1..].iter().position(|&byte| byte == quote);
            (Kind::Bad, closing.map_or(line.len(), |inner| inner + 2))
        }
        _ if DOUBLE.iter().any(|symbol| rest.starts_with(symbol)) => (Kind::Symbol, 2),
        byte if SINGLE.contains(&byte) => (Kind::Symbol, 1),
        _ => (Kind::Bad, 1),
    }
}
