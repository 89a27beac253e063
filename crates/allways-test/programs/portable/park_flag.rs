//! Two reasons to be unparked, one token: whoever waits for the second without looking again sleeps for ever.

use super::rt::sync::Arc;
use super::rt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use super::rt::thread;

pub fn test() {
    let arrived = Arc::new(AtomicUsize::new(0));
    let waiter = thread::current();
    let helpers: Vec<_> = (0..2)
        .map(|_| {
            let (arrived, waiter) = (Arc::clone(&arrived), waiter.clone());
            thread::spawn(move || {
                arrived.fetch_add(1, SeqCst);
                waiter.unpark();
            })
        })
        .collect();
    // One park for each helper, as if tokens were counted.
    for _ in 0..2 {
        thread::park();
    }
    assert_eq!(arrived.load(SeqCst), 2);
    for helper in helpers {
        helper.join().unwrap();
    }
}
