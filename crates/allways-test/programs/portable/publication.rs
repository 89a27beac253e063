//! A message is announced before all of it is there.

use super::rt::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use super::rt::{sync::Arc, thread};

pub fn test() {
    let message = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false)));
    let there = Arc::clone(&message);
    let writer = thread::spawn(move || {
        there.0.store(1, SeqCst);
        there.2.store(true, SeqCst);
        there.1.store(2, SeqCst);
    });
    if message.2.load(SeqCst) {
        assert_eq!(message.0.load(SeqCst) + message.1.load(SeqCst), 3);
    }
    writer.join().unwrap();
}
