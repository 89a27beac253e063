//! oneshot: a receiver that was polled and is dropped while the sender sends. 0.1.11: RUSTSEC-2026-0005, use after free: the receiver
//! drops its waker after it has told the sender to free the memory in which that is. Issue 87, which is in these versions as well and
//! has a program of its own, is taken out: the receiver does not overwrite the state of a sender that is about to wake it up.
//! crate: oneshot
//! versions: 0.1.11 0.1.13
//! flags: --cfg oneshot_loom
//! features: loom
//! keep: loom
//! patch: loom
//! replace: `match channel.state.swap\(DISCONNECTED, (\w+)\) \{` by `match loop { match channel.state.load(Acquire) { UNPARKING => hint::spin_loop(), state => if channel.state.compare_exchange(state, DISCONNECTED, \1, Relaxed).is_ok() { break state } } } {`

mod harness;
use harness::{Expected, Options, run, thread, version};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

#[test]
fn polled_and_dropped() {
    let expected = if version() == "0.1.11" { Expected::Failure(7) } else { Expected::EverySchedule };
    let options = Options { switch_at_cells: true, ..Options::default() };
    run("polled, dropped, sent, without issue 87", expected, options, || {
        let (sender, mut receiver) = oneshot::channel::<u32>();
        let other = thread::spawn(move || drop(sender.send(5)));
        let _ = Pin::new(&mut receiver).poll(&mut Context::from_waker(Waker::noop()));
        drop(receiver);
        other.join().unwrap();
    });
}
