//! Double-checked initialisation that says it is done before it is.

use super::rt::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use super::rt::sync::{Arc, Mutex};
use super::rt::thread;

struct Lazy {
    done: AtomicBool,
    lock: Mutex<()>,
    value: AtomicUsize,
}

impl Lazy {
    fn get(&self) -> usize {
        if !self.done.load(SeqCst) {
            let _guard = self.lock.lock().unwrap();
            if !self.done.load(SeqCst) {
                self.done.store(true, SeqCst);
                self.value.store(42, SeqCst);
            }
        }
        self.value.load(SeqCst)
    }
}

pub fn test() {
    let lazy =
        Arc::new(Lazy { done: AtomicBool::new(false), lock: Mutex::new(()), value: AtomicUsize::new(0) });
    let there = Arc::clone(&lazy);
    let other = thread::spawn(move || assert_eq!(there.get(), 42));
    assert_eq!(lazy.get(), 42);
    other.join().unwrap();
}
