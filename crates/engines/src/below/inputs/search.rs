//! A search through the executions of a program with few delays, inputs as formulas.
//!
//! The threads run one after the other, each until it ends or has to wait, and then the next one (DBS, section 3: the
//! deterministic round-robin scheduler); a *delay* makes the next thread run before that. Executions are followed depth first,
//! the conditions on inputs in a list. A branch is taken if an example of the inputs fulfils all conditions. The example of the
//! branch before does for one branch of each, and a solver is asked for the other.
//!
//! A thread is delayed only where its next step may touch what others touch. States that were reached before by the same
//! conditions, with no fewer delays and steps left, are not followed again.
//!
//! Invariant: what is found is an execution with the inputs of the example, whatever was cut off.

use super::steps::{Move, Origin, State, Steps};
use crate::budget::Budget;
use allways_evidence::StopReason;
use allways_model::program::Value;
use allways_model::program::inputs::Inputs;
use allways_model::program::semantics;
use allways_smt::bits::{Bit, Example, Session};
use allways_smt::{Answer, Failure};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// How far to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The most delays.
    pub delays: u32,
    /// The most steps.
    pub steps: u32,
}

/// An execution that goes wrong.
pub struct Found {
    /// The inputs.
    pub inputs: Inputs,
    /// Where it starts.
    pub initial: semantics::State,
    /// Who moves, and the state afterwards; none if the step itself goes wrong.
    pub steps: Vec<(usize, Option<semantics::State>)>,
}

/// Why a search ended.
pub enum End {
    /// Everything within the bounds was seen; whether something lies beyond them.
    All(bool),
    /// A limit.
    Stopped(StopReason),
    /// The solver failed.
    Failed(Failure),
}

/// A point of the execution that is followed.
struct Level {
    state: State,
    current: usize,
    delays: u32,
    steps: u32,
    /// Who moved here, unless it was only decided who is next.
    mover: Option<usize>,
    /// How many conditions there were before.
    conditions: usize,
    options: std::vec::IntoIter<Choice>,
}

/// A way to go on.
struct Choice {
    when: Bit,
    to: Target,
}

enum Target {
    Step(State),
    /// The step goes wrong, or leads to a state that must not be.
    Wrong(Option<State>),
    /// Another thread is next, at the cost of so many delays.
    Switch(usize, u32),
}

/// What the solver has said of lists of conditions that it found no example for.
#[derive(Default)]
pub struct Refuted {
    /// How long the solver has looked; nothing if there is no example.
    known: HashMap<Vec<Bit>, Option<Duration>>,
    /// How long it may look now.
    pub limit: Duration,
}

impl Refuted {
    fn contains(&self, conditions: &[Bit]) -> Option<Answer> {
        match self.known.get(conditions)? {
            None => Some(Answer::Unsat),
            Some(looked) => (*looked >= self.limit).then_some(Answer::Unknown),
        }
    }

    fn note(&mut self, conditions: &[Bit], answer: Answer) {
        let looked = (answer != Answer::Unsat).then_some(self.limit);
        self.known.insert(conditions.to_vec(), looked);
    }
}

/// A search.
pub struct Search<'a, 'p, 's> {
    /// The steps.
    pub steps: &'a mut Steps<'p>,
    /// The solver.
    pub session: &'a mut Session<'s>,
    /// For each location, whether a step from there touches nothing that others touch.
    pub quiet: &'a [bool],
    /// For each location, whether a thread may have to wait there.
    pub waits: &'a [bool],
    /// Limits.
    pub budget: &'a Budget<'a>,
    /// What the solver has said before.
    pub refuted: &'a mut Refuted,
    /// Told of every execution that goes wrong; whether to go on.
    pub found: &'a mut dyn FnMut(Found) -> bool,
    conditions: Vec<Bit>,
    example: Example,
    /// How many delays and steps were left where a state was reached.
    seen: FxHashMap<(u64, u64), Vec<(u32, u32)>>,
    beyond: bool,
}

impl<'a, 'p, 's> Search<'a, 'p, 's> {
    /// One that starts.
    pub fn new(
        steps: &'a mut Steps<'p>,
        (session, refuted): (&'a mut Session<'s>, &'a mut Refuted),
        (quiet, waits): (&'a [bool], &'a [bool]),
        budget: &'a Budget<'a>,
        found: &'a mut dyn FnMut(Found) -> bool,
    ) -> Search<'a, 'p, 's> {
        let (conditions, example, seen) = (Vec::new(), Example::default(), FxHashMap::default());
        Search {
            steps,
            session,
            quiet,
            waits,
            budget,
            refuted,
            found,
            conditions,
            example,
            seen,
            beyond: false,
        }
    }

    /// Follows all executions within bounds.
    pub fn run(mut self, initial: &State, assumed: Bit, bounds: Bounds) -> End {
        match self.follow(initial, assumed, bounds) {
            Ok(()) => End::All(self.beyond || self.steps.cut.is_some()),
            Err(end) => end,
        }
    }

    fn follow(&mut self, initial: &State, assumed: Bit, bounds: Bounds) -> Result<(), End> {
        if !self.assume(assumed)? {
            return Ok(());
        }
        for (when, _) in self.steps.violations(initial) {
            let before = self.conditions.len();
            if self.assume(when)? && !self.report(initial, &[], None) {
                return Ok(());
            }
            self.conditions.truncate(before);
        }
        let (delays, steps) = (bounds.delays, bounds.steps);
        let mut path = vec![self.level(initial.clone(), 0, (delays, steps), None, 0)];
        while let Some(level) = path.last_mut() {
            self.budget.check().map_err(End::Stopped)?;
            let Some(Choice { when, to }) = level.options.next() else {
                let level = path.pop();
                self.conditions.truncate(level.map_or(0, |level| level.conditions));
                continue;
            };
            let (current, left) = (level.current, (level.delays, level.steps));
            let before = self.conditions.len();
            if !self.assume(when)? {
                self.conditions.truncate(before);
                continue;
            }
            match to {
                Target::Wrong(state) => {
                    if !self.report(initial, &path, Some((current, state))) {
                        return Ok(());
                    }
                    self.conditions.truncate(before);
                }
                Target::Step(state) => {
                    if left.1 == 0 {
                        self.beyond = true;
                        self.conditions.truncate(before);
                        continue;
                    }
                    let left = (left.0, left.1 - 1);
                    if self.is_known(&state, current, left) {
                        self.conditions.truncate(before);
                        continue;
                    }
                    let next = self.level(state, current, left, Some(current), before);
                    path.push(next);
                }
                Target::Switch(next, cost) => {
                    let left = (left.0 - cost, left.1);
                    let state = path.last().map(|level| level.state.clone());
                    let Some(state) = state.filter(|state| !self.is_known(state, next, left)) else {
                        self.conditions.truncate(before);
                        continue;
                    };
                    let next = self.level(state, next, left, None, before);
                    path.push(next);
                }
            }
        }
        Ok(())
    }

    /// Adds a condition; whether all can be true.
    fn assume(&mut self, condition: Bit) -> Result<bool, End> {
        match self.steps.bits.known(condition) {
            Some(value) => return Ok(value),
            None if self.conditions.contains(&condition) => return Ok(true),
            None => self.conditions.push(condition),
        }
        let fits = {
            let (bits, example) = (&self.steps.bits, &mut self.example);
            self.conditions.iter().rev().all(|condition| example.value(bits, *condition) != 0)
        };
        if fits {
            return Ok(true);
        }
        let answer = match self.refuted.contains(&self.conditions) {
            Some(answer) => answer,
            None => match self.session.example(&self.steps.bits, &self.conditions).map_err(End::Failed)? {
                Ok(example) => {
                    self.example = example;
                    return Ok(true);
                }
                Err(answer) => {
                    self.refuted.note(&self.conditions, answer);
                    answer
                }
            },
        };
        self.beyond |= answer != Answer::Unsat;
        Ok(false)
    }

    /// Whether a state was reached before with as much left; if not, it has been now.
    fn is_known(&mut self, state: &State, current: usize, left: (u32, u32)) -> bool {
        // Two hashes of 64 bits; that two states have both in common would hide one of them, and prove nothing wrong.
        let hash = |seed: u64| {
            let mut hasher = FxHasher::default();
            (seed, current, state).hash(&mut hasher);
            let conditions = self.conditions.iter().map(|condition| {
                let mut hasher = FxHasher::default();
                (seed, condition).hash(&mut hasher);
                hasher.finish()
            });
            hasher.finish().rotate_left(1) ^ conditions.fold(0, u64::wrapping_add)
        };
        let known = self.seen.entry((hash(1), hash(0x9e37_79b9_7f4a_7c15))).or_default();
        if known.iter().any(|&(delays, steps)| delays >= left.0 && steps >= left.1) {
            return true;
        }
        known.retain(|&(delays, steps)| delays > left.0 || steps > left.1);
        known.push(left);
        false
    }

    /// A point of the execution, with the ways to go on.
    fn level(
        &mut self,
        state: State,
        current: usize,
        (delays, steps): (u32, u32),
        mover: Option<usize>,
        conditions: usize,
    ) -> Level {
        let mut options = Vec::new();
        let mut any = self.steps.bits.truth(false);
        for Move { when, to } in self.steps.moves(&state, current) {
            any = self.steps.bits.either(any, when);
            match to {
                Err(_) => options.push(Choice { when, to: Target::Wrong(None) }),
                Ok(state) => {
                    let mut fine = when;
                    for (wrong, _) in self.steps.violations(&state) {
                        let bits = &mut self.steps.bits;
                        let wrong_now = bits.both(when, wrong);
                        let not = bits.not(wrong);
                        fine = bits.both(fine, not);
                        options.push(Choice { when: wrong_now, to: Target::Wrong(Some(state.clone())) });
                    }
                    options.push(Choice { when: fine, to: Target::Step(state) });
                }
            }
        }
        // What goes wrong is looked at first, and then what needs no other example.
        let (bits, example) = (&self.steps.bits, &mut self.example);
        options.sort_by_cached_key(|choice| match choice.to {
            Target::Wrong(_) => 0,
            _ => 2 - example.value(bits, choice.when),
        });
        let next = self.next_thread(&state, current);
        let always = self.steps.bits.truth(true);
        if let Some(next) = next {
            let may_wait = match state.threads[current].stack.last() {
                Some(top) if !options.is_empty() => {
                    self.waits[top.location.index()] && self.steps.bits.known(any) != Some(true)
                }
                _ => true,
            };
            let top = state.threads[current].stack.last();
            let seen = top.is_some_and(|top| !self.quiet[top.location.index()]);
            if may_wait {
                options.push(Choice { when: always, to: Target::Switch(next, 0) });
            } else if seen {
                match delays {
                    0 => self.beyond = true,
                    _ => options.push(Choice { when: always, to: Target::Switch(next, 1) }),
                }
            }
        }
        Level { state, current, delays, steps, mover, conditions, options: options.into_iter() }
    }

    /// The thread after this one that has not ended.
    fn next_thread(&self, state: &State, current: usize) -> Option<usize> {
        let count = state.threads.len();
        (1..count).map(|by| (current + by) % count).find(|&thread| !self.steps.ended(state, thread))
    }

    /// Tells of an execution that goes wrong; whether to go on.
    fn report(&mut self, initial: &State, path: &[Level], last: Option<(usize, Option<State>)>) -> bool {
        let steps = &*self.steps;
        let mut moves: Vec<(usize, Option<&State>)> =
            path.iter().filter_map(|level| Some((level.mover?, Some(&level.state)))).collect();
        if let Some((mover, state)) = &last {
            moves.push((*mover, state.as_ref()));
        }
        let mut inputs = Inputs::default();
        let states = std::iter::once(initial).chain(moves.iter().filter_map(|(_, state)| *state));
        // What a step that goes wrong chooses is seen in no state: all inputs of the conditions count.
        let seen = states.flat_map(|state| steps.inputs(state)).collect::<Vec<_>>();
        let chosen = self.conditions.iter().flat_map(|condition| steps.bits.variables(*condition));
        let chosen = chosen.filter_map(|bit| Some((bit, *steps.origins.get(&bit)?)));
        for (bit, origin) in seen.into_iter().chain(chosen) {
            let width = steps.bits.width(bit);
            let value = allways_smt::bits::signed(self.example.value(&steps.bits, bit), width) as Value;
            match origin {
                Origin::Choice(number, ..) if width > LISTED => {
                    let values = inputs.choices.entry(number).or_default();
                    if let Err(at) = values.binary_search(&value) {
                        values.insert(at, value);
                    }
                }
                Origin::Choice(..) => {}
                Origin::Shared(slot) => drop(inputs.shared.insert(slot, value)),
                Origin::Local(procedure, slot) => drop(inputs.locals.insert((procedure, slot), value)),
            }
        }
        let initial = steps.in_example(initial, &mut self.example);
        let moves = moves
            .into_iter()
            .map(|(mover, state)| (mover, state.map(|state| steps.in_example(state, &mut self.example))));
        let steps = moves.collect();
        (self.found)(Found { inputs, initial, steps })
    }
}

/// A choice of no more bits is tried with all its values where the execution is followed again, and need not be given.
const LISTED: u32 = 4;
