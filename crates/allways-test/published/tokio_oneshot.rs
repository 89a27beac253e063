//! tokio, `sync::oneshot`. 1.13.0: RUSTSEC-2021-0124, a receiver that was closed and a sender both take the value.
//! crate: tokio
//! versions: 1.13.0 1.14.0
//! features: sync
//! files: src/sync/oneshot.rs
//! replace: `crate::loom::` by `allways_test::`

mod harness;
use harness::{Expected, Options, run, thread, version};
use tokio::sync::oneshot;

#[test]
fn closed_while_the_value_is_sent() {
    let expected = if version() == "1.14.0" { Expected::EverySchedule } else { Expected::Failure(10) };
    run("closed, then received, while sent", expected, Options::default(), || {
        let (sender, mut receiver) = oneshot::channel::<Box<u32>>();
        let other = thread::spawn(move || sender.send(Box::new(5)).is_ok());
        receiver.close();
        let received = receiver.try_recv().is_ok();
        assert!(!received || other.join().unwrap(), "received, and given back to the sender");
    });
}
