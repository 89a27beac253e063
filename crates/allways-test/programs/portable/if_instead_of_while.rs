//! A consumer that is woken takes an item without looking whether another was quicker.

use super::rt::sync::{Arc, Condvar, Mutex};
use super::rt::thread;

pub fn test() {
    let queue = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
    let consumers: Vec<_> = (0..2)
        .map(|_| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                let (items, filled) = &*queue;
                let mut items = items.lock().unwrap();
                if items.is_empty() {
                    items = filled.wait(items).unwrap();
                }
                items.pop().expect("woken without an item");
            })
        })
        .collect();
    let (items, filled) = &*queue;
    for item in 0..2 {
        items.lock().unwrap().push(item);
        filled.notify_all();
    }
    for consumer in consumers {
        consumer.join().unwrap();
    }
}
