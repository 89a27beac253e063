//! A barrier that can be used again, because it knows which time it is.

use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::sync::{Arc, Condvar, Mutex};
use shuttle::thread;

#[derive(Default)]
struct Barrier {
    /// Threads waiting, and how many times all have come together.
    state: Mutex<(usize, usize)>,
    everybody: Condvar,
}

impl Barrier {
    fn wait(&self) {
        let mut state = self.state.lock().unwrap();
        let generation = state.1;
        state.0 += 1;
        if state.0 == 2 {
            *state = (0, generation + 1);
            self.everybody.notify_all();
        } else {
            drop(self.everybody.wait_while(state, |state| state.1 == generation).unwrap());
        }
    }
}

fn walk(barrier: &Barrier, before: &AtomicUsize) {
    before.fetch_add(1, SeqCst);
    barrier.wait();
    assert_eq!(before.load(SeqCst), 2);
    barrier.wait();
}

pub fn test() {
    let shared = Arc::new((Barrier::default(), AtomicUsize::new(0)));
    let there = Arc::clone(&shared);
    let other = thread::spawn(move || walk(&there.0, &there.1));
    walk(&shared.0, &shared.1);
    other.join().unwrap();
}
