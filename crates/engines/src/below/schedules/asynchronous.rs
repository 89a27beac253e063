//! The semantics of asynchronous programs under a scheduler (DBS, Figure 2, with YIELD of section 2.4 and DELAY of section 3).
//!
//! A configuration ⟨g, w, m⟩ has the shared values, the task that runs, if one does, and what the scheduler remembers. The
//! steps of a task are those of the [reference semantics](allways_model::program::semantics), taken with no other thread
//! around: tasks pass a token, so nobody else could move. A task that gives up the token has ended, or yields.
//!
//! `blocked(w, g)`: w has yielded in a loop `while (!e) { yield; }`, which is what `await e` means, and e is false in g. To
//! dispatch it would only bring it back to where it is (unless a property looks at the places in between, and then it is not
//! taken for blocked).
//!
//! Invariant: a task has number 0, unless it holds locks: then one more than the first of their slots. So numbers say no more
//! than who holds what, and configurations that differ in nothing else are equal. Tasks that have ended are gone; the locks
//! that they hold keep their numbers, which nobody else can come to have.

use super::bounding::Bounding;
use super::{Given, bounding::Choice};
use allways_model::program::semantics::{self, Outcome, State, Thread};
use allways_model::program::{Expr, LocationId, Op, Program, Slot, Target, Type, Value, Violation};

/// A task: a sequence of frames.
pub type Task = Thread;

/// A configuration ⟨g, w, m⟩.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Configuration<O> {
    /// The values of the shared variables.
    pub shared: Vec<Value>,
    /// The task that runs.
    pub running: Option<Task>,
    /// What the scheduler remembers.
    pub object: O,
}

/// How a configuration changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// The task that runs takes this one of its steps.
    Step(usize),
    /// A task is dispatched.
    Dispatch,
    /// A task is delayed.
    Delay,
}

/// Where that leads.
#[derive(Clone, Debug)]
pub enum Reached<O> {
    /// To another configuration.
    To(Configuration<O>),
    /// It goes wrong.
    Wrong(Violation),
    /// It is not followed, and why.
    Beyond(String),
}

/// A change of a configuration.
#[derive(Clone, Debug)]
pub struct Successor<O> {
    /// Of which kind.
    pub how: Move,
    /// What it costs.
    pub cost: usize,
    /// Where it leads.
    pub reached: Reached<O>,
}

/// An asynchronous program.
#[derive(Clone, Debug)]
pub struct Asynchronous<'a> {
    /// The program.
    pub program: &'a Program,
    token: Slot,
    locks: Vec<Slot>,
    /// For each location from which a task goes on in a loop that only waits: where the loop asks, and where it yields.
    waits: Vec<Option<(LocationId, LocationId)>>,
}

impl<'a> Asynchronous<'a> {
    /// A program, if it is asynchronous.
    pub fn new(program: &'a Program) -> Option<Asynchronous<'a>> {
        let token = program.token()?;
        let locks = program.shared.iter().filter(|variable| variable.ty == Type::Lock);
        let locks = locks.flat_map(|variable| variable.slot..variable.slot + variable.slots()).collect();
        let mut observed = vec![false; program.locations.len()];
        for never in &program.never {
            never.expr.visit(&mut |expr| {
                if let Expr::At(locations) = expr {
                    locations.iter().for_each(|&location| observed[location.index()] = true);
                }
            });
        }
        let waits = LocationId::all(&program.locations).map(|location| {
            let (ask, pause) = waiting_loop(program, token, location)?;
            ([location, ask, pause].iter().all(|place| !observed[place.index()])).then_some((ask, pause))
        });
        let waits = waits.collect();
        Some(Asynchronous { program, token, locks, waits })
    }

    /// The initial configurations, in which `main` runs. `None` if there are too many.
    pub fn initial<B: Bounding>(&self, bounding: &B) -> Option<Vec<Configuration<B::Object>>> {
        let states = State::initial(self.program, &State::counts(self.program))?;
        let configuration = |mut state: State| Configuration {
            shared: state.shared,
            running: state.threads.pop(),
            object: bounding.empty(),
        };
        Some(states.into_iter().map(configuration).collect())
    }

    /// The property that is violated in a configuration, or why that is not known.
    pub fn violated<B: Bounding>(
        &self,
        bounding: &B,
        configuration: &Configuration<B::Object>,
    ) -> Option<Reached<B::Object>> {
        if self.program.never.is_empty() {
            return None;
        }
        let pending = bounding.held(&configuration.object);
        let threads = pending.into_iter().chain(&configuration.running).cloned().collect();
        match (State { shared: configuration.shared.clone(), threads }).violated(self.program)? {
            Outcome::Wrong(violation) => Some(Reached::Wrong(violation)),
            Outcome::Beyond(span) => Some(Reached::Beyond(beyond(span.line))),
            Outcome::To(_) => None,
        }
    }

    /// All changes of a configuration.
    pub fn successors<B: Bounding>(
        &self,
        bounding: &B,
        configuration: &Configuration<B::Object>,
    ) -> Vec<Successor<B::Object>> {
        let Configuration { shared, running, object } = configuration;
        let Some(task) = running else {
            let choices = bounding.choices(object, &|task| self.blocked(task, shared));
            let successor = |Choice { task, object, cost }| {
                let how = if task.is_some() { Move::Dispatch } else { Move::Delay };
                let to = Configuration { shared: shared.clone(), running: task, object };
                Successor { how, cost, reached: Reached::To(to) }
            };
            return choices.into_iter().map(successor).collect();
        };
        let state = State { shared: shared.clone(), threads: vec![task.clone()] };
        let steps = semantics::steps(self.program, &state, 0).into_iter().enumerate();
        let successor = |(index, step): (usize, semantics::Step)| {
            let reached = match step.outcome {
                Outcome::To(next) => Reached::To(self.after(bounding, object.clone(), next)),
                Outcome::Wrong(violation) => Reached::Wrong(violation),
                Outcome::Beyond(span) => Reached::Beyond(beyond(span.line)),
            };
            Successor { how: Move::Step(index), cost: 0, reached }
        };
        steps.map(successor).collect()
    }

    /// What becomes of the task that ran, and of those that it has posted.
    fn after<B: Bounding>(
        &self,
        bounding: &B,
        mut object: B::Object,
        State { mut shared, threads }: State,
    ) -> Configuration<B::Object> {
        let mut threads = threads.into_iter();
        let mut running = threads.next();
        for posted in threads {
            bounding.give(&mut object, Task { id: 0, ..posted }, Given::Posted);
        }
        if let Some(task) = &mut running {
            self.renumber(&mut shared, task);
        }
        if shared[self.token] == 0 {
            let pending = running.take().filter(|task| !task.ended(self.program));
            pending.into_iter().for_each(|task| bounding.give(&mut object, task, Given::Yielded));
        }
        Configuration { shared, running, object }
    }

    /// Restores the invariant after a step of a task.
    fn renumber(&self, shared: &mut [Value], task: &mut Task) {
        let held = self.held(shared, task);
        let id = held.first().map_or(0, |slot| slot + 1);
        held.iter().for_each(|&slot| shared[slot] = id as Value + 1);
        task.id = id;
    }

    /// The locks that a task holds.
    pub fn held(&self, shared: &[Value], task: &Task) -> Vec<Slot> {
        self.locks.iter().copied().filter(|&slot| shared[slot] == task.id as Value + 1).collect()
    }

    /// Whether a pending task could only wait.
    pub fn blocked(&self, task: &Task, shared: &[Value]) -> bool {
        let Some((ask, pause)) = task.top().and_then(|top| self.waits[top.location.index()]) else {
            return false;
        };
        let mut asking = State { shared: shared.to_vec(), threads: vec![task.clone()] };
        asking.shared[self.token] = 1;
        asking.threads[0].stack.last_mut().into_iter().for_each(|top| top.location = ask);
        let waits = |outcome: &Outcome| match outcome {
            Outcome::To(next) => next.threads[0].top().is_some_and(|top| top.location == pause),
            Outcome::Wrong(_) | Outcome::Beyond(_) => false,
        };
        semantics::steps(self.program, &asking, 0).iter().all(|step| waits(&step.outcome))
    }
}

fn beyond(line: u32) -> String {
    format!("line {line}: a number beyond 64 bits, or a single step that does too much")
}

/// Where a loop asks and where it yields, if a task goes on in one from here: the question has an answer that leads to a
/// yield, and from there back here, without anything else happening.
fn waiting_loop(program: &Program, token: Slot, resume: LocationId) -> Option<(LocationId, LocationId)> {
    let passes = |location: LocationId| match &program.locations[location].edges[..] {
        [edge] => match &edge.op {
            Op::Assign(places, values, _) => {
                let token = places.len() == 1 && places[0].target == Target::Shared(token);
                (token && values.len() == 1).then_some((values[0].clone(), edge.to))
            }
            _ => None,
        },
        _ => None,
    };
    let (value, ask) = passes(resume)?;
    let asks = |edge: &allways_model::program::Edge| matches!(edge.op, Op::Guard(..));
    if value != Expr::Constant(1) || !program.locations[ask].edges.iter().all(asks) {
        return None;
    }
    let mut answers = program.locations[ask].edges.iter().map(|edge| edge.to);
    answers.find(|&answer| passes(answer) == Some((Expr::Constant(0), resume))).map(|pause| (ask, pause))
}
