//! Guards and effects to rules that take, give and move tokens.
//!
//! Let `x` move to `y` if `x` appears in the effect of `y` (or stays, if it appears in none and has none). A guard `x >= k` takes `k` tokens
//! of `x` and gives them back where `x` moves to, but for those that an effect consumes: `y' = x + z - 2` consumes two of
//! what is taken from `x` and `z`. Which two does not matter, since both end in `y`.

use super::reader::MOST_VARIANTS;
use crate::diagnostic::Diagnostic;
use allways_model::counters::{Bag, Local, MOST, Rule, Shared};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

/// What must hold for one variable.
pub(super) struct Guard {
    pub local: Local,
    /// Up to `u64::MAX` if there is no upper bound.
    pub range: RangeInclusive<u64>,
    pub span: Range<usize>,
}

/// What one variable becomes.
pub(super) struct Effect {
    pub local: Local,
    /// The variables that are added up, and where they are written.
    pub sources: Vec<(Local, Range<usize>)>,
    pub constant: i128,
    pub span: Range<usize>,
}

/// A rule of the text.
#[derive(Default)]
pub(super) struct Guarded {
    pub guards: Vec<Guard>,
    pub effects: Vec<Effect>,
}

impl Guarded {
    /// The rules that it stands for: one for each way to meet its guards exactly, where they have an upper bound.
    pub fn rules(&self, line: u32, span: Range<usize>) -> Result<Vec<Rule>, Diagnostic> {
        let mut variants: Vec<Vec<(Local, u64, bool)>> = vec![Vec::new()];
        for guard in &self.guards {
            let (lowest, highest) = (*guard.range.start(), *guard.range.end());
            if highest == u64::MAX {
                variants.iter_mut().for_each(|taken| taken.push((guard.local, lowest, false)));
                continue;
            }
            if (highest - lowest + 1).saturating_mul(variants.len() as u64) > MOST_VARIANTS {
                let message = format!("expected a rule that stands for at most {MOST_VARIANTS}, found more");
                return Err(Diagnostic::error(guard.span.clone(), message));
            }
            let with = |taken: &Vec<_>, count| [&taken[..], &[(guard.local, count, true)]].concat();
            variants = variants
                .iter()
                .flat_map(|taken| (lowest..=highest).map(move |count| with(taken, count)))
                .collect();
        }
        let goes = self.goes()?;
        variants.iter().map(|taken| self.rule(taken, &goes, line, &span)).collect()
    }

    /// Where each variable moves that does not stay; `None` is nowhere.
    fn goes(&self) -> Result<BTreeMap<Local, Option<Local>>, Diagnostic> {
        let mut goes: BTreeMap<Local, Option<Local>> =
            self.effects.iter().map(|effect| (effect.local, None)).collect();
        for effect in &self.effects {
            for (source, span) in &effect.sources {
                let earlier = goes.insert(*source, Some(effect.local));
                if earlier != Some(None) {
                    let message = "expected each variable in a single effect, found another".to_string();
                    return Err(Diagnostic::error(span.clone(), message));
                }
            }
        }
        Ok(goes)
    }

    fn rule(
        &self,
        guards: &[(Local, u64, bool)],
        goes: &BTreeMap<Local, Option<Local>>,
        line: u32,
        span: &Range<usize>,
    ) -> Result<Rule, Diagnostic> {
        let mut takes: BTreeMap<Local, u64> =
            guards.iter().map(|&(local, count, _)| (local, count)).collect();
        let exactly: BTreeSet<Local> = guards.iter().filter(|guard| guard.2).map(|guard| guard.0).collect();
        // What is taken and not given back.
        let mut consumed: BTreeMap<Local, u64> = BTreeMap::new();
        let mut gives = Vec::new();
        for effect in &self.effects {
            let fault = |message: String| Diagnostic::error(effect.span.clone(), message);
            let too_large = || fault("expected a smaller number, found one beyond 4294967295".to_string());
            let limit = |number: i128| u64::try_from(number).ok().filter(|&number| number <= MOST);
            if effect.constant >= 0 {
                gives.push((effect.local, limit(effect.constant).ok_or_else(too_large)?));
                continue;
            }
            let mut left = limit(-effect.constant).ok_or_else(too_large)?;
            for (source, _) in &effect.sources {
                let here = takes.get(source).copied().unwrap_or(0).min(left);
                consumed.insert(*source, here);
                left -= here;
            }
            match &effect.sources[..] {
                _ if left == 0 => {}
                // No value is below zero, so this is a guard as well.
                [(source, _)] if !exactly.contains(source) => {
                    *takes.entry(*source).or_default() += left;
                    *consumed.entry(*source).or_default() += left;
                }
                _ => {
                    let message = format!("expected guards that make this at least zero, found {left} less");
                    return Err(fault(message));
                }
            }
        }
        for (&local, &count) in &takes {
            if let Some(to) = goes.get(&local).copied().unwrap_or(Some(local)) {
                gives.push((to, count - consumed.get(&local).copied().unwrap_or(0)));
            }
        }
        let gives: Bag = gives.into_iter().collect();
        if gives.iter().any(|(_, count)| count > MOST) {
            let message = "expected smaller numbers in a rule, found more than 4294967295 tokens".to_string();
            return Err(Diagnostic::error(span.clone(), message));
        }
        Ok(Rule {
            from: Shared(0),
            to: Shared(0),
            takes: takes.into_iter().collect(),
            gives,
            moves: goes
                .iter()
                .map(|(&from, &to)| (from, to))
                .filter(|&(from, to)| to != Some(from))
                .collect(),
            exactly: exactly.into_iter().collect(),
            line,
        })
    }
}
