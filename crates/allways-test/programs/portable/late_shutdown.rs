//! The window for the bug is late in a long run: a worker that has nearly finished is overtaken by somebody who has not
//! even begun.

use super::rt::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use super::rt::{sync::Arc, thread};

pub fn test() {
    let progress = Arc::new(AtomicUsize::new(0));
    let closed = Arc::new(AtomicBool::new(false));
    let closer = {
        let (progress, closed) = (Arc::clone(&progress), Arc::clone(&closed));
        thread::spawn(move || {
            if progress.load(SeqCst) == 40 {
                closed.store(true, SeqCst);
            }
        })
    };
    for _ in 0..40 {
        progress.fetch_add(1, SeqCst);
    }
    assert!(!closed.load(SeqCst), "closed before the last word");
    progress.fetch_add(1, SeqCst);
    closer.join().unwrap();
}
