//! `OnceCell` of once_cell 1.21.4 (`src/imp_std.rs`): who comes too late queues up and parks. Waiters are nodes on the
//! stacks of their threads there; here they are numbered, and using one whose thread has gone on is a panic.

use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex};
use shuttle::thread::{self, Thread};

const INCOMPLETE: usize = 0;
const RUNNING: usize = 1;
const COMPLETE: usize = 2;
const STATE_MASK: usize = 3;
/// The first waiter in the word of the queue; without it there is none.
const FIRST: usize = 4;

#[derive(Clone, Copy, PartialEq)]
pub enum Flaw {
    None,
    /// A waiter is told to go on before its node was read.
    SignalFirst,
}

#[derive(Default)]
struct Waiter {
    alive: AtomicBool,
    thread: Mutex<Option<Thread>>,
    signaled: AtomicBool,
    next: AtomicUsize,
}

pub struct OnceCell {
    /// The first waiter, and the state.
    queue: AtomicUsize,
    waiters: Vec<Waiter>,
    value: AtomicUsize,
    flaw: Flaw,
}

impl OnceCell {
    pub fn new(threads: usize, flaw: Flaw) -> OnceCell {
        let waiters = (0..threads).map(|_| Waiter::default()).collect();
        OnceCell { queue: AtomicUsize::new(INCOMPLETE), waiters, value: AtomicUsize::new(0), flaw }
    }

    /// The value, computed by the first of the threads that ask; `me` is the number of this one.
    pub fn get(&self, me: usize, init: impl Fn() -> usize) -> usize {
        let mut queue = self.queue.load(Ordering::Acquire);
        loop {
            match queue & STATE_MASK {
                COMPLETE => return self.value.load(Ordering::Relaxed),
                INCOMPLETE => {
                    let running = (queue & !STATE_MASK) | RUNNING;
                    match self.queue.compare_exchange(queue, running, Ordering::Acquire, Ordering::Acquire) {
                        Err(actual) => queue = actual,
                        Ok(_) => {
                            self.value.store(init(), Ordering::Relaxed);
                            self.wake_all();
                            return self.value.load(Ordering::Relaxed);
                        }
                    }
                }
                _ => {
                    self.wait(me, queue);
                    queue = self.queue.load(Ordering::Acquire);
                }
            }
        }
    }

    fn wake_all(&self) {
        let queue = self.queue.swap(COMPLETE, Ordering::AcqRel);
        assert_eq!(queue & STATE_MASK, RUNNING);
        let mut first = queue / FIRST;
        while let Some(waiter) = first.checked_sub(1).map(|number| &self.waiters[number]) {
            first = waiter.next.load(Ordering::Relaxed);
            if self.flaw == Flaw::SignalFirst {
                waiter.signaled.store(true, Ordering::Release);
            }
            assert!(waiter.alive.load(Ordering::Relaxed), "a waiter is used after its thread has gone on");
            let thread = waiter.thread.lock().unwrap().take().unwrap();
            if self.flaw == Flaw::None {
                waiter.signaled.store(true, Ordering::Release);
            }
            thread.unpark();
        }
    }

    fn wait(&self, me: usize, mut queue: usize) {
        let waiter = &self.waiters[me];
        let state = queue & STATE_MASK;
        loop {
            waiter.alive.store(true, Ordering::Relaxed);
            *waiter.thread.lock().unwrap() = Some(thread::current());
            waiter.next.store(queue / FIRST, Ordering::Relaxed);
            let new = ((me + 1) * FIRST) | state;
            match self.queue.compare_exchange(queue, new, Ordering::Release, Ordering::Relaxed) {
                Err(actual) if actual & STATE_MASK != state => return,
                Err(actual) => queue = actual,
                Ok(_) => break,
            }
        }
        while !waiter.signaled.load(Ordering::Acquire) {
            thread::park();
        }
        waiter.alive.store(false, Ordering::Relaxed);
    }
}

/// All ask, one computes.
pub fn computed_once(threads: usize, flaw: Flaw) {
    let shared = Arc::new((OnceCell::new(threads, flaw), AtomicUsize::new(0)));
    let ask = |shared: &(OnceCell, AtomicUsize), me| {
        let value = shared.0.get(me, || 40 + shared.1.fetch_add(1, Ordering::SeqCst));
        assert_eq!(value, 40, "computed twice, or not yet");
    };
    let others: Vec<_> = (1..threads)
        .map(|me| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || ask(&shared, me))
        })
        .collect();
    ask(&shared, 0);
    others.into_iter().for_each(|other| other.join().unwrap());
}
