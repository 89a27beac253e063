//! Which names a text declares, and where each is used: what editors ask for.
//!
//! It works on the tree alone, so a text whose types are wrong has an outline as well; of a text with syntax errors, what was
//! understood. Scopes are those of the language: names outside bodies; of a body, its parameters and outermost block, and
//! further blocks inside, which hide what is further out; labels, which belong to their body.
//!
//! Invariant: `uses` are sorted and do not overlap, and each is of at least one symbol. A use has several symbols if it is an `at` of a label that
//! several bodies have: to rename one of these is to rename all of them.

use super::ast::{
    Binder, Block, Declarator, Expr, ExprKind, Initial, Item, Module, Name, Reference, Routine, RoutineKind,
    Selector, Statement, StatementKind, Structure, Threads, TypeName,
};
use super::{lexer, parser};
use crate::diagnostic::Diagnostics;
use allways_model::program::Span;
use std::collections::{BTreeSet, HashMap};

/// What a name is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// A shared variable.
    Shared,
    /// A local variable.
    Local,
    /// A parameter.
    Parameter,
    /// A constant, or the variable of a `for` or a quantifier, which is one in its body.
    Constant,
    /// A type.
    Enumeration,
    /// A value of a type.
    Member,
    /// A member of a structure.
    Field,
    /// A lock.
    Lock,
    /// An event.
    Event,
    /// A channel.
    Channel,
    /// A procedure.
    Procedure,
    /// A thread.
    Thread,
    /// A task, or `main`.
    Task,
    /// A label.
    Label,
    /// A property with a name.
    Property,
}

/// A name that is declared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Where it is declared.
    pub span: Span,
    /// All of the declaration, with the body.
    pub whole: Span,
    /// The declaration in one line, for people.
    pub detail: String,
    /// The routine that it belongs to.
    pub within: Option<usize>,
}

/// The names of a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outline {
    /// Those that are declared, in order.
    pub symbols: Vec<Symbol>,
    /// Where they stand, declarations among them, and which they are.
    pub uses: Vec<(Span, Vec<usize>)>,
    /// The properties: from `never` or `eventually` to the end.
    pub properties: Vec<Span>,
}

impl Outline {
    /// The use at this byte of the text, or just before it.
    pub fn at(&self, offset: usize) -> Option<&(Span, Vec<usize>)> {
        let holds = |span: &Span| span.start as usize <= offset && offset <= span.end as usize;
        let after = self.uses.partition_point(|(span, _)| span.start as usize <= offset);
        self.uses[..after].last().filter(|(span, _)| holds(span))
    }

    /// All places where this use's names stand; with them, those that can only have the same name.
    pub fn same(&self, symbols: &[usize]) -> Vec<Span> {
        let mut all: BTreeSet<usize> = symbols.iter().copied().collect();
        loop {
            let before = all.len();
            for (_, others) in &self.uses {
                if others.iter().any(|symbol| all.contains(symbol)) {
                    all.extend(others);
                }
            }
            if all.len() == before {
                break;
            }
        }
        let of = |symbols: &[usize]| symbols.iter().any(|symbol| all.contains(symbol));
        self.uses.iter().filter(|(_, symbols)| of(symbols)).map(|(span, _)| *span).collect()
    }
}

/// Whether a text can be a name.
pub fn is_name(text: &str) -> bool {
    let tokens = lexer::lex(text.as_bytes()).tokens;
    matches!(&tokens[..], [name, _] if name.kind == lexer::Kind::Name && name.span.end as usize == text.len() && name.span.start == 0)
}

/// The names of a text.
pub fn outline(text: &[u8]) -> Outline {
    let lexed = lexer::lex(text);
    let module = parser::parse(text, &lexed, &mut Diagnostics::default());
    let mut scribe = Scribe { text, ..Scribe::default() };
    scribe.module(&module);
    let mut outline = scribe.outline;
    outline.uses.sort_by_key(|(span, _)| (span.start, span.end));
    outline.uses.dedup_by_key(|(span, _)| span.start);
    outline
}

#[derive(Default)]
struct Scribe<'a> {
    text: &'a [u8],
    outline: Outline,
    globals: HashMap<&'a str, usize>,
    /// The names around that mean threads, the innermost last.
    spoken: Vec<(&'a str, &'a str)>,
    /// The names of threads.
    threads: BTreeSet<&'a str>,
    /// The names of structures.
    structures: BTreeSet<&'a str>,
    /// The members of all structures, by name: which structure is meant depends on types.
    fields: HashMap<&'a str, Vec<usize>>,
    /// Of the body that is looked at, the scopes, the innermost last.
    scopes: Vec<HashMap<&'a str, usize>>,
    /// The labels of each body, by the name of the body.
    labels: HashMap<(&'a str, &'a str), usize>,
    /// The body that is looked at.
    routine: Option<(usize, &'a str)>,
}

fn joined(first: Span, last: Span) -> Span {
    Span { end: last.end.max(first.end), ..first }
}

/// The name of the threads that a declaration is.
fn threads_of<'a>(item: &Item<'a>) -> Option<&'a str> {
    match item {
        Item::Routine(Routine { kind: RoutineKind::Thread(_), name, .. }) => Some(name.text),
        _ => None,
    }
}

impl<'a> Scribe<'a> {
    fn module(&mut self, module: &Module<'a>) {
        self.threads = module.items.iter().filter_map(threads_of).collect();
        for item in &module.items {
            self.declare_item(item);
        }
        for item in &module.items {
            if let Item::Routine(routine) = item {
                self.declare_labels(routine);
            }
        }
        for item in &module.items {
            self.uses_of(item);
        }
    }

    fn excerpt(&self, from: Span, to: Span) -> String {
        let bytes = self.text.get(from.start as usize..to.end.max(from.start) as usize).unwrap_or_default();
        let words: Vec<String> = String::from_utf8_lossy(&bytes[..bytes.len().min(400)])
            .split_whitespace()
            .map(|word| word.chars().filter(|character| !character.is_control()).collect())
            .collect();
        words.join(" ")
    }

    fn ty(&self, ty: &TypeName<'a>) -> String {
        match ty {
            TypeName::Bool => "bool".to_string(),
            TypeName::Int => "int".to_string(),
            TypeName::Range(low, high) => self.excerpt(low.span, high.span),
            TypeName::Named(name) => name.text.to_string(),
            TypeName::Lock => "lock".to_string(),
        }
    }

    /// What a variable of a type starts with if nothing is said.
    fn first_value(&self, ty: &TypeName<'a>) -> String {
        match ty {
            TypeName::Bool => "false".to_string(),
            TypeName::Int => "0".to_string(),
            TypeName::Range(low, _) => self.excerpt(low.span, low.span),
            TypeName::Named(name) if self.structures.contains(name.text) => "the first values".to_string(),
            TypeName::Named(name) if self.threads.contains(name.text) => "none".to_string(),
            TypeName::Named(name) => format!("the first value of {}", name.text),
            TypeName::Lock => "free".to_string(),
        }
    }

    fn symbol(&mut self, name: Name<'a>, kind: SymbolKind, whole: Span, detail: String) -> usize {
        let (number, within) = (self.outline.symbols.len(), self.routine.map(|(routine, _)| routine));
        let symbol = Symbol { name: name.text.to_string(), kind, span: name.span, whole, detail, within };
        self.outline.symbols.push(symbol);
        self.outline.uses.push((name.span, vec![number]));
        number
    }

    fn global(&mut self, name: Name<'a>, kind: SymbolKind, whole: Span, detail: String) {
        let number = self.symbol(name, kind, whole, detail);
        self.globals.entry(name.text).or_insert(number);
    }

    fn variable(&self, prefix: &str, ty: &TypeName<'a>, declarator: &Declarator<'a>) -> String {
        let name = format!("{prefix}{} {}{}", self.ty(ty), declarator.name.text, self.lengths(declarator));
        match &declarator.initial {
            Some(Initial::One(value)) => format!("{name} = {}", self.excerpt(value.span, value.span)),
            Some(Initial::Each(_, span) | Initial::All(_, span)) => {
                format!("{name} = {}", self.excerpt(*span, *span))
            }
            None => format!("{name}; // initially {}", self.first_value(ty)),
        }
    }

    fn declare_item(&mut self, item: &Item<'a>) {
        match item {
            Item::Shared(ty, declarators) => {
                for declarator in declarators {
                    let detail = self.variable("shared ", ty, declarator);
                    self.global(declarator.name, SymbolKind::Shared, declarator.span, detail);
                }
            }
            Item::Constant(name, value) => {
                let detail = format!("const {} = {}", name.text, self.excerpt(value.span, value.span));
                self.global(*name, SymbolKind::Constant, joined(name.span, value.span), detail);
            }
            Item::Enumeration(name, members) => {
                let words: Vec<&str> = members.iter().map(|member| member.text).collect();
                let detail = format!("enum {} {{ {} }}", name.text, words.join(", "));
                let whole = members.last().map_or(name.span, |last| joined(name.span, last.span));
                self.global(*name, SymbolKind::Enumeration, whole, detail);
                for (value, member) in members.iter().enumerate() {
                    let detail = format!("{} of enum {}, value {value}", member.text, name.text);
                    self.global(*member, SymbolKind::Member, member.span, detail);
                }
            }
            Item::Structure(structure) => self.declare_structure(structure),
            Item::Lock(declarator) => {
                let lengths = self.lengths(declarator);
                let detail = format!("lock {}{lengths}; // initially free", declarator.name.text);
                self.global(declarator.name, SymbolKind::Lock, declarator.span, detail);
            }
            Item::Event(name) => {
                self.global(*name, SymbolKind::Event, name.span, format!("event {}", name.text))
            }
            Item::Channel(channel) => {
                let capacity = self.excerpt(channel.capacity.span, channel.capacity.span);
                let detail = format!("chan {}[{capacity}] of {}", channel.name.text, self.ty(&channel.ty));
                self.global(channel.name, SymbolKind::Channel, channel.span, detail);
            }
            Item::Routine(routine) => self.declare_routine(routine),
            Item::Never(name, expr, span) => {
                self.outline.properties.push(joined(*span, expr.span));
                if let Some(name) = name {
                    let detail = format!("never {}", self.excerpt(expr.span, expr.span));
                    self.symbol(*name, SymbolKind::Property, joined(*span, expr.span), detail);
                }
            }
            Item::Eventually(eventually) => self.outline.properties.push(eventually.span),
            Item::Predicate(_) => {}
        }
    }

    fn lengths(&self, declarator: &Declarator<'a>) -> String {
        let lengths = declarator.lengths.iter();
        lengths.map(|length| format!("[{}]", self.excerpt(length.span, length.span))).collect()
    }

    fn declare_structure(&mut self, structure: &Structure<'a>) {
        let name = structure.name;
        self.structures.insert(name.text);
        let detail = format!("struct {}", self.excerpt(structure.span, structure.span));
        self.global(name, SymbolKind::Enumeration, structure.span, detail);
        for (ty, declarators) in &structure.members {
            for declarator in declarators {
                let (member, lengths) = (declarator.name, self.lengths(declarator));
                let detail = format!("{} {}{lengths}; // of struct {}", self.ty(ty), member.text, name.text);
                let number = self.symbol(member, SymbolKind::Field, declarator.span, detail);
                self.fields.entry(member.text).or_default().push(number);
            }
        }
    }

    fn declare_routine(&mut self, routine: &Routine<'a>) {
        let parameters = routine.parameters.iter().map(|it| {
            let reference = if it.reference { "ref " } else { "" };
            format!("{reference}{} {}", self.ty(&it.ty), it.name.text)
        });
        let parameters: Vec<String> = parameters.collect();
        let name = routine.name.text;
        let (kind, detail) = match &routine.kind {
            RoutineKind::Procedure => {
                let result =
                    routine.result.as_ref().map(|ty| format!(": {}", self.ty(ty))).unwrap_or_default();
                (SymbolKind::Procedure, format!("proc {name}({}){result}", parameters.join(", ")))
            }
            RoutineKind::Thread(Threads::One) => (SymbolKind::Thread, format!("thread {name}")),
            RoutineKind::Thread(Threads::Any) => {
                (SymbolKind::Thread, format!("thread {name}[*], any number of them"))
            }
            RoutineKind::Thread(Threads::Some(count)) => {
                (SymbolKind::Thread, format!("thread {name}[{}]", self.excerpt(count.span, count.span)))
            }
            RoutineKind::Task => (SymbolKind::Task, format!("task {name}({})", parameters.join(", "))),
            RoutineKind::Main => (SymbolKind::Task, "main".to_string()),
        };
        self.global(routine.name, kind, joined(routine.name.span, routine.body.close), detail);
    }

    fn declare_labels(&mut self, routine: &Routine<'a>) {
        self.routine = self.globals.get(routine.name.text).map(|&number| (number, routine.name.text));
        self.labels_in(&routine.body, routine.name.text);
        self.routine = None;
    }

    fn labels_in(&mut self, block: &Block<'a>, routine: &'a str) {
        for statement in &block.statements {
            for label in &statement.labels {
                let detail = format!("label {} of {routine}", label.text);
                let number = self.symbol(*label, SymbolKind::Label, label.span, detail);
                self.labels.entry((routine, label.text)).or_insert(number);
            }
            for block in blocks(&statement.kind) {
                self.labels_in(block, routine);
            }
        }
    }

    fn uses_of(&mut self, item: &Item<'a>) {
        match item {
            Item::Shared(ty, declarators) => {
                self.in_type(ty);
                declarators.iter().for_each(|declarator| self.in_declarator(declarator));
            }
            Item::Lock(declarator) => self.in_declarator(declarator),
            Item::Structure(structure) => {
                for (ty, declarators) in &structure.members {
                    self.in_type(ty);
                    declarators.iter().for_each(|declarator| self.in_declarator(declarator));
                }
            }
            Item::Constant(_, expr) | Item::Never(_, expr, _) | Item::Predicate(expr) => self.in_expr(expr),
            Item::Eventually(eventually) => self.in_label(eventually.thread, eventually.label),
            Item::Channel(channel) => {
                self.in_expr(&channel.capacity);
                self.in_type(&channel.ty);
            }
            Item::Enumeration(..) | Item::Event(_) => {}
            Item::Routine(routine) => {
                self.routine = self.globals.get(routine.name.text).map(|&number| (number, routine.name.text));
                if let RoutineKind::Thread(Threads::Some(count)) = &routine.kind {
                    self.in_expr(count);
                }
                self.scopes.push(HashMap::new());
                for parameter in &routine.parameters {
                    self.in_type(&parameter.ty);
                    let detail = format!("{} {}, a parameter", self.ty(&parameter.ty), parameter.name.text);
                    self.local(parameter.name, SymbolKind::Parameter, parameter.name.span, detail);
                }
                if let Some(result) = &routine.result {
                    self.in_type(result);
                }
                // Parameters and the outermost block are one scope.
                self.statements(&routine.body.statements);
                self.scopes.pop();
                self.routine = None;
            }
        }
    }

    /// A label in a property, perhaps with the routine that it belongs to.
    fn in_label(&mut self, routine: Option<Name<'a>>, label: Name<'a>) {
        routine.iter().for_each(|routine| self.global_name(*routine));
        let fits = |of: &str| routine.is_none_or(|routine| routine.text == of);
        let meant = self.labels.iter().filter(|((of, name), _)| *name == label.text && fits(of));
        let mut meant: Vec<usize> = meant.map(|(_, &number)| number).collect();
        meant.sort_unstable();
        if !meant.is_empty() {
            self.outline.uses.push((label.span, meant));
        }
    }

    fn local(&mut self, name: Name<'a>, kind: SymbolKind, whole: Span, detail: String) {
        let number = self.symbol(name, kind, whole, detail);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.text, number);
        }
    }

    /// Notes a use of a variable, constant, or anything else that has a name of its own.
    fn name(&mut self, name: Name<'a>) {
        let local = self.scopes.iter().rev().find_map(|scope| scope.get(name.text));
        if let Some(&number) = local.or_else(|| self.globals.get(name.text)) {
            self.outline.uses.push((name.span, vec![number]));
        }
    }

    fn global_name(&mut self, name: Name<'a>) {
        if let Some(&number) = self.globals.get(name.text) {
            self.outline.uses.push((name.span, vec![number]));
        }
    }

    fn in_type(&mut self, ty: &TypeName<'a>) {
        match ty {
            TypeName::Bool | TypeName::Int | TypeName::Lock => {}
            TypeName::Range(low, high) => [low, high].into_iter().for_each(|expr| self.in_expr(expr)),
            TypeName::Named(name) => self.global_name(*name),
        }
    }

    fn in_declarator(&mut self, declarator: &Declarator<'a>) {
        declarator.lengths.iter().for_each(|length| self.in_expr(length));
        declarator.initial.iter().for_each(|initial| self.in_initial(initial));
    }

    fn in_initial(&mut self, initial: &Initial<'a>) {
        match initial {
            Initial::One(value) => self.in_expr(value),
            Initial::Each(values, _) => values.iter().for_each(|value| self.in_initial(value)),
            Initial::All(value, _) => self.in_initial(value),
        }
    }

    fn block(&mut self, block: &Block<'a>) {
        self.scopes.push(HashMap::new());
        self.statements(&block.statements);
        self.scopes.pop();
    }

    fn statements(&mut self, statements: &[Statement<'a>]) {
        statements.iter().for_each(|statement| self.statement(&statement.kind));
    }

    fn statement(&mut self, kind: &StatementKind<'a>) {
        match kind {
            StatementKind::Declare(ty, declarators) => {
                self.in_type(ty);
                for declarator in declarators {
                    self.in_declarator(declarator);
                    let detail = self.variable("", ty, declarator);
                    self.local(declarator.name, SymbolKind::Local, declarator.span, detail);
                }
            }
            StatementKind::Assign(places, values) => {
                places.iter().for_each(|place| self.reference(place));
                values.iter().for_each(|value| self.in_expr(value));
            }
            StatementKind::Call(name, arguments) | StatementKind::Post(name, arguments) => {
                self.global_name(*name);
                arguments.iter().for_each(|argument| self.in_expr(argument));
            }
            StatementKind::Return(value) => value.iter().for_each(|value| self.in_expr(value)),
            StatementKind::Assume(expr) | StatementKind::Await(expr) | StatementKind::Assert(expr) => {
                self.in_expr(expr);
            }
            StatementKind::If(branches, otherwise) => {
                for branch in branches {
                    self.in_expr(&branch.condition);
                    self.block(&branch.body);
                }
                otherwise.iter().for_each(|block| self.block(block));
            }
            StatementKind::While(condition, body) => {
                self.in_expr(condition);
                self.block(body);
            }
            StatementKind::For(binder, body) => {
                self.bound(binder, |scribe| scribe.block(body));
            }
            StatementKind::Loop(body) | StatementKind::Block(body) | StatementKind::Atomic(body) => {
                self.block(body)
            }
            StatementKind::Choose(branches) => branches.iter().for_each(|branch| self.block(branch)),
            StatementKind::Goto(labels) => {
                for label in labels {
                    let routine = self.routine.map_or("", |(_, name)| name);
                    if let Some(&number) = self.labels.get(&(routine, label.text)) {
                        self.outline.uses.push((label.span, vec![number]));
                    }
                }
            }
            StatementKind::Acquire(reference) | StatementKind::Release(reference) => {
                self.reference(reference)
            }
            StatementKind::Spawn(name)
            | StatementKind::Wait(name)
            | StatementKind::Broadcast(name)
            | StatementKind::Signal(name) => {
                self.global_name(*name);
            }
            StatementKind::Error
            | StatementKind::Skip
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Yield => {}
        }
    }

    fn reference(&mut self, reference: &Reference<'a>) {
        self.name(reference.name);
        self.selected(&reference.selectors);
    }

    /// `p.x`, where `p` is one of some threads.
    fn local_of_thread(&mut self, name: Name<'a>, selectors: &[Selector<'a>]) {
        let threads = self.spoken.iter().rev().find(|(bound, _)| *bound == name.text);
        let (Some((_, threads)), [Selector::Member(local), ..]) = (threads, selectors) else { return };
        let within = self.globals.get(threads).copied();
        let is_it = |symbol: &Symbol| {
            symbol.kind == SymbolKind::Local && symbol.name == local.text && symbol.within == within
        };
        let meant = self.outline.symbols.iter().enumerate().filter(|(_, symbol)| is_it(symbol));
        let meant: Vec<usize> = meant.map(|(number, _)| number).collect();
        if !meant.is_empty() {
            self.outline.uses.push((local.span, meant));
        }
    }

    fn selected(&mut self, selectors: &[Selector<'a>]) {
        for selector in selectors {
            match selector {
                Selector::Index(index) => self.in_expr(index),
                Selector::Member(member) => {
                    if let Some(meant) = self.fields.get(member.text) {
                        self.outline.uses.push((member.span, meant.clone()));
                    }
                }
            }
        }
    }

    /// Does something where a name is bound.
    fn bound(&mut self, binder: &Binder<'a>, inside: impl FnOnce(&mut Self)) {
        self.in_expr(&binder.low);
        self.in_expr(&binder.high);
        self.scopes.push(HashMap::new());
        let range = self.excerpt(binder.low.span, binder.high.span);
        let detail = format!("{} in {range}", binder.name.text);
        self.local(binder.name, SymbolKind::Constant, binder.name.span, detail);
        inside(self);
        self.scopes.pop();
    }

    fn in_expr(&mut self, expr: &Expr<'a>) {
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Any | ExprKind::This => {}
            ExprKind::Name(name) => self.name(*name),
            ExprKind::Part(name, selectors) => {
                self.name(*name);
                self.local_of_thread(*name, selectors);
                self.selected(selectors);
            }
            ExprKind::At(routine, label) => self.in_label(*routine, *label),
            // Which thread's variable it is, is not said; any with that name.
            ExprKind::Other(name, selectors) => {
                let local = |symbol: &Symbol| symbol.kind == SymbolKind::Local && symbol.name == name.text;
                let meant = self.outline.symbols.iter().enumerate().filter(|(_, symbol)| local(symbol));
                let meant: Vec<usize> = meant.map(|(number, _)| number).collect();
                if !meant.is_empty() {
                    self.outline.uses.push((name.span, meant));
                }
                self.selected(selectors);
            }
            ExprKind::Call(name, arguments) => {
                self.global_name(*name);
                arguments.iter().for_each(|argument| self.in_expr(argument));
            }
            ExprKind::OfThreads(_, name, threads, body) => {
                self.global_name(*threads);
                self.scopes.push(HashMap::new());
                let detail = format!("{} in {}", name.text, threads.text);
                self.local(*name, SymbolKind::Constant, name.span, detail);
                self.spoken.push((name.text, threads.text));
                self.in_expr(body);
                self.spoken.pop();
                self.scopes.pop();
            }
            ExprKind::Quantified(_, binder, body) => self.bound(binder, |scribe| scribe.in_expr(body)),
            ExprKind::Unary(_, part) => self.in_expr(part),
            ExprKind::Binary(_, left, right) => {
                self.in_expr(left);
                self.in_expr(right);
            }
            ExprKind::If(condition, then, other) => {
                [condition, then, other].into_iter().for_each(|part| self.in_expr(part));
            }
        }
    }
}

/// The blocks inside of a statement.
fn blocks<'s, 'a>(kind: &'s StatementKind<'a>) -> Vec<&'s Block<'a>> {
    match kind {
        StatementKind::If(branches, otherwise) => {
            branches.iter().map(|branch| &branch.body).chain(otherwise).collect()
        }
        StatementKind::While(_, body)
        | StatementKind::For(_, body)
        | StatementKind::Loop(body)
        | StatementKind::Block(body)
        | StatementKind::Atomic(body) => vec![body],
        StatementKind::Choose(branches) => branches.iter().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "shared 0..3 x = 1;\nconst N = 2;\nenum Phase { idle, busy }\nlock m;\n\
        proc f(int x) : int { return x + N; }\n\
        thread p[N] { bool x; { int x; x = 1; } x = true; acquire(m); here: goto here; }\n\
        thread q { Phase y = idle; x = 2; int r; r = f(x); here: skip; }\n\
        never at(here) >= 2 && x == 3;\nnever at(p.here) >= 1;\nalways eventually p.here;\n";

    /// The texts of the lines around each place where the name at this byte stands.
    fn lines(at: usize) -> Vec<(u32, u32)> {
        let outline = outline(TEXT.as_bytes());
        let (_, symbols) = outline.at(at).expect("a name");
        outline.same(symbols).iter().map(|span| (span.line, span.column)).collect()
    }

    #[test]
    fn names_are_those_of_their_scopes() {
        assert!(
            crate::aw::parse(TEXT.as_bytes()).program.is_some(),
            "{:?}",
            crate::aw::parse(TEXT.as_bytes())
        );
        let place = |part: &str| TEXT.find(part).expect("it is there");
        // The shared variable: not the parameter, nor the local ones.
        assert_eq!(lines(place("x = 1;")), [(1, 13), (7, 28), (7, 48), (8, 24)]);
        assert_eq!(lines(place("x) : int")), [(5, 12), (5, 30)]);
        assert_eq!(lines(place("x; {")), [(6, 20), (6, 41)], "the outer block");
        assert_eq!(lines(place("x; x = 1")), [(6, 29), (6, 32)], "the inner block");
        assert_eq!(lines(place("N = 2")).len(), 3);
        // `at(here)` is about both labels, so they are renamed together.
        assert_eq!(lines(place("here: goto")).len(), 6);
        assert_eq!(lines(place("idle, busy")).len(), 2);
    }

    #[test]
    fn declarations_are_told_in_a_line() {
        let outline = outline(TEXT.as_bytes());
        let detail = |name: &str| {
            outline.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.detail.as_str())
        };
        assert_eq!(detail("x"), Some("shared 0..3 x = 1"));
        assert_eq!(detail("p"), Some("thread p[N]"));
        assert_eq!(detail("f"), Some("proc f(int x): int"));
        assert_eq!(detail("r"), Some("int r; // initially 0"));
        assert_eq!(detail("m"), Some("lock m; // initially free"));
        assert_eq!(outline.properties.len(), 3);
    }

    #[test]
    fn what_cannot_be_read_has_an_outline_all_the_same() {
        for end in 0..TEXT.len() {
            let outline = outline(&TEXT.as_bytes()[..end]);
            assert!(outline.uses.is_sorted_by_key(|(span, _)| span.start));
        }
        assert_eq!(outline(b"\xff\xfe{{{"), Outline::default());
        assert!(is_name("x_1"));
        for text in ["", "1x", "a b", " a", "while", "a;", "é"] {
            assert!(!is_name(text), "{text}");
        }
    }
}
