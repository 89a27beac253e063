//! Double-checked initialisation, where the value comes before the flag.

use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use shuttle::sync::{Arc, Mutex};
use shuttle::thread;

#[derive(Default)]
struct Lazy {
    done: AtomicBool,
    lock: Mutex<()>,
    value: AtomicUsize,
    times: AtomicUsize,
}

impl Lazy {
    fn get(&self) -> usize {
        if !self.done.load(SeqCst) {
            let _guard = self.lock.lock().unwrap();
            if !self.done.load(SeqCst) {
                self.times.fetch_add(1, SeqCst);
                self.value.store(42, SeqCst);
                self.done.store(true, SeqCst);
            }
        }
        self.value.load(SeqCst)
    }
}

pub fn test() {
    let lazy = Arc::new(Lazy::default());
    let there = Arc::clone(&lazy);
    let other = thread::spawn(move || assert_eq!(there.get(), 42));
    assert_eq!(lazy.get(), 42);
    other.join().unwrap();
    assert_eq!(lazy.times.load(SeqCst), 1);
}
