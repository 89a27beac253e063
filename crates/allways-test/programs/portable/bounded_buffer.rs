//! A buffer with one place, where producers and consumers wait on the same condition variable and wake one thread only:
//! it may be one of their own kind, and then nobody goes on.

use super::rt::sync::{Arc, Condvar, Mutex};
use super::rt::thread;

struct Buffer {
    place: Mutex<Option<usize>>,
    changed: Condvar,
}

impl Buffer {
    fn put(&self, item: usize) {
        let mut place = self.place.lock().unwrap();
        while place.is_some() {
            place = self.changed.wait(place).unwrap();
        }
        *place = Some(item);
        self.changed.notify_one();
    }

    fn take(&self) -> usize {
        let mut place = self.place.lock().unwrap();
        loop {
            if let Some(item) = place.take() {
                self.changed.notify_one();
                return item;
            }
            place = self.changed.wait(place).unwrap();
        }
    }
}

pub fn test() {
    let buffer = Arc::new(Buffer { place: Mutex::new(None), changed: Condvar::new() });
    let consumers: Vec<_> = (0..2)
        .map(|_| {
            let buffer = Arc::clone(&buffer);
            thread::spawn(move || buffer.take())
        })
        .collect();
    let there = Arc::clone(&buffer);
    let producer = thread::spawn(move || {
        there.put(1);
        there.put(2);
    });
    let sum: usize = consumers.into_iter().map(|consumer| consumer.join().unwrap()).sum();
    producer.join().unwrap();
    assert_eq!(sum, 3);
}
