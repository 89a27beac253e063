//! A reader-writer lock that lets a reader become the writer once it is the only reader. Two readers who both want that
//! wait for each other.

use super::rt::sync::{Arc, Condvar, Mutex};
use super::rt::thread;

struct Upgradable {
    readers: Mutex<usize>,
    changed: Condvar,
}

impl Upgradable {
    fn read(&self) {
        *self.readers.lock().unwrap() += 1;
    }

    fn upgrade_and_release(&self) {
        let mut readers = self.readers.lock().unwrap();
        while *readers > 1 {
            readers = self.changed.wait(readers).unwrap();
        }
        *readers -= 1;
        self.changed.notify_all();
    }
}

pub fn test() {
    let lock = Arc::new(Upgradable { readers: Mutex::new(0), changed: Condvar::new() });
    let there = Arc::clone(&lock);
    let other = thread::spawn(move || {
        there.read();
        there.upgrade_and_release();
    });
    lock.read();
    lock.upgrade_and_release();
    other.join().unwrap();
}
