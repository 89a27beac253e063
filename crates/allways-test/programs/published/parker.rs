//! `Parker` of crossbeam-utils 0.8.23 (`src/sync/parker.rs`), without deadlines.

use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::sync::{Arc, Condvar, Mutex};
use shuttle::thread;

const EMPTY: usize = 0;
const PARKED: usize = 1;
const NOTIFIED: usize = 2;

#[derive(Clone, Copy, PartialEq)]
pub enum Flaw {
    None,
    /// `unpark` does not go through the lock before it notifies.
    NotifyWithoutLock,
}

pub struct Parker {
    state: AtomicUsize,
    lock: Mutex<()>,
    cvar: Condvar,
    flaw: Flaw,
}

impl Parker {
    pub fn new(flaw: Flaw) -> Parker {
        Parker { state: AtomicUsize::new(EMPTY), lock: Mutex::new(()), cvar: Condvar::new(), flaw }
    }

    pub fn park(&self) {
        if self.state.compare_exchange(NOTIFIED, EMPTY, SeqCst, SeqCst).is_ok() {
            return;
        }
        let mut guard = self.lock.lock().unwrap();
        match self.state.compare_exchange(EMPTY, PARKED, SeqCst, SeqCst) {
            Ok(_) => {}
            Err(NOTIFIED) => {
                let old = self.state.swap(EMPTY, SeqCst);
                assert_eq!(old, NOTIFIED, "park state changed unexpectedly");
                return;
            }
            Err(state) => panic!("inconsistent park state: {state}"),
        }
        loop {
            guard = self.cvar.wait(guard).unwrap();
            if self.state.compare_exchange(NOTIFIED, EMPTY, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    pub fn unpark(&self) {
        match self.state.swap(NOTIFIED, SeqCst) {
            EMPTY | NOTIFIED => return,
            PARKED => {}
            _ => panic!("inconsistent state in unpark"),
        }
        if self.flaw == Flaw::None {
            drop(self.lock.lock().unwrap());
        }
        self.cvar.notify_one();
    }
}

/// A thread parks twice; the other gives it a token, sees that it was used, and gives it another.
pub fn two_tokens(flaw: Flaw) {
    let shared = Arc::new((Parker::new(flaw), AtomicUsize::new(0)));
    let there = Arc::clone(&shared);
    let sleeper = thread::spawn(move || {
        there.0.park();
        assert!(there.1.load(SeqCst) >= 1, "woken without a token");
        there.0.park();
        assert_eq!(there.1.load(SeqCst), 2, "woken twice by one token");
    });
    let (parker, tokens) = &*shared;
    tokens.store(1, SeqCst);
    parker.unpark();
    // Tokens do not add up, so the second must wait until the first is gone.
    while parker.state.load(SeqCst) == NOTIFIED {
        thread::yield_now();
    }
    tokens.store(2, SeqCst);
    parker.unpark();
    sleeper.join().unwrap();
}

/// Two threads give a token to a third.
pub fn two_givers(flaw: Flaw) {
    let parker = Arc::new(Parker::new(flaw));
    let givers: Vec<_> = (0..2)
        .map(|_| {
            let parker = Arc::clone(&parker);
            thread::spawn(move || parker.unpark())
        })
        .collect();
    parker.park();
    for giver in givers {
        giver.join().unwrap();
    }
}
