//! Regular sets of stacks: what one thread can reach alone, even where that is infinite.
//!
//! A thread alone is a pushdown system, and the configurations that it reaches from a regular set of configurations form
//! a regular set again (Büchi 1964; Bouajjani, Esparza, Maler, CONCUR 1997). CUBA (sections 2.1 and 5) calls the
//! automata that represent such sets *pushdown store automata*. Read in this order:
//!
//! * [`automaton`]: a pushdown store automaton, and how to build one;
//! * [`saturation`]: post* and pre*, everything reachable from it and everything from which it is reachable;
//! * [`languages`]: the stacks at one shared state as a canonical automaton with a number, so that sets compare in one
//!   instruction;
//! * [`fcr`]: whether a thread reaches finitely many configurations within one context.
//!
//! Saturation is polynomial, making its result canonical is not: a deterministic automaton may be exponentially larger.
//! Everything that may take long therefore takes a [`Poll`], and stops as soon as that says so.

pub mod automaton;
pub mod fcr;
pub mod languages;
pub mod saturation;

mod determine;
mod minimise;
#[cfg(test)]
mod tests;

pub use automaton::Automaton;
pub use fcr::{Fcr, Pump};
pub use languages::{LanguageId, Languages};
pub use saturation::{PostStar, pre_star};

use allways_evidence::StopReason;

/// Asked now and then, a few thousand times a second, whether to go on.
pub type Poll<'a> = &'a mut dyn FnMut() -> Result<(), StopReason>;

/// Work between two questions to a [`Poll`], in automaton edges looked at.
const PACE: u32 = 1 << 14;

/// Counts work and polls in proportion. Outlives a single computation, so that many short ones poll as well.
#[derive(Default)]
struct Pace(u32);

impl Pace {
    /// Notes that this much work was done.
    #[inline]
    fn tick(
        &mut self,
        work: usize,
        poll: &mut dyn FnMut() -> Result<(), StopReason>,
    ) -> Result<(), StopReason> {
        self.0 = self.0.saturating_add(work.min(PACE as usize) as u32 + 1);
        if self.0 < PACE {
            return Ok(());
        }
        self.0 = 0;
        poll()
    }
}
