//! A future that looks whether it is ready, and registers its waker afterwards.

use super::rt::future;
use super::rt::sync::atomic::{AtomicBool, Ordering::SeqCst};
use super::rt::sync::{Arc, Mutex};
use super::rt::thread;
use std::future::poll_fn;
use std::task::{Poll, Waker};

struct Event {
    happened: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

pub fn test() {
    let event = Arc::new(Event { happened: AtomicBool::new(false), waker: Mutex::new(None) });
    let there = Arc::clone(&event);
    let other = thread::spawn(move || {
        there.happened.store(true, SeqCst);
        if let Some(waker) = there.waker.lock().unwrap().take() {
            waker.wake();
        }
    });
    future::block_on(poll_fn(|context| {
        if event.happened.load(SeqCst) {
            return Poll::Ready(());
        }
        *event.waker.lock().unwrap() = Some(context.waker().clone());
        Poll::Pending
    }));
    other.join().unwrap();
}
