//! What every engine takes and gives.
//!
//! An [`Engine`] is asked about a task by way of its [`Forms`], runs on a [`Budget`], and gives an [`Outcome`]: a verdict that is
//! a claim until a checker has accepted its evidence, and figures. An engine on pushdown systems implements the smaller
//! [`PushdownEngine`], and is an [`Engine`] by that.

use crate::below::schedules::engine::Scheduler;
use crate::budget::Budget;
use crate::forms::Forms;
use allways_evidence::{StopReason, Verdict};
use allways_model::program::inputs::Inputs;
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Shared, Symbol, Visible};
use allways_model::symmetry::Kinds;
use allways_model::task::{Abstraction, Instance};
use allways_smt::Settings;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// An engine: one way of answering a question.
pub trait Engine: Sync {
    /// What users should know about it.
    fn info(&self) -> &'static Info;

    /// Whether it can say anything about the task, and why not.
    fn supports(&self, forms: &Forms) -> Result<(), String>;

    /// Answers, or says why not. Must poll the budget often enough to stop within a few milliseconds.
    fn run(&self, forms: &Forms, budget: &Budget) -> Outcome;
}

/// An engine on pushdown systems.
pub trait PushdownEngine: Sync {
    /// What users should know about it.
    const INFO: Info;

    /// Answers, or says why not. Must poll the budget often enough to stop within a few milliseconds.
    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome;
}

impl<E: PushdownEngine> Engine for E {
    fn info(&self) -> &'static Info {
        &E::INFO
    }

    fn supports(&self, forms: &Forms) -> Result<(), String> {
        match forms.counters() {
            Some(_) => {
                Err(format!("engine `{}` does not support counter systems (.spec, .tts)", E::INFO.name))
            }
            None => forms.pushdown().map(drop).map_err(|reason| reason.to_string()),
        }
    }

    fn run(&self, forms: &Forms, budget: &Budget) -> Outcome {
        let form = match forms.pushdown() {
            Ok(form) => form,
            Err(reason) => return Outcome::unknown(reason),
        };
        let mut outcome = self.search(&*form.system, &form.question, budget);
        if let (Verdict::Unknown(StopReason::Bound(_)), Some(why)) =
            (&outcome.verdict, form.system.incomplete())
        {
            // Not even what lies within the bound was explored to the end.
            outcome.verdict = Verdict::Unknown(StopReason::GaveUp(why));
        }
        outcome
    }
}

/// What users should know about an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// The name by which users choose it.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What it is about.
    pub takes: Takes,
    /// Which numbers of threads it knows how to answer about.
    pub threads: Threads,
    /// Which settings it knows.
    pub settings: &'static [Setting],
    /// Bounds that it cannot do without.
    pub needs: Option<Setting>,
    /// Whether its invariants list exactly the reachable states, where they keep whole stacks.
    pub lists_states: bool,
}

impl Info {
    /// An engine on pushdown systems with a fixed number of threads, without settings.
    pub const fn new(name: &'static str, summary: &'static str) -> Info {
        Info {
            name,
            summary,
            takes: Takes::Pushdown,
            threads: Threads::Fixed,
            settings: &[],
            needs: None,
            lists_states: false,
        }
    }

    /// The same with these settings.
    pub const fn knowing(self, settings: &'static [Setting]) -> Info {
        Info { settings, ..self }
    }
}

/// What an engine is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// Pushdown systems, and programs as such.
    Pushdown,
    /// Programs.
    Programs,
    /// Counter systems.
    Counters,
    /// Programs of which the number of threads is open, as counter systems, and counter systems.
    Countable,
    /// Everything.
    All,
}

/// Which numbers of threads an engine knows how to answer about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threads {
    /// A fixed number.
    Fixed,
    /// A fixed number, or any number at once.
    FixedOrAny,
    /// Whatever the task says.
    AsStated,
}

/// How to go about a search: what some engines know and others do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setting {
    /// Bounds on rounds and delays.
    Rounds,
    /// A bound on contexts.
    Contexts,
    /// A bound on stored states.
    MaxStates,
    /// A bound on stacks.
    MaxDepth,
    /// How much of each stack is kept.
    Window,
    /// Interchangeable threads are different ones.
    NoSymmetry,
    /// The bound of CUBA's paper.
    PublishedBound,
    /// Each set from scratch.
    NoFrontier,
    /// A scheduler of tasks.
    Scheduler,
    /// Which solver.
    Solver,
}

impl Setting {
    /// All of them.
    pub const ALL: [Setting; 10] = [
        Setting::Rounds,
        Setting::Contexts,
        Setting::MaxStates,
        Setting::MaxDepth,
        Setting::Window,
        Setting::NoSymmetry,
        Setting::PublishedBound,
        Setting::NoFrontier,
        Setting::Scheduler,
        Setting::Solver,
    ];

    /// Whether a question has it.
    pub fn is_given(self, question: &Question) -> bool {
        match self {
            Setting::Rounds => question.rounds.is_some(),
            Setting::Contexts => question.contexts.is_some(),
            Setting::MaxStates => question.max_states.is_some(),
            Setting::MaxDepth => question.max_depth.is_some(),
            Setting::Window => question.window.is_some(),
            // Who asks for a number or a set of states means states, not orbits of them, whatever the engine.
            Setting::NoSymmetry => {
                question.no_symmetry && question.max_states.is_none() && question.max_depth.is_none()
            }
            Setting::PublishedBound => question.published_bound,
            Setting::NoFrontier => question.no_frontier,
            Setting::Scheduler => question.scheduler.is_some(),
            Setting::Solver => question.solver.is_some() || question.smt_dump.is_some(),
        }
    }
}

/// The options of the command line.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Setting::Rounds => "--rounds and --delays",
            Setting::Contexts => "--contexts",
            Setting::MaxStates => "--max-states",
            Setting::MaxDepth => "--max-depth",
            Setting::Window => "--window",
            Setting::NoSymmetry => "--no-symmetry",
            Setting::PublishedBound => "--published-bound",
            Setting::NoFrontier => "--no-frontier",
            Setting::Scheduler => "--scheduler",
            Setting::Solver => "--solver and --smt-dump",
        })
    }
}

/// What is asked of an engine beside the system itself: the property, bounds, and how to go about it. What an engine does not
/// know is ignored by it; see [`Info::settings`].
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
    /// Of a program, keep what does not matter, as a comparison.
    pub unreduced: bool,
    /// Of a program with tasks, the order in which they run.
    pub scheduler: Option<Scheduler>,
    /// How to start a solver, if not as usual.
    pub solver: Option<Settings>,
    /// Also watch the predicates of a program on a walk through rounds and delays.
    pub observe: bool,
    /// Where the queries on which a certificate rests are written.
    pub smt_dump: Option<PathBuf>,
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
pub struct Outcome {
    /// The answer. A claim until a checker has accepted its evidence.
    pub verdict: Verdict,
    /// The visible states that the engine found: reachable ones, unless it is a bound from above.
    pub visible: VisibleStates,
    /// Whether these are exactly the reachable ones, granted that the invariant of `Safe` holds.
    pub exact: bool,
    /// Figures about the run.
    pub figures: Figures,
    /// The engine that gave the answer, if it is not the one that was asked.
    pub engine: Option<&'static Info>,
    /// The instance of the task that the answer is about, if it is not the one that was asked about.
    pub instance: Option<Instance>,
    /// The task beside the one that was asked about, if it is about such a one.
    pub abstraction: Option<Abstraction>,
    /// Values for choices of the program, with which the counterexample is one.
    pub inputs: Option<Arc<Inputs>>,
    /// Whether a checker has accepted the evidence.
    pub certified: bool,
    /// Evidence that a checker has rejected: a bug, and the end of the check.
    pub rejected: Option<EvidenceRejected>,
    /// How long the checker took.
    pub checking: Duration,
}

impl Outcome {
    /// An answer with figures, from an engine that saw no visible states.
    pub fn new(verdict: Verdict, figures: Figures) -> Outcome {
        Outcome {
            verdict,
            visible: VisibleStates::new(Kinds::distinct(0)),
            exact: false,
            figures,
            engine: None,
            instance: None,
            abstraction: None,
            inputs: None,
            certified: false,
            rejected: None,
            checking: Duration::ZERO,
        }
    }

    /// An answer, and the visible states that were found on the way.
    pub fn seen(verdict: Verdict, visible: VisibleStates, exact: bool, figures: Figures) -> Outcome {
        Outcome { visible, exact, ..Outcome::new(verdict, figures) }
    }

    /// Nothing is known, for this reason.
    pub fn unknown(reason: StopReason) -> Outcome {
        Outcome::new(Verdict::Unknown(reason), Figures::default())
    }

    /// Whether there is nothing left to ask.
    pub fn settled(&self) -> bool {
        self.rejected.is_some() || !matches!(self.verdict, Verdict::Unknown(_))
    }

    /// The same, by this engine unless another is named.
    #[must_use]
    pub fn by(self, engine: &'static Info) -> Outcome {
        Outcome { engine: self.engine.or(Some(engine)), ..self }
    }
}

/// An engine's answer that a checker does not accept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EvidenceRejected {
    /// The engine.
    pub engine: &'static str,
    /// What it claimed.
    pub claim: &'static str,
    /// The failing step.
    pub why: String,
}

impl fmt::Display for EvidenceRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EvidenceRejected { engine, claim, why } = self;
        write!(f, "the engine {engine} answers {claim}, but its evidence is rejected: {why}")
    }
}

impl std::error::Error for EvidenceRejected {}

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

    fn orbits(&self) -> impl Iterator<Item = (Shared, &[u32])> {
        self.rows.chunks_exact(1 + self.kinds.threads()).map(|row| (Shared(row[0]), &row[1..]))
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
            let members = self.kinds.members_of_orbit(tops).into_iter();
            members.map(move |tops| Visible { shared, tops: tops.into_iter().map(Symbol).collect() })
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
    /// Of a program under a scheduler, the schedules that were looked at.
    pub schedule: Option<Schedule>,
    /// Of a search level by level, the last level: the most steps that a state needs, as far as is known.
    pub levels: Option<u64>,
    /// What each of several workers did.
    pub shares: Vec<Share>,
}

/// What one of several workers did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// States that belong to it.
    pub states: u64,
    /// Bytes that it held in memory.
    pub bytes: u64,
    /// Bytes that it had on disk.
    pub disk_bytes: u64,
    /// How often it computed the successors of a state.
    pub images: u64,
}

/// The schedules of a program with tasks that were looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The scheduler.
    pub scheduler: &'static str,
    /// The delays of the run that goes wrong, or the bound that was reached.
    pub delays: usize,
    /// Configurations within so many delays.
    pub configurations: usize,
    /// Whether more delays add nothing.
    pub exhausted: bool,
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
