//! Whether it was the last reference is decided by reading the count before it is decremented: nobody frees.

use super::rt::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use super::rt::{sync::Arc, thread};

struct Counted {
    references: AtomicUsize,
    freed: AtomicBool,
}

fn release(counted: &Counted) {
    let last = counted.references.load(SeqCst) == 1;
    counted.references.fetch_sub(1, SeqCst);
    if last {
        counted.freed.store(true, SeqCst);
    }
}

pub fn test() {
    let counted = Arc::new(Counted { references: AtomicUsize::new(2), freed: AtomicBool::new(false) });
    let there = Arc::clone(&counted);
    let other = thread::spawn(move || release(&there));
    release(&counted);
    other.join().unwrap();
    assert!(counted.freed.load(SeqCst), "leaked");
}
