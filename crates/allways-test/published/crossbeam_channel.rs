//! crossbeam-channel. 0.5.14: RUSTSEC-2025-0024, a block of messages is freed twice.
//! crate: crossbeam-channel
//! versions: 0.5.14 0.5.15
//! replace: `(std|core)::sync::atomic` by `allways_test::sync::atomic`
//! replace: `std::sync::Mutex` by `allways_test::sync::Mutex`
//! replace: `std::thread(?!_)` by `allways_test::thread`
//! replace: `(std::)?thread_local!` by `allways_test::shuttle::thread_local!`
//! replace: `backoff\.(spin|snooze)\(\)` by `allways_test::thread::yield_now()`
//! loom replace: `\*((?:\(\*\w+\)|\w)[\w.]+)\.get_mut\(\)` by `unsafe { \1.unsync_load() }`
//! loom replace: `= const (\{.*\});` by `= \1;`
//! loom replace: `thread::park_timeout\(end - now\)` by `thread::park()`
//! loom replace: `(?m)thread::sleep\(.*\)(?=[,;]$)` by `thread::yield_now()`

mod harness;
use harness::{Expected, Options, run, thread, version};

#[test]
fn sent_while_the_receiver_is_dropped() {
    // Of three threads there are more than 100000 schedules.
    let fixed = version() == "0.5.15";
    let expected = if fixed { Expected::NoFailure(100_000) } else { Expected::Failure(41) };
    run("two send, the receiver is dropped", expected, Options::default(), || {
        let (sender, receiver) = crossbeam_channel::unbounded::<Box<u32>>();
        let another = sender.clone();
        let others = [sender, another].map(|sender| thread::spawn(move || drop(sender.send(Box::new(1)))));
        drop(receiver);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}
