//! What every engine takes and gives.

use allways_evidence::{StopReason, Verdict};
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Visible};
use allways_model::symmetry::Kinds;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// An engine: one way of answering a [`Question`] about a pushdown system.
pub trait Engine: Sync {
    /// The name by which users choose it.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn summary(&self) -> &'static str;

    /// Answers, or says why not. Must poll [`Watch::check`] often enough to stop within a few milliseconds.
    fn run(&self, system: &dyn Pushdown, question: &Question, watch: &Watch) -> Report;
}

/// All engines, in the order in which `allways engines` lists them.
pub fn engines() -> &'static [&'static dyn Engine] {
    &[
        &crate::meet::portfolio::Portfolio,
        &crate::meet::sandwich::Sandwich,
        &crate::meet::druba::Druba,
        &crate::meet::ai::Ai,
        &crate::meet::cuba::Cuba,
        &crate::meet::cuba::CubaSymbolic,
        &crate::meet::cuba::Scheme1,
        &crate::meet::cuba::CubaRace,
        &crate::above::tops::TopsEngine,
        &crate::above::thread_modular::flanagan_qadeer::Modular,
        &crate::above::thread_modular::quadratic::Quadratic,
        &crate::above::thread_modular::relaxed::Relaxed,
        &crate::above::thread_modular::both::Both,
        &crate::above::thread_modular::frontier::Frontier,
        &crate::below::free::Free,
        &crate::below::rounds_delays::RoundsDelays,
        &crate::below::contexts::ContextsEngine,
    ]
}

/// The engine that is used where none is named.
pub fn auto() -> &'static dyn Engine {
    &crate::meet::portfolio::Portfolio
}

/// What is asked. Bounds that an engine does not know are ignored by it.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// What must never be seen; empty to ask for the reachable visible states.
    pub property: Property,
    /// Explore at most this many rounds…
    pub rounds: Option<u32>,
    /// …and this many delays.
    pub delays: Option<u32>,
    /// Explore at most this many contexts.
    pub contexts: Option<u32>,
    /// Store at most this many states.
    pub max_states: Option<usize>,
    /// Do not look at states with a deeper stack.
    pub max_depth: Option<usize>,
    /// Keep this many symbols of each stack.
    pub window: Option<usize>,
    /// For CUBA's methods: the Z of the paper in place of a sharper one.
    pub published_bound: bool,
    /// Compute each set from scratch instead of from the frontier of the one before (DrUBA, Table 3, last column).
    pub no_frontier: bool,
    /// Treat interchangeable threads as different ones.
    pub no_symmetry: bool,
    /// Use so many cores, where an engine can.
    pub cores: Option<usize>,
}

impl Question {
    /// Whether only some schedules or stacks are asked about; then a run must lie within these bounds.
    pub fn bounded(&self) -> bool {
        self.rounds.is_some() || self.delays.is_some() || self.contexts.is_some() || self.max_depth.is_some()
    }

    /// The threads that an engine may treat as interchangeable.
    pub fn kinds(&self, system: &dyn Pushdown) -> Kinds {
        if self.no_symmetry { Kinds::distinct(system.threads()) } else { Kinds::of(system) }
    }
}

/// The answer, and what it took.
#[derive(Clone, Debug)]
pub struct Report {
    /// The answer. `Safe` from an engine is a claim until the checker has accepted its invariant.
    pub verdict: Verdict,
    /// The visible states that the engine found: reachable ones, unless it is a bound from above.
    pub visible: VisibleStates,
    /// Whether these are exactly the reachable ones, granted that the invariant of `Safe` holds.
    pub exact: bool,
    /// Figures about the run.
    pub figures: Figures,
    /// The engine that gave the answer, if it is not the one that was asked.
    pub engine: Option<&'static str>,
}

/// A set of visible states: rows of the shared state and the top symbol of each thread, in one array. Where threads are
/// interchangeable, a row stands for its orbit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VisibleStates {
    kinds: Kinds,
    rows: Vec<u32>,
}

impl VisibleStates {
    /// None yet.
    pub fn new(kinds: Kinds) -> VisibleStates {
        VisibleStates { kinds, rows: Vec::new() }
    }

    /// Adds a row whose orbit is not there yet.
    pub fn push(&mut self, row: impl Iterator<Item = u32>) {
        self.rows.extend(row);
    }

    fn orbits(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.rows.chunks_exact(1 + self.kinds.threads()).map(|row| (row[0], &row[1..]))
    }

    /// How many orbits there are; without symmetry, how many states.
    pub fn representatives(&self) -> usize {
        self.rows.len() / (1 + self.kinds.threads())
    }

    /// How many states there are.
    pub fn count(&self) -> u128 {
        if self.kinds.trivial() {
            return self.representatives() as u128;
        }
        self.orbits().map(|(_, tops)| self.kinds.orbit(tops)).fold(0, u128::saturating_add)
    }

    /// The states, one by one, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Visible> {
        self.orbits().flat_map(|(shared, tops)| {
            self.kinds.members_of_orbit(tops).into_iter().map(move |tops| Visible { shared, tops })
        })
    }

    /// The states, one by one, sorted.
    pub fn sorted(&self) -> Vec<Visible> {
        let mut visible: Vec<Visible> = self.iter().collect();
        visible.sort_unstable();
        visible
    }
}

/// Figures about a run; `None` where they make no sense.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Concrete states stored.
    pub concrete_states: Option<usize>,
    /// (State, finder) pairs stored.
    pub found_pairs: Option<usize>,
    /// The last round bound explored.
    pub rounds: Option<u32>,
    /// The last delay bound explored.
    pub delays: Option<u32>,
    /// The last context bound explored.
    pub contexts: Option<u32>,
    /// How often the successors of a state were computed.
    pub images: u64,
    /// Of these, how many during the final plateau.
    pub plateau_images: Option<u64>,
    /// Bytes held by the sets of states at the end of the run.
    pub store_bytes: usize,
    /// The walk through the grid of bounds.
    pub walk: Vec<Cell>,
    /// What else there is to say about the run.
    pub remarks: Vec<String>,
    /// Actions seen, respectful and disrespectful (DrUBA, Definition 4).
    pub actions: Option<(usize, usize)>,
}

/// One cell of the walk through the (rounds, delays) grid (DrUBA, Table 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// The round bound.
    pub rounds: u32,
    /// The delay bound.
    pub delays: u32,
    /// Visible states reached under these bounds.
    pub visible: usize,
    /// Abstract states (visible states with marks) reached under these bounds.
    pub abstract_states: usize,
    /// Concrete states reached under these bounds.
    pub concrete: usize,
    /// Images computed so far.
    pub images: u64,
    /// What the convergence test said here, if it was made.
    pub closed: Option<bool>,
}

/// How far an engine has come; shown on a terminal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// States stored.
    pub states: usize,
    /// Images computed.
    pub images: u64,
    /// The round bound being explored.
    pub rounds: Option<u32>,
    /// The delay bound being explored.
    pub delays: Option<u32>,
}

/// Limits on a run, and who watches it. Engines only see this; who sets it is the caller's affair.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Stop at this time.
    pub deadline: Option<Instant>,
    /// Stop when this many bytes are in use.
    pub memory: Option<usize>,
    /// How many bytes the process uses now.
    pub memory_used: &'a (dyn Fn() -> usize + Sync),
    /// Stop when this becomes true.
    pub interrupt: &'a AtomicBool,
    /// Stop when this becomes true: another engine has decided.
    pub over: Option<&'a AtomicBool>,
    /// Stop when this becomes true: a method beside all engines has decided.
    pub beside: Option<&'a AtomicBool>,
    /// Told now and then how far the engine has come.
    pub progress: &'a (dyn Fn(&Progress) + Sync),
}

impl Watch<'_> {
    /// No limits, no watcher.
    pub fn none() -> Watch<'static> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Watch {
            deadline: None,
            memory: None,
            memory_used: &|| 0,
            interrupt: &NEVER,
            over: None,
            beside: None,
            progress: &|_| (),
        }
    }

    /// Whether to stop now. Cheap, but not free: a few hundred times a second is right.
    pub fn check(&self, progress: &Progress) -> Result<(), StopReason> {
        (self.progress)(progress);
        self.room_for(0)
    }

    /// Whether to stop, were this many bytes to be allocated now. To be asked before a large allocation.
    pub fn room_for(&self, bytes: usize) -> Result<(), StopReason> {
        let over = [self.over, self.beside].into_iter().flatten().any(|over| over.load(Ordering::Relaxed));
        if over || self.interrupt.load(Ordering::Relaxed) {
            return Err(StopReason::Interrupted);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(StopReason::Time);
        }
        if self.memory.is_some_and(|limit| (self.memory_used)().saturating_add(bytes) > limit) {
            return Err(StopReason::Memory);
        }
        Ok(())
    }
}
