//! The state of an execution, as far as the types of this crate are concerned: what each task is about to do, which objects
//! are open, and who knows of whose operations.
//!
//! Objects have no state of their own that outlives an execution: they register themselves when they are first used in one.
//!
//! Invariant: what a type does happens between two scheduling points of its task, and everything that others could notice of it
//! is announced before the first of them.

use crate::memory::{Location, Order};
use crate::operation::{OPEN, Operation, Otherwise, Touches, independent};
use crate::view::View;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Executions are told apart, so that objects notice that a new one has begun.
static EXECUTIONS: AtomicU32 = AtomicU32::new(1);

/// What a task is about to do, which is looked at in every step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub operation: Operation,
    /// Announced since its last step.
    announced: bool,
    /// Nobody has announced what it does.
    foreign: bool,
    /// Whether its function has returned.
    pub ended: bool,
    /// Left out here, because another schedule has taken this step before.
    asleep: bool,
}

/// Who has just been started.
const STARTED: Plan = Plan {
    operation: Operation::on(Touches::Nothing),
    announced: false,
    foreign: false,
    ended: false,
    asleep: false,
};

/// What a task knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Task {
    pub view: View,
    /// What was read without acquiring; an acquire fence makes it known.
    pub read: View,
    /// What was known at the last release fence.
    pub released: View,
    /// The object that opens when the task is unparked.
    pub token: Option<u32>,
    /// Outdated stores that were read in loops that wait, by location: the stamp, how often, and after which yield.
    pub outdated: BTreeMap<usize, (u64, u32, u32)>,
    pub yields: u32,
    /// See `future.rs`.
    pub timers: u32,
    pub runs_out: Option<u32>,
}

/// What is known of an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    pub closed: bool,
    /// What is known to who gets hold of it.
    pub view: View,
    /// Readers of a lock, references to a value.
    pub count: usize,
    /// For atomic variables: the number of the location.
    pub location: Option<usize>,
    /// Who has used it first.
    pub user: Option<usize>,
    /// For cells: the last write, and the last read of each task.
    pub written: Option<(usize, u32)>,
    pub readers: Vec<u32>,
}

#[derive(Debug, Default)]
pub(crate) struct World {
    pub execution: u32,
    pub weak: bool,
    /// Whether accesses of cells are scheduling points.
    pub cells: bool,
    pub current: usize,
    plans: Vec<Plan>,
    pub tasks: Vec<Task>,
    pub objects: Vec<Object>,
    pub locations: Vec<Location>,
    pub order: Order,
    /// Reference-counted values by their address.
    pub shared: BTreeMap<usize, u32>,
    /// A scheduling point that no type of this crate has announced was reached.
    pub foreign: bool,
    /// An operation was announced that waits for something.
    gated: bool,
}

/// What a type of this crate is in the current execution.
#[derive(Debug)]
pub(crate) struct Handle(AtomicU64);

impl Handle {
    pub const fn new() -> Handle {
        Handle(AtomicU64::new(0))
    }

    /// Its number, and whether this is its first use in the execution.
    pub fn register(&self, world: &mut World, objects: u32) -> (u32, bool) {
        let known = self.0.load(Ordering::Relaxed);
        if (known >> 32) as u32 == world.execution {
            return (known as u32, false);
        }
        let number = world.objects.len() as u32;
        world.objects.extend((0..objects).map(|_| Object::default()));
        self.0.store(u64::from(world.execution) << 32 | u64::from(number), Ordering::Relaxed);
        (number, true)
    }

    /// The object is another one from now on.
    pub fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl World {
    pub fn begin(&mut self, weak: bool, cells: bool) {
        self.execution = EXECUTIONS.fetch_add(1, Ordering::Relaxed).max(1);
        self.weak = weak;
        self.cells = cells;
        self.current = 0;
        self.plans.clear();
        self.tasks.clear();
        self.objects.clear();
        self.locations.clear();
        self.order = Order::default();
        self.shared.clear();
        self.foreign = false;
        self.gated = false;
    }

    /// How many tasks there were.
    pub fn known(&self) -> usize {
        self.plans.len()
    }

    /// There are so many tasks.
    pub fn know(&mut self, tasks: usize) {
        if self.plans.len() < tasks {
            self.plans.resize(tasks, STARTED);
        }
    }

    /// What a task knows; one that has not been asked for knows nothing.
    pub fn task(&mut self, task: usize) -> &mut Task {
        if self.tasks.len() <= task {
            self.tasks.resize_with(task + 1, Task::default);
        }
        &mut self.tasks[task]
    }

    /// The state of the task that runs.
    pub fn me(&mut self) -> &mut Task {
        self.task(self.current)
    }

    pub fn object(&mut self, object: u32) -> &mut Object {
        &mut self.objects[object as usize]
    }

    pub fn new_object(&mut self) -> u32 {
        self.objects.push(Object::default());
        self.objects.len() as u32 - 1
    }

    pub fn announce(&mut self, operation: Operation) {
        self.know(self.current + 1);
        let plan = &mut self.plans[self.current];
        plan.operation = operation;
        plan.announced = true;
        plan.foreign = false;
        self.gated |= operation.hard != OPEN || operation.soft != OPEN;
        if operation.yields {
            self.me().yields += 1;
        }
    }

    /// The function of the task that runs has returned.
    pub fn ends(&mut self) {
        self.announce(Operation::on(Touches::Everything));
        self.plans[self.current].ended = true;
    }

    /// A task has reached a scheduling point: does it do what it has announced?
    pub fn arrive(&mut self, task: usize) -> &Plan {
        let plan = &mut self.plans[task];
        if !std::mem::take(&mut plan.announced) && !plan.foreign {
            plan.operation = Operation::on(Touches::Everything);
            plan.foreign = true;
            self.foreign |= !plan.ended;
        }
        plan
    }

    /// Whether a task can take its step now: yes, no, or only without what it waits for.
    #[inline]
    pub fn can_step(&self, task: usize) -> Step {
        if !self.gated {
            return Step::Now;
        }
        let operation = &self.plans[task].operation;
        let open = |gate: u32| gate == OPEN || !self.objects[gate as usize].closed;
        if !open(operation.hard) {
            Step::Never
        } else if open(operation.soft) {
            Step::Now
        } else {
            match operation.otherwise {
                Otherwise::Waits => Step::Never,
                Otherwise::TimesOut => Step::TimesOut,
                Otherwise::WakesUp => Step::WakesUp,
            }
        }
    }

    /// What a task is about to touch.
    pub fn touches(&self, task: usize) -> Touches {
        self.plans[task].operation.touches
    }

    /// Whether a task is about to yield.
    pub fn yields(&self, task: usize) -> bool {
        self.plans[task].operation.yields
    }

    /// Whether the step of a task is left out.
    pub fn is_asleep(&self, task: usize) -> bool {
        self.plans[task].asleep
    }

    /// Tasks are passed over in favour of another one: schedules in which they go first have been run.
    pub fn put_to_sleep(&mut self, tasks: &[usize]) {
        for &task in tasks {
            self.plans[task].asleep = true;
        }
    }

    /// A task takes its step (sleep sets; Godefroid, *Partial-Order Methods*, 1996, chapter 5). A step that was left out because another
    /// schedule takes it here stays left out as long as only independent steps are taken: these schedules are the same as
    /// those that begin with it.
    pub fn wake_dependent(&mut self, chosen: usize) {
        let touches = self.touches(chosen);
        let World { plans, objects, .. } = self;
        for (number, plan) in plans.iter_mut().enumerate() {
            plan.asleep = plan.asleep
                && number != chosen
                && independent(plan.operation.touches, touches, |object| objects[object as usize].count);
        }
    }

    /// Whether a task is about to use what another one has used.
    pub fn meets(&mut self, task: usize) -> bool {
        let objects = match self.touches(task) {
            Touches::One(object, _) => [Some(object), None],
            Touches::Two((one, _), (other, _)) => [Some(one), Some(other)],
            _ => [None, None],
        };
        objects.into_iter().flatten().any(|object| *self.object(object).user.get_or_insert(task) != task)
    }

    /// The task takes part in what the object knows.
    pub fn acquire(&mut self, object: u32) {
        self.me();
        self.tasks[self.current].view.join(&self.objects[object as usize].view);
    }

    /// The object learns what the task knows.
    pub fn release(&mut self, object: u32) {
        let current = self.current;
        self.me();
        let view = &mut self.tasks[current].view;
        self.objects[object as usize].view.join(view);
        view.tick(current);
    }

    /// What opens when a task is unparked.
    pub fn token(&mut self, task: usize) -> u32 {
        if let Some(token) = self.task(task).token {
            return token;
        }
        let token = self.new_object();
        self.object(token).closed = true;
        self.task(task).token = Some(token);
        token
    }

    /// A cell is accessed. Gives the task with which there is a data race, if any.
    pub fn access(&mut self, cell: u32, write: bool) -> Option<usize> {
        let current = self.current;
        let time = self.me().view.tick(current);
        let view = &self.tasks[current].view;
        let object = &mut self.objects[cell as usize];
        let writer = object.written.filter(|&(task, time)| task != current && !view.knows(task, time));
        let mut other = writer.map(|(task, _)| task);
        if write {
            other = other.or_else(|| {
                let mut readers = object.readers.iter().enumerate();
                readers.find(|&(task, &time)| task != current && time > view.time(task)).map(|(task, _)| task)
            });
            object.written = Some((current, time));
            object.readers.clear();
        } else {
            if object.readers.len() <= current {
                object.readers.resize(current + 1, 0);
            }
            object.readers[current] = time;
        }
        other
    }
}

/// Whether a task can step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Now,
    Never,
    TimesOut,
    WakesUp,
}
