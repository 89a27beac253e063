//! oneshot: a receiver that was polled and is dropped while the sender sends. 0.1.11: use after free, RUSTSEC-2026-0005 or the one
//! that is left (issue 87) in 0.1.13, as in 0.2.1: the receiver waits for the sender, and takes the state that it has written
//! itself for the sender's.
//! crate: oneshot
//! versions: 0.1.11 0.1.13
//! flags: --cfg oneshot_loom
//! features: loom
//! keep: loom
//! patch: loom

mod harness;
use harness::{Expected, Options, run, thread, version};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

#[test]
fn polled_and_dropped() {
    let within = if version() == "0.1.11" { 7 } else { 135 };
    run("polled, dropped, sent", Expected::Failure(within), Options::default(), || {
        let (sender, mut receiver) = oneshot::channel::<u32>();
        let other = thread::spawn(move || drop(sender.send(5)));
        let _ = Pin::new(&mut receiver).poll(&mut Context::from_waker(Waker::noop()));
        drop(receiver);
        other.join().unwrap();
    });
}
