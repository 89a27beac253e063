//! Treiber's stack over an array of nodes, with a tag at the head that changes with each success.

use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::thread;

const NONE: usize = 9;
const TAG: usize = 10;

struct Stack {
    /// tag · 10 + node
    head: AtomicUsize,
    next: [AtomicUsize; 3],
}

impl Stack {
    fn push(&self, node: usize) {
        loop {
            let head = self.head.load(SeqCst);
            self.next[node].store(head % TAG, SeqCst);
            let new = (head / TAG + 1) * TAG + node;
            if self.head.compare_exchange(head, new, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        loop {
            let head = self.head.load(SeqCst);
            if head % TAG == NONE {
                return None;
            }
            let next = self.next[head % TAG].load(SeqCst);
            let new = (head / TAG + 1) * TAG + next;
            if self.head.compare_exchange(head, new, SeqCst, SeqCst).is_ok() {
                return Some(head % TAG);
            }
        }
    }
}

pub fn test() {
    let next = [AtomicUsize::new(NONE), AtomicUsize::new(0), AtomicUsize::new(1)];
    let stack = Arc::new(Stack { head: AtomicUsize::new(2), next });
    let there = Arc::clone(&stack);
    let popper = thread::spawn(move || there.pop());
    let first = stack.pop();
    let kept = stack.pop();
    if let Some(first) = first {
        stack.push(first);
    }
    let popped = popper.join().unwrap();
    let mut left: Vec<usize> = std::iter::from_fn(|| stack.pop()).collect();
    left.extend(kept);
    left.extend(popped);
    left.sort_unstable();
    assert_eq!(left, [0, 1, 2]);
}
