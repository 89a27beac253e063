//! oneshot 0.2.1, issue 87, use after free: an asynchronous receiver that was polled and is dropped while the other side sends.
//! crate: oneshot
//! versions: 0.2.1
//! flags: --cfg oneshot_loom
//! features: loom,async,std
//! keep: loom
//! patch: loom

mod harness;
use harness::{Expected, Options, run, thread};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

#[test]
fn polled_and_dropped() {
    run("polled, dropped, sent", Expected::Failure(135), Options::default(), || {
        let (sender, mut receiver) = oneshot::async_channel::<Box<u32>>();
        let other = thread::spawn(move || drop(sender.send(Box::new(5))));
        let _ = Pin::new(&mut receiver).poll(&mut Context::from_waker(Waker::noop()));
        drop(receiver);
        other.join().unwrap();
    });
}
