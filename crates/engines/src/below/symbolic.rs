//! S_k: the states reachable within `k` contexts, as products of regular sets of stacks (CUBA, section 6; Qadeer and Rehof,
//! TACAS 2005).
//!
//! A symbolic state is a row: a shared state and, for each thread, the number of a set of stacks; it stands for all states
//! with that shared state and a stack from each set, all of which are reachable. A context of a thread replaces its set by
//! everything it reaches alone ([`automata`](crate::automata)), one set for each shared state it may end in. So a context
//! passes through infinitely many states in one step of the [`Expander`].

use crate::automata::{LanguageId, Languages};
use crate::budget::{Budget, Progress};
use crate::engine::{Question, VisibleStates};
use crate::store::{Disabled, Expander, Graph, Move, StateId, States};
use allways_evidence::StopReason;
use allways_model::pushdown::{Pushdown, Shared, Symbol};
use allways_model::symmetry::Kinds;

/// The set S_k, growing in `k`.
pub struct Symbolic<'a> {
    system: &'a dyn Pushdown,
    contexts: u32,
    graph: Contexts<'a>,
    expander: Expander,
    states: States,
    /// The visible states: rows of the shared state and symbols, sorted within kinds.
    visible: States,
    new: StateId,
    question: &'a Question,
    bad: bool,
    images: u64,
}

/// Whole contexts of one thread as moves between sets of stacks.
struct Contexts<'a> {
    kinds: Kinds,
    languages: Vec<Languages<'a>>,
    moves: Vec<Move>,
    budget: &'a Budget<'a>,
    /// Why the last moves are not complete, if they are not.
    stopped: Option<StopReason>,
}

impl Graph for Contexts<'_> {
    fn moves(&mut self, thread: usize, shared: Shared, local: u32) -> &[Move] {
        self.moves.clear();
        let budget = self.budget;
        let mut poll = || budget.tick(&Progress::default());
        match self.languages[self.kinds.kind(thread)].post(shared, LanguageId(local), &mut poll) {
            Ok(reached) => {
                self.moves.extend(reached.iter().map(|&(shared, LanguageId(local))| Move { shared, local }))
            }
            Err(reason) => self.stopped = Some(reason),
        }
        &self.moves
    }
}

impl<'a> Symbolic<'a> {
    /// S_0: the initial states.
    pub fn new(
        system: &'a dyn Pushdown,
        kinds: Kinds,
        question: &'a Question,
        budget: &'a Budget<'a>,
    ) -> Symbolic<'a> {
        let leaders = (0..kinds.count()).map(|kind| kinds.members(kind)[0]);
        let languages = leaders.map(|thread| Languages::new(system, thread)).collect();
        let mut symbolic = Symbolic {
            system,
            contexts: 0,
            graph: Contexts { kinds: kinds.clone(), languages, moves: Vec::new(), budget, stopped: None },
            expander: Expander::new(kinds.clone()),
            states: States::new(1 + system.threads()),
            visible: States::new(1 + system.threads()),
            new: 0,
            question,
            bad: false,
            images: 0,
        };
        for state in system.initial() {
            let mut row = vec![state.shared.0];
            for (thread, stack) in state.stacks.iter().enumerate() {
                row.push(symbolic.graph.languages[kinds.kind(thread)].intern_stack(stack).0);
            }
            kinds.sort(&mut row[1..]);
            symbolic.states.insert(&row);
        }
        // The initial symbolic states are single states: a moment.
        let _ = symbolic.look(0);
        symbolic
    }

    /// The bound on contexts.
    pub fn contexts(&self) -> u32 {
        self.contexts
    }

    /// How many symbolic states there are.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there are none; never, since the initial state is there.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Whether the last context showed a new symbolic state.
    pub fn grown(&self) -> bool {
        (self.new as usize) < self.states.len()
    }

    /// Whether a bad state is among those reached.
    pub fn bad(&self) -> bool {
        self.bad
    }

    /// The visible states reached: rows of the shared state and symbols, sorted within kinds.
    pub fn visible(&self) -> &States {
        &self.visible
    }

    /// The visible states reached, for a report.
    pub fn report(&self) -> VisibleStates {
        let mut visible = VisibleStates::new(self.graph.kinds.clone());
        (0..self.visible.len() as StateId).for_each(|id| visible.push(self.visible.row(id)));
        visible
    }

    /// Contexts computed or looked up.
    pub fn images(&self) -> u64 {
        self.images
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let languages: usize = self.graph.languages.iter().map(Languages::bytes).sum();
        self.states.bytes() + self.visible.bytes() + languages
    }

    /// From S_k to S_(k+1).
    pub fn add_context(&mut self) -> Result<(), StopReason> {
        let frontier: Vec<StateId> = (self.new..self.states.len() as StateId).collect();
        self.contexts += 1;
        self.new = self.states.len() as StateId;
        let mut targets = Vec::new();
        // A context takes long compared with an image: small batches, so that limits are noticed.
        for batch in frontier.chunks(Expander::BATCH / 8) {
            for thread in 0..self.graph.kinds.threads() {
                targets.clear();
                self.expander.expand(
                    &mut self.graph,
                    &mut self.states,
                    thread,
                    batch,
                    Disabled::Blocks,
                    &mut targets,
                );
                self.images += batch.len() as u64;
                if let Some(reason) = self.graph.stopped.take() {
                    return Err(reason);
                }
            }
            if let Some(max) = self.question.max_states.filter(|&max| self.states.len() > max) {
                return Err(StopReason::Bound(format!("the first {max} symbolic states")));
            }
            self.graph.budget.tick(&Progress {
                states: self.states.len(),
                images: self.images,
                ..Progress::default()
            })?;
        }
        self.look(self.new)
    }

    /// Whether the last context showed no new state: each new symbolic state lies within an old one. This is sufficient, not
    /// necessary: a set may also be covered by several together.
    pub fn subsumed(&self) -> Result<bool, StopReason> {
        let kinds = &self.graph.kinds;
        let contains = |old: StateId, row: &[u32]| {
            self.states.column(old, 0) == row[0]
                && (0..kinds.threads()).all(|thread| {
                    let [one, other] = [row[1 + thread], self.states.column(old, 1 + thread)].map(LanguageId);
                    one == other || self.graph.languages[kinds.kind(thread)].is_subset(one, other)
                })
        };
        for id in self.new..self.states.len() as StateId {
            self.graph.budget.check()?;
            let row: Vec<u32> = self.states.row(id).collect();
            if !(0..self.new).any(|old| contains(old, &row)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Notes what is visible of the symbolic states from this number on: every choice of a top from each set.
    fn look(&mut self, from: StateId) -> Result<(), StopReason> {
        let threads = self.graph.kinds.threads();
        let mut choices = 0_u64;
        for id in from..self.states.len() as StateId {
            let row: Vec<u32> = self.states.row(id).collect();
            let tops: Vec<&[Symbol]> = (0..threads)
                .map(|thread| {
                    self.graph.languages[self.graph.kinds.kind(thread)].tops(LanguageId(row[1 + thread]))
                })
                .collect();
            let mut choice = vec![0; threads];
            loop {
                let mut seen: Vec<Symbol> = (0..threads).map(|thread| tops[thread][choice[thread]]).collect();
                self.graph.kinds.sort(&mut seen);
                let property = &self.question.property;
                self.bad |= property.violated_in_orbit(self.system, &self.graph.kinds, Shared(row[0]), &seen);
                let seen: Vec<u32> = [row[0]].into_iter().chain(seen.iter().map(|top| top.0)).collect();
                self.visible.insert(&seen);
                // Count up, thread by thread.
                let Some(thread) = (0..threads).find(|&thread| choice[thread] + 1 < tops[thread].len())
                else {
                    break;
                };
                choice[thread] += 1;
                choice[..thread].fill(0);
                choices += 1;
                if choices.is_multiple_of(4096) {
                    self.graph.budget.check()?;
                }
            }
        }
        Ok(())
    }
}
