//! A run of a counter system, and the checker that walks it by [`step`].

use super::Rejection;
use crate::rejection::shorten;
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
pub fn check_run(system: &Counters, run: &Run) -> Result<Configuration, Rejection> {
    system.validate().map_err(Rejection::Because)?;
    let shared = run.initial.shared as usize;
    let known = |(local, _): (u32, u64)| (local as usize) < system.locals.len();
    if shared >= system.shared.len() || !run.initial.tokens.iter().all(known) {
        return Err(Rejection::Because(
            "the run starts in a state that the system does not have".to_string(),
        ));
    }
    let show = |configuration: &Configuration| shorten(&system.show(configuration));
    if !system.is_initial(&run.initial) {
        return Err(Rejection::Because(format!("step 0: {} is not initial", show(&run.initial))));
    }
    let mut now = run.initial.clone();
    for (index, &number) in run.rules.iter().enumerate() {
        let place = format!("step {}", index + 1);
        let Some(rule) = system.rules.get(number as usize) else {
            return Err(Rejection::Because(format!("{place}: there is no rule {}", u64::from(number) + 1)));
        };
        let Some(next) = step(rule, &now) else {
            let (rule, line) = (number + 1, rule.line);
            let what = format!("{place}: rule {rule} of line {line} cannot fire in {}", show(&now));
            return Err(Rejection::Because(what));
        };
        now = next;
    }
    if !system.is_bad(&now) {
        let steps = run.rules.len();
        let what = format!("step {steps}: the run ends in {}, which covers no target", show(&now));
        return Err(Rejection::Because(what));
    }
    Ok(now)
}
