//! Two adders, three increments each, of which all but two are lost: the least that can be left.

use super::rt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use super::rt::{sync::Arc, thread};

pub fn test() {
    let counter = Arc::new(AtomicUsize::new(0));
    let adders: Vec<_> = (0..2)
        .map(|_| {
            let counter = Arc::clone(&counter);
            thread::spawn(move || {
                for _ in 0..3 {
                    let seen = counter.load(SeqCst);
                    counter.store(seen + 1, SeqCst);
                }
            })
        })
        .collect();
    for adder in adders {
        adder.join().unwrap();
    }
    assert!(counter.load(SeqCst) > 2);
}
