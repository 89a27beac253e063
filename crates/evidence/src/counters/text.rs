//! Evidence about counter systems as [text](crate::text): what follows the first line.

use super::{Basis, Limit, Run, Weights};
use crate::text::BadEvidence;
use crate::text::lines::{Line, Lines};
use allways_model::counters::step::step;
use allways_model::counters::{Bag, Configuration, Counters, Local, MOST, Shared};
use hashbrown::HashMap;
use std::io::{self, Write};

/// Writes a run, as far as its rules can fire.
pub(crate) fn write_run(system: &Counters, run: &Run, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "state {}", system.show(&run.initial))?;
    for (&rule, after) in run.rules.iter().zip(run.configurations(system)) {
        let line = system.rules[rule as usize].line;
        writeln!(out, "step {} {line} {}", rule + 1, system.show(&after))?;
    }
    writeln!(out, "end {}", run.rules.len())
}

/// Writes a basis, sorted by the names of states.
pub(crate) fn write_basis(system: &Counters, basis: &Basis, out: &mut dyn Write) -> io::Result<()> {
    super::basis::check_shape(system, basis)
        .map_err(|what| io::Error::new(io::ErrorKind::InvalidInput, what))?;
    let Basis { bound, weights, members } = basis;
    match bound {
        Some(limits) => writeln!(out, "bound {}", limits.len())?,
        None => writeln!(out, "bound none")?,
    }
    let sorted = |mut lines: Vec<String>| {
        lines.sort_unstable();
        lines
    };
    let limits = bound.iter().flatten().map(|Limit { shared, tokens }| {
        format!("limit {}", show_tokens(system, *shared, tokens.iter().copied()))
    });
    let weights = weights.iter().map(|Weights { locals, shared, most }| {
        let bag = |names: &[String], bag: &Bag| show_counts(names, bag.iter().map(|(at, n)| (at, Some(n))));
        format!("weights {most} {} {}", bag(&system.locals, locals), bag(&system.shared, shared))
    });
    let members = members.iter().map(|Configuration { shared, tokens }| {
        format!("basis {}", show_tokens(system, *shared, tokens.iter().map(|(at, n)| (at, Some(n)))))
    });
    let count = members.len();
    for lines in [sorted(limits.collect()), sorted(weights.collect()), sorted(members.collect())] {
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    writeln!(out, "end {count}")
}

fn show_tokens(
    system: &Counters,
    shared: Shared,
    tokens: impl Iterator<Item = (Local, Option<u64>)>,
) -> String {
    let tokens = show_counts(&system.locals, tokens);
    if system.is_net() { tokens } else { format!("{}|{tokens}", system.shared[shared.index()]) }
}

/// Names with numbers, sorted; `-` for none.
fn show_counts(names: &[String], counts: impl Iterator<Item = (u32, Option<u64>)>) -> String {
    let parts = counts.map(|(number, count)| (&names[number as usize], count));
    let mut parts: Vec<(&String, Option<u64>)> = parts.collect();
    parts.sort_unstable();
    let parts = parts.into_iter().map(|(name, count)| match count {
        Some(1) => name.clone(),
        Some(count) => format!("{name}^{count}"),
        None => format!("{name}^*"),
    });
    let text = parts.collect::<Vec<_>>().join(",");
    if text.is_empty() { "-".to_string() } else { text }
}

/// Reads a run.
pub(crate) fn read_run(system: &Counters, lines: &mut Lines) -> Result<Run, BadEvidence> {
    Reader::new(system).run(lines)
}

/// Reads a basis.
pub(crate) fn read_basis(system: &Counters, lines: &mut Lines) -> Result<Basis, BadEvidence> {
    Reader::new(system).basis(lines)
}

/// A shared state and, by place, numbers of tokens, `None` for any.
type Tokens = (Shared, Vec<(Local, Option<u64>)>);

struct Reader<'a> {
    system: &'a Counters,
    shared: HashMap<&'a str, u32>,
    locals: HashMap<&'a str, Local>,
}

impl<'a> Reader<'a> {
    fn new(system: &'a Counters) -> Reader<'a> {
        fn numbers(names: &[String]) -> HashMap<&str, u32> {
            names.iter().enumerate().map(|(number, name)| (name.as_str(), number as u32)).collect()
        }
        Reader { system, shared: numbers(&system.shared), locals: numbers(&system.locals) }
    }

    fn run(&self, lines: &mut Lines) -> Result<Run, BadEvidence> {
        let mut line = lines.next("`state`")?;
        if line.word("`state`")? != "state" {
            return Err(line.expected("`state`"));
        }
        let initial = self.configuration(&mut line)?;
        line.end()?;
        let mut run = Run { initial, rules: Vec::new() };
        let mut now = run.initial.clone();
        loop {
            let mut line = lines.next("`step` or `end`")?;
            match line.word("`step` or `end`")? {
                "step" => {}
                "end" => {
                    line.count("steps", run.rules.len())?;
                    return Ok(run);
                }
                _ => return Err(line.expected("`step` or `end`")),
            }
            let expected = format!("the number of a rule, from 1 to {}", self.system.rules.len());
            let number: u32 = line.number(&expected)?;
            let rule = number.checked_sub(1).and_then(|index| self.system.rules.get(index as usize));
            let rule = rule.ok_or_else(|| line.expected(&expected))?;
            let written = format!("the line of rule {number}, {}", rule.line);
            if line.number::<u32>(&written)? != rule.line {
                return Err(line.expected(&written));
            }
            let after = self.configuration(&mut line)?;
            // What is written down must be what happens; where nothing can happen, the checker says so.
            match step(rule, &now) {
                Some(next) if next != after => return Err(line.expected(&self.system.show(&next))),
                Some(next) => now = next,
                None => now = after,
            }
            line.end()?;
            run.rules.push(number - 1);
        }
    }

    fn basis(&self, lines: &mut Lines) -> Result<Basis, BadEvidence> {
        let mut line = lines.next("`bound`")?;
        let expected = "`bound`";
        if line.word(expected)? != "bound" {
            return Err(line.expected(expected));
        }
        let count: Option<usize> = match line.rest() {
            "none" => None,
            _ => Some(line.number("the number of limits, or `none`")?),
        };
        if count.is_none() {
            line.word("`none`")?;
        }
        line.end()?;
        let mut basis = Basis { bound: count.map(|_| Vec::new()), ..Basis::default() };
        for _ in 0..count.unwrap_or(0) {
            let mut line = lines.next("`limit`")?;
            if line.word("`limit`")? != "limit" {
                return Err(line.expected("`limit`"));
            }
            let (shared, tokens) = self.tokens(&mut line)?;
            line.end()?;
            let mut tokens: Vec<_> = tokens;
            tokens.sort_unstable_by_key(|&(local, _)| local);
            if tokens.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(line.expected("each local state once"));
            }
            basis.bound.get_or_insert_default().push(Limit { shared, tokens });
        }
        loop {
            let expected = "`weights`, `basis` or `end`";
            let mut line = lines.next(expected)?;
            match line.word(expected)? {
                "weights" => {
                    let most = line.number("the most that is allowed")?;
                    let locals = self.bag(&mut line, &self.locals)?;
                    let shared = self.bag(&mut line, &self.shared)?;
                    basis.weights.push(Weights { locals, shared, most });
                }
                "basis" => basis.members.push(self.configuration(&mut line)?),
                "end" => {
                    line.count("members of the basis", basis.members.len())?;
                    return Ok(basis);
                }
                _ => return Err(line.expected(expected)),
            }
            line.end()?;
        }
    }

    fn configuration(&self, line: &mut Line) -> Result<Configuration, BadEvidence> {
        let (shared, tokens) = self.tokens(line)?;
        let counts: Option<Vec<(Local, u64)>> =
            tokens.into_iter().map(|(local, count)| Some((local, count?))).collect();
        let counts = counts.ok_or_else(|| line.expected("a number of tokens in each place"))?;
        Ok(Configuration { shared, tokens: Bag::from_iter(counts) })
    }

    fn tokens(&self, line: &mut Line) -> Result<Tokens, BadEvidence> {
        let word = line.word("a configuration")?;
        let (shared, tokens) = match word.split_once('|') {
            Some((name, tokens)) => {
                let shared = self.shared.get(name).copied().map(Shared);
                (shared.ok_or_else(|| line.expected("a shared state of the system before `|`"))?, tokens)
            }
            None if self.system.is_net() => (Shared(0), word),
            None => return Err(line.expected("a configuration such as `0|1,2^3`")),
        };
        Ok((shared, counts(line, tokens, &self.locals)?))
    }

    fn bag(&self, line: &mut Line, names: &HashMap<&str, u32>) -> Result<Bag, BadEvidence> {
        let word = line.word("weights of states, or `-`")?;
        let counts = counts(line, word, names)?.into_iter().map(|(at, count)| Some((at, count?)));
        let counts: Option<Vec<_>> = counts.collect();
        Ok(counts.ok_or_else(|| line.expected("a weight after each `^`"))?.into_iter().collect())
    }
}

/// Names with numbers, `1` where there is none, `None` for `*`.
fn counts(
    line: &Line,
    text: &str,
    names: &HashMap<&str, u32>,
) -> Result<Vec<(u32, Option<u64>)>, BadEvidence> {
    if text == "-" {
        return Ok(Vec::new());
    }
    let tokens = text.split(',').map(|token| {
        let (name, count) = token.split_once('^').unwrap_or((token, "1"));
        let local = names.get(name).copied();
        let local = local.ok_or_else(|| line.expected("states of the system, separated by `,`"))?;
        if count == "*" {
            return Ok((local, None));
        }
        let digits = count.bytes().all(|byte| byte.is_ascii_digit());
        let count: Option<u64> = count.parse().ok().filter(|count| digits && (1..=MOST).contains(count));
        Ok((local, Some(count.ok_or_else(|| line.expected("a number of tokens from 1 on after `^`"))?)))
    });
    tokens.collect()
}
