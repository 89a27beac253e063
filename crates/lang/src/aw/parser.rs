//! Tokens to a syntax tree, by recursive descent.
//!
//! After an error the parser goes on at the next statement or declaration, so that one run reports several. At one
//! token it complains once. Nesting is limited, so the recursion is.

mod expressions;
mod items;
mod statements;

use super::ast::{Module, Name};
use super::foreign;
use super::lexer::{KEYWORDS, Kind, Lexed, Token};
use super::suggest::{did_you_mean, quote};
use super::{MAX_NESTING, MAX_TEXT};
use crate::cursor::{join, range};
use crate::diagnostic::{Diagnostics, Severity, excerpt};
use allways_model::program::Span;
use std::collections::HashSet;

/// An error that has been reported.
pub(super) struct Reported;

type Parse<T> = Result<T, Reported>;

/// Parses a text. What has errors is left out of the tree.
pub(super) fn parse<'a>(text: &'a [u8], lexed: &'a Lexed, diagnostics: &mut Diagnostics) -> Module<'a> {
    let (tokens, types) = (&lexed.tokens, HashSet::new());
    let mut parser = Parser { text, tokens, next: 0, depth: 0, diagnostics, complained: None, types };
    parser.types = parser.declared_types();
    if text.len() > MAX_TEXT {
        let message = format!("expected a text of at most {MAX_TEXT} bytes, found {}", text.len());
        parser.error(Span::default(), message, None);
        return Module::default();
    }
    if let Some(comment) = lexed.unclosed {
        let opening = Span { end: comment.start + 2, ..comment };
        parser.error(opening, "expected `*/` after `/*`, found the end of the file".to_string(), None);
    }
    parser.module()
}

struct Parser<'a, 'd> {
    text: &'a [u8],
    /// Ends with the end of the text.
    tokens: &'a [Token],
    /// The number of the next token; never past the last.
    next: usize,
    /// How many statements and expressions are open.
    depth: usize,
    diagnostics: &'d mut Diagnostics,
    /// The token about which the last complaint was.
    complained: Option<usize>,
    /// The types that are declared somewhere.
    types: HashSet<&'a str>,
}

impl<'a> Parser<'a, '_> {
    /// The token so many after the next.
    fn ahead(&self, count: usize) -> Token {
        self.tokens[(self.next + count).min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> Token {
        self.ahead(0)
    }

    /// The token before the next.
    fn previous(&self) -> Span {
        self.tokens[self.next.saturating_sub(1)].span
    }

    fn advance(&mut self) -> Token {
        let token = self.peek();
        self.pass(1);
        token
    }

    fn pass(&mut self, count: usize) {
        self.next = (self.next + count).min(self.tokens.len() - 1);
    }

    fn bytes(&self, span: Span) -> &'a [u8] {
        &self.text[range(span)]
    }

    /// The text of a token that is a word or a symbol.
    fn word(&self, token: Token) -> &'a str {
        match token.kind {
            Kind::Bad | Kind::End => "",
            _ => str::from_utf8(self.bytes(token.span)).unwrap_or(""),
        }
    }

    /// Whether the token so many after the next is this keyword or symbol.
    fn is(&self, count: usize, word: &str) -> bool {
        let token = self.ahead(count);
        matches!(token.kind, Kind::Keyword | Kind::Symbol) && self.word(token) == word
    }

    fn at(&self, word: &str) -> bool {
        self.is(0, word)
    }

    fn at_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.at(word))
    }

    /// Whether the tokens so many after the next, and the one after it, touch and are these two symbols.
    fn touching(&self, count: usize, first: &str, second: &str) -> bool {
        self.is(count, first)
            && self.is(count + 1, second)
            && self.ahead(count).span.end == self.ahead(count + 1).span.start
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.at(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, word: &str) -> Parse<Span> {
        match self.at(word) {
            true => Ok(self.advance().span),
            false => Err(self.unexpected(&format!("`{word}`"))),
        }
    }

    /// Like [`Parser::expect`], with advice if something else is there.
    fn expect_or(&mut self, word: &str, help: &str) -> Parse<Span> {
        match self.at(word) {
            true => Ok(self.advance().span),
            false => Err(self.unexpected_with(&format!("`{word}`"), Some(help.to_string()))),
        }
    }

    fn name(&mut self, expected: &str) -> Parse<Name<'a>> {
        let token = self.peek();
        if token.kind == Kind::Name {
            self.advance();
            return Ok(Name { text: self.word(token), span: token.span });
        }
        if token.kind == Kind::Keyword {
            let help = format!("`{}` is a word of the language and cannot be a name", self.word(token));
            return Err(self.unexpected_with(expected, Some(help)));
        }
        Err(self.unexpected(expected))
    }

    /// "did you mean `while`?"
    fn like_keyword(&self, word: &str) -> Option<String> {
        let long = |word: &&str| word.len() > 2;
        Some(word).filter(long).and_then(|word| did_you_mean(word, KEYWORDS.into_iter().filter(long)))
    }

    /// How a token is shown.
    fn shown(&self, token: Token) -> String {
        match token.kind {
            Kind::End => "the end of the file".to_string(),
            Kind::Name | Kind::Keyword => quote(self.word(token)),
            _ => format!("`{}`", excerpt(self.bytes(token.span))),
        }
    }

    fn unexpected(&mut self, expected: &str) -> Reported {
        let help = match self.peek().kind {
            Kind::Bad => foreign::bytes(self.bytes(self.peek().span)).map(str::to_string),
            _ => None,
        };
        self.unexpected_with(expected, help)
    }

    /// Complains that something was expected and the next token found.
    fn unexpected_with(&mut self, expected: &str, help: Option<String>) -> Reported {
        let found = self.peek();
        let message = format!("expected {expected}, found {}", self.shown(found));
        self.complain(found.span, message, help)
    }

    /// Complains about the next token, unless that has been done.
    fn complain(&mut self, span: Span, message: String, help: Option<String>) -> Reported {
        if self.complained != Some(self.next) {
            self.complained = Some(self.next);
            self.error(span, message, help);
        }
        Reported
    }

    fn error(&mut self, span: Span, message: String, help: Option<String>) {
        self.diagnostics.add(Severity::Error, range(span), || (message, help));
    }

    /// Runs something that may nest. Beyond the limit, the rest of the text is given up.
    fn nested<T>(&mut self, run: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth == MAX_NESTING {
            let span = self.peek().span;
            let message = format!("expected at most {MAX_NESTING} levels of nesting, found more");
            self.complain(span, message, None);
            self.next = self.tokens.len() - 1;
            self.complained = Some(self.next);
            return Err(Reported);
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// Things between commas, at least one.
    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.eat(",") {
            all.push(one(self)?);
        }
        Ok(all)
    }

    /// The `;` after something. If it is missing at the end of a line, or before a word that starts a statement, the
    /// rest is read as if it were there.
    fn semicolon(&mut self, after: &str) -> Parse<()> {
        if self.eat(";") {
            return Ok(());
        }
        let (previous, found) = (self.previous(), self.peek());
        let missing = self.tokens[self.next.saturating_sub(1)].span;
        let end = Span { start: missing.end, ..missing };
        let new_line = found.span.line > previous.line || found.kind == Kind::End;
        let operator = foreign::operator(self.word(found), self.word(self.ahead(1)));
        if let Some(operator) = operator.filter(|_| !new_line) {
            return Err(self.unexpected_with(&format!("`;` after {after}"), Some(operator.to_string())));
        }
        if new_line || self.at("}") {
            let message = format!("expected `;` after {after}, found {}", self.shown(found));
            self.complain(end, message, None);
            return Ok(());
        }
        Err(self.unexpected(&format!("`;` after {after}")))
    }

    /// Goes to where the next statement or declaration may start.
    fn skip_statement(&mut self) {
        let mut braces = 0usize;
        loop {
            let token = self.peek();
            if token.kind == Kind::End || self.at_declaration() {
                return;
            }
            match self.word(token) {
                "{" => braces += 1,
                "}" if braces == 0 => return,
                "}" => {
                    braces -= 1;
                    if braces == 0 && !self.is(1, "else") && !self.is(1, "or") {
                        self.advance();
                        self.eat(";");
                        return;
                    }
                }
                ";" if braces == 0 => {
                    self.advance();
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// Complains about lines that start with `#`, each of which is one token, and goes on behind them.
    fn pass_directives(&mut self, expected: &str) {
        while self.peek().kind == Kind::Bad && self.bytes(self.peek().span).starts_with(b"#") {
            self.unexpected(expected);
            self.advance();
        }
    }

    /// Whether the next token starts a declaration, and nothing else.
    fn at_declaration(&self) -> bool {
        const STARTS: [&str; 8] =
            ["shared", "const", "event", "proc", "thread", "task", "never", "predicate"];
        self.at_any(&STARTS)
            || self.at("main") && self.is(1, "{")
            || self.at("lock") && self.ahead(1).kind == Kind::Name && (self.is(2, ";") || self.is(2, ","))
    }

    /// From a place to the end of the token before the next.
    fn since(&self, start: Span) -> Span {
        join(start, self.previous())
    }
}
