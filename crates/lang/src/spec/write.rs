//! A system as mist reads it. The control of a system with several shared states becomes variables, of which one is 1.

use super::scanner::KEYWORDS;
use allways_model::counters::{Counters, Local, Rule, Shared};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

/// Writes a system that [`parse`](super::parse) reads back. Fails where it has several sets of initial configurations, for
/// which the format has no place.
pub fn write(system: &Counters) -> Result<String, String> {
    let [initial] = &system.initial[..] else {
        let count = system.initial.len();
        return Err(format!(
            "a .spec file has one set of initial configurations, and this system has {count}"
        ));
    };
    if system.targets.is_empty() {
        return Err("a .spec file has a target, and this system has none".to_string());
    }
    let names = Names::new(system);
    let mut text = format!("vars\n  {}\n\nrules\n", names.all().collect::<Vec<_>>().join(" "));
    for rule in &system.rules {
        write_rule(&names, rule, &mut text);
    }
    let mut init = Vec::new();
    for (shared, name) in names.control() {
        init.push(format!("{name} = {}", u32::from(Shared(shared) == initial.shared)));
    }
    for (local, name) in names.locals.iter().enumerate() {
        let relation = if initial.any.binary_search(&(local as Local)).is_ok() { ">=" } else { "=" };
        init.push(format!("{name} {relation} {}", initial.tokens.count(local as Local)));
    }
    let _ = writeln!(text, "\ninit\n  {}\n\ntarget", init.join(", "));
    for target in &system.targets {
        let mut parts: Vec<String> = Vec::new();
        if let Some(control) = target.shared.and_then(|shared| names.control().nth(shared.index())) {
            parts.push(format!("{} >= 1", control.1));
        }
        parts.extend(target.tokens.iter().map(|(at, count)| format!("{} >= {count}", names.local(at))));
        if parts.is_empty() {
            // Everything is bad.
            parts.extend(names.all().next().map(|name| format!("{name} >= 0")));
        }
        let _ = writeln!(text, "  {}", parts.join(", "));
    }
    Ok(text)
}

fn write_rule(names: &Names, rule: &Rule, text: &mut String) {
    let mut guards = Vec::new();
    let mut effects = Vec::new();
    if let (Some(from), Some(to)) = (names.shared.get(rule.from.index()), names.shared.get(rule.to.index())) {
        guards.push(format!("{from} >= 1"));
        if from != to {
            effects.push(format!("{from}' = {from} - 1"));
            effects.push(format!("{to}' = {to} + 1"));
        }
    }
    for (local, count) in rule.takes.iter() {
        let relation = if rule.exactly.binary_search(&local).is_ok() { "=" } else { ">=" };
        guards.push(format!("{} {relation} {count}", names.local(local)));
    }
    let zero = rule.exactly.iter().filter(|&&local| rule.takes.count(local) == 0);
    guards.extend(zero.map(|&local| format!("{} = 0", names.local(local))));
    if guards.is_empty() {
        guards.push("true".to_string());
    }
    // For each variable that changes, what is added up.
    let mut sums: BTreeMap<Local, (Vec<Local>, i128)> = BTreeMap::new();
    let goes = |from: Local| match rule.moves.binary_search_by_key(&from, |&(at, _)| at) {
        Ok(index) => rule.moves[index].1,
        Err(_) => Some(from),
    };
    let changed: HashSet<Local> = rule.takes.iter().chain(rule.gives.iter()).map(|(at, _)| at).collect();
    let moved = rule.moves.iter().flat_map(|&(from, to)| [Some(from), to]).flatten();
    let touched: HashSet<Local> = changed.into_iter().chain(moved).collect();
    for &local in &touched {
        sums.entry(local).or_default().1 += i128::from(rule.gives.count(local));
        if let Some(to) = goes(local) {
            let (sources, constant) = sums.entry(to).or_default();
            sources.push(local);
            *constant -= i128::from(rule.takes.count(local));
        }
    }
    for (local, (mut sources, constant)) in sums {
        sources.sort_unstable();
        if sources == [local] && constant == 0 {
            continue;
        }
        let mut sum = sources.iter().map(|&at| names.local(at).to_string()).collect::<Vec<_>>().join(" + ");
        if sum.is_empty() {
            sum = constant.to_string();
        } else if constant != 0 {
            let _ = write!(sum, " {} {}", if constant < 0 { '-' } else { '+' }, constant.abs());
        }
        effects.push(format!("{}' = {sum}", names.local(local)));
    }
    let _ = writeln!(text, "  {} ->\n    {};", guards.join(", "), effects.join(", "));
}

/// Names that mist can read: as they are where possible.
struct Names {
    /// For the control; empty if there is only one shared state.
    shared: Vec<String>,
    locals: Vec<String>,
}

impl Names {
    fn new(system: &Counters) -> Names {
        let mut taken: HashSet<String> = KEYWORDS.map(|(word, _)| word.to_string()).into();
        let mut fresh = |name: &String, prefix: &str| {
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            let mut name: String = name.chars().map(plain).collect();
            if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() || taken.contains(&name) {
                name = format!("{prefix}{name}");
            }
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        let locals = system.locals.iter().map(|name| fresh(name, "l")).collect();
        let control: &[String] = if system.shared.len() == 1 { &[] } else { &system.shared };
        Names { locals, shared: control.iter().map(|name| fresh(name, "s")).collect() }
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        self.shared.iter().chain(&self.locals).map(String::as_str)
    }

    fn control(&self) -> impl Iterator<Item = (u32, &str)> {
        self.shared.iter().enumerate().map(|(shared, name)| (shared as u32, name.as_str()))
    }

    fn local(&self, local: Local) -> &str {
        &self.locals[local as usize]
    }
}
