//! From tokens to syntax: declarations and functions, and how reading goes on after a mistake.
//!
//! A mistake spoils its statement alone. Reading goes on after the next `;`, or where a block ends, so that one run
//! reports several. Whatever nests is limited in depth; beyond it, reading stops.

mod expressions;
mod statements;

use super::MAX_DEPTH;
use super::scanner::{Kind, Token, token};
use super::syntax::{Declaration, File, Function, Name};
use crate::cursor::{Cursor, range};
use crate::diagnostic::{Diagnostics, Severity, excerpt};
use allways_model::program::Span;

/// Something was wrong, and has been reported.
pub(super) struct Reported;

type Read<T> = Result<T, Reported>;

pub(super) struct Parser<'a> {
    text: &'a [u8],
    cursor: Cursor<'a>,
    /// The token to be read next.
    next: Token,
    /// The place of the token read last.
    last: Span,
    /// How deep the current place is nested.
    depth: usize,
    /// What ends the blocks that are open, the innermost last.
    open: Vec<&'static [&'static str]>,
    /// The variables of the current function so far.
    locals: Vec<Declaration<'a>>,
    file: File<'a>,
    diagnostics: Diagnostics,
    /// Nothing after this is worth a message.
    stopped: bool,
}

/// Reads a text of less than 4 GiB.
pub(super) fn parse(text: &[u8]) -> (File<'_>, Diagnostics) {
    let mut parser = Parser {
        text,
        cursor: Cursor::new(text),
        next: Token { kind: Kind::Junk, span: Span::default() },
        last: Span::default(),
        depth: 0,
        open: Vec::new(),
        locals: Vec::new(),
        file: File::default(),
        diagnostics: Diagnostics::default(),
        stopped: false,
    };
    parser.advance();
    while parser.next.kind != Kind::End {
        if parser.declaration_or_function().is_err() {
            parser.skip_to_top();
        }
    }
    (parser.file, parser.diagnostics)
}

impl<'a> Parser<'a> {
    fn declaration_or_function(&mut self) -> Read<()> {
        match self.next.kind {
            Kind::Is(";") => {
                self.advance();
                Ok(())
            }
            Kind::Is("decl" | "bool") if !self.at_function() => {
                let declared = self.declarations();
                self.file.globals.append(&mut self.locals);
                declared
            }
            Kind::Is("dfs" | "void" | "bool") => self.function(),
            _ => Err(self.fault("a declaration such as `decl x;` or a function such as `void main()`", None)),
        }
    }

    /// `[dfs] void|bool|bool<n> name(parameters) begin … end`
    fn function(&mut self) -> Read<()> {
        self.accept("dfs");
        let results = if self.accept("void") {
            0
        } else if self.accept("bool") {
            if self.accept("<") { self.count()? } else { 1 }
        } else {
            return Err(self.fault("the type of a function, `void` or `bool`", None));
        };
        let name = self.name("the name of a function")?;
        self.expect("(", "")?;
        let mut parameters = Vec::new();
        if !self.accept(")") {
            loop {
                self.accept("bool");
                let name = self.name("a parameter")?;
                parameters.push(Declaration { name, initial: None, thread_local: false });
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(")", " after the parameters")?;
        }
        let end: &[&str] = if self.accept("begin") {
            &["end"]
        } else if self.accept("{") {
            &["}"]
        } else {
            return Err(self.fault("`begin`", None));
        };
        let body = self.statements(end);
        self.accept(end[0]);
        let locals = std::mem::take(&mut self.locals);
        let end = self.last;
        self.file.functions.push(Function { name, parameters, results, locals, body: body?, end });
        Ok(())
    }

    /// The number of results, up to `>`.
    fn count(&mut self) -> Read<usize> {
        let token = self.next;
        let digits = self.words(token.span);
        if token.kind != Kind::Number {
            return Err(self.fault("a number of results", None));
        }
        let Some(count) = digits.parse().ok().filter(|&count| count <= super::MAX_RESULTS) else {
            return Err(self.fault(&format!("at most {} results", super::MAX_RESULTS), None));
        };
        self.advance();
        self.expect(">", "")?;
        Ok(count)
    }

    /// `decl [thread_local] x [:= 0], …;` or, in C-like texts, `bool x [:= 0], …;`
    fn declarations(&mut self) -> Read<()> {
        self.advance();
        let thread_local = self.accept("thread_local");
        loop {
            let name = self.name("the name of a variable")?;
            let initial = if self.accept(":=") || self.accept("=") { self.initial()? } else { None };
            self.locals.push(Declaration { name, initial, thread_local });
            if !self.accept(",") {
                return self.end_of_statement("the declaration");
            }
        }
    }

    fn initial(&mut self) -> Read<Option<bool>> {
        let initial = match (self.next.kind, self.words(self.next.span)) {
            (Kind::Is("*"), _) => None,
            (Kind::Is("T" | "true"), _) | (Kind::Number, "1") => Some(true),
            (Kind::Is("F" | "false"), _) | (Kind::Number, "0") => Some(false),
            _ => return Err(self.fault("an initial value, which is `0`, `1` or `*`", None)),
        };
        self.advance();
        Ok(initial)
    }

    /// A `;`, which may be left out before the end of a block.
    fn end_of_statement(&mut self, what: &str) -> Read<()> {
        if self.accept(";") || self.at_end_of_block() || self.at_top() {
            return Ok(());
        }
        if self.next.span.line == self.last.line {
            return Err(self.fault(&format!("`;` after {what}"), None));
        }
        let found = self.found();
        let place = self.last.end as usize;
        let words = || {
            (
                format!("expected `;` after {what}, found {found}"),
                Some("read as if it were there".to_string()),
            )
        };
        self.diagnostics.add(Severity::Warning, place..place, words);
        Ok(())
    }

    fn at_end_of_block(&self) -> bool {
        matches!(self.next.kind, Kind::Is("end" | "fi" | "od" | "else" | "elsif" | "}") | Kind::End)
    }

    /// Whether only a whole text can go on like this.
    fn at_top(&self) -> bool {
        matches!(self.next.kind, Kind::Is("void" | "dfs")) || self.at_function()
    }

    /// Whether `bool` opens a function and not a declaration.
    fn at_function(&self) -> bool {
        if self.next.kind != Kind::Is("bool") {
            return false;
        }
        let mut ahead = self.cursor.clone();
        token(&mut ahead).kind == Kind::Is("<") || token(&mut ahead).kind == Kind::Is("(")
    }

    /// After a mistake outside of functions.
    fn skip_to_top(&mut self) {
        loop {
            if self.accept(";")
                || self.at_top()
                || matches!(self.next.kind, Kind::Is("decl" | "bool") | Kind::End)
            {
                return;
            }
            self.advance();
        }
    }

    fn advance(&mut self) -> Token {
        let taken = std::mem::replace(&mut self.next, token(&mut self.cursor));
        self.last = taken.span;
        if self.next.kind == Kind::OpenComment {
            self.fault("`*/` after this `/*`", None);
            self.stop();
        }
        taken
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = matches!(self.next.kind, Kind::Is(found) if found == symbol);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &str, place: &str) -> Read<()> {
        if self.accept(symbol) { Ok(()) } else { Err(self.fault(&format!("`{symbol}`{place}"), None)) }
    }

    fn name(&mut self, what: &str) -> Read<Name<'a>> {
        match self.next.kind {
            Kind::Word => {
                let span = self.advance().span;
                Ok(Name { text: self.words(span), span })
            }
            Kind::Is(keyword) if keyword.as_bytes()[0].is_ascii_alphabetic() => {
                Err(self.fault(what, Some(&format!("`{keyword}` is a keyword"))))
            }
            _ => Err(self.fault(what, None)),
        }
    }

    /// The text at a place. Names and numbers are ASCII; anything else is nothing.
    fn words(&self, span: Span) -> &'a str {
        str::from_utf8(&self.text[range(span)]).unwrap_or_default()
    }

    fn found(&self) -> String {
        match self.next.kind {
            Kind::End | Kind::OpenComment => "the end of the file".to_string(),
            _ => format!("`{}`", excerpt(&self.text[range(self.next.span)])),
        }
    }

    /// Reports that something was expected in place of the next token.
    fn fault(&mut self, expected: &str, help: Option<&str>) -> Reported {
        if !self.stopped {
            let found = self.found();
            let words = || (format!("expected {expected}, found {found}"), help.map(str::to_string));
            self.diagnostics.add(Severity::Error, range(self.next.span), words);
        }
        Reported
    }

    /// Reads something that is nested one deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == MAX_DEPTH {
            let fault = self.fault(&format!("at most {MAX_DEPTH} levels of nesting"), None);
            self.stop();
            return Err(fault);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads nothing more.
    fn stop(&mut self) {
        self.stopped = true;
        self.cursor.stop();
        self.next = token(&mut self.cursor);
    }
}
