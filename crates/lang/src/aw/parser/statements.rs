//! Statements.

use super::super::ast::{Block, Branch, Expr, Name, Reference, Statement, StatementKind};
use super::super::foreign;
use super::super::lexer::Kind;
use super::{Parse, Parser, Reported};
use allways_model::program::Span;

impl<'a> Parser<'a, '_> {
    /// Statements in braces.
    pub(super) fn block(&mut self, what: &str) -> Parse<Block<'a>> {
        let open = self.expect_or("{", &format!("{what} stands in braces"))?;
        self.nested(|parser| {
            let mut statements = Vec::new();
            loop {
                if parser.at("}") {
                    return Ok(Block { statements, close: parser.advance().span });
                }
                if parser.peek().kind == Kind::End || parser.at_declaration() {
                    let help = format!("the `{{` in line {} is not closed", open.line);
                    return Err(parser.unexpected_with("`}` or a statement", Some(help)));
                }
                let before = parser.next;
                match parser.statement() {
                    Ok(statement) => statements.push(statement),
                    Err(Reported) => parser.skip_statement(),
                }
                let stuck = parser.next == before && !parser.at("}") && !parser.at_declaration();
                if stuck {
                    parser.advance();
                }
            }
        })
    }

    /// The body of a statement: a block; of a C programmer, one statement without braces.
    fn body(&mut self, word: &str) -> Parse<Block<'a>> {
        let what = format!("the body of `{word}`");
        if self.at("{") || !self.starts_statement() {
            return self.block(&what);
        }
        self.unexpected_with("`{`", Some(format!("{what} stands in braces")));
        let statement = self.nested(Self::statement)?;
        Ok(Block { statements: vec![statement], close: self.previous() })
    }

    fn statement(&mut self) -> Parse<Statement<'a>> {
        let mut labels = Vec::new();
        while self.peek().kind == Kind::Name && self.is(1, ":") && !self.touching(1, ":", "=") {
            labels.push(self.name("a label")?);
            self.advance();
        }
        if let Some(label) = labels.last().filter(|_| self.at("}")) {
            let help = format!("write `{}: skip;`", label.text);
            return Err(self.unexpected_with("a statement after the label", Some(help)));
        }
        self.pass_directives("a statement");
        if self.at("}") {
            return Err(Reported);
        }
        let start = self.peek();
        let (kind, span) = match start.kind {
            Kind::Keyword if !self.at_any(&["bool", "int"]) => self.keyword_statement()?,
            Kind::Symbol if self.at("{") => {
                let block = self.block("a block")?;
                (StatementKind::Block(block), start.span)
            }
            Kind::Name if !self.starts_range() && !self.starts_named_type() => self.named_statement()?,
            Kind::Keyword | Kind::Name | Kind::Number => self.declaration()?,
            Kind::Symbol if self.at("-") || self.at("(") => self.declaration()?,
            _ => {
                let help = match self.at(";") {
                    true => Some("delete this `;`; a step that does nothing is written `skip;`".to_string()),
                    false => foreign::bytes(self.bytes(start.span)).map(str::to_string),
                };
                return Err(self.unexpected_with("a statement", help));
            }
        };
        Ok(Statement { labels, kind, span })
    }

    /// Whether a name is the start of a range, as in `N - 1..M x;`.
    fn starts_range(&self) -> bool {
        let arithmetic = ["+", "-", "*", "/", "%"].iter().any(|word| self.is(1, word));
        let slip = ["+", "-", "="]
            .iter()
            .any(|second| ["+", "-", "*", "/", "%"].iter().any(|first| self.touching(1, first, second)));
        self.is(1, "..") || arithmetic && !slip
    }

    /// Whether a declared type and the name of a variable come next.
    fn starts_named_type(&self) -> bool {
        self.types.contains(self.word(self.peek())) && self.ahead(1).kind == Kind::Name
    }

    fn starts_statement(&self) -> bool {
        self.peek().kind == Kind::Name || self.peek().kind == Kind::Keyword && !self.at_declaration()
    }

    fn declaration(&mut self) -> Parse<(StatementKind<'a>, Span)> {
        let start = self.peek().span;
        let ty = self.type_name()?;
        let declarators = self.list(Self::declarator)?;
        let span = self.since(start);
        self.semicolon("the declaration")?;
        Ok((StatementKind::Declare(ty, declarators), span))
    }

    /// A statement that starts with a word of the language.
    fn keyword_statement(&mut self) -> Parse<(StatementKind<'a>, Span)> {
        let start = self.peek();
        let word = self.word(start);
        if word == "lock" && self.is(1, "(") {
            let help = "a lock is taken by `acquire(m);` and given back by `release(m);`".to_string();
            return Err(self.unexpected_with("a statement", Some(help)));
        }
        let simple = match word {
            "if" => return self.if_statement(start.span),
            "while" => {
                self.advance();
                let condition = self.parenthesised("while")?;
                let span = self.since(start.span);
                return Ok((StatementKind::While(condition, self.body("while")?), span));
            }
            "loop" => {
                self.advance();
                return Ok((StatementKind::Loop(self.body("loop")?), start.span));
            }
            "atomic" => {
                self.advance();
                return Ok((StatementKind::Atomic(self.body("atomic")?), start.span));
            }
            "choose" => {
                self.advance();
                let mut branches = vec![self.block("a branch of `choose`")?];
                while self.eat("or") {
                    branches.push(self.block("a branch of `choose`")?);
                }
                return Ok((StatementKind::Choose(branches), start.span));
            }
            "else" => {
                let help = "an `else` follows the `}` of its `if`".to_string();
                return Err(self.unexpected_with("a statement", Some(help)));
            }
            "or" => {
                let help = "an `or` follows the `}` of a branch of `choose`".to_string();
                return Err(self.unexpected_with("a statement", Some(help)));
            }
            "error" => StatementKind::Error,
            "skip" => StatementKind::Skip,
            "break" => StatementKind::Break,
            "continue" => StatementKind::Continue,
            "yield" => StatementKind::Yield,
            _ => {
                let kind = self.with_operands(word)?;
                let span = self.since(start.span);
                self.semicolon("the statement")?;
                return Ok((kind, span));
            }
        };
        self.advance();
        self.semicolon(&format!("`{word}`"))?;
        Ok((simple, start.span))
    }

    /// A simple statement that has operands, without its `;`.
    fn with_operands(&mut self, word: &'a str) -> Parse<StatementKind<'a>> {
        let known = [
            "assume",
            "await",
            "assert",
            "return",
            "goto",
            "acquire",
            "release",
            "spawn",
            "wait",
            "broadcast",
            "post",
        ];
        if !known.contains(&word) {
            return Err(self.unexpected("a statement"));
        }
        self.advance();
        Ok(match word {
            "assume" => StatementKind::Assume(self.condition()?),
            "await" => StatementKind::Await(self.condition()?),
            "assert" => StatementKind::Assert(self.condition()?),
            "return" if self.at(";") || self.at("}") => StatementKind::Return(None),
            "return" => StatementKind::Return(Some(self.expression()?)),
            "goto" => StatementKind::Goto(self.list(|parser| parser.name("a label"))?),
            "acquire" => StatementKind::Acquire(self.lock(word)?),
            "release" => StatementKind::Release(self.lock(word)?),
            "spawn" => {
                let name = self.plain_name("spawn", "the name of a thread")?;
                if self.at("(") {
                    let help = format!("a thread has no parameters: write `spawn {};`", name.text);
                    return Err(self.unexpected_with("`;`", Some(help)));
                }
                StatementKind::Spawn(name)
            }
            "wait" => StatementKind::Wait(self.plain_name("wait", "the name of an event")?),
            "broadcast" => StatementKind::Broadcast(self.plain_name("broadcast", "the name of an event")?),
            _ => {
                let name = self.name("the name of a task")?;
                if !self.at("(") {
                    let help = format!("write `post {}();`", name.text);
                    return Err(self.unexpected_with("`(`", Some(help)));
                }
                StatementKind::Post(name, self.arguments()?)
            }
        })
    }

    /// A name that a C programmer would put in parentheses.
    fn plain_name(&mut self, word: &str, expected: &str) -> Parse<Name<'a>> {
        if self.at("(") && self.ahead(1).kind == Kind::Name {
            let help = format!("write `{word} {};`", self.word(self.ahead(1)));
            return Err(self.unexpected_with(expected, Some(help)));
        }
        self.name(expected)
    }

    /// `(m)` or `(m[e])`
    fn lock(&mut self, word: &str) -> Parse<Reference<'a>> {
        self.expect_or("(", &format!("write `{word}(m);`"))?;
        let reference = self.reference("the name of a lock")?;
        self.expect(")")?;
        Ok(reference)
    }

    fn reference(&mut self, expected: &str) -> Parse<Reference<'a>> {
        let name = self.name(expected)?;
        let selectors = self.selectors()?;
        Ok(Reference { name, selectors, span: self.since(name.span) })
    }

    fn if_statement(&mut self, start: Span) -> Parse<(StatementKind<'a>, Span)> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let keyword = self.expect("if")?;
            let condition = self.parenthesised("if")?;
            let span = self.since(keyword);
            branches.push(Branch { condition, body: self.body("if")?, span });
            if !self.eat("else") {
                break;
            }
            if !self.at("if") {
                otherwise = Some(self.body("else")?);
                break;
            }
        }
        let span = branches.first().map_or(start, |first| first.span);
        Ok((StatementKind::If(branches, otherwise), span))
    }

    /// A condition in parentheses. Rust's habit of leaving them out is understood, and not accepted.
    fn parenthesised(&mut self, word: &str) -> Parse<Expr<'a>> {
        if self.eat("(") {
            let condition = self.condition()?;
            self.expect_operator_or(")")?;
            return Ok(condition);
        }
        let help = format!("a condition stands in parentheses: `{word} (…) {{ … }}`");
        self.unexpected_with(&format!("`(` after `{word}`"), Some(help));
        self.condition()
    }

    /// An assignment or a call; or what people write who come from other languages.
    fn named_statement(&mut self) -> Parse<(StatementKind<'a>, Span)> {
        let start = self.peek();
        let word = self.word(start);
        if word == "for" && self.starts_binder() {
            self.advance();
            let binder = self.binder()?;
            let span = self.since(start.span);
            return Ok((StatementKind::For(Box::new(binder), self.body("for")?), span));
        }
        if word == "signal" && self.ahead(1).kind == Kind::Name {
            self.advance();
            let event = self.name("the name of an event")?;
            let span = self.since(start.span);
            self.semicolon("the statement")?;
            return Ok((StatementKind::Signal(event), span));
        }
        if let Some(help) = foreign::statement(word).filter(|_| self.looks_foreign()) {
            self.unexpected_with("a statement", Some(help.to_string()));
            self.skip_header();
            return Err(Reported);
        }
        if self.is(1, "(") {
            let name = self.name("a name")?;
            let arguments = self.arguments()?;
            let span = self.since(start.span);
            if self.at("{") {
                let help = format!("there is no statement {}", super::quote(word));
                let help = self.like_keyword(word).unwrap_or(help);
                return Err(self.unexpected_with("`;` after the call", Some(help)));
            }
            self.semicolon("the call")?;
            return Ok((StatementKind::Call(name, arguments), span));
        }
        if self.ahead(1).kind == Kind::Name {
            let help = foreign::type_name(word).map(str::to_string).or_else(|| self.like_keyword(word));
            let help = help.unwrap_or("a local variable is declared by its type: `int x = 0;`".to_string());
            return Err(self.unexpected_with("a statement", Some(help)));
        }
        let targets = self.list(|parser| parser.reference("the name of a variable"))?;
        if !self.at("=") {
            return Err(self.no_assignment(&targets));
        }
        self.advance();
        let values = self.list(Self::expression)?;
        if self.at("=") {
            let help = foreign::operator("=", self.word(self.ahead(1)));
            let help = help.unwrap_or("one assignment is one statement; to compare two values, write `==`");
            return Err(self.unexpected_with("`;` after the assignment", Some(help.to_string())));
        }
        let span = self.since(start.span);
        self.semicolon("the assignment")?;
        Ok((StatementKind::Assign(targets, values), span))
    }

    /// Whether a name is used like a word of another language: `for (…) {`, `let x`, `pass;`.
    fn looks_foreign(&self) -> bool {
        /// Longer headers are taken for calls.
        const LONGEST: usize = 100;
        if !self.is(1, "(") {
            return matches!(self.ahead(1).kind, Kind::Name | Kind::Number | Kind::Keyword)
                || self.is(1, "{")
                || self.is(1, ";");
        }
        let mut open = 0usize;
        for ahead in 1..LONGEST {
            match self.word(self.ahead(ahead)) {
                "(" => open += 1,
                ")" if open == 1 => return self.is(ahead + 1, "{"),
                ")" => open -= 1,
                ";" => return true,
                _ => {}
            }
        }
        false
    }

    /// What stands in the place of the `=` of an assignment.
    fn no_assignment(&mut self, targets: &[Reference<'a>]) -> Reported {
        let target =
            targets.first().map_or("x", |target| str::from_utf8(self.bytes(target.span)).unwrap_or("x"));
        let target = if target.len() <= 40 { target } else { "x" };
        for operator in ["+", "-", "*", "/", "%"] {
            let step = self.touching(0, operator, operator) && matches!(operator, "+" | "-");
            let help = match step {
                true => format!("write `{target} = {target} {operator} 1;`"),
                false if self.touching(0, operator, "=") => {
                    format!("write `{target} = {target} {operator} …;`")
                }
                false => continue,
            };
            let second = if step { operator } else { "=" };
            let message = format!("expected `=`, found `{operator}{second}`");
            return self.complain(self.peek().span, message, Some(help));
        }
        if self.touching(0, ":", "=") {
            let help = Some(format!("an assignment is written `{target} = …;`"));
            return self.complain(self.peek().span, "expected `=`, found `:=`".to_string(), help);
        }
        let help = match self.at("==") {
            true => Some(format!("an assignment is written `{target} = …;`")),
            false => targets.last().and_then(|target| self.like_keyword(target.name.text)),
        };
        self.unexpected_with("`=`", help)
    }

    /// Goes past the word of a statement of another language and what it has in parentheses, up to its body.
    fn skip_header(&mut self) {
        self.advance();
        let mut open = 0usize;
        while self.peek().kind != Kind::End && !self.at_declaration() && !self.at_any(&["{", "}"]) {
            match self.word(self.peek()) {
                "(" => open += 1,
                ")" => open = open.saturating_sub(1),
                ";" if open == 0 => return,
                _ => {}
            }
            self.advance();
        }
    }
}
