//! A value is handed over under a lock, and the condition tested under it.

use shuttle::sync::{Arc, Condvar, Mutex};
use shuttle::thread;

pub fn test() {
    let slot = Arc::new((Mutex::new(None), Condvar::new()));
    let there = Arc::clone(&slot);
    let giver = thread::spawn(move || {
        *there.0.lock().unwrap() = Some(42);
        there.1.notify_one();
    });
    let mut value = slot.0.lock().unwrap();
    while value.is_none() {
        value = slot.1.wait(value).unwrap();
    }
    assert_eq!(value.take(), Some(42));
    drop(value);
    giver.join().unwrap();
}
