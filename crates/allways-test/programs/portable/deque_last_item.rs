//! The owner and a thief both take the last item of a deque: the owner forgets to race for it.

use super::rt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use super::rt::{sync::Arc, thread};

/// Items top..bottom; the owner works at the bottom, thieves at the top (Chase and Lev).
struct Deque {
    top: AtomicUsize,
    bottom: AtomicUsize,
}

impl Deque {
    fn pop(&self) -> Option<usize> {
        let bottom = self.bottom.load(SeqCst).checked_sub(1)?;
        self.bottom.store(bottom, SeqCst);
        let top = self.top.load(SeqCst);
        if top <= bottom {
            return Some(bottom); // right only if top < bottom
        }
        self.bottom.store(top, SeqCst);
        None
    }

    fn steal(&self) -> Option<usize> {
        let top = self.top.load(SeqCst);
        let bottom = self.bottom.load(SeqCst);
        if top >= bottom {
            return None;
        }
        self.top.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok().then_some(top)
    }
}

pub fn test() {
    let deque = Arc::new(Deque { top: AtomicUsize::new(0), bottom: AtomicUsize::new(2) });
    let there = Arc::clone(&deque);
    let thief = thread::spawn(move || there.steal());
    let mut taken: Vec<usize> = [deque.pop(), deque.pop()].into_iter().flatten().collect();
    taken.extend(thief.join().unwrap());
    taken.sort_unstable();
    taken.windows(2).for_each(|pair| assert_ne!(pair[0], pair[1], "taken twice"));
}
