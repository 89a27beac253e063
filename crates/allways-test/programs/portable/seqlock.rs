//! A sequence lock whose reader does not look at the sequence again after it has read.

use super::rt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use super::rt::{sync::Arc, thread};

#[derive(Default)]
struct Pair {
    sequence: AtomicUsize,
    left: AtomicUsize,
    right: AtomicUsize,
}

pub fn test() {
    let pair = Arc::new(Pair::default());
    let there = Arc::clone(&pair);
    let writer = thread::spawn(move || {
        for value in 1..3 {
            there.sequence.fetch_add(1, SeqCst);
            there.left.store(value, SeqCst);
            there.right.store(value, SeqCst);
            there.sequence.fetch_add(1, SeqCst);
        }
    });
    if pair.sequence.load(SeqCst).is_multiple_of(2) {
        let left = pair.left.load(SeqCst);
        let right = pair.right.load(SeqCst);
        assert_eq!(left, right, "half of one pair and half of another");
    }
    writer.join().unwrap();
}
