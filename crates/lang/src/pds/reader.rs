//! From lines to a system: the grammar, the checks, and how reading goes on after a mistake.
//!
//! Whatever is wrong with a line that opens a thread, the thread is opened, with room for every symbol, so that its
//! rules are checked and are not blamed for it.

use super::fault::{Expected, Fault};
use super::scanner::{Kind, Token, token};
use super::{MAX_THREADS, Parsed};
use crate::cursor::{Cursor, join, range};
use crate::diagnostic::{Diagnostics, Severity};
use allways_model::program::Span;
use allways_model::pushdown::{EMPTY, Explicit, Rule, Shared, Stack, State, Symbol, ThreadRules, Word};
use std::collections::HashSet;
use std::ops::RangeInclusive;

pub(super) fn read(text: &[u8]) -> Parsed {
    // Rules are numbered, and their lines counted, in 32 bits.
    let diagnostics = Diagnostics::about(text);
    if diagnostics.has_errors() {
        return Parsed { system: None, diagnostics };
    }
    let cursor = Cursor::new(text);
    let reader =
        Reader { text, cursor, shared: SharedStates::Undeclared, open: None, closed: vec![], diagnostics };
    reader.finish()
}

struct Reader<'a> {
    text: &'a [u8],
    cursor: Cursor<'a>,
    shared: SharedStates,
    /// The thread whose rules are being read.
    open: Option<Thread<'a>>,
    closed: Vec<ThreadRules>,
    diagnostics: Diagnostics,
}

/// The number of shared states.
#[derive(Clone, Copy)]
enum SharedStates {
    Undeclared,
    /// Declared in a line that was not understood.
    Unknown,
    Count(u32),
}

struct Thread<'a> {
    /// The declared symbols, as numbers of the text.
    range: RangeInclusive<u32>,
    rules: Vec<(Shared, Symbol, Rule)>,
    /// The symbols used outside the range.
    strangers: HashSet<Symbol>,
    /// The line that opened the thread.
    opening: Cursor<'a>,
}

impl Reader<'_> {
    fn finish(mut self) -> Parsed {
        loop {
            let first = token(&mut self.cursor);
            if first.kind != Kind::End
                && let Err(fault) = self.line(first)
            {
                self.blame(&fault);
            }
            if !self.cursor.next_line() {
                break;
            }
        }
        self.close();
        let missing = match self.shared {
            SharedStates::Undeclared => Some("the number of shared states"),
            _ if self.closed.is_empty() => Some("a thread such as `PDA 0 9`"),
            _ => None,
        };
        if let Some(missing) = missing {
            let end = self.text.len();
            let message = || (format!("expected {missing}, found the end of the file"), None);
            self.diagnostics.add(Severity::Error, end..end, message);
        }
        let system = match self.shared {
            SharedStates::Count(shared_states) if !self.diagnostics.has_errors() => {
                let initial = State { shared: Shared(0), stacks: vec![Stack::default(); self.closed.len()] };
                Some(Explicit { shared_states, threads: self.closed, initial })
            }
            _ => None,
        };
        Parsed { system, diagnostics: self.diagnostics }
    }

    /// Reads a line that is not blank, from after its first token.
    fn line(&mut self, first: Token) -> Result<(), Fault> {
        if let SharedStates::Undeclared = self.shared {
            self.shared = SharedStates::Unknown;
            if first.kind != Kind::Pda {
                self.shared = SharedStates::Count(shared_count(&mut self.cursor, first)?);
                return Ok(());
            }
            // The number was forgotten; the thread is there.
            self.blame(&Fault { expected: Expected::SharedCount, found: first });
        }
        match first.kind {
            Kind::Pda => self.open_thread(first),
            Kind::Number(_) | Kind::TooLarge => self.rule(first),
            _ => Err(Fault { expected: Expected::RuleOrThread, found: first }),
        }
    }

    fn blame(&mut self, fault: &Fault) {
        self.diagnostics.add(Severity::Error, range(fault.found.span), || fault.words(self.text));
    }

    fn open_thread(&mut self, opening: Token) -> Result<(), Fault> {
        self.close();
        if self.closed.len() == MAX_THREADS {
            self.cursor.stop();
            return Err(Fault { expected: Expected::AtMostMaxThreads, found: opening });
        }
        let range = thread_range(&mut self.cursor);
        self.open = Some(Thread::new(range.as_ref().ok().cloned(), &self.cursor));
        range.map(drop)
    }

    fn rule(&mut self, first: Token) -> Result<(), Fault> {
        let orphan = self.open.is_none();
        let thread = self.open.get_or_insert_with(|| Thread::new(None, &self.cursor));
        if orphan {
            return Err(Fault { expected: Expected::ThreadBeforeRule, found: first });
        }
        let line = rule_line(&mut self.cursor, self.shared, first)?;
        for (symbol, span) in line.symbols.into_iter().flatten() {
            if !thread.range.contains(&(symbol.0 - 1)) && thread.strangers.insert(symbol) {
                let (lowest, highest) = (thread.range.start(), thread.range.end());
                self.diagnostics.add(Severity::Warning, range(span), || {
                    let message =
                        format!("expected a symbol from {lowest} to {highest}, found `{}`", symbol.0 - 1);
                    (message, Some("the thread's range is widened to include it".to_string()))
                });
            }
        }
        // Doubling would leave up to half of the memory unused.
        if thread.rules.len() == thread.rules.capacity() {
            thread.rules.reserve_exact(4 + thread.rules.len() / 4);
        }
        thread.rules.push(line.rule);
        Ok(())
    }

    fn close(&mut self) {
        let Some(mut thread) = self.open.take() else { return };
        let given = thread.rules.len();
        thread.rules.shrink_to_fit();
        let rules = ThreadRules::new(thread.rules);
        if rules.iter().len() < given {
            warn_of_repetitions(thread.opening, self.shared, &rules, given, &mut self.diagnostics);
        }
        self.closed.push(rules);
    }
}

impl<'a> Thread<'a> {
    fn new(range: Option<RangeInclusive<u32>>, opening: &Cursor<'a>) -> Thread<'a> {
        let range = range.unwrap_or(0..=u32::MAX);
        Thread { range, rules: vec![], strangers: HashSet::new(), opening: opening.clone() }
    }
}

/// Warns of each rule that was given before.
///
/// [`ThreadRules`] has kept the first of equal rules, with their lines. So the thread is read again, and a rule on
/// another line is a repetition: this takes no memory, and time only where there is one.
fn warn_of_repetitions(
    mut cursor: Cursor,
    shared: SharedStates,
    kept: &ThreadRules,
    given: usize,
    diagnostics: &mut Diagnostics,
) {
    let mut lines = kept.iter().map(|(_, _, rule)| rule.line).peekable();
    let mut repetitions = given - kept.iter().len();
    while repetitions > 0 && cursor.next_line() {
        let first = token(&mut cursor);
        let Ok(line) = rule_line(&mut cursor, shared, first) else { continue };
        let (from, top, rule) = line.rule;
        if lines.next_if_eq(&rule.line).is_some() {
            continue;
        }
        repetitions -= 1;
        diagnostics.add(Severity::Warning, range(line.span), || {
            let same = |(kept_from, kept_top, kept): &&(Shared, Symbol, Rule)| {
                (*kept_from, *kept_top, kept.shared, kept.word) == (from, top, rule.shared, rule.word)
            };
            let first = kept.iter().find(same).map(|(_, _, first)| first.line);
            let help =
                first.map(|first| format!("it is first on line {first}; the repetition means nothing"));
            ("expected each rule once, found one again".to_string(), help)
        });
    }
}

/// A rule as it was read.
struct RuleLine {
    span: Span,
    rule: (Shared, Symbol, Rule),
    /// The symbols in it, and where.
    symbols: [Option<(Symbol, Span)>; 3],
}

/// `q s -> q' s1 s2`, from after its first token.
fn rule_line(cursor: &mut Cursor, shared: SharedStates, first: Token) -> Result<RuleLine, Fault> {
    let from = shared_state(first, shared)?;
    let top_token = token(cursor);
    let top = symbol(top_token)?;
    let arrow = token(cursor);
    if arrow.kind != Kind::Arrow {
        return Err(Fault { expected: Expected::Arrow, found: arrow });
    }
    let to = shared_state(token(cursor), shared)?;
    let pushed_token = token(cursor);
    // Older files write nothing where nothing is left.
    let pushed = if pushed_token.kind == Kind::End { EMPTY } else { symbol(pushed_token)? };
    let second_token = token(cursor);
    let mut span = join(first.span, pushed_token.span);
    let mut symbols = [(top, top_token), (pushed, pushed_token), (EMPTY, second_token)];
    let word = match (pushed, second_token.kind) {
        (EMPTY, Kind::End) => Word::POP,
        (EMPTY, _) => return Err(Fault { expected: Expected::EndAfterPop, found: second_token }),
        (_, Kind::End) => Word::one(pushed),
        (_, Kind::Number(_)) if top == EMPTY => {
            return Err(Fault { expected: Expected::EndAfterPushOnEmpty, found: second_token });
        }
        _ => {
            let under = Symbol(number(second_token, Expected::SymbolOrEnd)? + 1);
            end(cursor, Expected::EndAfterTwoSymbols)?;
            span = join(span, second_token.span);
            symbols[2].0 = under;
            Word::two(pushed, under)
        }
    };
    let symbols = symbols.map(|(symbol, token)| (symbol != EMPTY).then_some((symbol, token.span)));
    Ok(RuleLine { span, rule: (from, top, Rule { shared: to, word, line: cursor.line() }), symbols })
}

/// The number of shared states, alone on its line.
fn shared_count(cursor: &mut Cursor, first: Token) -> Result<u32, Fault> {
    let count = number(first, Expected::SharedCount)?;
    end(cursor, Expected::EndAfterCount)?;
    if count == 0 {
        return Err(Fault { expected: Expected::SomeSharedState, found: first });
    }
    Ok(count)
}

/// The symbols after `PDA`, lowest and highest.
fn thread_range(cursor: &mut Cursor) -> Result<RangeInclusive<u32>, Fault> {
    let lowest = number(token(cursor), Expected::Lowest)?;
    let found = token(cursor);
    let highest = number(found, Expected::Highest)?;
    if highest < lowest {
        return Err(Fault { expected: Expected::HighestFrom(lowest), found });
    }
    end(cursor, Expected::EndAfterRange)?;
    Ok(lowest..=highest)
}

fn shared_state(found: Token, shared: SharedStates) -> Result<Shared, Fault> {
    let state = number(found, Expected::Shared)?;
    match shared {
        SharedStates::Count(count) if state >= count => {
            Err(Fault { expected: Expected::SharedBelow(count), found })
        }
        _ => Ok(Shared(state)),
    }
}

/// A symbol, or [`EMPTY`] for `-`.
fn symbol(found: Token) -> Result<Symbol, Fault> {
    if found.kind == Kind::Dash { Ok(EMPTY) } else { Ok(Symbol(number(found, Expected::Symbol)? + 1)) }
}

fn number(found: Token, expected: Expected) -> Result<u32, Fault> {
    match found.kind {
        Kind::Number(number) => Ok(number),
        Kind::TooLarge => Err(Fault { expected: Expected::SmallerNumber, found }),
        _ => Err(Fault { expected, found }),
    }
}

fn end(cursor: &mut Cursor, expected: Expected) -> Result<(), Fault> {
    match token(cursor) {
        Token { kind: Kind::End, .. } => Ok(()),
        found => Err(Fault { expected, found }),
    }
}
