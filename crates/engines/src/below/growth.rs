//! Whether integers of a program grow without end, so that listing its states has none.
//!
//! A few random runs look for a cycle: two states with the same control and the same values of all that is finite, in which integers
//! differ. The steps between the two are taken again from the second, many times (`ROUNDS`). If each round adds the same, they are
//! also taken far ahead, at multiples (`AHEAD`) of what a round adds: a counter that is compared with a large constant stops there.
//!
//! That is no proof, and it need not be one: what is said of growth decides how long states are listed, and no verdict. What does
//! not matter in the [reduced](Reduction) program is forgotten after each step, as the encoding does.

use crate::below::walks::Random;
use crate::budget::Budget;
use allways_model::program::reduction::Reduction;
use allways_model::program::semantics::{Outcome, State, Thread, steps};
use allways_model::program::{Program, Type, Value, Variable, slot_name};
use rustc_hash::FxHashMap;

/// How many runs there are, of how many steps each.
const RUNS: usize = 48;
const STEPS: usize = 240;

/// How many cycles are tried again in each run.
const CYCLES: usize = 24;

/// How often a cycle is taken again.
const ROUNDS: usize = 200;

/// How many rounds ahead it is tried, too.
const AHEAD: [Value; 8] = [1_000, 4_321, 10_000, 65_536, 1_000_003, 1 << 31, 1 << 33, 1_000_000_000_039];

/// One step in so many, on average, is by a thread that is chosen anew: in each run another number, up to this one.
const MOST_IN_A_ROW: usize = 8;

/// The variables that take ever new values, by name; none if no cycle was found in which some do.
pub fn growing(reduction: &Reduction, counts: &[usize], budget: &Budget) -> Vec<String> {
    let growth = Growth { reduction, program: &reduction.program };
    let initial = State::initial(growth.program, counts).unwrap_or_default();
    let mut random = Random::default();
    for run in 0..RUNS {
        if initial.is_empty() || budget.check().is_err() {
            break;
        }
        let start = growth.forgetting(initial[random.below(initial.len())].clone());
        if let Some(names) = growth.run(start, 1 + (run + 5) % MOST_IN_A_ROW, &mut random, budget) {
            return names;
        }
    }
    Vec::new()
}

struct Growth<'a> {
    reduction: &'a Reduction,
    program: &'a Program,
}

/// A step that a thread took: who, and by which edge.
type Taken = (usize, usize);

impl Growth<'_> {
    /// One run; what grows, if it comes to a cycle in which something does.
    fn run(
        &self,
        start: State,
        in_a_row: usize,
        random: &mut Random,
        budget: &Budget,
    ) -> Option<Vec<String>> {
        let mut seen: FxHashMap<State, usize> = FxHashMap::default();
        let mut states = vec![start];
        let mut taken: Vec<Taken> = Vec::new();
        let (mut mover, mut cycles) = (0, 0);
        while taken.len() < STEPS && cycles < CYCLES {
            let here = states.last().expect("there is a start");
            if let Some(before) = seen.insert(self.finite(here), taken.len())
                && states[before] != *here
            {
                cycles += 1;
                budget.check().ok()?;
                if let Some(names) = self.again(&states[before..], &taken[before..]) {
                    return Some(names);
                }
            }
            let threads = here.threads.len().max(1);
            if random.below(in_a_row) == 0 {
                mover = random.below(threads);
            }
            let can_move = (0..threads).map(|after| (mover + after) % threads);
            let (thread, mut ways) = can_move
                .map(|thread| (thread, self.ways(here, thread)))
                .find(|(_, ways)| !ways.is_empty())?;
            let (edge, next) = ways.swap_remove(random.below(ways.len()));
            mover = thread;
            taken.push((thread, edge));
            states.push(next);
        }
        None
    }

    /// Where a thread can go, and by which edges.
    fn ways(&self, state: &State, thread: usize) -> Vec<(usize, State)> {
        if thread >= state.threads.len() {
            return Vec::new();
        }
        let steps = steps(self.program, state, thread).into_iter();
        let followed = steps.filter_map(|step| match step.outcome {
            Outcome::To(next) => Some((step.edge, self.forgetting(next))),
            Outcome::Wrong(_) | Outcome::Beyond(_) => None,
        });
        followed.collect()
    }

    /// Takes the steps of a cycle again and again. What grows, if something does each time.
    fn again(&self, states: &[State], taken: &[Taken]) -> Option<Vec<String>> {
        let like: Vec<State> = states.iter().map(|state| self.finite(state)).collect();
        let round = |mut state: State| {
            for (&(thread, edge), like) in taken.iter().zip(&like[1..]) {
                let mut ways = self.ways(&state, thread).into_iter();
                state = ways.find(|(by, next)| *by == edge && self.finite(next) == *like)?.1;
            }
            Some(state)
        };
        let values = |state: &State| self.integers(state, &mut |_, value| value);
        let (first, second) = (values(states.first()?), values(states.last()?));
        let mut state = states.last()?.clone();
        let mut now = second.clone();
        // What has gone the same way in each round.
        let way = |before: &[Value], now: &[Value]| -> Vec<i8> {
            before.iter().zip(now).map(|(before, now)| now.cmp(before) as i8).collect()
        };
        let added = |before: &[Value], now: &[Value]| -> Option<Vec<Value>> {
            before.iter().zip(now).map(|(before, now)| now.checked_sub(*before)).collect()
        };
        let mut ways = way(&first, &now);
        let each = added(&first, &now)?;
        let mut alike = true;
        for _ in 0..ROUNDS {
            state = round(state)?;
            let after = values(&state);
            for (way, other) in ways.iter_mut().zip(way(&now, &after)) {
                *way *= i8::from(*way == other);
            }
            alike &= added(&now, &after).as_ref() == Some(&each);
            now = after;
        }
        if ways.iter().all(|&way| way == 0) {
            return None;
        }
        for rounds in AHEAD.into_iter().filter(|_| alike) {
            let far = |from: &[Value], rounds: Value| -> Option<Vec<Value>> {
                let each = each.iter().map(|each| each.checked_mul(rounds));
                from.iter().zip(each).map(|(from, more)| from.checked_add(more?)).collect()
            };
            let (ahead, expected) = (far(&second, rounds)?, far(&second, rounds + 1)?);
            let mut state = states.last()?.clone();
            let mut ahead = ahead.into_iter();
            self.change(&mut state, &mut |value| *value = ahead.next().unwrap_or(*value));
            if values(&round(state)?) != expected {
                return None;
            }
        }
        let mut ways = ways.into_iter();
        let mut names: Vec<String> = Vec::new();
        self.integers(states.last()?, &mut |name, _| {
            if ways.next().is_some_and(|way| way != 0) && !names.contains(&name()) {
                names.push(name());
            }
        });
        Some(names)
    }

    /// The state without the values of its integers.
    fn finite(&self, state: &State) -> State {
        let mut state = state.clone();
        self.change(&mut state, &mut |value| *value = 0);
        state
    }

    /// Puts 0 where a value does not matter, and forgets tasks that have ended.
    fn forgetting(&self, mut state: State) -> State {
        let vanishes =
            |thread: &Thread| self.program.templates[thread.template].vanishes && thread.ended(self.program);
        state.threads.retain(|thread| !vanishes(thread));
        for (value, matters) in state.shared.iter_mut().zip(&self.reduction.shared) {
            *value *= Value::from(*matters);
        }
        for frame in state.threads.iter_mut().flat_map(|thread| &mut thread.stack) {
            let live = match frame.calling {
                None => self.reduction.live.get(frame.location.index()),
                Some(edge) => self.reduction.live_on_return.get(&(frame.location, edge)),
            };
            for (value, live) in frame.locals.iter_mut().zip(live.into_iter().flatten()) {
                *value *= Value::from(*live);
            }
        }
        state
    }

    /// Changes each integer of a state.
    fn change(&self, state: &mut State, change: &mut dyn FnMut(&mut Value)) {
        for slot in integers(&self.program.shared) {
            change(&mut state.shared[slot]);
        }
        for frame in state.threads.iter_mut().flat_map(|thread| &mut thread.stack) {
            for slot in integers(&self.program.procedure_of(frame.location).locals) {
                change(&mut frame.locals[slot]);
            }
        }
    }

    /// What is made of each integer of a state, in the order of [`change`](Self::change), and of how to name it.
    fn integers<T>(&self, state: &State, make: &mut dyn FnMut(&dyn Fn() -> String, Value) -> T) -> Vec<T> {
        let mut all = Vec::new();
        for slot in integers(&self.program.shared) {
            all.push(make(&|| slot_name(&self.program.shared, slot), state.shared[slot]));
        }
        for thread in &state.threads {
            for frame in &thread.stack {
                let procedure = self.program.procedure_of(frame.location);
                for slot in integers(&procedure.locals) {
                    let name = || format!("{}.{}", procedure.name, slot_name(&procedure.locals, slot));
                    all.push(make(&name, frame.locals[slot]));
                }
            }
        }
        all
    }
}

/// The slots of the variables that have no bounds.
fn integers(variables: &[Variable]) -> impl Iterator<Item = usize> {
    variables
        .iter()
        .filter(|variable| variable.ty == Type::Int)
        .flat_map(|variable| variable.slot..variable.slot + variable.slots())
}
