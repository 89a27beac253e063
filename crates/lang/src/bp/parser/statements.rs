//! Statements, in the notation of SATABS and IJIT and in that of C.

use super::super::scanner::{Kind, token};
use super::super::syntax::{Action, Branch, Expr, Name, Statement};
use super::{Parser, Read};
use crate::cursor::join;
use allways_model::program::{LocationId, Span};

impl<'a> Parser<'a> {
    /// The statements of a block and what ends it, one of these. Declarations among them go to the function.
    pub fn statements(&mut self, closers: &'static [&'static str]) -> Read<Vec<Statement<'a>>> {
        self.open.push(closers);
        let statements = self.deeper(|parser| Ok(parser.statements_until(closers)));
        self.open.pop();
        statements
    }

    fn statements_until(&mut self, closers: &'static [&'static str]) -> Vec<Statement<'a>> {
        let mut statements = Vec::new();
        let mut labels = Vec::new();
        loop {
            match self.next.kind {
                Kind::Is(closer) if closers.contains(&closer) => {
                    // A label at the end of a block is a place to go to.
                    if !labels.is_empty() {
                        statements.push(statement(labels, Action::Skip, self.next.span));
                    }
                    return statements;
                }
                Kind::Is(symbol) if self.at_end_of_block() => {
                    self.fault(&format!("a statement{}", list(closers)), None);
                    // If it ends a block further out, then the end of this one is missing.
                    if self.open.iter().any(|outer| outer.contains(&symbol)) {
                        return statements;
                    }
                    self.advance();
                }
                _ if self.next.kind == Kind::End || self.at_top() => {
                    self.fault(&format!("a statement{}", list(closers)), None);
                    return statements;
                }
                Kind::Is(";") => {
                    self.advance();
                }
                Kind::Is("decl" | "bool") => {
                    if self.declarations().is_err() {
                        self.skip_statement();
                    }
                }
                _ => match self.label() {
                    Some(label) if is_async(label.text) => {
                        labels.push(label);
                        let started = self.started();
                        self.keep(&mut statements, &mut labels, started);
                    }
                    Some(label) => labels.push(label),
                    None => {
                        let action = self.action();
                        self.keep(&mut statements, &mut labels, action);
                    }
                },
            }
        }
    }

    fn keep(
        &mut self,
        statements: &mut Vec<Statement<'a>>,
        labels: &mut Vec<Name<'a>>,
        action: Read<(Action<'a>, Span)>,
    ) {
        let labels = std::mem::take(labels);
        match action {
            Ok((action, span)) => statements.push(statement(labels, action, span)),
            Err(_) => {
                // The labels are kept: a jump to them is not wrong.
                statements.push(statement(labels, Action::Skip, self.last));
                self.skip_statement();
            }
        }
    }

    /// After a mistake in a statement.
    fn skip_statement(&mut self) {
        while !(self.accept(";")
            || self.at_end_of_block()
            || self.at_top()
            || self.next.kind == Kind::Is("decl"))
        {
            self.advance();
        }
    }

    /// A name or a number, and `:`.
    fn label(&mut self) -> Option<Name<'a>> {
        let (Kind::Word | Kind::Number) = self.next.kind else { return None };
        if token(&mut self.cursor.clone()).kind != Kind::Is(":") {
            return None;
        }
        self.file.integer_labels.get_or_insert(self.next.kind == Kind::Number);
        let span = self.advance().span;
        self.advance();
        Some(Name { text: self.words(span), span })
    }

    /// A statement with its labels, such as the one a thread starts with.
    fn labelled(&mut self) -> Read<Statement<'a>> {
        let mut labels = Vec::new();
        while let Some(label) = self.label() {
            labels.push(label);
            if is_async(label.text) {
                let (action, span) = self.started()?;
                return Ok(statement(labels, action, span));
            }
        }
        let (action, span) = self.action()?;
        Ok(statement(labels, action, span))
    }

    /// The statement of a new thread.
    fn started(&mut self) -> Read<(Action<'a>, Span)> {
        let first = self.last;
        let started = self.deeper(Self::labelled)?;
        let span = join(first, started.span);
        Ok((Action::Start(Box::new(started)), span))
    }

    /// A statement without its labels, up to its `;`, and the part of it that is its first step.
    fn action(&mut self) -> Read<(Action<'a>, Span)> {
        let first = self.next;
        let keyword = match first.kind {
            Kind::Is(keyword) => keyword,
            Kind::Word => return self.assignment_or_call(),
            Kind::Number => {
                self.advance();
                return Err(self.fault("`:` after the label", None));
            }
            _ => return Err(self.fault("a statement", None)),
        };
        if !STATEMENTS.contains(&keyword) {
            return Err(self.fault("a statement", None));
        }
        self.advance();
        let action = match keyword {
            "skip" => Action::Skip,
            "goto" => Action::Goto(self.targets()?),
            "if" => return self.conditional(first.span),
            "while" => return self.repetition(first.span),
            "assume" => Action::Assume(self.expression()?, true),
            "enforce" => Action::Enforce(self.expression()?),
            "abortif" => Action::Assume(self.expression()?, false),
            "assert" => Action::Assert(self.expression()?),
            "return" if self.next.kind == Kind::Is(";") || self.at_end_of_block() => {
                Action::Return(Vec::new())
            }
            "return" => Action::Return(self.expressions()?),
            "dead" => Action::Dead(self.names()?),
            "call" => {
                let function = self.name("the name of a function after `call`")?;
                Action::Call { function, arguments: self.arguments()?, results: Vec::new() }
            }
            "start_thread" => return self.started(),
            "create_thread" | "thread_create" => {
                self.expect("(", "")?;
                self.accept("&");
                let function = self.name("the name of a function")?;
                self.expect(")", "")?;
                Action::Create(function)
            }
            "end_thread" => Action::EndThread,
            "atomic_begin" => Action::AtomicBegin,
            "atomic_end" => Action::AtomicEnd,
            "wait" => Action::Wait,
            _ => Action::Broadcast,
        };
        let span = join(first.span, self.last);
        self.end_of_statement("the statement")?;
        Ok((action, span))
    }

    /// `x, y := e, f [constrain e];` or `x, y := f(e);` or `f(e);` or `sync e;`
    fn assignment_or_call(&mut self) -> Read<(Action<'a>, Span)> {
        let first = self.next.span;
        let places = self.names()?;
        let action = if let ([sync], Kind::Word) = (&places[..], self.next.kind)
            && sync.text == "sync"
        {
            Action::Sync(self.name("the name of an event")?)
        } else if let ([function], Kind::Is("(")) = (&places[..], self.next.kind) {
            Action::Call { function: *function, arguments: self.arguments()?, results: Vec::new() }
        } else if !self.accept(":=") {
            let help = (self.next.kind == Kind::Is("=")).then_some("`=` compares; `:=` assigns");
            return Err(self.fault("`:=` or `(`", help));
        } else if self.accept("call") || self.at_call() {
            let function = self.name("the name of a function")?;
            Action::Call { function, arguments: self.arguments()?, results: places }
        } else {
            let values = self.expressions()?;
            let constraint = if self.accept("constrain") { Some(self.expression()?) } else { None };
            Action::Assign { places, values, constraint }
        };
        let span = join(first, self.last);
        self.end_of_statement("the statement")?;
        Ok((action, span))
    }

    fn at_call(&self) -> bool {
        self.next.kind == Kind::Word && token(&mut self.cursor.clone()).kind == Kind::Is("(")
    }

    fn arguments(&mut self) -> Read<Vec<Expr<'a>>> {
        self.expect("(", "")?;
        if self.accept(")") {
            return Ok(Vec::new());
        }
        let arguments = self.expressions()?;
        self.expect(")", " after the arguments")?;
        Ok(arguments)
    }

    fn names(&mut self) -> Read<Vec<Name<'a>>> {
        let mut names = vec![self.name("the name of a variable")?];
        while self.accept(",") {
            names.push(self.name("the name of a variable")?);
        }
        Ok(names)
    }

    fn targets(&mut self) -> Read<Vec<Name<'a>>> {
        let mut targets = Vec::new();
        loop {
            let (Kind::Word | Kind::Number) = self.next.kind else { return Err(self.fault("a label", None)) };
            let span = self.advance().span;
            targets.push(Name { text: self.words(span), span });
            if !self.accept(",") {
                return Ok(targets);
            }
        }
    }

    /// From after `if`: `e then … [elsif e then …] [else …] fi` or, in C-like texts, `(e) s [else s]`.
    fn conditional(&mut self, first: Span) -> Read<(Action<'a>, Span)> {
        let mut branches = Vec::new();
        let condition = self.condition()?;
        let head = join(first, self.last);
        if self.next.kind != Kind::Is("then") {
            let body = self.body()?;
            branches.push(Branch { condition, body, span: head, location: LocationId(0) });
            while self.accept("else") {
                let first = self.next.span;
                if !self.accept("if") {
                    return Ok((Action::If(branches, self.body()?), head));
                }
                let condition = self.condition()?;
                let span = join(first, self.last);
                branches.push(Branch { condition, body: self.body()?, span, location: LocationId(0) });
            }
            return Ok((Action::If(branches, Vec::new()), head));
        }
        let (mut condition, mut span) = (condition, head);
        loop {
            self.expect("then", "")?;
            let body = self.statements(&["elsif", "else", "fi"])?;
            branches.push(Branch { condition, body, span, location: LocationId(0) });
            let first = self.next.span;
            if !self.accept("elsif") {
                break;
            }
            condition = self.condition()?;
            span = join(first, self.last);
        }
        let otherwise = if self.accept("else") { self.statements(&["fi"])? } else { Vec::new() };
        // What else is there has been reported.
        self.accept("fi");
        Ok((Action::If(branches, otherwise), head))
    }

    /// An expression that controls a block. The block is read even if the expression cannot be.
    fn condition(&mut self) -> Read<Expr<'a>> {
        self.expression().or_else(|reported| {
            while !(matches!(self.next.kind, Kind::Is("then" | "do" | "{" | ";")) || self.at_end_of_block()) {
                self.advance();
            }
            if matches!(self.next.kind, Kind::Is("then" | "do" | "{")) {
                Ok(Expr::Choose)
            } else {
                Err(reported)
            }
        })
    }

    /// From after `while`: `e do … od` or, in C-like texts, `(e) s`.
    fn repetition(&mut self, first: Span) -> Read<(Action<'a>, Span)> {
        let condition = self.condition()?;
        let head = join(first, self.last);
        let body = if self.accept("do") {
            let body = self.statements(&["od"])?;
            self.accept("od");
            body
        } else {
            self.body()?
        };
        Ok((Action::While(condition, body), head))
    }

    /// `{ … }`, a single statement, or `;`.
    fn body(&mut self) -> Read<Vec<Statement<'a>>> {
        if self.accept(";") {
            return Ok(Vec::new());
        }
        if self.accept("{") {
            let body = self.statements(&["}"])?;
            self.accept("}");
            return Ok(body);
        }
        Ok(vec![self.deeper(Self::labelled)?])
    }
}

/// The words that begin a statement.
const STATEMENTS: [&str; 19] = [
    "abortif",
    "assert",
    "assume",
    "atomic_begin",
    "atomic_end",
    "broadcast",
    "call",
    "create_thread",
    "dead",
    "end_thread",
    "enforce",
    "goto",
    "if",
    "return",
    "skip",
    "start_thread",
    "thread_create",
    "wait",
    "while",
];

fn statement<'a>(labels: Vec<Name<'a>>, action: Action<'a>, span: Span) -> Statement<'a> {
    Statement { labels, action, span, location: LocationId(0) }
}

/// Whether a statement with this label is one of a new thread.
fn is_async(label: &str) -> bool {
    label.strip_prefix("ASYNC_").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Such as `, `else` or `fi``.
fn list(closers: &[&str]) -> String {
    let before = |left: usize| if left == 1 { " or" } else { "," };
    let lefts = (1..=closers.len()).rev();
    closers.iter().zip(lefts).map(|(closer, left)| format!("{} `{closer}`", before(left))).collect()
}
