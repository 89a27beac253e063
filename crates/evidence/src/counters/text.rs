//! Evidence about counter systems as text. Like [evidence about pushdown systems](crate::text): a first line with kind and
//! version, one thing per line, blank lines and lines that start with `#` are skipped, and the last line says how many there
//! were. Configurations are written `shared|local,local^3`; of a net, without the shared state.
//!
//! A run: where it starts, then for each step the rule, counted from 1, its line, and the configuration afterwards.
//!
//! ```text
//! allways counter-run 1
//! state 0|0^2
//! step 3 7 1|0,1
//! end 1
//! ```
//!
//! A proof: the limits, in which `^*` is any number, or `bound none`; weights, with the most that is allowed, those of local
//! states and those of shared states (`1^2` is: 1 weighs 2); then the basis.
//!
//! ```text
//! allways counter-proof 1
//! bound 2
//! limit 0|0^*,1
//! limit 1|0^*
//! weights 3 1^2 0,1
//! basis 0|1^2
//! end 1
//! ```

use super::{Limit, Proof, Run, Weights};
use crate::text::BadEvidence;
use crate::text::lines::{Line, Lines};
use allways_model::counters::step::step;
use allways_model::counters::{Bag, Configuration, Counters, Local, MOST, Shared};
use hashbrown::HashMap;
use std::io::{self, BufWriter, Write};

/// The version of the format.
const VERSION: u32 = 1;

/// What makes a verdict believable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// [`check_run`](super::check_run) checks it.
    Run(Run),
    /// [`check_proof`](super::check_proof) checks it.
    Proof(Proof),
}

/// Writes evidence, which must fit the system; [`read_evidence`] reads it back.
pub fn write_evidence(system: &Counters, evidence: &Evidence, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    match evidence {
        Evidence::Run(run) => {
            writeln!(out, "allways counter-run {VERSION}\nstate {}", system.show(&run.initial))?;
            for (&rule, after) in run.rules.iter().zip(run.configurations(system)) {
                let line = system.rules[rule as usize].line;
                writeln!(out, "step {} {line} {}", rule + 1, system.show(&after))?;
            }
            writeln!(out, "end {}", run.rules.len())?;
        }
        Evidence::Proof(proof) => {
            writeln!(out, "allways counter-proof {VERSION}")?;
            write_proof(system, proof, &mut out)?;
        }
    }
    out.flush()
}

/// Writes what follows the first line of a proof.
pub(crate) fn write_proof(system: &Counters, proof: &Proof, out: &mut dyn Write) -> io::Result<()> {
    let Proof { bound, weights, basis } = proof;
    match bound {
        Some(limits) => writeln!(out, "bound {}", limits.len())?,
        None => writeln!(out, "bound none")?,
    }
    for Limit { shared, tokens } in bound.iter().flatten() {
        writeln!(out, "limit {}", system.show_tokens(*shared, tokens.iter().copied()))?;
    }
    for Weights { locals, shared, most } in weights {
        let locals = show_bag(&system.locals, locals);
        writeln!(out, "weights {most} {locals} {}", show_bag(&system.shared, shared))?;
    }
    for member in basis {
        writeln!(out, "basis {}", system.show(member))?;
    }
    writeln!(out, "end {}", basis.len())
}

/// Reads what follows the first line of a proof.
pub(crate) fn read_proof(system: &Counters, lines: &mut Lines) -> Result<Proof, BadEvidence> {
    Reader::new(system).proof(lines)
}

/// Numbers of names, `-` for none.
fn show_bag(names: &[String], bag: &Bag) -> String {
    let parts = bag.iter().map(|(number, count)| match count {
        1 => names[number as usize].clone(),
        _ => format!("{}^{count}", names[number as usize]),
    });
    let text = parts.collect::<Vec<_>>().join(",");
    if text.is_empty() { "-".to_string() } else { text }
}

/// Whether a text starts as evidence about counter systems does. One that does, and then is wrong, is rejected; another is
/// bad input.
pub fn claims_to_be_evidence(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")).unwrap_or_default();
    [b"allways counter-run ".as_slice(), b"allways counter-proof "].iter().any(|kind| first.starts_with(kind))
}

/// Reads evidence: a value that fits the system, or a message with its place. Whether it proves anything is for the checkers.
pub fn read_evidence(system: &Counters, text: &[u8]) -> Result<Evidence, BadEvidence> {
    let text = str::from_utf8(text).map_err(|error| {
        let line = 1 + text[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        BadEvidence { line, column: 1, what: "expected text, found other bytes".to_string() }
    })?;
    let mut lines = Lines::new(text);
    let kinds = "`allways counter-run` or `allways counter-proof`";
    let mut first = lines.next(kinds)?;
    if first.word(kinds)? != "allways" {
        return Err(first.expected(kinds));
    }
    let kind = first.word("`counter-run` or `counter-proof`")?;
    if first.number::<u32>("the version, 1")? != VERSION {
        return Err(first.expected("the version, 1"));
    }
    first.end()?;
    let reader = Reader::new(system);
    let evidence = match kind {
        "counter-run" => Evidence::Run(reader.run(&mut lines)?),
        "counter-proof" => Evidence::Proof(reader.proof(&mut lines)?),
        _ => return Err(first.expected(kinds)),
    };
    match lines.next("nothing") {
        Ok(mut more) => {
            more.word("nothing more")?;
            Err(more.expected("nothing after `end`"))
        }
        Err(_) => Ok(evidence),
    }
}

/// A shared state and, by place, numbers of tokens, `None` for any.
type Tokens = (Shared, Vec<(Local, Option<u64>)>);

struct Reader<'a> {
    system: &'a Counters,
    shared: HashMap<&'a str, Shared>,
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

    fn proof(&self, lines: &mut Lines) -> Result<Proof, BadEvidence> {
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
        let mut proof = Proof { bound: count.map(|_| Vec::new()), ..Proof::default() };
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
            proof.bound.get_or_insert_default().push(Limit { shared, tokens });
        }
        loop {
            let expected = "`weights`, `basis` or `end`";
            let mut line = lines.next(expected)?;
            match line.word(expected)? {
                "weights" => {
                    let most = line.number("the most that is allowed")?;
                    let locals = self.bag(&mut line, &self.locals)?;
                    let shared = self.bag(&mut line, &self.shared)?;
                    proof.weights.push(Weights { locals, shared, most });
                }
                "basis" => proof.basis.push(self.configuration(&mut line)?),
                "end" => {
                    line.count("members of the basis", proof.basis.len())?;
                    return Ok(proof);
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
                let shared = self.shared.get(name).copied();
                (shared.ok_or_else(|| line.expected("a shared state of the system before `|`"))?, tokens)
            }
            None if self.system.is_net() => (0, word),
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
