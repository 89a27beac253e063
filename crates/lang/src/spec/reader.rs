//! Tokens to a system: the grammar, and how reading goes on after a mistake.
//!
//! A mistake in a rule spoils the rule, one elsewhere the rest of its section.

use super::Parsed;
use super::effects::{Effect, Guard, Guarded};
use super::scanner::{Kind, Token, token};
use crate::cursor::{Cursor, range};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use allways_model::counters::{Bag, Counters, Initial, Local, Shared, Target};
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

/// One rule or `init` of a text may stand for several, by `in [a, b]`, but for not more than this.
pub(super) const MOST_VARIANTS: u64 = 1024;

pub(super) fn read(text: &[u8]) -> Parsed {
    let diagnostics = Diagnostics::about(text);
    if diagnostics.has_errors() {
        return Parsed { system: None, diagnostics };
    }
    let mut cursor = Cursor::new(text);
    let next = token(&mut cursor);
    let mut reader = Reader {
        text,
        cursor,
        next,
        places: HashMap::new(),
        system: Counters { shared: vec![String::new()], ..Counters::default() },
        diagnostics,
    };
    reader.file();
    let Reader { system, diagnostics, .. } = reader;
    Parsed { system: (!diagnostics.has_errors()).then_some(system), diagnostics }
}

/// Reads targets in the place of those that a system has; gives the warnings.
pub(super) fn read_targets(system: &mut Counters, text: &[u8]) -> Result<Diagnostics, Diagnostic> {
    let mut cursor = Cursor::new(text);
    let next = token(&mut cursor);
    let names: Vec<String> = system.locals.clone();
    let places = names.iter().zip(0..).map(|(name, place)| (name.as_bytes(), place)).collect();
    let mut read = Reader {
        text,
        cursor,
        next,
        places,
        system: std::mem::take(system),
        diagnostics: Diagnostics::default(),
    };
    read.system.targets.clear();
    let targets = read.targets();
    *system = read.system;
    targets.map(|()| read.diagnostics)
}

struct Reader<'a> {
    text: &'a [u8],
    cursor: Cursor<'a>,
    next: Token,
    places: HashMap<&'a [u8], Local>,
    system: Counters,
    diagnostics: Diagnostics,
}

type Read<T> = Result<T, Diagnostic>;

impl<'a> Reader<'a> {
    fn file(&mut self) {
        let sections = [
            (Kind::Vars, "`vars`"),
            (Kind::Rules, "`rules`"),
            (Kind::Init, "`init`"),
            (Kind::Target, "`target`"),
        ];
        for (opening, name) in sections {
            if opening == Kind::Target && self.next.kind == Kind::End {
                // What is asked may be said elsewhere.
                return;
            }
            if self.next.kind != opening {
                let fault = self.expected(name);
                self.diagnostics.push(fault);
                // Without its sections in order, nothing of the rest can be trusted.
                return;
            }
            self.take();
            let read = match opening {
                Kind::Vars => self.vars(),
                Kind::Rules => self.rules(),
                Kind::Init => self.init(),
                _ => self.targets(),
            };
            if let Err(fault) = read {
                self.diagnostics.push(fault);
                while !self.next.kind.opens_section() {
                    self.take();
                }
            }
        }
        let read = match self.next.kind {
            Kind::Invariants => self.invariants(),
            Kind::End => Ok(()),
            _ => Err(self.expected("`invariants` or the end of the file")),
        };
        if let Err(fault) = read {
            self.diagnostics.push(fault);
        }
    }

    fn vars(&mut self) -> Read<()> {
        while self.next.kind == Kind::Name {
            let token = self.take();
            let name = &self.text[range(token.span)];
            let number = self.places.len() as Local;
            if self.places.contains_key(name) {
                return Err(self.found(token, "each variable once"));
            }
            self.places.insert(name, number);
            self.system.locals.push(String::from_utf8_lossy(name).into_owned());
        }
        match self.next.kind.opens_section() {
            true => Ok(()),
            false => Err(self.expected("the name of a variable, or `rules`")),
        }
    }

    fn rules(&mut self) -> Read<()> {
        while !self.next.kind.opens_section() {
            let start = self.next.span;
            let rules = self.guarded().and_then(|guarded| {
                guarded.rules(start.line, start.start as usize..self.next.span.start as usize)
            });
            match rules {
                Ok(rules) => self.system.rules.extend(rules),
                Err(fault) => {
                    self.diagnostics.push(fault);
                    while self.next.kind != Kind::Semicolon && !self.next.kind.opens_section() {
                        self.take();
                    }
                }
            }
            self.accept(Kind::Semicolon);
        }
        Ok(())
    }

    /// A rule, up to its semicolon.
    fn guarded(&mut self) -> Read<Guarded> {
        let mut guarded = Guarded::default();
        let mut seen = HashSet::new();
        // A rule without a guard can always fire.
        while self.next.kind != Kind::Arrow {
            if !self.accept(Kind::True) {
                let (token, local, values) = self.constraint()?;
                let guard = Guard { local, range: values, span: range(token.span) };
                if !seen.insert(local) {
                    return Err(self.found(token, "a single guard for each variable"));
                }
                guarded.guards.push(guard);
            }
            if !self.accept(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Arrow, "`,` or `->` after a guard")?;
        if self.next.kind == Kind::Semicolon {
            return Ok(guarded);
        }
        seen.clear();
        loop {
            let effect = self.effect()?;
            if seen.insert(effect.local) {
                guarded.effects.push(effect);
            } else {
                let message = "expected a single effect for each variable, found another".to_string();
                if !effect.sources.is_empty() || effect.constant != 0 {
                    return Err(Diagnostic::error(effect.span, message));
                }
                // As mist does, to which `= 0` is what a variable is left with whose value moves elsewhere.
                let help = Some("`= 0` has no effect beside another effect of the same variable".to_string());
                self.diagnostics.add(Severity::Warning, effect.span, || (message, help));
            }
            if !self.accept(Kind::Comma) {
                break;
            }
        }
        if self.next.kind != Kind::Semicolon {
            return Err(self.expected("`,` or `;` after an effect"));
        }
        // What is added elsewhere has moved there, as with mist, also where `x' = 0` is missing.
        let sources = guarded.effects.iter().flat_map(|effect| effect.sources.clone());
        let moved: Vec<_> = sources.filter(|(source, _)| seen.insert(*source)).collect();
        for (local, span) in moved {
            let message =
                "expected an effect of each variable that moves, found none of this one".to_string();
            let help = Some("its value moves and does not stay: write `x' = 0` as well".to_string());
            self.diagnostics.add(Severity::Warning, span.clone(), || (message, help));
            guarded.effects.push(Effect { local, sources: Vec::new(), constant: 0, span });
        }
        Ok(guarded)
    }

    /// `x' = x + y - 1`
    fn effect(&mut self) -> Read<Effect> {
        let (token, local) = self.place()?;
        self.expect(Kind::Prime, "`'` after the variable of an effect")?;
        self.expect(Kind::Equal, "`=`")?;
        let mut effect = Effect { local, sources: Vec::new(), constant: 0, span: range(token.span) };
        let mut sign = 1;
        loop {
            match self.next.kind {
                Kind::Number(number) => {
                    self.take();
                    // Sums of a text below 4 GiB stay in range.
                    effect.constant += sign * i128::from(number);
                }
                Kind::Name if sign > 0 => {
                    let (token, source) = self.place()?;
                    effect.sources.push((source, range(token.span)));
                }
                _ if sign > 0 => return Err(self.expected("a variable or a number")),
                _ => return Err(self.expected("a number after `-`")),
            }
            sign = match self.next.kind {
                Kind::Plus => 1,
                Kind::Minus => -1,
                _ => return Ok(effect),
            };
            self.take();
        }
    }

    fn init(&mut self) -> Read<()> {
        let mut fixed: Vec<Option<RangeInclusive<u64>>> = vec![None; self.places.len()];
        let mut variants = 1_u64;
        loop {
            let (token, local, range) = self.constraint()?;
            if fixed[local as usize].is_some() {
                return Err(self.found(token, "a single constraint for each variable"));
            }
            if *range.end() != u64::MAX {
                variants = variants.saturating_mul(range.end() - range.start() + 1);
            }
            fixed[local as usize] = Some(range);
            if !self.accept(Kind::Comma) {
                break;
            }
        }
        if variants > MOST_VARIANTS {
            return Err(self.expected("fewer initial configurations before"));
        }
        let start = self.next.span.start as usize;
        let unconstrained = fixed.iter().zip(&self.system.locals).filter(|(range, _)| range.is_none());
        for (_, name) in unconstrained {
            let message = format!("expected every variable in `init`, found none of `{name}`");
            let help = Some("it can have any value, as in mist".to_string());
            self.diagnostics.add(Severity::Warning, start..start, || (message, help));
        }
        let mut initial = vec![Initial { shared: Shared(0), tokens: Bag::new(), any: Vec::new() }];
        for (local, range) in fixed.into_iter().enumerate() {
            let (local, range) = (local as Local, range.unwrap_or(0..=u64::MAX));
            if *range.end() == u64::MAX {
                for one in &mut initial {
                    one.tokens.add(local, *range.start());
                    one.any.push(local);
                }
                continue;
            }
            let with = |one: &Initial, count| {
                let mut one = one.clone();
                one.tokens.add(local, count);
                one
            };
            initial =
                initial.iter().flat_map(|one| range.clone().map(move |count| with(one, count))).collect();
        }
        self.system.initial = initial;
        match self.next.kind {
            Kind::Target | Kind::End => Ok(()),
            _ => Err(self.expected("`,` or `target` after a constraint")),
        }
    }

    fn targets(&mut self) -> Read<()> {
        loop {
            let mut seen = HashSet::new();
            let mut tokens = Bag::new();
            loop {
                let (token, local, range) = self.constraint()?;
                if *range.end() != u64::MAX {
                    let mut remark = self.found(token, "`>=` in a target");
                    let least = range.start();
                    remark.help = Some(format!(
                        "read as `>= {least}`: whatever covers a bad configuration is bad, so no number can be too large"
                    ));
                    self.diagnostics.push(Diagnostic { severity: Severity::Warning, ..remark });
                }
                if !seen.insert(local) {
                    return Err(self.found(token, "a single constraint for each variable"));
                }
                tokens.add(local, *range.start());
                if !self.accept(Kind::Comma) {
                    break;
                }
            }
            self.system.targets.push(Target { shared: None, tokens });
            match self.next.kind {
                Kind::Name => {}
                Kind::Invariants | Kind::End => return Ok(()),
                _ => return Err(self.expected("a target, `invariants`, or the end of the file")),
            }
        }
    }

    fn invariants(&mut self) -> Read<()> {
        let opening = self.take();
        self.diagnostics.add(Severity::Warning, range(opening.span), || {
            ("expected no invariants, found some: they are not used".to_string(), None)
        });
        while self.next.kind != Kind::End {
            self.constraint()?;
            self.accept(Kind::Comma);
        }
        Ok(())
    }

    /// `x >= 1`, `x = 1`, or `x in [1, 2]`; also its first token.
    fn constraint(&mut self) -> Read<(Token, Local, RangeInclusive<u64>)> {
        let (token, local) = self.place()?;
        let range = match self.next.kind {
            Kind::AtLeast => {
                self.take();
                self.number()?..=u64::MAX
            }
            Kind::Equal => {
                self.take();
                let number = self.number()?;
                number..=number
            }
            Kind::In => {
                self.take();
                self.expect(Kind::Open, "`[`")?;
                let lowest = self.number()?;
                self.expect(Kind::Comma, "`,`")?;
                let at = self.next;
                let highest = self.number()?;
                if highest < lowest {
                    return Err(self.found(at, &format!("a number not below {lowest}")));
                }
                self.expect(Kind::Close, "`]`")?;
                lowest..=highest
            }
            _ => return Err(self.expected("`>=`, `=` or `in` after a variable")),
        };
        Ok((token, local, range))
    }

    fn place(&mut self) -> Read<(Token, Local)> {
        if self.next.kind != Kind::Name {
            return Err(self.expected("a variable"));
        }
        match self.places.get(&self.text[range(self.next.span)]) {
            Some(&local) => Ok((self.take(), local)),
            None => Err(self.expected("a variable of `vars`")),
        }
    }

    fn number(&mut self) -> Read<u64> {
        match self.next.kind {
            Kind::Number(number) => {
                self.take();
                Ok(number)
            }
            Kind::TooLarge => Err(self.expected("a number below 4294967296")),
            _ => Err(self.expected("a number")),
        }
    }

    fn expect(&mut self, kind: Kind, what: &str) -> Read<()> {
        if self.accept(kind) { Ok(()) } else { Err(self.expected(what)) }
    }

    fn accept(&mut self, kind: Kind) -> bool {
        let found = self.next.kind == kind;
        if found {
            self.take();
        }
        found
    }

    fn take(&mut self) -> Token {
        std::mem::replace(&mut self.next, token(&mut self.cursor))
    }

    fn expected(&self, what: &str) -> Diagnostic {
        self.found(self.next, what)
    }

    fn found(&self, token: Token, what: &str) -> Diagnostic {
        let span = range(token.span);
        match token.kind {
            Kind::End => Diagnostic::error(span, format!("expected {what}, found the end of the file")),
            _ => Diagnostic::expected(what, self.text, span),
        }
    }
}
