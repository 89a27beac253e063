//! A permit is not given back on the way out that is taken only if somebody else is at work.

use super::rt::sync::{Arc, Condvar, Mutex};
use super::rt::thread;

struct Semaphore {
    permits: Mutex<usize>,
    released: Condvar,
}

impl Semaphore {
    fn acquire(&self) {
        let mut permits = self.permits.lock().unwrap();
        while *permits == 0 {
            permits = self.released.wait(permits).unwrap();
        }
        *permits -= 1;
    }

    fn release(&self) {
        *self.permits.lock().unwrap() += 1;
        self.released.notify_one();
    }
}

fn work(semaphore: &Semaphore, resource: &Mutex<usize>) {
    semaphore.acquire();
    let Ok(mut resource) = resource.try_lock() else {
        return; // without a release
    };
    *resource += 1;
    drop(resource);
    semaphore.release();
}

pub fn test() {
    let semaphore = Semaphore { permits: Mutex::new(2), released: Condvar::new() };
    let shared = Arc::new((semaphore, Mutex::new(0)));
    let there = Arc::clone(&shared);
    let other = thread::spawn(move || work(&there.0, &there.1));
    work(&shared.0, &shared.1);
    other.join().unwrap();
    // Now all permits should be there again.
    shared.0.acquire();
    shared.0.acquire();
}
