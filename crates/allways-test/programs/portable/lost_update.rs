//! A counter that is read in one step and written in the next.

use super::rt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use super::rt::{sync::Arc, thread};

pub fn test() {
    let counter = Arc::new(AtomicUsize::new(0));
    let adders: Vec<_> = (0..2)
        .map(|_| {
            let counter = Arc::clone(&counter);
            thread::spawn(move || {
                let seen = counter.load(SeqCst);
                counter.store(seen + 1, SeqCst);
            })
        })
        .collect();
    for adder in adders {
        adder.join().unwrap();
    }
    assert_eq!(counter.load(SeqCst), 2);
}
