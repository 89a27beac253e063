//! Two locks, taken in different orders.

use super::rt::sync::{Arc, Mutex};
use super::rt::thread;

pub fn test() {
    let accounts = Arc::new((Mutex::new(10), Mutex::new(10)));
    let there = Arc::clone(&accounts);
    let other = thread::spawn(move || {
        let mut from = there.0.lock().unwrap();
        let mut to = there.1.lock().unwrap();
        *from -= 1;
        *to += 1;
    });
    {
        let mut from = accounts.1.lock().unwrap();
        let mut to = accounts.0.lock().unwrap();
        *from -= 2;
        *to += 2;
    }
    other.join().unwrap();
}
