//! thingbuf. 0.1.5: issue 83, to push into a full buffer, of which a slot was skipped because somebody still reads it, never ends.
//! crate: thingbuf
//! versions: 0.1.5 0.1.6
//! features: std
//! files: src/loom.rs
//! replace: `pub\(crate\) use core::sync::atomic;` by `pub(crate) use allways_test::sync::atomic;`
//! replace: `pub use std::thread;` by `pub use allways_test::thread;`
//! replace: `super::atomic::spin_loop_hint\(\)` by `allways_test::hint::spin_loop()`
//! loom replace: `(?s)    use std::\{cell::RefCell, fmt::Write\};.*?(?=#\[cfg\(not\(all\(loom, test)` by `}\n`
//! loom replace: `#\[cfg\(all\((loom, test|test, loom)\)\)\](?=\s+mod tests?\b)` by `#[cfg(any())]`
//! loom replace: `all\((loom, test|test, loom)\)` by `all()`
//! loom replace: `#\[cfg\(debug_assertions\)\]\s+(?=has_dropped_slots: false)` by ``
//! loom replace: `cfg\(loom\)` by `cfg(all())`
//! loom replace: `not\(loom\)` by `any()`

mod harness;
use harness::{Expected, Options, run, thread, version};
use std::sync::Arc;
use thingbuf::ThingBuf;

#[test]
fn pushed_while_a_slot_is_read() {
    let expected = if version() == "0.1.6" { Expected::NoFailure(20_000) } else { Expected::Failure(117) };
    run("pushed while a slot is read", expected, Options::default(), || {
        let buffer = Arc::new(ThingBuf::<u32>::new(2));
        let there = buffer.clone();
        let other = thread::spawn(move || (0..5).filter(|&value| there.push(value).is_ok()).count());
        let read = buffer.pop_ref();
        let _ = buffer.pop();
        let pushed = other.join().unwrap();
        drop(read);
        assert!(pushed <= 5);
    });
}
