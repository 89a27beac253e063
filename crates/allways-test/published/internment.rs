//! internment, `ArcIntern`. 0.3.13: RUSTSEC-2020-0017, the last reference is dropped while another thread asks for the same value: what
//! one has freed the other one uses. In 0.4.0 a loop waits for the other thread, without a hint, which is added.
//! crate: internment
//! versions: 0.3.13 0.4.0
//! replace: `std::sync::Mutex` by `allways_test::sync::Mutex`
//! replace: `std::sync::atomic` by `allways_test::sync::atomic`
//! replace: `loop \{(?=\s+let mymutex)` by `loop { allways_test::thread::yield_now();`
//! loom replace: `use lazy_static::lazy_static;` by `use loom::lazy_static;`

mod harness;
use harness::{Expected, Options, run, thread, version};
use internment::ArcIntern;

#[test]
fn dropped_while_it_is_asked_for() {
    let expected = if version() == "0.4.0" { Expected::EverySchedule } else { Expected::Failure(7) };
    run("dropped while it is asked for", expected, Options::default(), || {
        let value = ArcIntern::new(5u32);
        let other = thread::spawn(|| drop(ArcIntern::new(5u32)));
        drop(value);
        other.join().unwrap();
    });
}
