//! A barrier that only counts: a thread that is quick enough meets itself at the second one.

use super::rt::sync::{Arc, Condvar, Mutex};
use super::rt::thread;

struct Barrier {
    waiting: Mutex<usize>,
    everybody: Condvar,
}

impl Barrier {
    fn wait(&self) {
        let mut waiting = self.waiting.lock().unwrap();
        *waiting += 1;
        if *waiting == 2 {
            *waiting = 0;
            self.everybody.notify_all();
        } else {
            while *waiting != 0 {
                waiting = self.everybody.wait(waiting).unwrap();
            }
        }
    }
}

pub fn test() {
    let barrier = Arc::new(Barrier { waiting: Mutex::new(0), everybody: Condvar::new() });
    let there = Arc::clone(&barrier);
    let other = thread::spawn(move || {
        there.wait();
        there.wait();
    });
    barrier.wait();
    barrier.wait();
    other.join().unwrap();
}
