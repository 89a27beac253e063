//! All that a program with one thread can do, however deep its stack: what a call does is found out once for each state in which
//! it is made (Sharir and Pnueli, *Two approaches to interprocedural data flow analysis*, the functional one), step by step by
//! the reference semantics.
//!
//! Invariant: a `Call` holds states with one frame, that of its procedure. With the frames of a caller beneath, each of them
//! is reachable, since some reachable state makes this call; and when nothing is left to do, none is missing from which there is
//! not exactly one step.

use allways_model::program::Program;
use allways_model::program::semantics::{Frame, Outcome, State, Step, steps};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many steps are followed without remembering the states between. They may be a loop.
const LONGEST: usize = 1000;

/// What can be reached.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summarized {
    /// The states in which the thread has come to its end.
    pub ended: FxHashSet<State>,
    /// Whether something can go wrong.
    pub violation: bool,
    /// How many states were looked at.
    pub states: usize,
}

/// A procedure entered in some state.
#[derive(Default)]
struct Call {
    seen: FxHashSet<State>,
    /// The states in which it returns.
    returning: Vec<State>,
    /// Where it was called: by which call, and in which state.
    callers: Vec<(usize, State)>,
}

/// Explores a program with one thread. `None` if there are more states than allowed, or steps that the semantics does not
/// follow.
pub fn summarize(program: &Program, most: usize) -> Option<Summarized> {
    let mut search = Search { program, calls: Vec::new(), index: FxHashMap::default(), todo: Vec::new() };
    let mut found = Summarized::default();
    for state in State::initial(program, &State::counts(program))? {
        search.enter(state);
    }
    let threads = search.calls.len();
    while let Some((call, state)) = search.todo.pop() {
        found.states += 1;
        if found.states > most {
            return None;
        }
        match state.violated(program) {
            None => search.expand(call, state, &mut found)?,
            Some(Outcome::Wrong(_)) => found.violation = true,
            Some(_) => return None,
        }
    }
    let initial = search.calls.into_iter().take(threads).flat_map(|call| call.seen);
    found.ended = initial.filter(|state| state.threads[0].ended(program)).collect();
    Some(found)
}

struct Search<'a> {
    program: &'a Program,
    calls: Vec<Call>,
    index: FxHashMap<State, usize>,
    todo: Vec<(usize, State)>,
}

impl Search<'_> {
    /// The call that starts in a state with one frame.
    fn enter(&mut self, state: State) -> usize {
        if let Some(&call) = self.index.get(&state) {
            return call;
        }
        let call = self.calls.len();
        self.index.insert(state.clone(), call);
        self.calls.push(Call::default());
        self.add(call, state);
        call
    }

    fn add(&mut self, call: usize, state: State) {
        if !self.calls[call].seen.contains(&state) {
            self.calls[call].seen.insert(state.clone());
            self.todo.push((call, state));
        }
    }

    /// Takes all steps from a state. Where there is only one, in the same procedure, it is followed at once.
    fn expand(&mut self, call: usize, mut state: State, found: &mut Summarized) -> Option<()> {
        let mut taken = steps(self.program, &state, 0);
        let mut length = 0;
        while let [Step { outcome: Outcome::To(next), .. }] = &taken[..]
            && next.threads[0].stack.len() == 1
        {
            if !self.program.never.is_empty() || length == LONGEST {
                self.add(call, next.clone());
                return Some(());
            }
            state = next.clone();
            length += 1;
            taken = steps(self.program, &state, 0);
        }
        found.states += length;
        if length > 0 && !self.calls[call].seen.insert(state.clone()) {
            return Some(());
        }
        let mut returns = false;
        for Step { outcome, .. } in taken {
            match outcome {
                Outcome::Wrong(_) => found.violation = true,
                Outcome::Beyond(_) => return None,
                Outcome::To(mut next) => match next.threads[0].stack.len() {
                    0 => returns = true,
                    1 => self.add(call, next),
                    _ => {
                        let entered = next.threads[0].stack.split_off(1);
                        let callee = self.enter(with_stack(&next, entered));
                        self.calls[callee].callers.push((call, next.clone()));
                        for state in self.calls[callee].returning.clone() {
                            self.go_back(&state, call, &next, found)?;
                        }
                    }
                },
            }
        }
        if returns {
            self.calls[call].returning.push(state.clone());
            for (caller, before) in self.calls[call].callers.clone() {
                self.go_back(&state, caller, &before, found)?;
            }
        }
        Some(())
    }

    /// Returns to a caller: a step with both frames on the stack.
    fn go_back(
        &mut self,
        state: &State,
        caller: usize,
        before: &State,
        found: &mut Summarized,
    ) -> Option<()> {
        let frames = before.threads[0].stack.iter().chain(&state.threads[0].stack);
        let both = with_stack(state, frames.cloned().collect());
        for Step { outcome, .. } in steps(self.program, &both, 0) {
            match outcome {
                Outcome::To(next) if next.threads[0].stack.len() == 1 => self.add(caller, next),
                Outcome::To(_) => {}
                Outcome::Wrong(_) => found.violation = true,
                Outcome::Beyond(_) => return None,
            }
        }
        Some(())
    }
}

fn with_stack(state: &State, stack: Vec<Frame>) -> State {
    let mut state = state.clone();
    state.threads[0].stack = stack;
    state
}
