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
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Executions are told apart, so that objects notice that a new one has begun.
static EXECUTIONS: AtomicU32 = AtomicU32::new(1);

/// What is known of a task.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub operation: Operation,
    /// Announced since its last step.
    announced: bool,
    /// Whether its function has returned.
    pub ended: bool,
    /// Left out here, because another schedule has taken this step before.
    pub asleep: bool,
    pub view: View,
    /// What was read without acquiring; an acquire fence makes it known.
    pub read: View,
    /// What was known at the last release fence.
    pub released: View,
    /// The object that opens when the task is unparked.
    pub token: Option<u32>,
    /// Outdated stores that were read in loops that wait, by location: the stamp, how often, and after which yield.
    pub outdated: HashMap<usize, (u64, u32, u32)>,
    pub yields: u32,
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
    pub current: usize,
    pub tasks: Vec<Task>,
    pub objects: Vec<Object>,
    pub locations: Vec<Location>,
    pub order: Order,
    /// Reference-counted values by their address.
    pub shared: HashMap<usize, u32>,
    /// A scheduling point that no type of this crate has announced was reached.
    pub foreign: bool,
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
    pub fn begin(&mut self, weak: bool) {
        *self =
            World { execution: EXECUTIONS.fetch_add(1, Ordering::Relaxed).max(1), weak, ..World::default() };
    }

    /// The state of a task; one that is not known has just been started.
    pub fn task(&mut self, task: usize) -> &mut Task {
        while self.tasks.len() <= task {
            self.tasks.push(Task {
                operation: Operation::on(Touches::Nothing),
                announced: false,
                ended: false,
                asleep: false,
                view: View::default(),
                read: View::default(),
                released: View::default(),
                token: None,
                outdated: HashMap::new(),
                yields: 0,
            });
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
        let me = self.me();
        me.operation = operation;
        me.announced = true;
        me.yields += u32::from(operation.yields);
    }

    /// A task has reached a scheduling point: does it do what it has announced?
    pub fn arrive(&mut self, task: usize) {
        let state = self.task(task);
        if !std::mem::take(&mut state.announced) {
            state.operation = Operation::on(Touches::Everything);
            let ended = state.ended;
            self.foreign |= !ended;
        }
    }

    /// Whether a task can take its step now: yes, no, or only without what it waits for.
    pub fn can_step(&mut self, task: usize) -> Step {
        let operation = self.task(task).operation;
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

    /// A task takes its step (sleep sets; Godefroid, *Partial-Order Methods*, 1996, chapter 5). A step that was left out because another
    /// schedule takes it here stays left out as long as only independent steps are taken: these schedules are the same as
    /// those that begin with it.
    pub fn wake_dependent(&mut self, chosen: usize) {
        let touches = self.task(chosen).operation.touches;
        let World { tasks, objects, .. } = self;
        for (number, task) in tasks.iter_mut().enumerate() {
            task.asleep &= number != chosen
                && independent(task.operation.touches, touches, |object| objects[object as usize].count);
        }
    }

    /// Whether a task is about to use what another one has used.
    pub fn meets(&mut self, task: usize) -> bool {
        let objects = match self.task(task).operation.touches {
            Touches::One(object, _) => [Some(object), None],
            Touches::Two((one, _), (other, _)) => [Some(one), Some(other)],
            _ => [None, None],
        };
        objects.into_iter().flatten().any(|object| *self.object(object).user.get_or_insert(task) != task)
    }

    /// The task takes part in what the object knows.
    pub fn acquire(&mut self, object: u32) {
        let view = std::mem::take(&mut self.objects[object as usize].view);
        self.me().view.join(&view);
        self.objects[object as usize].view = view;
    }

    /// The object learns what the task knows.
    pub fn release(&mut self, object: u32) {
        let current = self.current;
        let view = self.me().view.clone();
        self.objects[object as usize].view.join(&view);
        self.me().view.tick(current);
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
