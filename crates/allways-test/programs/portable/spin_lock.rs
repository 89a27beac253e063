//! A lock that is tested in one step and taken in the next.

use super::rt::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use super::rt::{sync::Arc, thread};

#[derive(Default)]
struct Shared {
    taken: AtomicBool,
    inside: AtomicUsize,
}

fn visit(shared: &Shared) {
    while shared.taken.load(SeqCst) {
        thread::yield_now();
    }
    shared.taken.store(true, SeqCst);
    assert_eq!(shared.inside.fetch_add(1, SeqCst), 0, "two threads inside");
    shared.inside.fetch_sub(1, SeqCst);
    shared.taken.store(false, SeqCst);
}

pub fn test() {
    let shared = Arc::new(Shared::default());
    let there = Arc::clone(&shared);
    let other = thread::spawn(move || visit(&there));
    visit(&shared);
    other.join().unwrap();
}
