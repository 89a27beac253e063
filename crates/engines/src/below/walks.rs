//! Single runs under random schedules: bugs where there are too many states to look at all of them.
//!
//! After Sebastian Burckhardt, Pravesh Kothari, Madanlal Musuvathi and Santosh Nagarakatte, *A randomized scheduler with
//! probabilistic guarantees of finding bugs* (ASPLOS 2010): every thread has a random priority, of those that can move the one
//! with the highest moves, and at a few random steps the one that moves falls to the lowest. Deviations: a thread that has
//! moved for long without a break falls, too, so that one that waits in a loop does not keep the others from what it waits
//! for; where a thread can move in several ways, one is taken at random; and every other run has no priorities but a chance that
//! another thread goes on, since some bugs take many switches.
//!
//! Invariant: every state passed is reachable, and what is kept of a run is how to repeat it. Nothing is ever safe by this.
//! Numbers are pseudo-random with a fixed start, so that the runs are the same each time.

use crate::budget::{Budget, Progress};
use crate::engine::{Figures, Info, Outcome, PushdownEngine, Question, Setting};
use crate::store::trace;
use crate::store::{Graph, Move, StackId, Threads};
use allways_evidence::{StopReason, Trace, Verdict};
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Shared, State, Symbol};

/// The engine; see the module.
pub struct Walks;

/// The steps of the shortest runs; some are longer, up to so many doublings.
const SHORT: usize = 500;
const DOUBLINGS: u32 = 7;

/// After so many steps in all it is given up.
const MOST_STEPS: u64 = 1 << 23;

/// How many steps lie between two looks at the budget.
const POLL: u64 = 256;

/// What is known of how threads move is forgotten when it takes more bytes than this.
const MOST_BYTES: usize = 1 << 26;

impl PushdownEngine for Walks {
    const INFO: Info = Info::new(
        "walks",
        "runs random schedules one after the other, to find bugs in large systems; never proves",
    )
    .knowing(&[Setting::MaxStates]);

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        let mut walks = Walk::new(system, question, budget);
        let verdict = match walks.search() {
            Ok(trace) => Verdict::from(trace),
            Err(reason) => Verdict::Unknown(reason),
        };
        let remarks = vec![format!("{} runs", walks.runs)];
        Outcome::new(verdict, Figures { images: walks.steps, remarks, ..Figures::default() })
    }
}

/// Runs to bad states, each of fewer contexts than the one before, and than so many; until so many steps were made, or another limit
/// is reached. Threads keep their names, so that a run has as many contexts as it was made with.
pub fn improve(
    system: &dyn Pushdown,
    property: &Property,
    mut most_contexts: u32,
    max_steps: usize,
    budget: &Budget,
    mut found: impl FnMut(Trace),
) {
    let question = Question {
        property: property.clone(),
        no_symmetry: true,
        max_states: Some(max_steps),
        ..Question::default()
    };
    let mut walks = Walk::new(system, &question, budget);
    let initial = system.initial();
    while most_contexts > 1 && !initial.is_empty() {
        walks.most_contexts = most_contexts - 1;
        let start = &initial[walks.random.below(initial.len())];
        let Ok(path) = walks.run(start) else { return };
        if let Some(path) = path {
            let movers: Vec<usize> = path.iter().map(|&(thread, _)| thread).collect();
            most_contexts = movers.chunk_by(|one, next| one == next).count() as u32;
            found(trace::of(system, &walks.states(start, &path), &movers));
        }
        walks.end_run();
    }
}

/// How the next thread is found.
enum Schedule {
    /// By priority: the threads, the highest first; the steps at which the one that moves falls; for how many steps in a row a
    /// thread moves at most.
    Priorities { order: Vec<usize>, falls: Vec<usize>, patience: usize },
    /// Another one with a chance of one in so many.
    Chance(u64),
}

/// Runs from the initial states.
struct Walk<'a> {
    system: &'a dyn Pushdown,
    question: &'a Question,
    /// What must not be seen, apart from deadlocks.
    visible: Property,
    budget: &'a Budget<'a>,
    threads: Threads<'a>,
    random: Random,
    /// The memory that may be left before the runs take too much of it.
    reserve: usize,
    runs: usize,
    steps: u64,
    /// The longest run so far.
    longest: usize,
    /// Runs end before they have more contexts than this.
    most_contexts: u32,
}

impl<'a> Walk<'a> {
    fn new(system: &'a dyn Pushdown, question: &'a Question, budget: &'a Budget<'a>) -> Walk<'a> {
        Walk {
            system,
            question,
            visible: Property { deadlock: false, ..question.property.clone() },
            budget,
            threads: Threads::new(system, question.kinds(system)),
            random: Random(0),
            reserve: budget.memory_left().map_or(0, |left| left / 2),
            runs: 0,
            steps: 0,
            longest: 0,
            most_contexts: u32::MAX,
        }
    }

    /// Runs until one goes wrong.
    fn search(&mut self) -> Result<Trace, StopReason> {
        if self.question.property.is_empty() {
            return Err(self.give_up("random runs look for violations, and there is no property".to_string()));
        }
        let initial = self.system.initial();
        if initial.is_empty() {
            return Err(self.give_up("there is no state to start from".to_string()));
        }
        loop {
            let start = &initial[self.random.below(initial.len())];
            if let Some(path) = self.run(start)? {
                let path = self.states(start, &path);
                return Ok(trace::along(self.system, self.threads.kinds(), &self.question.property, &path));
            }
            self.end_run();
        }
    }

    /// Between two runs.
    fn end_run(&mut self) {
        self.runs += 1;
        if self.threads.bytes() > MOST_BYTES {
            self.threads = Threads::new(self.system, self.question.kinds(self.system));
        }
    }

    /// One run; the moves that it makes if it goes wrong.
    fn run(&mut self, start: &State) -> Result<Option<Vec<(usize, Move)>>, StopReason> {
        let count = self.threads.count();
        let most = (SHORT << (self.runs + 1).trailing_zeros().min(DOUBLINGS)).min((1 << 20) / count.max(1));
        let mut schedule = self.schedule(most);
        let mut shared = start.shared;
        let mut stacks: Vec<StackId> = Vec::with_capacity(count);
        for (thread, stack) in start.stacks.iter().enumerate() {
            stacks.push(self.threads.stacks_mut(thread).intern(stack));
        }
        let mut path: Vec<(usize, Move)> = Vec::new();
        let (mut last, mut in_a_row, mut contexts) = (None, 0, 0);
        loop {
            if self.is_bad(shared, &stacks, &self.visible) {
                return Ok(Some(path));
            }
            if path.len() >= most {
                break;
            }
            self.poll()?;
            let next = match &mut schedule {
                Schedule::Priorities { order, falls, patience } => {
                    if let Some(last) = last
                        && (falls.contains(&path.len()) || in_a_row >= *patience)
                    {
                        order.retain(|&thread| thread != last);
                        order.push(last);
                        in_a_row = 0;
                    }
                    let threads = &mut self.threads;
                    order
                        .iter()
                        .copied()
                        .find(|&thread| !threads.moves(thread, shared, stacks[thread].0).is_empty())
                }
                Schedule::Chance(one_in) => {
                    let another = self.random.below(*one_in as usize) == 0;
                    self.another(last.filter(|_| !another), shared, &stacks)
                }
            };
            let Some(thread) = next else {
                if self.question.property.deadlock && self.is_bad(shared, &stacks, &self.question.property) {
                    return Ok(Some(path));
                }
                break;
            };
            contexts += u32::from(last != Some(thread));
            if contexts > self.most_contexts {
                break;
            }
            let moves = self.threads.moves(thread, shared, stacks[thread].0);
            let to = moves[if moves.len() == 1 { 0 } else { self.random.below(moves.len()) }];
            in_a_row = if last == Some(thread) { in_a_row + 1 } else { 1 };
            last = Some(thread);
            shared = to.shared;
            stacks[thread] = StackId(to.local);
            path.push((thread, to));
            self.steps += 1;
        }
        self.longest = self.longest.max(path.len());
        Ok(None)
    }

    /// How threads are chosen in the next run, which has so many steps at most.
    fn schedule(&mut self, most: usize) -> Schedule {
        let number = self.runs / 2;
        if self.runs % 2 == 1 {
            return Schedule::Chance(2 << (number % 6));
        }
        let mut order: Vec<usize> = (0..self.threads.count()).collect();
        for end in (1..order.len()).rev() {
            order.swap(end, self.random.below(end + 1));
        }
        let expected = self.longest.clamp(16, most);
        let falls = (0..number % 4).map(|_| self.random.below(expected)).collect();
        let patience = 32 << self.random.below(6);
        Schedule::Priorities { order, falls, patience }
    }

    /// The thread that moved last, if it is given and can move; or any that can.
    fn another(&mut self, last: Option<usize>, shared: Shared, stacks: &[StackId]) -> Option<usize> {
        let count = stacks.len();
        let first = self.random.below(count);
        let all = last.into_iter().chain((0..count).map(|offset| (first + offset) % count));
        let threads = &mut self.threads;
        all.into_iter().find(|&thread| !threads.moves(thread, shared, stacks[thread].0).is_empty())
    }

    fn is_bad(&self, shared: Shared, stacks: &[StackId], property: &Property) -> bool {
        let top = |(thread, &stack): (usize, &StackId)| self.threads.stacks(thread).symbol(stack);
        let tops: Vec<Symbol> = stacks.iter().enumerate().map(top).collect();
        property.violated_in_orbit(self.system, self.threads.kinds(), shared, &tops)
    }

    /// The states of a run.
    fn states(&self, start: &State, path: &[(usize, Move)]) -> Vec<State> {
        let mut states = vec![start.clone()];
        let mut state = start.clone();
        for &(thread, to) in path {
            state.shared = to.shared;
            state.stacks[thread] = self.threads.stacks(thread).get(StackId(to.local));
            states.push(state.clone());
        }
        states
    }

    /// Nothing is known, for this reason, unless the system itself is not known to the end.
    fn give_up(&self, why: String) -> StopReason {
        StopReason::GaveUp(self.system.incomplete().unwrap_or(why))
    }

    fn poll(&self) -> Result<(), StopReason> {
        if let Some(most) = self.question.max_states
            // A run that ends at once counts, too.
            && self.steps + self.runs as u64 >= most as u64
        {
            return Err(StopReason::Bound(format!("the first {most} states")));
        }
        // A run that ends at once counts, too.
        if self.steps + self.runs as u64 >= MOST_STEPS {
            return Err(self.give_up(format!("none of {} random runs goes wrong", self.runs)));
        }
        if !self.steps.is_multiple_of(POLL) {
            return Ok(());
        }
        self.budget.tick(&Progress { images: self.steps, ..Progress::default() })?;
        if self.budget.memory_left().is_some_and(|left| left < self.reserve) {
            return Err(StopReason::GaveUp("random runs took too much memory".to_string()));
        }
        Ok(())
    }
}

/// Pseudo-random numbers: Guy Steele, Doug Lea and Christine Flood's SplitMix64.
#[derive(Default)]
pub(crate) struct Random(u64);

impl Random {
    /// One of the numbers below a limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % limit.max(1) as u64) as usize
    }
}
