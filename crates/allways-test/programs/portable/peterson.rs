//! Peterson's algorithm with the flag raised after the turn has been given away.

use super::rt::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use super::rt::{sync::Arc, thread};

#[derive(Default)]
struct Shared {
    flags: [AtomicBool; 2],
    turn: AtomicUsize,
    inside: AtomicUsize,
}

fn visit(shared: &Shared, me: usize) {
    let other = 1 - me;
    shared.turn.store(other, SeqCst);
    shared.flags[me].store(true, SeqCst);
    while shared.flags[other].load(SeqCst) && shared.turn.load(SeqCst) == other {
        thread::yield_now();
    }
    assert_eq!(shared.inside.fetch_add(1, SeqCst), 0, "two threads inside");
    shared.inside.fetch_sub(1, SeqCst);
    shared.flags[me].store(false, SeqCst);
}

pub fn test() {
    let shared = Arc::new(Shared::default());
    let there = Arc::clone(&shared);
    let other = thread::spawn(move || visit(&there, 1));
    visit(&shared, 0);
    other.join().unwrap();
}
