//! The tokens of preprocessed C, by their places: enough to rewrite a text before it is parsed and to read literals.
//!
//! Nothing is judged here: a character that starts no token is a token of its own, and a string without an end goes to
//! the end of its line.

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A name or keyword.
    Word,
    /// A number, with its suffix.
    Number,
    /// A character constant, with its prefix.
    Char,
    /// A string, with its prefix.
    Str,
    /// Anything else: the longest operator that fits.
    Sign,
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Kind,
    /// Where it starts.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
}

/// A text without comments and directives, and its tokens.
#[derive(Debug)]
pub(crate) struct Lexed {
    /// The text; comments and lines that start with `#` are blank.
    pub(crate) text: Vec<u8>,
    /// Its tokens.
    pub(crate) tokens: Vec<Token>,
    /// The first directive that should not be in a preprocessed text: where, and its name.
    pub(crate) directive: Option<(usize, usize)>,
    /// Where a comment starts that does not end.
    pub(crate) open_comment: Option<usize>,
}

impl Lexed {
    /// The spelling of a token.
    pub(crate) fn spelling(&self, token: Token) -> &[u8] {
        self.text.get(token.start..token.end).unwrap_or(b"")
    }
}

/// The operators of more than one character, longest first.
const SIGNS: [&[u8]; 23] = [
    b"...", b"<<=", b">>=", b"->", b"++", b"--", b"<<", b">>", b"<=", b">=", b"==", b"!=", b"&&", b"||",
    b"+=", b"-=", b"*=", b"/=", b"%=", b"&=", b"^=", b"|=", b"##",
];

/// Cuts a text into tokens.
pub(crate) fn lex(text: &[u8]) -> Lexed {
    let mut lexed = Lexed { text: text.to_vec(), tokens: Vec::new(), directive: None, open_comment: None };
    let mut at = 0;
    let mut line_start = true;
    while let Some(&byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or(b"");
        if byte == b'\n' {
            line_start = true;
            at += 1;
        } else if byte.is_ascii_whitespace() || byte == 0x0b || rest.starts_with(b"\\\n") {
            at += 1;
        } else if rest.starts_with(b"//") || (byte == b'#' && line_start) {
            let end = at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            if byte == b'#' && lexed.directive.is_none() {
                lexed.directive = foreign_directive(text, at, end);
            }
            blank(&mut lexed.text, at, end);
            at = end;
        } else if rest.starts_with(b"/*") {
            let close = rest.windows(2).skip(2).position(|pair| pair == b"*/");
            if close.is_none() {
                lexed.open_comment = Some(at);
            }
            let end = close.map_or(text.len(), |n| at + n + 4);
            blank(&mut lexed.text, at, end);
            at = end;
        } else {
            line_start = false;
            let token = token_at(text, at);
            at = token.end.max(at + 1);
            lexed.tokens.push(token);
        }
    }
    lexed
}

/// Overwrites a part of a text by blanks; lines stay lines.
pub(crate) fn blank(text: &mut [u8], start: usize, end: usize) {
    for byte in text.iter_mut().take(end).skip(start) {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// A directive that a preprocessor would have carried out.
fn foreign_directive(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let line = text.get(start + 1..end)?.trim_ascii_start();
    let word = line.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let foreign = matches!(
        line.get(..word)?,
        b"include"
            | b"define"
            | b"if"
            | b"ifdef"
            | b"ifndef"
            | b"else"
            | b"elif"
            | b"endif"
            | b"undef"
            | b"error"
    );
    foreign.then_some((start, end))
}

/// The token that starts at a place which is neither blank nor in a comment.
pub(crate) fn token_at(text: &[u8], start: usize) -> Token {
    let rest = text.get(start..).unwrap_or(b"");
    let at = |n: usize| rest.get(n).copied().unwrap_or(0);
    let word_byte = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'$' || *b >= 0x80;
    let token = |kind, length: usize| Token { kind, start, end: start + length };
    let prefix = match (at(0), at(1), at(2)) {
        (b'u', b'8', b'"') => 2,
        (b'L' | b'u' | b'U', b'"' | b'\'', _) => 1,
        _ => 0,
    };
    if at(prefix) == b'"' || at(prefix) == b'\'' {
        let kind = if at(prefix) == b'"' { Kind::Str } else { Kind::Char };
        return token(kind, quoted(rest, prefix));
    }
    if at(0).is_ascii_digit() || (at(0) == b'.' && at(1).is_ascii_digit()) {
        let mut length = 1;
        while word_byte(&at(length))
            || at(length) == b'.'
            || (matches!(at(length), b'+' | b'-')
                && matches!(at(length - 1), b'e' | b'E' | b'p' | b'P')
                && exponent(rest, length))
        {
            length += 1;
        }
        return token(Kind::Number, length);
    }
    let word = rest.iter().take_while(|b| word_byte(b)).count();
    if word > 0 {
        return token(Kind::Word, word);
    }
    let sign = SIGNS.iter().find(|sign| rest.starts_with(sign)).map_or(1, |sign| sign.len());
    token(Kind::Sign, sign)
}

/// Whether the sign at this place belongs to an exponent: `0xe+1` is a sum.
fn exponent(number: &[u8], sign: usize) -> bool {
    let hexadecimal = number.starts_with(b"0x") || number.starts_with(b"0X");
    let letter = sign.checked_sub(1).and_then(|at| number.get(at)).copied().unwrap_or(0);
    hexadecimal == matches!(letter, b'p' | b'P')
}

/// The length of a string or character constant whose quote stands at a place.
fn quoted(rest: &[u8], quote: usize) -> usize {
    let mark = rest.get(quote).copied().unwrap_or(b'"');
    let mut at = quote + 1;
    loop {
        match rest.get(at) {
            None | Some(b'\n') => return at,
            Some(b'\\') => at += 2,
            Some(&byte) if byte == mark => return at + 1,
            Some(_) => at += 1,
        }
    }
}
