//! The tokens of a Boolean program, one after another.

use allways_model::program::Span;

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

/// A token and its place in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
}

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

/// A place in a text, from which tokens are taken.
#[derive(Clone)]
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
    column: u32,
}

impl<'a> Scanner<'a> {
    /// The beginning of a text of less than 4 GiB, after the mark that some editors put there.
    pub fn new(text: &'a [u8]) -> Scanner<'a> {
        let mark = "\u{feff}".as_bytes();
        Scanner { text, at: if text.starts_with(mark) { mark.len() } else { 0 }, line: 1, column: 1 }
    }

    /// The next token; again and again [`Kind::End`] at the end.
    pub fn token(&mut self) -> Token {
        if let Some(comment) = self.blanks() {
            return comment;
        }
        let rest = &self.text[self.at..];
        let Some(&first) = rest.first() else { return self.take(Kind::End, 0) };
        let length = |keep: fn(u8) -> bool| rest.iter().position(|&byte| !keep(byte)).unwrap_or(rest.len());
        if first.is_ascii_digit() {
            return self.take(Kind::Number, length(|byte| byte.is_ascii_digit()));
        }
        if starts_word(first) {
            let length = length(|byte| starts_word(byte) || byte.is_ascii_digit() || b"#-".contains(&byte));
            let keyword = KEYWORDS.iter().find(|keyword| keyword.as_bytes() == &rest[..length]);
            return self.take(keyword.map_or(Kind::Word, |keyword| Kind::Is(keyword)), length);
        }
        if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(symbol.as_bytes())) {
            return self.take(Kind::Is(symbol), symbol.len());
        }
        let junk = |byte: u8| {
            !byte.is_ascii_alphanumeric() && !byte.is_ascii_whitespace() && !b"()[]{}_$,;:/".contains(&byte)
        };
        self.take(Kind::Junk, length(junk).max(1))
    }

    /// Goes to the end of the text.
    pub fn stop(&mut self) {
        self.at = self.text.len();
    }

    /// Skips white space and comments. A comment that never ends is a token.
    fn blanks(&mut self) -> Option<Token> {
        loop {
            let rest = &self.text[self.at..];
            let skipped = if rest.starts_with(b"//") {
                rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
            } else if rest.starts_with(b"/*") {
                match rest[2..].windows(2).position(|end| end == b"*/") {
                    Some(length) => length + 4,
                    None => {
                        let open = self.take(Kind::OpenComment, 2);
                        self.stop();
                        return Some(open);
                    }
                }
            } else {
                rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len())
            };
            if skipped == 0 {
                return None;
            }
            self.take(Kind::Junk, skipped);
        }
    }

    fn take(&mut self, kind: Kind, length: usize) -> Token {
        let (start, line, column) = (self.at, self.line, self.column);
        self.at += length;
        for &byte in &self.text[start..self.at] {
            if byte == b'\n' {
                self.line += 1;
                self.column = 1;
            } else if byte & 0xc0 != 0x80 {
                // A character has one byte that does not continue it.
                self.column += 1;
            }
        }
        // The text has less than 4 GiB.
        Token { kind, span: Span { start: start as u32, end: self.at as u32, line, column } }
    }
}

fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}
