//! A buffer with one place, with a condition variable for each kind of waiting.

use shuttle::sync::{Arc, Condvar, Mutex};
use shuttle::thread;

#[derive(Default)]
struct Buffer {
    place: Mutex<Option<usize>>,
    filled: Condvar,
    emptied: Condvar,
}

impl Buffer {
    fn put(&self, item: usize) {
        let mut place = self.emptied.wait_while(self.place.lock().unwrap(), |place| place.is_some()).unwrap();
        *place = Some(item);
        self.filled.notify_one();
    }

    fn take(&self) -> usize {
        let mut place = self.filled.wait_while(self.place.lock().unwrap(), |place| place.is_none()).unwrap();
        self.emptied.notify_one();
        place.take().unwrap()
    }
}

pub fn test() {
    let buffer = Arc::new(Buffer::default());
    let there = Arc::clone(&buffer);
    let producer = thread::spawn(move || {
        there.put(1);
        there.put(2);
    });
    assert_eq!((buffer.take(), buffer.take()), (1, 2));
    producer.join().unwrap();
}
