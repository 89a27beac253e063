//! Weights of states, by which no configuration that can be reached is too heavy.

use allways_model::counters::{Bag, Configuration, Counters, Local, Shared};

/// All configurations whose weight is at most `most`: the weight of the shared state, and of each token.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Weights {
    /// The weights of local states; others weigh nothing.
    pub locals: Bag,
    /// The weights of shared states; others weigh nothing.
    pub shared: Bag,
    /// The most that a configuration may weigh.
    pub most: u64,
}

impl Weights {
    /// Whether a configuration is not too heavy.
    pub fn allow(&self, configuration: &Configuration) -> bool {
        self.weight(configuration.shared, &configuration.tokens) <= u128::from(self.most)
    }

    fn weight(&self, shared: Shared, tokens: &Bag) -> u128 {
        let tokens =
            tokens.iter().map(|(local, count)| u128::from(count) * u128::from(self.locals.count(local)));
        tokens.fold(u128::from(self.shared.count(shared.0)), u128::saturating_add)
    }

    /// Says why not all that can be reached is light enough, if that is so. Rules that are known never to fire do not matter.
    pub(super) fn check(&self, system: &Counters, can_fire: &[bool]) -> Result<(), String> {
        let known = |bag: &Bag, names: &[String]| bag.iter().all(|(at, _)| (at as usize) < names.len());
        if !known(&self.locals, &system.locals) || !known(&self.shared, &system.shared) {
            return Err("a state that the system does not have".to_string());
        }
        let heavy = |local: &Local| self.locals.count(*local) > 0;
        for initial in &system.initial {
            if let Some(&local) = initial.any.iter().find(|local| heavy(local)) {
                let name = &system.locals[local as usize];
                return Err(format!("there may be any number of {name} at the start"));
            }
            if self.weight(initial.shared, &initial.tokens) > u128::from(self.most) {
                return Err("an initial configuration is too heavy".to_string());
            }
        }
        for (number, rule) in system.rules.iter().enumerate().filter(|(number, _)| can_fire[*number]) {
            let heavier = self.weight(rule.to, &rule.gives) > self.weight(rule.from, &rule.takes);
            let moved = rule.moves.iter().any(|&(from, _)| {
                rule.goes(from).is_some_and(|to| self.locals.count(to) > self.locals.count(from))
            });
            if heavier || moved {
                return Err(format!(
                    "rule {} of line {} makes configurations heavier",
                    number + 1,
                    rule.line
                ));
            }
        }
        Ok(())
    }
}
