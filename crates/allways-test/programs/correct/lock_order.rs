//! Two locks, always taken in the same order.

use shuttle::sync::{Arc, Mutex};
use shuttle::thread;

fn transfer(accounts: &(Mutex<i32>, Mutex<i32>), amount: i32) {
    let mut first = accounts.0.lock().unwrap();
    let mut second = accounts.1.lock().unwrap();
    *first -= amount;
    *second += amount;
}

pub fn test() {
    let accounts = Arc::new((Mutex::new(10), Mutex::new(10)));
    let there = Arc::clone(&accounts);
    let other = thread::spawn(move || transfer(&there, 3));
    transfer(&accounts, -4);
    other.join().unwrap();
    assert_eq!((*accounts.0.lock().unwrap(), *accounts.1.lock().unwrap()), (11, 9));
}
