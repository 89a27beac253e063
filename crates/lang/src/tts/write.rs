//! A system as a thread transition system, where each rule is a transition of one thread.

use allways_model::counters::{Counters, Local, Rule, Shared};
use std::fmt::Write as _;

/// What is written: the `.tts` file, and the `.init` and `.prop` files beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// The transitions.
    pub tts: String,
    /// Where it starts.
    pub init: String,
    /// What must never be covered.
    pub prop: String,
}

/// Writes a system that [`parse`](super::parse) reads back. Fails where a rule is no transition of one thread. A thread that
/// ends goes to a local state of its own.
pub fn write(system: &Counters) -> Result<Written, String> {
    let shared = numbers(&system.shared);
    let mut locals = numbers(&system.locals);
    let highest = |numbers: &[u32]| numbers.iter().max().map_or(0, |&number| number.saturating_add(1));
    let ended = highest(&locals);
    locals.push(ended);
    let ends = |rule: &Rule| rule.gives.is_empty() || rule.moves.iter().any(|&(_, to)| to.is_none());
    let count = if system.rules.iter().any(ends) { ended.saturating_add(1) } else { ended };
    let mut text = String::new();
    for (what, names, numbers) in [("shared", &system.shared, &shared), ("local", &system.locals, &locals)] {
        for (name, number) in names.iter().zip(numbers) {
            if *name != number.to_string() {
                let _ = writeln!(text, "# {what} state {number}: {name}");
            }
        }
    }
    let _ = writeln!(text, "{} {}", highest(&shared).max(1), count.max(1));
    for (number, rule) in system.rules.iter().enumerate() {
        let transition = transition(rule, system.locals.len() as Local);
        let Some((before, arrow, after)) = transition.filter(|_| rule.exactly.is_empty()) else {
            let line = if rule.line > 0 { format!(", of line {},", rule.line) } else { String::new() };
            return Err(format!("rule {}{line} is no transition of a single thread", number + 1));
        };
        let (from, to) = (shared[rule.from.index()], shared[rule.to.index()]);
        let (before, after) = (locals[before as usize], locals[after as usize]);
        let _ = write!(text, "{from} {before} {arrow} {to} {after}");
        for &(moved, goal) in &rule.moves {
            let goal = goal.map_or(ended, |goal| locals[goal as usize]);
            let _ = write!(text, " {} ~> {goal}", locals[moved as usize]);
        }
        text.push('\n');
    }
    let line = |of: Option<Shared>, tokens: &mut dyn Iterator<Item = (Local, Option<u64>)>| {
        let of = of.map_or("*".to_string(), |of| shared[of.index()].to_string());
        let tokens = tokens.map(|(local, count)| match count {
            Some(1) => locals[local as usize].to_string(),
            Some(count) => format!("{}^{count}", locals[local as usize]),
            None => format!("{}^*", locals[local as usize]),
        });
        format!("{of}|{}\n", tokens.collect::<Vec<_>>().join(","))
    };
    let mut init = String::new();
    for initial in &system.initial {
        let fixed = initial.tokens.iter().map(|(local, count)| (local, Some(count)));
        init += &line(Some(initial.shared), &mut fixed.chain(initial.any.iter().map(|&local| (local, None))));
    }
    let mut prop = String::new();
    for target in &system.targets {
        prop += &line(target.shared, &mut target.tokens.iter().map(|(local, count)| (local, Some(count))));
    }
    Ok(Written { tts: text, init, prop })
}

/// The local state before, the arrow, and the local state after or of the new thread; `ended` for a thread that ends.
fn transition(rule: &Rule, ended: Local) -> Option<(Local, &'static str, Local)> {
    let one = |tokens: &[(Local, u64)]| match tokens {
        [(local, 1)] => Some(*local),
        _ => None,
    };
    let before = one(&rule.takes.iter().collect::<Vec<_>>())?;
    let gives: Vec<_> = rule.gives.iter().collect();
    if gives.is_empty() {
        return Some((before, "->", ended));
    }
    if let Some(after) = one(&gives) {
        return Some((before, "->", after));
    }
    let stays = [(before, 1)].into_iter().collect();
    let started = rule.gives.covers(&stays).then(|| rule.gives.minus(&stays))?;
    Some((before, "+>", one(&started.iter().collect::<Vec<_>>())?))
}

/// The numbers that stand for names: the names themselves if all are numbers.
fn numbers(names: &[String]) -> Vec<u32> {
    let number = |name: &String| name.parse().ok().filter(|number: &u32| number.to_string() == *name);
    names.iter().map(number).collect::<Option<Vec<u32>>>().unwrap_or((0..names.len() as u32).collect())
}
