//! Threads, the same as those of `std::thread`, as tasks of shuttle.
//!
//! A thread has an object that is closed until its function has returned; to join is to wait for that.

use crate::facade;
use crate::operation::{Operation, Otherwise, Touches};
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use shuttle::thread::{AccessError, LocalKey};
pub use std::thread::{Result, panicking};

/// The number of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(usize);

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    id: ThreadId,
    name: Option<String>,
}

impl Thread {
    /// Its number.
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Lets it go on from `park`, or not stop at the next one.
    pub fn unpark(&self) {
        let task = self.id.0;
        facade::point(|world| Operation::write(world.token(task)));
        facade::world(|world| {
            let token = world.token(task);
            world.release(token);
            world.object(token).closed = false;
        });
    }
}

/// The thread that asks.
pub fn current() -> Thread {
    let (id, name) = facade::world(|world| (world.current, None)).unwrap_or_default();
    Thread { id: ThreadId(id), name }
}

/// Waits until another thread calls `unpark`, or has called it before. May wake up without a reason.
pub fn park() {
    parked(Otherwise::WakesUp);
}

/// Waits until another thread calls `unpark`, or until the time is up, which may be at any time.
pub fn park_timeout(_time: Duration) {
    parked(Otherwise::TimesOut);
}

fn parked(otherwise: Otherwise) {
    let running = facade::point(|world| {
        let token = world.token(world.current);
        Operation { soft: token, otherwise, ..Operation::write(token) }
    });
    if !running {
        facade::cannot_wait();
    }
    facade::world(|world| {
        let token = world.token(world.current);
        if !world.object(token).closed {
            world.acquire(token);
            world.object(token).closed = true;
        }
    });
}

/// The thread waits for others, and goes on when they have had their turn.
pub fn yield_now() {
    facade::point(|_| Operation { yields: true, ..Operation::on(Touches::Everything) });
}

/// How long it takes nobody knows; others may go on.
pub fn sleep(_time: Duration) {
    yield_now();
}

/// Two: enough for code that asks.
pub fn available_parallelism() -> std::io::Result<NonZeroUsize> {
    NonZeroUsize::new(2).ok_or_else(|| std::io::ErrorKind::Unsupported.into())
}

type Slot<T> = Arc<Mutex<Option<T>>>;

/// A thread that can be joined.
#[derive(Debug)]
pub struct JoinHandle<T> {
    /// What shuttle has; when it is dropped, the execution does not wait for the thread.
    task: shuttle::thread::JoinHandle<()>,
    thread: Thread,
    done: u32,
    result: Slot<T>,
}

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended, and gives what its function has returned.
    pub fn join(self) -> Result<T> {
        joined(self.done);
        result(&self.result)
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Whether its function has returned.
    pub fn is_finished(&self) -> bool {
        is_finished(self.done)
    }

    /// The execution waits for the thread, although nobody will join it.
    #[doc(hidden)]
    pub fn keep(self) {
        std::mem::forget(self.task);
    }
}

fn joined(done: u32) {
    facade::point(|_| Operation::on(Touches::Nothing).when(done));
    facade::world(|world| world.acquire(done));
}

fn is_finished(done: u32) -> bool {
    facade::point(|_| Operation::on(Touches::Everything));
    facade::world(|world| !world.object(done).closed).unwrap_or(true)
}

fn result<T>(slot: &Slot<T>) -> Result<T> {
    let result = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    result.ok_or_else(|| -> Box<dyn std::any::Any + Send> { Box::new("the thread has not ended") })
}

/// What the new thread runs, its slot, and its object.
fn prepare<'f, F, T>(f: F) -> (impl FnOnce() + Send + 'f, Slot<T>, u32)
where
    F: FnOnce() -> T + Send + 'f,
    T: Send + 'f,
{
    let result: Slot<T> = Arc::default();
    let there = Arc::clone(&result);
    let done = facade::world(|world| {
        let done = world.new_object();
        world.object(done).closed = true;
        done
    });
    let body = move || {
        let value = f();
        *there.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        facade::ends(done);
    };
    facade::announce(Touches::Nothing);
    (body, result, done.unwrap_or_default())
}

/// A task was made: it knows what its maker knows.
fn started(task: usize) {
    facade::world(|world| {
        let current = world.current;
        let view = world.me().view.clone();
        world.task(task).view = view;
        world.me().view.tick(current);
    });
}

/// Starts a thread.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    start(shuttle::thread::Builder::new(), f, None)
}

#[track_caller]
fn start<F, T>(builder: shuttle::thread::Builder, f: F, name: Option<String>) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (body, result, done) = prepare(f);
    let task = builder.spawn(body).expect("shuttle starts threads");
    let id = usize::from(task.thread().id());
    started(id);
    JoinHandle { task, thread: Thread { id: ThreadId(id), name }, done, result }
}

/// Starts threads with a name.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
    stack: Option<usize>,
}

impl Builder {
    /// A thread without a name.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Sets the name.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// Sets the size of the stack.
    pub fn stack_size(mut self, bytes: usize) -> Builder {
        self.stack = Some(bytes);
        self
    }

    /// Starts a thread.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let mut builder = shuttle::thread::Builder::new();
        if let Some(name) = &self.name {
            builder = builder.name(name.clone());
        }
        if let Some(bytes) = self.stack {
            builder = builder.stack_size(bytes);
        }
        Ok(start(builder, f, self.name))
    }
}

/// Threads that may borrow, see [`scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    inner: &'scope shuttle::thread::Scope<'scope, 'env>,
    started: RefCell<Vec<u32>>,
}

/// A thread of a scope.
#[derive(Debug)]
pub struct ScopedJoinHandle<'scope, T> {
    thread: Thread,
    done: u32,
    result: Slot<T>,
    _task: shuttle::thread::ScopedJoinHandle<'scope, ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits until the thread has ended, and gives what its function has returned.
    pub fn join(self) -> Result<T> {
        joined(self.done);
        result(&self.result)
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Whether its function has returned.
    pub fn is_finished(&self) -> bool {
        is_finished(self.done)
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Starts a thread that ends before the scope does.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let (body, result, done) = prepare(f);
        let task = self.inner.spawn(body);
        let id = usize::from(task.thread().id());
        started(id);
        self.started.borrow_mut().push(done);
        ScopedJoinHandle { thread: Thread { id: ThreadId(id), name: None }, done, result, _task: task }
    }
}

/// Threads that may borrow: all of them have ended when this returns.
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    shuttle::thread::scope(|inner| {
        // It has to live as long as shuttle's, which is longer than this function; a few bytes stay behind.
        let scope = Box::leak(Box::new(Scope { inner, started: RefCell::default() }));
        let result = f(scope);
        for done in scope.started.take() {
            joined(done);
        }
        result
    })
}
