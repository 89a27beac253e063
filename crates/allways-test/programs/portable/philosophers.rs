//! Three philosophers, each of whom takes the left fork first.

use super::rt::sync::{Arc, Mutex};
use super::rt::thread;

pub fn test() {
    let forks: Arc<[Mutex<()>; 3]> = Arc::new([Mutex::new(()), Mutex::new(()), Mutex::new(())]);
    let philosophers: Vec<_> = (0..3)
        .map(|seat| {
            let forks = Arc::clone(&forks);
            thread::spawn(move || {
                let _left = forks[seat].lock().unwrap();
                let _right = forks[(seat + 1) % 3].lock().unwrap();
            })
        })
        .collect();
    for philosopher in philosophers {
        philosopher.join().unwrap();
    }
}
