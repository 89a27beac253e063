//! `AtomicWaker` of futures-core 0.3.34 (`src/task/__internal/atomic_waker.rs`).

use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex};
use shuttle::{future, thread};
use std::future::poll_fn;
use std::task::{Poll, Waker};

const WAITING: usize = 0;
const REGISTERING: usize = 0b01;
const WAKING: usize = 0b10;

#[derive(Clone, Copy, PartialEq)]
pub enum Flaw {
    None,
    /// `register` ignores that it was woken meanwhile.
    ForgetWake,
}

pub struct AtomicWaker {
    state: AtomicUsize,
    waker: Mutex<Option<Waker>>,
    flaw: Flaw,
}

impl AtomicWaker {
    pub fn new(flaw: Flaw) -> AtomicWaker {
        AtomicWaker { state: AtomicUsize::new(WAITING), waker: Mutex::new(None), flaw }
    }

    /// Access to what is an unsafe cell in the original.
    fn cell<T>(&self, access: impl FnOnce(&mut Option<Waker>) -> T) -> T {
        access(&mut self.waker.try_lock().expect("two threads at the waker"))
    }

    pub fn register(&self, waker: &Waker) {
        let seen = self.state.compare_exchange(WAITING, REGISTERING, Ordering::Acquire, Ordering::Acquire);
        match seen.unwrap_or_else(|state| state) {
            WAITING => {
                self.cell(|cell| match cell {
                    Some(old) if old.will_wake(waker) => {}
                    _ => *cell = Some(waker.clone()),
                });
                let back =
                    self.state.compare_exchange(REGISTERING, WAITING, Ordering::AcqRel, Ordering::Acquire);
                if let Err(actual) = back {
                    assert_eq!(actual, REGISTERING | WAKING);
                    let waker = self.cell(Option::take).unwrap();
                    self.state.swap(WAITING, Ordering::AcqRel);
                    if self.flaw == Flaw::None {
                        waker.wake();
                    }
                }
            }
            WAKING => waker.wake_by_ref(),
            state => assert!(state == REGISTERING || state == REGISTERING | WAKING),
        }
    }

    pub fn wake(&self) {
        let waker = match self.state.fetch_or(WAKING, Ordering::AcqRel) {
            WAITING => {
                let waker = self.cell(Option::take);
                let old = self.state.swap(WAITING, Ordering::Release);
                assert_eq!(old, WAKING);
                waker
            }
            _ => None,
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A future waits for `events` events, each announced by a thread after it has taken place.
pub fn events(events: usize, flaw: Flaw) {
    let shared = Arc::new((AtomicUsize::new(0), AtomicWaker::new(flaw)));
    let announcers: Vec<_> = (0..events)
        .map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.0.fetch_add(1, Ordering::SeqCst);
                shared.1.wake();
            })
        })
        .collect();
    future::block_on(poll_fn(|context| {
        shared.1.register(context.waker());
        if shared.0.load(Ordering::SeqCst) == events { Poll::Ready(()) } else { Poll::Pending }
    }));
    for announcer in announcers {
        announcer.join().unwrap();
    }
}
