//! A run of the system, from an initial state, one step of one thread at a time.

use allways_model::pushdown::State;

/// A run; as evidence, its last state is a bad one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// Where the run starts: an initial state.
    pub initial: State,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// One step of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Which thread moves.
    pub thread: usize,
    /// The line of the source of the rule by which it moves.
    pub line: u32,
    /// The state afterwards.
    pub state: State,
}

impl Trace {
    /// The state in which the run ends.
    pub fn last(&self) -> &State {
        self.steps.last().map_or(&self.initial, |step| &step.state)
    }

    /// How often a step is by another thread than the step before it.
    pub fn switches(&self) -> usize {
        self.steps.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
    }
}
