//! Bytes to tokens, each with its line and column; comments apart, for the formatter.
//!
//! Nothing is refused here: what cannot be a token becomes one of kind [`Kind::Bad`], which fits nowhere, so that the
//! parser complains about it where it stands. Every byte is looked at a fixed number of times.

use super::MAX_TEXT;
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

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
}

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
    let mut lexer = Lexer { text, at: 0, line: 1, column: 1 };
    let mut lexed = Lexed { tokens: Vec::new(), comments: Vec::new(), unclosed: None };
    if text.starts_with(b"\xef\xbb\xbf") {
        lexer.advance(3);
    }
    while let Some(&byte) = text.get(lexer.at) {
        let rest = &text[lexer.at..];
        if byte.is_ascii_whitespace() {
            lexer.advance(1);
        } else if rest.starts_with(b"//") {
            lexed.comments.push(lexer.advance(line_length(rest)));
        } else if rest.starts_with(b"/*") {
            let closed = rest[2..].windows(2).position(|pair| pair == b"*/");
            let span = lexer.advance(closed.map_or(rest.len(), |inner| inner + 4));
            lexed.comments.push(span);
            if closed.is_none() {
                lexed.unclosed = Some(span);
            }
        } else {
            let (kind, length) = token(rest);
            lexed.tokens.push(Token { kind, span: lexer.advance(length) });
        }
    }
    lexed.tokens.push(Token { kind: Kind::End, span: lexer.advance(0) });
    lexed
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
    column: u32,
}

impl Lexer<'_> {
    /// Goes on by so many bytes, which are what the span spans. Ends before or after an ASCII character, always.
    fn advance(&mut self, length: usize) -> Span {
        let passed = &self.text[self.at..self.at + length];
        let (line, column) = (self.line, self.column);
        let mut last_line = passed;
        if let Some(newline) = passed.iter().rposition(|&byte| byte == b'\n') {
            self.line += passed.iter().filter(|&&byte| byte == b'\n').count() as u32;
            self.column = 1;
            last_line = &passed[newline + 1..];
        }
        self.column += match last_line.is_ascii() {
            true => last_line.len(),
            false => last_line
                .utf8_chunks()
                .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
                .sum(),
        } as u32;
        let start = self.at as u32;
        self.at += length;
        Span { start, end: self.at as u32, line, column }
    }
}

/// How many bytes there are before the end of the line.
fn line_length(rest: &[u8]) -> usize {
    let line = &rest[..rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())];
    line.strip_suffix(b"\r").unwrap_or(line).len()
}

/// The kind and the length of the token with which a text starts.
fn token(rest: &[u8]) -> (Kind, usize) {
    let while_all =
        |belongs: fn(&u8) -> bool| rest.iter().position(|byte| !belongs(byte)).unwrap_or(rest.len());
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match rest[0] {
        b'0'..=b'9' => {
            let length = while_all(word);
            let digits = rest[..length].iter().all(u8::is_ascii_digit);
            (if digits { Kind::Number } else { Kind::Bad }, length)
        }
        byte if word(&byte) => {
            let length = while_all(word);
            let keyword = is_keyword(&rest[..length]);
            (if keyword { Kind::Keyword } else { Kind::Name }, length)
        }
        byte if !byte.is_ascii() => (Kind::Bad, while_all(|byte| !byte.is_ascii())),
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

fn is_keyword(word: &[u8]) -> bool {
    KEYWORDS.binary_search_by(|keyword| keyword.as_bytes().cmp(word)).is_ok()
}
