//! A run of a counter system, and the checker that walks it by [`step`].

use crate::rejection::{Rejection, shorten};
use allways_model::counters::step::step;
use allways_model::counters::{Configuration, Counters};

/// A run: where it starts, and the rules that fire. A rule leads from a configuration to one other, so this is all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The initial configuration.
    pub initial: Configuration,
    /// The rules, by their index in the system.
    pub rules: Vec<u32>,
}

impl Run {
    /// The configurations after each step, as far as the rules can fire.
    pub fn configurations<'a>(&'a self, system: &'a Counters) -> impl Iterator<Item = Configuration> + 'a {
        let mut now = self.initial.clone();
        self.rules.iter().map_while(move |&rule| {
            now = step(system.rules.get(rule as usize)?, &now)?;
            Some(now.clone())
        })
    }

    /// How many threads there are at the start, and how many at the end.
    pub fn threads(&self, system: &Counters) -> (u64, u64) {
        let start = self.initial.tokens.total();
        (start, self.configurations(system).last().map_or(start, |last| last.tokens.total()))
    }
}

/// Accepts a run that starts in an initial configuration, makes only steps that the rules allow, and ends in a bad one; gives
/// the bad one.
pub fn walk(system: &Counters, run: &Run) -> Result<Configuration, Rejection> {
    system.validate().map_err(Rejection::Malformed)?;
    let shared = run.initial.shared.index();
    let known = |(local, _): (u32, u64)| (local as usize) < system.locals.len();
    if shared >= system.shared.len() || !run.initial.tokens.iter().all(known) {
        return Err(Rejection::Malformed(
            "the run starts in a state that the system does not have".to_string(),
        ));
    }
    let show = |configuration: &Configuration| shorten(&system.show(configuration));
    if !system.is_initial(&run.initial) {
        return Err(Rejection::NotInitial(show(&run.initial)));
    }
    let mut now = run.initial.clone();
    for (index, &number) in run.rules.iter().enumerate() {
        let bad = |what: String| Rejection::BadStep { step: index + 1, what };
        let Some(rule) = system.rules.get(number as usize) else {
            return Err(bad(format!("there is no rule {}", u64::from(number) + 1)));
        };
        let Some(next) = step(rule, &now) else {
            let (rule, line) = (number + 1, rule.line);
            return Err(bad(format!("rule {rule} of line {line} cannot fire in {}", show(&now))));
        };
        now = next;
    }
    if !system.is_bad(&now) {
        return Err(Rejection::NotBad { step: run.rules.len(), state: show(&now) });
    }
    Ok(now)
}
