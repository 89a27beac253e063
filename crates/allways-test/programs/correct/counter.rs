//! A counter under a lock.

use shuttle::sync::{Arc, Mutex};
use shuttle::thread;

fn count(threads: usize) {
    let counter = Arc::new(Mutex::new(0));
    let adders: Vec<_> = (0..threads)
        .map(|_| {
            let counter = Arc::clone(&counter);
            thread::spawn(move || *counter.lock().unwrap() += 1)
        })
        .collect();
    for adder in adders {
        adder.join().unwrap();
    }
    assert_eq!(*counter.lock().unwrap(), threads);
}

pub fn two() {
    count(2);
}

pub fn three() {
    count(3);
}
