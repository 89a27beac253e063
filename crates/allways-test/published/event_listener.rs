//! event-listener. 5.3.0: issue 138, a notification is lost because a fence is missing; needs weak memory.
//! crate: event-listener
//! versions: 5.3.0 5.3.1
//! flags: --cfg loom
//! features: loom,std
//! keep: loom
//! patch: loom

mod harness;
use event_listener::{Event, Listener};
use harness::sync::Arc;
use harness::sync::atomic::{AtomicBool, Ordering};
use harness::{Expected, Options, run, thread, version};

#[test]
fn a_notification_is_not_lost() {
    let fixed = version() == "5.3.1";
    let expected = if fixed { Expected::EverySchedule } else { Expected::Failure(100_000) };
    let options = Options { weak_memory: true, no_spurious_wake_ups: true, ..Options::default() };
    run("a flag and a notification, weak memory", expected, options, || {
        let shared = Arc::new((AtomicBool::new(false), Event::new()));
        let there = Arc::clone(&shared);
        let other = thread::spawn(move || {
            there.0.store(true, Ordering::Release);
            there.1.notify(1);
        });
        while !shared.0.load(Ordering::Acquire) {
            event_listener::listener!(shared.1 => listener);
            if shared.0.load(Ordering::Acquire) {
                break;
            }
            listener.wait();
        }
        other.join().unwrap();
    });
}
