//! Shorter runs. What is pumped by Karp and Miller's tree is pumped to the end; much of it is not needed.
//!
//! A part of a run that starts and ends in the same shared state is left out if the rest still leads to a bad configuration,
//! the longest parts first; then tokens that are there from the start. What comes out is a run like any other, and is
//! checked like any other. When the budget is used up, it is as short as it has become.

use crate::budget::Budget;
use allways_evidence::counters::Run;
use allways_model::counters::step::step;
use allways_model::counters::{Configuration, Counters, Initial, Local};

/// Longer runs are left as they are: to try all parts takes the square of the length, and to walk each takes the length.
const LONGEST: usize = 400;

/// A run that is not longer, and has not more tokens.
pub fn shorten(system: &Counters, run: Run, budget: &Budget) -> Run {
    const EVERY: usize = 1 << 4;
    let mut run = run;
    if run.rules.len() > LONGEST {
        return run;
    }
    let mut length = run.rules.len();
    while length > 0 {
        let mut start = 0;
        while start + length <= run.rules.len() {
            if start.is_multiple_of(EVERY) && budget.check().is_err() {
                return run;
            }
            let before = system.rules[run.rules[start] as usize].from;
            let after = system.rules[run.rules[start + length - 1] as usize].to;
            let mut less = Vec::new();
            if before == after {
                less = [&run.rules[..start], &run.rules[start + length..]].concat();
            }
            if before == after && goes_wrong(system, &run.initial, &less) {
                run.rules = less;
            } else {
                start += 1;
            }
        }
        length = (length - 1).min(run.rules.len());
    }
    let places: Vec<Local> = run.initial.tokens.iter().map(|(local, _)| local).collect();
    for local in places {
        while let Some(initial) = with_less(system, &run.initial, local)
            && budget.check().is_ok()
            && goes_wrong(system, &initial, &run.rules)
        {
            run.initial = initial;
        }
    }
    run
}

fn goes_wrong(system: &Counters, initial: &Configuration, rules: &[u32]) -> bool {
    let walk = rules.iter().try_fold(initial.clone(), |now, &rule| step(&system.rules[rule as usize], &now));
    walk.is_some_and(|end| system.is_bad(&end))
}

/// The same with a token less, if that is initial as well.
fn with_less(system: &Counters, initial: &Configuration, local: Local) -> Option<Configuration> {
    let one = [(local, 1)].into_iter().collect();
    let less = Configuration { shared: initial.shared, tokens: initial.tokens.minus(&one) };
    let fewer = less.tokens.total() < initial.tokens.total();
    (fewer && system.initial.iter().any(|set: &Initial| set.contains(&less))).then_some(less)
}

#[cfg(test)]
mod tests {
    use super::*;
    use allways_evidence::counters::walk;
    use allways_model::counters::{Bag, Rule, Shared, Target};

    #[test]
    fn what_is_not_needed_goes() {
        let bag = |tokens: &[(Local, u64)]| tokens.iter().copied().collect::<Bag>();
        let system = Counters {
            shared: vec!["s".to_string(), "t".to_string()],
            locals: vec!["a".to_string(), "b".to_string()],
            rules: vec![
                Rule::plain(Shared(0), Shared(0), bag(&[(0, 1)]), bag(&[(1, 1)]), 1),
                Rule::plain(Shared(0), Shared(1), bag(&[]), bag(&[]), 2),
                Rule::plain(Shared(1), Shared(0), bag(&[]), bag(&[]), 3),
            ],
            initial: vec![Initial { shared: Shared(0), tokens: bag(&[(0, 1)]), any: vec![0] }],
            targets: vec![Target { shared: Some(Shared(1)), tokens: bag(&[(1, 2)]) }],
        };
        let initial = Configuration { shared: Shared(0), tokens: bag(&[(0, 9)]) };
        let run = Run { initial, rules: vec![1, 2, 0, 0, 0, 1, 2, 0, 1] };
        let short = shorten(&system, run, &Budget::unlimited());
        assert_eq!((short.initial.tokens.count(0), &short.rules[..]), (2, &[0, 0, 1][..]));
        assert!(walk(&system, &short).is_ok());
    }
}
