//! Treiber's stack over an array of nodes, without a tag at the head: a node that was popped and pushed again looks as if
//! it had never been away.

use super::rt::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use super::rt::{sync::Arc, thread};

const NONE: usize = usize::MAX;

struct Stack {
    head: AtomicUsize,
    next: [AtomicUsize; 3],
}

impl Stack {
    fn push(&self, node: usize) {
        loop {
            let head = self.head.load(SeqCst);
            self.next[node].store(head, SeqCst);
            if self.head.compare_exchange(head, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        loop {
            let head = self.head.load(SeqCst);
            if head == NONE {
                return None;
            }
            let next = self.next[head].load(SeqCst);
            if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                return Some(head);
            }
        }
    }
}

pub fn test() {
    let next = [AtomicUsize::new(NONE), AtomicUsize::new(0), AtomicUsize::new(1)];
    let stack = Arc::new(Stack { head: AtomicUsize::new(2), next });
    let there = Arc::clone(&stack);
    let popper = thread::spawn(move || there.pop());
    // Takes two nodes and gives the first back: the second stays out.
    let first = stack.pop();
    let kept = stack.pop();
    if let Some(first) = first {
        stack.push(first);
    }
    let popped = popper.join().unwrap();
    let mut left = Vec::new();
    while let Some(node) = stack.pop() {
        assert!(left.len() < 3, "the stack goes round in a circle");
        left.push(node);
    }
    left.extend(kept);
    left.extend(popped);
    left.sort_unstable();
    assert_eq!(left, [0, 1, 2], "a node is there twice, or gone");
}
