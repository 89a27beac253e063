//! Tokens and comments in one row, and where spaces go between them.

use super::super::lexer::{Kind, Lexed, Token};
use crate::cursor::range;
use allways_model::program::Span;

/// A token or a comment.
pub(super) struct Piece<'a> {
    pub text: &'a str,
    /// How many line breaks come before it.
    pub breaks: u32,
    /// Its column, counted from 0.
    pub column: usize,
    role: Role,
}

/// What a piece is to its neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A name or a number, or the `*` that is any value.
    Operand,
    Keyword,
    /// An operator before its operand.
    Prefix,
    /// The colon after a label.
    LabelColon,
    Symbol,
    /// A brace around the values of an array.
    ArrayBrace,
    /// `// …`
    LineComment,
    /// `/* … */`
    BlockComment,
}

impl Piece<'_> {
    pub fn is_comment(&self) -> bool {
        matches!(self.role, Role::LineComment | Role::BlockComment)
    }

    /// Whether nothing can come after it on its line.
    pub fn ends_line(&self) -> bool {
        self.role == Role::LineComment
    }

    /// Whether it ends a statement, or what comes before its block.
    pub fn ends_unit(&self) -> bool {
        self.role == Role::Symbol && matches!(self.text, "{" | ";")
    }

    /// Whether it never starts a line.
    pub fn sticks(&self) -> bool {
        self.role == Role::LabelColon || self.role == Role::Symbol && matches!(self.text, "{" | ";" | ",")
    }

    /// Whether there is a space between another piece and this one.
    pub fn spaced_from(&self, before: &Piece<'_>) -> bool {
        match (before.text, self.text) {
            (_, ")" | "]" | ";" | ",") => false,
            _ if before.is_comment() => true,
            _ if before.role == Role::Prefix => false,
            ("(" | "[" | ".." | ".", _) | (_, ".." | ".") => false,
            ("{", "}") => false,
            ("{", _) if before.role == Role::ArrayBrace => false,
            (_, "}") if self.role == Role::ArrayBrace => false,
            ("]", "[") => false,
            (_, "[") => before.role != Role::Operand,
            ("at" | "acquire" | "release", "(") => false,
            (_, "(") => before.role != Role::Operand,
            _ => self.role != Role::LabelColon,
        }
    }
}

/// The pieces of a text that has been parsed.
pub(super) fn pieces<'a>(text: &'a [u8], lexed: &Lexed) -> Vec<Piece<'a>> {
    let mut all = Vec::with_capacity(lexed.tokens.len() + lexed.comments.len());
    let mut comments = lexed.comments.iter().peekable();
    let mut line = 1;
    let mut tail = Tail::default();
    let bytes = |span: Span| str::from_utf8(&text[range(span)]).unwrap_or("");
    for &Token { kind, span } in &lexed.tokens {
        while let Some(&comment) = comments.next_if(|comment| comment.start < span.start) {
            let text = bytes(comment).trim_end();
            let role = if text.starts_with("//") { Role::LineComment } else { Role::BlockComment };
            all.push(Piece { text, breaks: comment.line - line, column: comment.column as usize - 1, role });
            line = comment.line + text.bytes().filter(|&byte| byte == b'\n').count() as u32;
        }
        if kind != Kind::End {
            let text = bytes(span);
            let role = tail.role(kind, text);
            all.push(Piece { text, breaks: span.line - line, column: span.column as usize - 1, role });
            line = span.line;
        }
    }
    all
}

/// What has been seen of the tokens so far, as far as it decides about the next.
#[derive(Default)]
struct Tail<'a> {
    /// The last token but one, and the last.
    last: [Option<(Role, &'a str)>; 2],
    /// How many brackets are open.
    depth: usize,
    /// Of the quantifiers whose colon is to come, how many brackets were open.
    quantifiers: Vec<usize>,
    /// How many braces around the values of an array are open.
    values: usize,
}

impl<'a> Tail<'a> {
    /// The role of the next token.
    fn role(&mut self, kind: Kind, text: &'a str) -> Role {
        match text {
            "(" | "[" => self.depth += 1,
            ")" | "]" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        let role = match (kind, text) {
            (Kind::Symbol, ":") if self.quantifiers.pop_if(|depth| *depth == self.depth).is_some() => {
                Role::LabelColon
            }
            (Kind::Symbol, ":") if self.after_label() => Role::LabelColon,
            (Kind::Symbol, "{") if self.values > 0 || matches!(self.last[1], Some((Role::Symbol, "="))) => {
                self.values += 1;
                Role::ArrayBrace
            }
            (Kind::Symbol, "}") if self.values > 0 => {
                self.values -= 1;
                Role::ArrayBrace
            }
            (Kind::Name, "in") if matches!(self.last[1], Some((Role::Operand, _))) => {
                if matches!(self.last[0], Some((_, "forall" | "exists" | "count"))) {
                    self.quantifiers.push(self.depth);
                }
                Role::Keyword
            }
            (Kind::Symbol, "*") if !self.after_operand() => Role::Operand,
            (Kind::Symbol, "-") if !self.after_operand() => Role::Prefix,
            (Kind::Symbol, "!") => Role::Prefix,
            (Kind::Symbol, _) => Role::Symbol,
            (Kind::Keyword, "true" | "false" | "self") => Role::Operand,
            (Kind::Keyword, _) => Role::Keyword,
            _ => Role::Operand,
        };
        self.last = [self.last[1], Some((role, text))];
        role
    }

    fn after_operand(&self) -> bool {
        matches!(self.last[1], Some((Role::Operand, _)) | Some((Role::Symbol, ")" | "]")))
    }

    /// Whether a name came last, where a statement starts.
    fn after_label(&self) -> bool {
        let name = matches!(self.last[1], Some((Role::Operand, _)));
        let starts = matches!(
            self.last[0],
            None | Some((Role::LabelColon, _))
                | Some((Role::Symbol, ";" | "{" | "}"))
                | Some((Role::Keyword, "never"))
        );
        name && starts
    }
}
