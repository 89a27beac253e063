//! R_k: the states reachable within `k` contexts (CUBA, section 2.3), one by one.
//!
//! A context is a run of steps of one thread. A state that is new within `k` contexts is put into the closure of each thread
//! once: under the thread that found it at bound `k` already, under the others at bound `k + 1`. States are numbered in the
//! order in which they are found, so those that are new at a bound are a range of numbers.
//!
//! Within one context infinitely many states may be reachable. When a context has shown very many, finite context
//! reachability is tested ([`finite_contexts`](crate::above::finite_contexts)), and the exploration gives up if it fails.

use crate::above::finite_contexts::require_finite_contexts;
use crate::below::shortest::{Effort, cost, shortest};
use crate::budget::{Budget, Progress};
use crate::engine::{Figures, Info, Outcome, PushdownEngine, Question, Setting};
use crate::store::{Disabled, Halt, Space, StateId};
use allways_evidence::{StopReason, Trace, Verdict};
use allways_model::pushdown::Pushdown;
use allways_model::symmetry::Kinds;

/// New states in one context that raise the suspicion that there may be infinitely many.
const MANY: usize = 1 << 20;

/// How many states are expanded at a time.
const CHUNK: usize = 4096;

/// The set R_k, growing in `k`.
pub struct Contexts<'a> {
    space: Space<'a>,
    contexts: u32,
    question: &'a Question,
    budget: &'a Budget<'a>,
    /// Whether the test for infinite contexts has been made, and passed.
    finite: bool,
    /// For each state and thread, whether the state is in the thread's closure.
    closed: Vec<bool>,
    /// States from this number on are new at the current bound.
    new: StateId,
    targets: Vec<StateId>,
}

impl<'a> Contexts<'a> {
    /// R_0: the initial states.
    pub fn new(system: &'a dyn Pushdown, question: &'a Question, budget: &'a Budget<'a>) -> Contexts<'a> {
        let space = Space::new(system, Kinds::distinct(system.threads()), question, budget);
        Contexts {
            space,
            question,
            budget,
            finite: false,
            contexts: 0,
            closed: Vec::new(),
            new: 0,
            targets: Vec::new(),
        }
    }

    /// The states reached, R_k.
    pub fn space(&self) -> &Space<'a> {
        &self.space
    }

    /// The bound on contexts.
    pub fn contexts(&self) -> u32 {
        self.contexts
    }

    /// Whether R_k had states that R_(k-1) has not. If not, no bound will show more (CUBA, Lemma 7).
    pub fn grown(&self) -> bool {
        (self.new as usize) < self.space.len()
    }

    /// From R_k to R_(k+1).
    pub fn add_context(&mut self) -> Result<(), Halt> {
        let threads = self.space.threads.count();
        let frontier = self.new..self.space.len() as StateId;
        self.contexts += 1;
        self.new = frontier.end;
        for thread in 0..threads {
            self.closed.resize(self.space.len() * threads, false);
            let mut work: Vec<StateId> = frontier.clone().collect();
            work.retain(|&state| {
                !std::mem::replace(&mut self.closed[state as usize * threads + thread], true)
            });
            while !work.is_empty() {
                if !self.finite && self.space.len() - frontier.end as usize > MANY {
                    require_finite_contexts(self.space.threads.system(), self.question, self.budget)?;
                    self.finite = true;
                }
                let batch = work.split_off(work.len().saturating_sub(CHUNK));
                self.targets.clear();
                self.space.image(thread, &batch, Disabled::Blocks, Progress::default(), &mut self.targets)?;
                self.closed.resize(self.space.len() * threads, false);
                for &state in &self.targets {
                    if !std::mem::replace(&mut self.closed[state as usize * threads + thread], true) {
                        work.push(state);
                    }
                }
            }
        }
        Ok(())
    }

    /// What the run took, up to now.
    pub fn figures(&self) -> Figures {
        Figures {
            concrete_states: Some(self.space.len()),
            contexts: Some(self.contexts),
            images: self.space.images(),
            store_bytes: self.space.bytes() + self.closed.capacity(),
            ..Figures::default()
        }
    }

    /// A run to a bad state within the bound. A state remembers where it was found from first; another run to it may have
    /// come with the thread that moves next, and only that one stays within the bound.
    fn trace(&self, bad: StateId) -> Trace {
        let system = self.space.threads.system();
        let found = self.space.trace(bad);
        if cost(system, &found).0 <= self.contexts {
            return found;
        }
        shortest(system, &self.question.property, &found, Effort::default(), self.budget).trace
    }

    /// The report on a run that ended so.
    pub fn report(self, verdict: Result<Verdict, Halt>) -> Outcome {
        let verdict = match verdict {
            Ok(verdict) => verdict,
            Err(Halt::Bad(state)) => Verdict::from(self.trace(state)),
            Err(Halt::Stop(reason)) => Verdict::Unknown(reason),
        };
        let exact = matches!(verdict, Verdict::Safe(_));
        Outcome::seen(verdict, self.space.observed().visible(), exact, self.figures())
    }
}

/// Explores exactly R_k for a given bound.
pub struct ContextsEngine;

impl PushdownEngine for ContextsEngine {
    const INFO: Info = Info {
        needs: Some(Setting::Contexts),
        ..Info::new("contexts", "explores exactly the states within --contexts (CUBA, section 2.3)")
            .knowing(&[Setting::Contexts])
    };

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        let bound = question.contexts.unwrap_or(0);
        let mut explorer = Contexts::new(system, question, budget);
        let mut outcome = explorer.space.alarm();
        // Once a context shows nothing new, the others do not either.
        while outcome.is_ok() && explorer.contexts < bound && explorer.grown() {
            outcome = explorer.add_context();
        }
        explorer.contexts = if outcome.is_ok() { bound } else { explorer.contexts };
        explorer.report(outcome.map(|()| {
            let contexts = if bound == 1 { "context" } else { "contexts" };
            Verdict::Unknown(StopReason::Bound(format!("{bound} {contexts}")))
        }))
    }
}
