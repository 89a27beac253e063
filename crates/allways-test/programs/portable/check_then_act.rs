//! Each access to the account is locked, but the test and the withdrawal are two accesses.

use super::rt::sync::{Arc, Mutex};
use super::rt::thread;

fn withdraw(account: &Mutex<i32>, amount: i32) {
    let enough = *account.lock().unwrap() >= amount;
    if enough {
        *account.lock().unwrap() -= amount;
    }
}

pub fn test() {
    let account = Arc::new(Mutex::new(100));
    let there = Arc::clone(&account);
    let other = thread::spawn(move || withdraw(&there, 70));
    withdraw(&account, 60);
    other.join().unwrap();
    assert!(*account.lock().unwrap() >= 0);
}
