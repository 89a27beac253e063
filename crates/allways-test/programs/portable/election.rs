//! Whoever comes first is the leader; that it could be the last of four was forgotten. In the order of creation this
//! takes as many delays as there are others.

use super::rt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use super::rt::{sync::Arc, thread};

const NOBODY: usize = usize::MAX;

pub fn test() {
    let leader = Arc::new(AtomicUsize::new(NOBODY));
    let members: Vec<_> = (0..4)
        .map(|me| {
            let leader = Arc::clone(&leader);
            thread::spawn(move || {
                if leader.compare_exchange(NOBODY, me, SeqCst, SeqCst).is_ok() {
                    let offices = ["north", "east", "south"];
                    assert!(me < offices.len(), "the leader has no office");
                }
            })
        })
        .collect();
    for member in members {
        member.join().unwrap();
    }
}
