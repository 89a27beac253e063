//! flume: an asynchronous receiver that is polled a second time while the sender sends and goes away misses what was sent. 0.10.3:
//! issue 78, and issue 120, which is left in 0.10.14. 0.11.1: the sender of a rendezvous is told that its value was received,
//! although the receiver has only been polled, and is dropped.
//! crate: flume
//! versions: 0.10.3 0.10.14 0.11.1
//! options: --no-default-features
//! features: async
//! replace: `cfg\(not\(windows\)\)` by `cfg(any())`
//! replace: `cfg\(windows\)` by `cfg(all())`
//! replace: `sync::\{Arc, atomic::\{AtomicUsize, AtomicBool, Ordering\}` by `sync::{Arc`
//! replace: `(?m)^    thread,$` by ``
//! replace: `use crate::signal::\{Signal, SyncSignal\};` by `use crate::signal::{Signal, SyncSignal}; use allways_test::{thread, sync::atomic::{AtomicBool, AtomicUsize, Ordering}};`
//! replace: `use std::\{thread::\{self, Thread\}, ` by `use allways_test::thread::{self, Thread}; use std::{`
//! replace: `use (spin1|spinning_top)::.*Spinlock.*;` by `pub(crate) type SpinlockGuard<'a, T> = allways_test::sync::MutexGuard<'a, T>; pub(crate) struct Spinlock<T>(allways_test::sync::Mutex<T>); impl<T> Spinlock<T> { pub fn new(value: T) -> Self { Self(allways_test::sync::Mutex::new(value)) } pub fn lock(&self) -> allways_test::sync::MutexGuard<'_, T> { self.0.lock().unwrap() } }`
//! replace: `std::sync::\{Mutex, MutexGuard\}` by `allways_test::sync::{Mutex, MutexGuard}`
//! loom replace: `thread::park_timeout\(dur\)` by `{ let _ = dur; thread::park() }`

mod harness;
use harness::{Expected, Options, run, thread, version};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

#[test]
fn polled_twice() {
    let expected = if version() == "0.11.1" { Expected::EverySchedule } else { Expected::Failure(8) };
    run("polled twice, sent, disconnected", expected, Options::default(), || {
        let (sender, receiver) = flume::unbounded();
        let other = thread::spawn(move || sender.send(5).unwrap());
        let mut received = Poll::Pending;
        {
            let mut future = pin!(receiver.recv_async());
            let mut context = Context::from_waker(Waker::noop());
            for _ in 0..2 {
                if received.is_pending() {
                    received = future.as_mut().poll(&mut context);
                }
            }
        }
        other.join().unwrap();
        assert!(matches!(received, Poll::Pending | Poll::Ready(Ok(5))), "what was sent is lost");
    });
}

#[test]
fn a_rendezvous() {
    if version() != "0.11.1" {
        return;
    }
    run("rendezvous, polled and dropped", Expected::Failure(5), Options::default(), || {
        let (sender, receiver) = flume::bounded(0);
        let other = thread::spawn(move || sender.send(5).is_ok());
        let received = pin!(receiver.recv_async()).poll(&mut Context::from_waker(Waker::noop())).is_ready();
        drop(receiver);
        assert_eq!(other.join().unwrap(), received, "the sender is told that its value was received");
    });
}
