//! All states of a program with a fixed number of threads, and all steps between them, by the program's own semantics.
//!
//! Nothing is left out: neither threads that could be renumbered, nor steps that nobody else can tell, since fairness speaks of each
//! thread and each state. What a thread can do depends on the shared variables and its own stack, so it is computed once for each pair of
//! these and looked up then; unless a step reaches into other threads, as a broadcast does.
//!
//! Invariant: states are numbered in the order in which they are found, breadth first; those below `first.len() - 1` have been
//! expanded, and their moves are `moves[first[s]..first[s + 1]]`.

use crate::budget::{Budget, Progress};
use allways_evidence::{Listed, StopReason};
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{LocationId, Op, Program, Target};
use rustc_hash::FxHashMap;

/// The number of a state.
pub type StateNumber = u32;

/// How deep stacks are followed.
const DEEPEST: usize = 128;

/// How many states are expanded between two looks at the budget.
const LOOK: usize = 512;

/// A step from a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Where it leads.
    pub to: StateNumber,
    /// Who moves.
    pub thread: u32,
    /// By which edge of its location.
    pub edge: u32,
}

/// States and steps.
pub struct Graph {
    /// The states.
    pub states: Listed,
    /// How many of them, from the first on, are initial.
    pub initial: usize,
    /// One of them, for who the threads are.
    pub like: State,
    moves: Vec<Move>,
    first: Vec<usize>,
}

/// Why there is no graph.
pub enum NoGraph {
    /// Something goes wrong in a state that can be reached.
    Wrong,
    /// It was not finished.
    Stopped(StopReason),
}

impl From<StopReason> for NoGraph {
    fn from(reason: StopReason) -> NoGraph {
        NoGraph::Stopped(reason)
    }
}

fn gave_up(why: String) -> NoGraph {
    NoGraph::Stopped(StopReason::GaveUp(why))
}

/// What a thread can do, by its number, the number of the shared values and that of its stack.
type Known = FxHashMap<(u32, u32, u32), Vec<Effect>>;

/// What a step does to the shared variables and the stack of its thread.
#[derive(Clone, Copy)]
struct Effect {
    edge: u32,
    shared: u32,
    stack: u32,
}

impl Graph {
    /// Explores a program with so many threads of each template.
    pub fn explore(
        program: &Program,
        counts: &[usize],
        deadlock: bool,
        budget: &Budget,
    ) -> Result<Graph, NoGraph> {
        let Some(initial) = State::initial(program, counts) else {
            return Err(gave_up("there are too many initial states".to_string()));
        };
        let Some(like) = initial.first().cloned() else {
            return Err(gave_up("there is no initial state".to_string()));
        };
        let (states, moves, first) = (Listed::default(), Vec::new(), vec![0]);
        let mut graph = Graph { states, initial: 0, like, moves, first };
        for state in &initial {
            graph.insert(program, state)?;
        }
        graph.initial = graph.states.len();
        let mut known = (!reaches_others(program)).then(Known::default);
        let mut next = 0;
        while next < graph.states.len() {
            if next % LOOK == 0 {
                let progress =
                    Progress { states: graph.states.len(), images: next as u64, ..Progress::default() };
                budget.tick(&progress)?;
                budget.room_for(graph.bytes() / 2)?;
            }
            graph.expand(program, next, known.as_mut(), deadlock)?;
            graph.first.push(graph.moves.len());
            next += 1;
        }
        Ok(graph)
    }

    /// Adds a state in which nothing is wrong.
    fn insert(&mut self, program: &Program, state: &State) -> Result<StateNumber, NoGraph> {
        let (number, new) = self.states.insert(state);
        if new {
            self.look_at(program, state)?;
        }
        Ok(number as StateNumber)
    }

    fn look_at(&self, program: &Program, state: &State) -> Result<(), NoGraph> {
        match state.violated(program) {
            None | Some(Outcome::To(_)) => {}
            Some(Outcome::Wrong(_)) => return Err(NoGraph::Wrong),
            Some(Outcome::Beyond(span)) => return Err(beyond(span.line)),
        }
        if state.threads.iter().any(|thread| thread.stack.len() > DEEPEST) {
            return Err(gave_up(format!("stacks grow beyond {DEEPEST} calls")));
        }
        if self.states.len() > StateNumber::MAX as usize / 2 {
            return Err(StopReason::Memory.into());
        }
        Ok(())
    }

    /// Adds the moves from a state.
    fn expand(
        &mut self,
        program: &Program,
        number: usize,
        mut known: Option<&mut Known>,
        deadlock: bool,
    ) -> Result<(), NoGraph> {
        let row = self.states.row(number).to_vec();
        let mut state = None;
        let before = self.moves.len();
        for thread in 0..row.len() as u32 - 1 {
            let (shared, stack) = (row[0], row[thread as usize + 1]);
            if let Some(effects) = known.as_ref().and_then(|known| known.get(&(thread, shared, stack))) {
                let mut after = row.clone();
                for &Effect { edge, shared, stack } in effects {
                    after[0] = shared;
                    after[thread as usize + 1] = stack;
                    let (to, new) = self.states.insert_row(&after);
                    if new {
                        self.look_at(program, &self.states.get(to, &self.like))?;
                    }
                    self.moves.push(Move { to: to as StateNumber, thread, edge });
                }
                continue;
            }
            let state = state.get_or_insert_with(|| self.states.get(number, &self.like)).clone();
            let mut effects = Vec::new();
            for step in steps(program, &state, thread as usize) {
                let next = match step.outcome {
                    Outcome::To(next) => next,
                    Outcome::Wrong(_) => return Err(NoGraph::Wrong),
                    Outcome::Beyond(span) => return Err(beyond(span.line)),
                };
                let (to, edge) = (self.insert(program, &next)?, step.edge as u32);
                let after = self.states.row(to as usize);
                effects.push(Effect { edge, shared: after[0], stack: after[thread as usize + 1] });
                self.moves.push(Move { to, thread, edge });
            }
            if let Some(known) = &mut known {
                known.insert((thread, shared, stack), effects);
            }
        }
        if deadlock && self.moves.len() == before {
            let state = self.states.get(number, &self.like);
            if !state.threads.iter().all(|thread| thread.ended(program)) {
                return Err(NoGraph::Wrong);
            }
        }
        Ok(())
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.like.threads.len()
    }

    /// All moves from a state.
    pub fn moves(&self, state: StateNumber) -> &[Move] {
        &self.moves[self.first[state as usize]..self.first[state as usize + 1]]
    }

    /// Whether a thread can move.
    pub fn enabled(&self, state: StateNumber, thread: usize) -> bool {
        self.moves(state).iter().any(|step| step.thread as usize == thread)
    }

    /// Where the control of a thread is.
    pub fn location(&self, state: StateNumber, thread: usize) -> Option<LocationId> {
        let stack = self.states.row(state as usize)[thread + 1];
        self.states.frames(stack).last().map(|top| top.location)
    }

    /// A state.
    pub fn state(&self, state: StateNumber) -> State {
        self.states.get(state as usize, &self.like)
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.states.bytes() + self.moves.capacity() * size_of::<Move>() + self.first.capacity() * 8
    }
}

fn beyond(line: u32) -> NoGraph {
    gave_up(format!("line {line}: a single step does too much to be followed"))
}

/// Whether some step looks at, or changes, more than the shared variables and the stack of its own thread.
pub fn reaches_others(program: &Program) -> bool {
    let mixed = program.procedures.iter().flat_map(|procedure| &procedure.locals).any(|local| local.mixed);
    let mut edges = program.locations.iter().flat_map(|location| &location.edges);
    mixed
        || edges.any(|edge| {
            let given = |target: &Target| matches!(target, Target::Others(_));
            matches!(edge.op, Op::Broadcast(_) | Op::Signal(_) | Op::Spawn(..) | Op::Fork(_))
                || edge.op.places().iter().any(|place| given(&place.target))
        })
}
