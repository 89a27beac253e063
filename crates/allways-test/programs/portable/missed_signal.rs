//! The condition is tested without the lock, so that the signal may come between the test and the wait.

use super::rt::sync::atomic::{AtomicBool, Ordering::SeqCst};
use super::rt::sync::{Arc, Condvar, Mutex};
use super::rt::thread;

pub fn test() {
    let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
    let there = Arc::clone(&shared);
    let waiter = thread::spawn(move || {
        let (ready, lock, signal) = &*there;
        if !ready.load(SeqCst) {
            let guard = lock.lock().unwrap();
            drop(signal.wait(guard).unwrap());
        }
        assert!(ready.load(SeqCst));
    });
    let (ready, _, signal) = &*shared;
    ready.store(true, SeqCst);
    signal.notify_one();
    waiter.join().unwrap();
}
