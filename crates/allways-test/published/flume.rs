//! flume: an asynchronous receiver that is polled a second time while the sender sends and goes away misses what was sent: issue 78 in
//! 0.10.3, after it has registered itself again, and issue 120 up to 0.10.14, before that. To tell them apart, the branch of issue 120
//! is taken out of 0.10.3 and of 0.10.4, in which issue 78 is fixed. 0.11.1 and 0.12.0: the sender of a rendezvous is told that its
//! value was received, although the receiver has only been polled, and is dropped.
//! crate: flume
//! versions: 0.10.3 0.10.4 0.10.14 0.11.1 0.12.0
//! options: --no-default-features
//! features: async
//! replace: `cfg\(not\(windows\)\)` by `cfg(any())`
//! replace: `cfg\(windows\)` by `cfg(all())`
//! replace: `sync::\{Arc, atomic::\{AtomicUsize, AtomicBool, Ordering\}` by `sync::{Arc`
//! replace: `(?m)^        atomic::\{AtomicBool, AtomicUsize, Ordering\},$` by ``
//! replace: `(?m)^    thread(::\{self, Thread\})?,$` by ``
//! replace: `pub struct SyncSignal` by `use allways_test::thread::{self, Thread}; pub struct SyncSignal`
//! replace in 0.10.3 0.10.4: `\} else if self.receiver.shared.is_disconnected\(\) \{\s+Poll::Ready\(Err\(RecvError::Disconnected\)\)\s+\} else \{` by `} else {`
//! replace: `use crate::signal::\{Signal, SyncSignal\};` by `use crate::signal::{Signal, SyncSignal}; use allways_test::{thread, sync::atomic::{AtomicBool, AtomicUsize, Ordering}};`
//! replace: `use std::\{thread::\{self, Thread\}, ` by `use std::{`
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
    let (name, expected) = match version().as_str() {
        "0.10.3" => ("polled twice, sent, disconnected, without issue 120", Expected::Failure(8)),
        "0.10.4" => ("polled twice, sent, disconnected, without issue 120", Expected::EverySchedule),
        "0.10.14" => ("polled twice, sent, disconnected", Expected::Failure(8)),
        _ => ("polled twice, sent, disconnected", Expected::EverySchedule),
    };
    run(name, expected, Options::default(), || {
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
    if version().starts_with("0.10.") {
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
