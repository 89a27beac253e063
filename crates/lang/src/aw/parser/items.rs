//! Declarations.

use super::super::ast::{
    Channel, Declarator, Eventually, Initial, Item, Module, Name, Parameter, Routine, RoutineKind, Structure,
    Threads, TypeName,
};
use super::super::foreign;
use super::super::lexer::{Kind, Token};
use super::{Parse, Parser, Reported, quote};
use std::collections::HashSet;
use std::rc::Rc;

const STATEMENTS: &str = "statements stand in the body of a `thread` or `proc`";
const DECLARATION: &str = "a declaration such as `shared`, `proc`, `thread` or `never`";

impl<'a> Parser<'a, '_> {
    pub(super) fn module(&mut self) -> Module<'a> {
        let mut items = Vec::new();
        loop {
            self.pass_directives(DECLARATION);
            if self.peek().kind == Kind::End {
                break;
            }
            let before = self.next;
            if self.item(&mut items).is_err() {
                self.skip_statement();
                // What nothing can make sense of is passed over.
                if self.next == before || self.at("}") {
                    self.advance();
                }
            }
        }
        Module { items, end: self.peek().span }
    }

    /// A declaration, which may be several items: `lock a, b;`.
    fn item(&mut self, items: &mut Vec<Item<'a>>) -> Parse<()> {
        let start = self.peek();
        match (start.kind, self.word(start)) {
            (Kind::Keyword, "shared") => {
                self.advance();
                let ty = self.type_name()?;
                let declarators = self.list(Self::declarator)?;
                items.push(Item::Shared(ty, declarators));
                self.semicolon("the declaration")
            }
            (Kind::Keyword, "const") => {
                self.advance();
                const HELP: &str = "a constant is declared by `const N = 3;`, without a type";
                let constants = self.list(|parser| {
                    if parser.at("int") || parser.at("bool") {
                        return Err(parser.unexpected_with("the name of a constant", Some(HELP.to_string())));
                    }
                    let name = parser.name("the name of a constant")?;
                    parser.expect_or("=", HELP)?;
                    Ok(Item::Constant(name, parser.expression()?))
                })?;
                items.extend(constants);
                self.semicolon("the declaration")
            }
            (Kind::Name, "struct") if self.starts_type(0) => {
                self.advance();
                let structure = self.structure()?;
                items.push(Item::Structure(structure));
                Ok(())
            }
            (Kind::Name, "enum") if self.starts_type(0) => {
                self.advance();
                let name = self.name("the name of a type")?;
                self.expect("{")?;
                let values = self.list(|parser| parser.name("the name of a value"))?;
                self.expect_operator_or("}")?;
                items.push(Item::Enumeration(name, values));
                Ok(())
            }
            (Kind::Keyword, "lock") => {
                self.advance();
                let locks = self.list(|parser| {
                    let lock = parser.declarator()?;
                    if lock.initial.is_some() {
                        let help = Some("write `lock m;`".to_string());
                        parser.error(lock.span, "a lock has no initial value: it is free".to_string(), help);
                    }
                    Ok(Item::Lock(lock))
                })?;
                items.extend(locks);
                self.semicolon("the declaration")
            }
            (Kind::Keyword, "event") => {
                self.advance();
                let events = self.list(|parser| Ok(Item::Event(parser.name("the name of an event")?)))?;
                items.extend(events);
                self.semicolon("the declaration")
            }
            (Kind::Name, "chan") if self.ahead(1).kind == Kind::Name => {
                self.advance();
                let channels = self.channels()?;
                items.extend(channels.into_iter().map(Item::Channel));
                self.semicolon("the declaration")
            }
            (Kind::Keyword, "proc" | "task" | "thread" | "main") => {
                let routine = self.routine()?;
                items.push(Item::Routine(routine));
                Ok(())
            }
            (Kind::Keyword, "never") => {
                self.advance();
                let name = match self.peek().kind == Kind::Name && self.is(1, ":") {
                    true => {
                        let name = self.name("a name")?;
                        self.advance();
                        Some(name)
                    }
                    false => None,
                };
                let condition = self.condition()?;
                items.push(Item::Never(name, condition, self.since(start.span)));
                self.semicolon("the property")
            }
            (Kind::Name, "always" | "eventually") if self.starts_promise() => {
                self.advance();
                let again = self.word(start) == "always";
                if again {
                    self.advance();
                }
                let mut label = self.name("a label of a thread")?;
                let mut thread = None;
                if self.eat(".") {
                    thread = Some(label);
                    label = self.name("a label of the thread")?;
                }
                let span = self.since(start.span);
                items.push(Item::Eventually(Eventually { again, thread, label, span }));
                self.semicolon("the property")
            }
            (Kind::Keyword, "predicate") => {
                self.advance();
                let predicate = self.condition()?;
                items.push(Item::Predicate(predicate));
                self.semicolon("the predicate")
            }
            _ => Err(self.no_item()),
        }
    }

    /// `c[4], d[2] of 0..9`
    fn channels(&mut self) -> Parse<Vec<Channel<'a>>> {
        const HELP: &str =
            "a channel is declared by `chan c[4] of 0..9;`: how many values it holds, and of which type";
        let heads = self.list(|parser| {
            let name = parser.name("the name of a channel")?;
            if !parser.at("[") {
                return Err(parser.unexpected_with("`[`", Some(HELP.to_string())));
            }
            let Some(capacity) = parser.index()? else { return Err(parser.unexpected("`[`")) };
            if parser.at("[") {
                return Err(parser.unexpected_with("`,` or `of`", Some(HELP.to_string())));
            }
            Ok((name, capacity))
        })?;
        if self.word(self.peek()) != "of" {
            return Err(self.unexpected_with("`of`", Some(HELP.to_string())));
        }
        self.advance();
        let ty = Rc::new(self.type_name()?);
        let channel = |(name, capacity): (Name<'a>, _)| Channel {
            span: self.since(name.span),
            ty: Rc::clone(&ty),
            name,
            capacity,
        };
        Ok(heads.into_iter().map(channel).collect())
    }

    /// `Name { type member; … }`
    fn structure(&mut self) -> Parse<Structure<'a>> {
        let name = self.name("the name of a type")?;
        self.expect("{")?;
        let mut members = Vec::new();
        while !self.at("}") {
            let ty = match self.eat("lock") {
                true => TypeName::Lock,
                false => self.type_name()?,
            };
            let declarators = self.list(|parser| {
                let member = parser.declarator()?;
                if member.initial.is_some() {
                    let help =
                        "the values of a structure are given where a variable is declared: `= {1, true}`";
                    let message = "expected a member without a value, found one with a value".to_string();
                    parser.error(member.span, message, Some(help.to_string()));
                }
                Ok(member)
            })?;
            members.push((ty, declarators));
            self.semicolon("the member")?;
        }
        if members.is_empty() {
            let help = "a structure is declared by `struct Node { 0..3 next; bool used; }`".to_string();
            return Err(self.unexpected_with("a member", Some(help)));
        }
        self.advance();
        let span = self.since(name.span);
        self.eat(";");
        Ok(Structure { name, members, span })
    }

    /// Whether `enum` or `struct` at the token so many after the next is followed by a name and a brace.
    fn starts_type(&self, count: usize) -> bool {
        self.ahead(count + 1).kind == Kind::Name && self.is(count + 2, "{")
    }

    /// Whether the next tokens are `eventually`, or `always eventually`.
    fn starts_promise(&self) -> bool {
        let word = self.word(self.peek());
        let next = self.ahead(1);
        word == "eventually" || word == "always" && next.kind == Kind::Name && self.word(next) == "eventually"
    }

    /// The types that are declared somewhere in the text. The name of threads is one, too.
    pub(super) fn declared_types(&self) -> HashSet<&'a str> {
        let starts = (0..self.tokens.len()).filter(|&at| {
            let token = self.tokens[at];
            match (token.kind, self.word(token)) {
                (Kind::Name, "enum" | "struct") => self.starts_type(at),
                (Kind::Keyword, "thread") => {
                    self.tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Name)
                }
                _ => false,
            }
        });
        starts.map(|at| self.word(self.tokens[at + 1])).collect()
    }

    fn no_item(&mut self) -> Reported {
        let word = self.word(self.peek());
        let help = match (self.peek().kind, word) {
            (Kind::Keyword, "int" | "bool") | (Kind::Number, _) => {
                let name = self.ahead(1);
                let name =
                    if name.kind == Kind::Name { self.shown(name).replace('`', "") } else { "x".to_string() };
                let ty = if self.peek().kind == Kind::Keyword { word } else { "0..3" };
                Some(format!("a variable that all threads share is declared by `shared {ty} {name};`"))
            }
            (Kind::Keyword, _) => Some(STATEMENTS.to_string()),
            (Kind::Name, _) if self.is(1, "=") || self.is(1, "(") => Some(STATEMENTS.to_string()),
            (Kind::Bad, _) => foreign::bytes(self.bytes(self.peek().span)).map(str::to_string),
            (_, "}") => Some("there is no `{` to which this `}` belongs".to_string()),
            (_, ";") => Some("delete this `;`".to_string()),
            _ => foreign::item(word).map(str::to_string).or_else(|| self.like_keyword(word)),
        };
        self.unexpected_with(DECLARATION, help)
    }

    /// `name[n] = e`
    pub(super) fn declarator(&mut self) -> Parse<Declarator<'a>> {
        let name = self.name("the name of a variable")?;
        let mut lengths = Vec::new();
        while let Some(length) = self.index()? {
            lengths.push(length);
        }
        if self.at("{") || self.touching(0, ":", "=") {
            self.expect_or("=", "an initial value is given by `= e`")?;
        }
        let initial = match self.eat("=") {
            true => Some(self.initial()?),
            false => None,
        };
        Ok(Declarator { name, lengths, initial, span: self.since(name.span) })
    }

    /// The value that a variable is declared with: `e`, `{e, …}` or `{e for all}`, perhaps with braces inside.
    fn initial(&mut self) -> Parse<Initial<'a>> {
        if self.at("[") {
            let help = "the elements of an array stand in braces: write `= {1, 2, 3}`".to_string();
            return Err(self.unexpected_with("an expression", Some(help)));
        }
        if !self.at("{") {
            return Ok(Initial::One(self.expression()?));
        }
        let start = self.advance().span;
        let mut values = self.nested(|parser| parser.list(Self::initial))?;
        if self.word(self.peek()) == "for" && self.word(self.ahead(1)) == "all" {
            if values.len() > 1 {
                let help = "`for all` stands after one value: `= {0 for all}`".to_string();
                self.unexpected_with("`}`", Some(help));
            }
            self.advance();
            self.advance();
            self.expect("}")?;
            return Ok(Initial::All(Box::new(values.remove(0)), self.since(start)));
        }
        self.expect_operator_or("}")?;
        Ok(Initial::Each(values, self.since(start)))
    }

    pub(super) fn type_name(&mut self) -> Parse<TypeName<'a>> {
        const EXPECTED: &str = "a type: `bool`, `int`, or a range such as `0..3`";
        let token = self.peek();
        match (token.kind, self.word(token)) {
            (Kind::Keyword, "bool") => {
                self.advance();
                Ok(TypeName::Bool)
            }
            (Kind::Keyword, "int") => {
                self.advance();
                Ok(TypeName::Int)
            }
            (Kind::Name, word) if self.types.contains(word) && !self.is(1, "..") => {
                Ok(TypeName::Named(self.name("a type")?))
            }
            (Kind::Name, word) if self.ahead(1).kind == Kind::Name || self.is(1, "=") || self.is(1, ";") => {
                let help = foreign::type_name(word).map(str::to_string).or_else(|| self.like_keyword(word));
                let help =
                    help.unwrap_or("a variable is declared by its type and its name: `int x`".to_string());
                Err(self.unexpected_with(EXPECTED, Some(help)))
            }
            (Kind::Name | Kind::Number, _) | (Kind::Symbol, "-" | "(") => {
                let low = self.bound()?;
                if !self.at("..") {
                    return Err(self.unexpected("`..`, since a type that starts with a number is a range"));
                }
                self.advance();
                let high = self.bound()?;
                Ok(TypeName::Range(Box::new(low), Box::new(high)))
            }
            _ => Err(self.unexpected(EXPECTED)),
        }
    }

    /// A `proc`, `thread`, `task` or `main`.
    fn routine(&mut self) -> Parse<Routine<'a>> {
        let keyword = self.advance();
        let word = self.word(keyword);
        let (kind, name, parameters, result) = match word {
            "main" => {
                if self.at("(") && self.is(1, ")") {
                    let help = "write `main { … }`".to_string();
                    self.unexpected_with("`{` after `main`", Some(help));
                    self.pass(2);
                }
                (RoutineKind::Main, Name { text: "main", span: keyword.span }, Vec::new(), None)
            }
            "thread" => {
                let name = self.name("the name of a thread")?;
                (RoutineKind::Thread(self.threads()?), name, Vec::new(), None)
            }
            "task" => {
                let name = self.name("the name of a task")?;
                (RoutineKind::Task, name, self.parameters()?, None)
            }
            _ => {
                let name = self.name("the name of a procedure")?;
                let parameters = self.parameters()?;
                if self.touching(0, "-", ">") {
                    let help =
                        "the type of the result comes after a colon: `proc f() : int { … }`".to_string();
                    self.unexpected_with("`:` or `{`", Some(help));
                    self.pass(2);
                    self.type_name()?;
                }
                let result = if self.eat(":") { Some(self.type_name()?) } else { None };
                (RoutineKind::Procedure, name, parameters, result)
            }
        };
        let body = self.block(&format!("the body of {}", quote(name.text)))?;
        Ok(Routine { kind, name, parameters, result, body })
    }

    /// `[*]`, `[k]`, or nothing.
    fn threads(&mut self) -> Parse<Threads<'a>> {
        if self.at("(") && self.is(1, ")") {
            let help = "a thread has no parameters: write `thread name { … }`".to_string();
            self.unexpected_with("`{` or `[`", Some(help));
            self.pass(2);
        }
        if !self.eat("[") {
            return Ok(Threads::One);
        }
        if self.at("*") && self.is(1, "]") {
            self.pass(2);
            return Ok(Threads::Any);
        }
        if self.at("]") {
            let help = "write `[3]` for three threads, `[*]` for any number".to_string();
            return Err(self.unexpected_with("the number of threads", Some(help)));
        }
        let count = self.expression()?;
        self.expect("]")?;
        Ok(Threads::Some(count))
    }

    fn parameters(&mut self) -> Parse<Vec<Parameter<'a>>> {
        self.expect_or("(", "the parameters stand in parentheses, `()` if there are none")?;
        let parameters = match self.at(")") {
            true => Vec::new(),
            false => self.list(Self::parameter)?,
        };
        self.expect(")")?;
        Ok(parameters)
    }

    fn parameter(&mut self) -> Parse<Parameter<'a>> {
        if self.peek().kind == Kind::Name && (self.is(1, ",") || self.is(1, ")") || self.is(1, ":")) {
            let help = "a parameter is declared by its type and its name: `int x`".to_string();
            return Err(self.unexpected_with("the type of a parameter", Some(help)));
        }
        let starts_type = |token: Token| {
            matches!(token.kind, Kind::Name | Kind::Number)
                || matches!(self.word(token), "bool" | "int" | "lock" | "-" | "(")
        };
        let word = self.peek();
        let reference = word.kind == Kind::Name && self.word(word) == "ref" && starts_type(self.ahead(1));
        if reference {
            self.advance();
        }
        let ty = match reference && self.eat("lock") {
            true => TypeName::Lock,
            false => self.type_name()?,
        };
        let name = self.name("the name of a parameter")?;
        if self.at("[") {
            let help = "arrays cannot be passed; a shared array can be used by everybody".to_string();
            return Err(self.unexpected_with("`,` or `)`", Some(help)));
        }
        Ok(Parameter { reference, ty, name })
    }
}
