//! Goes through the tokens of a text and rewrites it for the parser.

use super::{Attributes, DOLLAR_TAIL};
use crate::lexer::{Kind, Lexed, Token, blank};

/// Words that say nothing that matters here.
const SILENT: [&[u8]; 15] = [
    b"__extension__",
    b"_Noreturn",
    b"restrict",
    b"__restrict",
    b"__restrict__",
    b"inline",
    b"__inline",
    b"__inline__",
    b"__noreturn__",
    b"__cdecl",
    b"__stdcall",
    b"__fastcall",
    b"__w64",
    b"__ptr64",
    b"__unaligned",
];

/// Words of GNU and the standard ones for them.
const SPELLINGS: [(&[u8], &[u8]); 9] = [
    (b"__const", b"const"),
    (b"__const__", b"const"),
    (b"__volatile", b"volatile"),
    (b"__volatile__", b"volatile"),
    (b"__signed", b"signed"),
    (b"__signed__", b"signed"),
    (b"__typeof", b"typeof"),
    (b"__typeof__", b"typeof"),
    (b"__complex__", b"_Complex"),
];

/// Words that start a declaration.
const TYPES: [&[u8]; 20] = [
    b"int",
    b"char",
    b"short",
    b"long",
    b"float",
    b"double",
    b"void",
    b"signed",
    b"unsigned",
    b"struct",
    b"union",
    b"enum",
    b"const",
    b"volatile",
    b"static",
    b"_Bool",
    b"_Atomic",
    b"typedef",
    b"extern",
    b"__auto_type",
];

/// A text that was rewritten.
pub(super) struct Written {
    /// The text, as long as it was.
    pub(super) out: Vec<u8>,
    /// What must be put in, and where.
    pub(super) insertions: Vec<(usize, &'static str)>,
    /// What was taken out.
    pub(super) attributes: Vec<Attributes>,
}

/// Rewrites a text.
pub(super) fn write(lexed: &Lexed) -> Written {
    let mut writer = Writer {
        out: lexed.text.clone(),
        insertions: Vec::new(),
        attributes: Vec::new(),
        lexed,
        next: 0,
        last: None,
        braces: 0,
        parens: 0,
        body: true,
        value: false,
    };
    writer.run();
    Written { out: writer.out, insertions: writer.insertions, attributes: writer.attributes }
}

/// Goes through the tokens and rewrites the text.
struct Writer<'a> {
    lexed: &'a Lexed,
    out: Vec<u8>,
    insertions: Vec<(usize, &'static str)>,
    attributes: Vec<Attributes>,
    /// The number of the token that is looked at.
    next: usize,
    /// The last token that was kept.
    last: Option<Token>,
    braces: usize,
    parens: usize,
    /// Whether the last brace that was opened at file scope is that of a function.
    body: bool,
    /// Whether an `=` has been seen in this declaration at file scope.
    value: bool,
}

impl Writer<'_> {
    fn run(&mut self) {
        while let Some(token) = self.token(0) {
            match token.kind {
                Kind::Number | Kind::Char => self.overwrite(token, b"1"),
                Kind::Str => self.string(token),
                Kind::Sign => self.sign(token),
                Kind::Word => {
                    if self.word(token) {
                        continue;
                    }
                }
            }
            self.last = Some(token);
            self.next += 1;
        }
    }

    fn token(&self, ahead: usize) -> Option<Token> {
        self.lexed.tokens.get(self.next + ahead).copied()
    }

    fn spelling(&self, ahead: usize) -> &[u8] {
        self.token(ahead).map_or(b"", |token| self.lexed.spelling(token))
    }

    fn last_spelling(&self) -> &[u8] {
        self.last.map_or(b"", |token| self.lexed.spelling(token))
    }

    /// Writes other bytes, not more, in the place of a token.
    fn overwrite(&mut self, token: Token, bytes: &[u8]) {
        blank(&mut self.out, token.start, token.end);
        for (slot, byte) in self.out.iter_mut().take(token.end).skip(token.start).zip(bytes) {
            *slot = *byte;
        }
    }

    /// Blanks the next so many tokens and goes on after them.
    fn skip(&mut self, count: usize) {
        if let (Some(first), Some(last)) =
            (self.token(0), count.checked_sub(1).and_then(|last| self.token(last)))
        {
            blank(&mut self.out, first.start, last.end);
        }
        self.next += count;
    }

    /// How many tokens from this one on belong to a group in parentheses; 0 if none starts here.
    fn group(&self, ahead: usize) -> usize {
        if self.spelling(ahead) != b"(" {
            return 0;
        }
        let (mut depth, mut count) = (0, 0);
        loop {
            match self.spelling(ahead + count) {
                b"(" => depth += 1,
                b")" => depth -= 1,
                b"" => return count,
                _ => {}
            }
            count += 1;
            if depth == 0 {
                return count;
            }
        }
    }

    /// A string keeps its prefix and quotes only.
    fn string(&mut self, token: Token) {
        let quote = self.lexed.spelling(token).iter().position(|&byte| byte == b'"').unwrap_or(0) + 1;
        blank(&mut self.out, token.start + quote, token.end - 1);
    }

    fn sign(&mut self, token: Token) {
        match self.lexed.spelling(token) {
            b"{" => {
                if self.braces == 0 {
                    self.body = matches!(self.last_spelling(), b")" | b";") && !self.value;
                }
                self.braces += 1;
            }
            b";" if self.braces == 0 && self.parens == 0 => {
                self.value = false;
                let last = self.last_spelling();
                if last.is_empty() || last == b";" || (last == b"}" && self.body) {
                    blank(&mut self.out, token.start, token.end);
                }
            }
            b"}" => self.braces = self.braces.saturating_sub(1),
            b"=" if self.braces == 0 => self.value = true,
            b"(" => self.parens += 1,
            b")" => self.parens = self.parens.saturating_sub(1),
            b"?" if self.spelling(1) == b":" => self.insertions.push((token.end, " __allways_omitted ")),
            b":" if self.braces > 0 => {
                let next = self.spelling(1);
                if next == b"}" || (self.parens == 0 && TYPES.contains(&next)) {
                    self.insertions.push((token.end, ";"));
                }
            }
            _ => {}
        }
    }

    /// Deals with a word; true if it has moved on itself.
    fn word(&mut self, token: Token) -> bool {
        let word = self.lexed.spelling(token);
        if SILENT.contains(&word) {
            self.skip(1);
            return true;
        }
        match word {
            b"__attribute__" | b"__attribute" | b"_Alignas" | b"__declspec" => {
                let count = self.group(1);
                self.keep_attributes(word == b"_Alignas", count);
                self.skip(1 + count);
                return true;
            }
            b"_Static_assert" | b"__label__" | b"static_assert"
                if self.spelling(1) == b"(" || word == b"__label__" =>
            {
                let mut count = 0;
                while !matches!(self.spelling(count), b";" | b"") {
                    count += 1;
                }
                self.skip(count + 1);
                return true;
            }
            b"asm" | b"__asm" | b"__asm__" => return self.assembly(token),
            b"__alignof__" | b"__alignof" | b"_Alignof" => self.alignment(token),
            b"__builtin_types_compatible_p" => self.type_arguments(),
            b"__thread" => {
                self.overwrite(token, b"");
                self.insertions.push((token.start, " _Thread_local "));
            }
            b"__int128" | b"__int128_t" | b"__uint128_t" => self.wide(),
            _ if word.starts_with(b"_Float") && word.get(6).is_some_and(u8::is_ascii_digit) => {
                if let Some(first) = self.out.get_mut(token.start) {
                    *first = b'Z';
                }
            }
            _ => {
                for (at, _) in word.iter().enumerate().filter(|(_, byte)| **byte == b'$') {
                    self.insertions.push((token.start + at + 1, DOLLAR_TAIL));
                }
                if let Some((_, standard)) = SPELLINGS.iter().find(|(gnu, _)| *gnu == word) {
                    self.overwrite(token, standard);
                } else if self.without_type(word) {
                    self.insertions.push((token.start, "int "));
                }
            }
        }
        false
    }

    /// A function or variable at file scope without a type.
    fn without_type(&self, word: &[u8]) -> bool {
        let last = self.last_spelling();
        let storage = matches!(last, b"static" | b"extern");
        let start = matches!(last, b"" | b";") || (last == b"}" && self.body) || storage;
        if self.braces > 0
            || self.parens > 0
            || !start
            || TYPES.contains(&word)
            || matches!(word, b"typeof" | b"__typeof" | b"__typeof__" | b"_Thread_local" | b"register")
        {
            return false;
        }
        let count = self.group(1);
        let after = self.spelling(1 + count);
        match count {
            0 => !storage && matches!(after, b";" | b"="),
            _ => {
                after == b"{"
                    || (TYPES.contains(&after) && !storage)
                    || (after == b";" && self.spelling(2) == b")")
            }
        }
    }

    /// Keeps what attributes say: `__attribute__((name(arguments), …))` or `_Alignas(argument)`.
    fn keep_attributes(&mut self, alignas: bool, count: usize) {
        let (Some(token), Some(last)) = (self.token(0), self.last) else { return };
        let text = |from: usize, to: usize| match (self.token(from), self.token(to.saturating_sub(1))) {
            (Some(first), Some(last)) if from < to => {
                String::from_utf8_lossy(self.lexed.text.get(first.start..last.end).unwrap_or(b""))
                    .into_owned()
            }
            _ => String::new(),
        };
        let mut list = Vec::new();
        if alignas {
            list.push(("aligned".to_string(), text(2, count)));
        } else {
            let mut at = 3;
            while at < count {
                let arguments = self.group(at + 1);
                if self.token(at).is_some_and(|token| token.kind == Kind::Word) {
                    let name = String::from_utf8_lossy(self.spelling(at)).trim_matches('_').to_string();
                    list.push((name, text(at + 2, at + arguments)));
                }
                at += 1 + arguments;
            }
        }
        self.attributes.push(Attributes { start: token.start, after: (last.start, last.end), list });
    }

    /// `asm`: of statements the qualifiers and the labels go; what names a symbol or stands at file scope goes.
    fn assembly(&mut self, token: Token) -> bool {
        let mut qualifiers = 0;
        while matches!(
            self.spelling(1 + qualifiers),
            b"volatile" | b"__volatile__" | b"__volatile" | b"goto" | b"inline" | b"__inline"
        ) {
            qualifiers += 1;
        }
        let count = self.group(1 + qualifiers);
        if self.braces == 0 {
            self.skip(1 + qualifiers + count);
            return true;
        }
        if self.spelling(0) == b"asm" {
            // The parser takes `asm` for a name.
            self.insertions.push((token.start, "__"));
            self.insertions.push((token.end, "__"));
        }
        self.last = Some(token);
        self.next += 1;
        self.skip(qualifiers);
        let (mut depth, mut colons) = (0, 0);
        for at in 0..count {
            match self.spelling(at) {
                b"(" | b"[" => depth += 1,
                b")" | b"]" => depth -= 1,
                b":" if depth == 1 => colons += 1,
                _ => {}
            }
            if let (true, Some(token)) = (colons == 4 && depth > 0, self.token(at)) {
                blank(&mut self.out, token.start, token.end);
            }
        }
        true
    }

    /// `_Alignof` of an expression is that of its type.
    fn alignment(&mut self, token: Token) {
        self.overwrite(token, b"_Alignof");
        let count = self.group(1);
        if let (Some(open), Some(close)) = (self.token(1), self.token(count)) {
            self.insertions.push((open.end, "typeof("));
            self.insertions.push((close.start, ")"));
        }
    }

    /// `__builtin_types_compatible_p(T, U)`: the parser takes no types there, but their sizes.
    fn type_arguments(&mut self) {
        let count = self.group(1);
        let (mut depth, mut from) = (0, 2);
        for at in 1..=count {
            match self.spelling(at) {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => depth -= 1,
                _ => {}
            }
            let ends = (depth == 1 && self.spelling(at) == b",") || at == count;
            if let (true, Some(first), Some(end)) = (ends, self.token(from), self.token(at)) {
                self.insertions.push((first.start, "sizeof("));
                self.insertions.push((end.start, ")"));
                from = at + 1;
            }
        }
    }

    /// `signed` and `unsigned` around `__int128` go.
    fn wide(&mut self) {
        let sign = |word: &[u8]| matches!(word, b"signed" | b"unsigned" | b"__signed__" | b"__signed");
        if let Some(before) = self.last.filter(|_| sign(self.last_spelling())) {
            blank(&mut self.out, before.start, before.end);
        }
        if let Some(after) = self.token(1).filter(|_| sign(self.spelling(1))) {
            blank(&mut self.out, after.start, after.end);
            self.next += 1;
        }
    }
}
