//! internment, `ArcIntern`. 0.3.13: RUSTSEC-2020-0017, the last reference is dropped while another thread asks for the same value: what
//! one has freed the other one uses.
//! crate: internment
//! versions: 0.3.13
//! replace: `std::sync::Mutex` by `allways_test::sync::Mutex`
//! replace: `std::sync::atomic` by `allways_test::sync::atomic`

mod harness;
use harness::{Expected, Options, run, thread};
use internment::ArcIntern;

#[test]
fn dropped_while_it_is_asked_for() {
    run("dropped while it is asked for", Expected::Failure(7), Options::default(), || {
        let value = ArcIntern::new(5u32);
        let other = thread::spawn(|| drop(ArcIntern::new(5u32)));
        drop(value);
        other.join().unwrap();
    });
}
